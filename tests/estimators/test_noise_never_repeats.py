"""The noise of unseeded fits never repeats: across processes, threads, jobs, forks, pickles, clones and copies."""

import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from estimators.draws import model, noise_of, several
from sklearn.base import clone

from skdp.mechanisms import Noise

pytestmark = pytest.mark.os_noise  # what other tests draw hangs on their names
TESTS = Path(__file__).parents[1]
SCRIPT = (
    "import json, sys; sys.path.insert(0, {path!r}); import numpy; numpy.random.seed(0); "
    "from estimators.draws import model, several; print(json.dumps(several(model({given}))))"
)


def check_all_distinct(noises):
    """No number occurs twice, in any place: reuse of one draw in another fit would show."""
    numbers = [value for noise in noises for value in noise]
    assert len(numbers) > 2 and len(set(numbers)) == len(numbers), "noise was repeated"


def _subprocess(given=""):
    command = [sys.executable, "-c", SCRIPT.format(path=str(TESTS), given=given)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_within_a_process():
    np.random.seed(0)  # noqa: NPY002 (what a user may do, and must not matter)
    first = several(model())
    np.random.seed(0)  # noqa: NPY002 (what a user may do, and must not matter)
    check_all_distinct(first + several(model()) + several(model()))


def test_across_processes():
    check_all_distinct(_subprocess() + _subprocess())


def test_across_threads():
    together, barrier = [], threading.Barrier(4)

    def work():
        barrier.wait()
        together.extend(several(model()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(together) == 12
    check_all_distinct(together)


def test_one_estimator_shared_by_threads_never_repeats_a_draw():
    shared = model()
    with ThreadPoolExecutor(2) as pool:
        fits = list(pool.map(lambda _: noise_of(clone(shared)), range(8)))
    check_all_distinct(fits)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_across_jobs(backend):
    with joblib.parallel_config(backend=backend):
        parts = joblib.Parallel(n_jobs=2)(joblib.delayed(several)(model()) for _ in range(4))
    check_all_distinct([noise for part in parts for noise in part])


def test_after_pickle_clone_and_copy():
    fitted = model()
    noises = [noise_of(fitted)]
    for twin in (
        pickle.loads(pickle.dumps(fitted)),
        pickle.loads(pickle.dumps(fitted)),
        clone(fitted),
        copy.copy(fitted),
        copy.deepcopy(fitted),
        fitted,
    ):
        noises.append(noise_of(twin))
    check_all_distinct(noises)


def _forked_noises(estimator):
    """Fit after os.fork in the child and in the parent; what both saw."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(sending, json.dumps(several(estimator)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(sending)
    mine = several(estimator)
    with os.fdopen(receiving) as pipe:
        theirs = json.loads(pipe.read())
    assert os.waitpid(child, 0)[1] == 0
    return mine + theirs


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_fork():
    estimator = model()
    several(estimator)
    check_all_distinct(_forked_noises(estimator))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_across_a_forked_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.map(several, [model() for _ in range(4)])
    check_all_distinct([noise for part in parts for noise in part])


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_noise_source_is_never_copied(way):
    for noise in (Noise(), Noise(0)):
        with pytest.raises(TypeError, match="never copied"):
            way(noise)


def test_a_fixed_seed_repeats_and_the_receipt_says_so():
    first, second = model(random_state=3), model(random_state=3)
    with pytest.raises(AssertionError, match="repeated"):
        check_all_distinct([noise_of(first), noise_of(second)])
    assert noise_of(first) == noise_of(second) and first.privacy_.seeded
    assert not _unseeded().privacy_.seeded


def _unseeded():
    estimator = model()
    noise_of(estimator)
    return estimator


def test_a_seed_repeats_across_processes():
    assert _subprocess("random_state=5") == [
        list(noise) for noise in several(model(random_state=5))
    ]


def test_a_random_state_object_moves_on():
    state = np.random.RandomState(0)
    check_all_distinct([noise_of(model(random_state=state)), noise_of(model(random_state=state))])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_generator_with_state_is_caught_after_fork(monkeypatch):
    # What a library does that draws from a generator of its own process: the bytes of a copied state.
    generator = np.random.Generator(np.random.Philox(os.getpid()))
    monkeypatch.setattr(os, "urandom", generator.bytes)
    with pytest.raises(AssertionError, match="repeated"):
        check_all_distinct(_forked_noises(model()))
