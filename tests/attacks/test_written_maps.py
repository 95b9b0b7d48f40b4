"""A second process writes the file that a table is mapped from, between admission and the questions of a fit."""

import inspect
import pickle
import subprocess
import sys
from multiprocessing import shared_memory

import numpy as np
import pytest
from laws.map_laws import fitted_on, predictors_and_buyers
from scipy import sparse

from skdp import DPLogisticRegression, DPRidge
from skdp.losses import Logistic
from skdp.mechanisms import (
    Documents,
    Gradient,
    Oracle,
    Public,
    Records,
    _engine,
    _records,
    _shared_memory,
)
from skdp.mechanisms._engine import ENGINES
from skdp.mechanisms._shards import Shards
from skdp.mechanisms._shared_memory import copy_if_shared, is_shared

WRITER = "import sys; f = open(sys.argv[1], 'r+b'); f.seek(-int(sys.argv[2]), 2); f.write(bytes.fromhex(sys.argv[3]))"


def written(path, values):
    """The last numbers of a file become these, by the hand of another process."""
    raw = np.asarray(values).tobytes()
    subprocess.run(
        [sys.executable, "-S", "-c", WRITER, str(path), str(len(raw)), raw.hex()], check=True
    )


def mapped(path, array):
    """An array in a file, mapped to be read."""
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def vault(X, y):
    public = Public(len(y), X.shape[1], 0.0, "replace_one")
    return Records.admit(X, y, public, data_norm=1.0)


def moved_by_the_writer(X, y, path, values):
    """How far one row, written after admission, moves a sum to which it may add 1."""
    question = Gradient(at=np.zeros(X.shape[1]), loss=Logistic(), clip=1.0, multiplier=0.0)
    records = vault(X, y)
    before = question.measure(records)
    written(path, values)
    return float(np.linalg.norm(question.measure(records) - before))


@pytest.fixture(params=["in memory", "in a file"])
def copies(request, monkeypatch):
    """Where copies lie: large ones in files without a name."""
    monkeypatch.setattr(
        _shared_memory, "LARGE", 0 if request.param == "in a file" else _shared_memory.LARGE
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("copies")
def test_rows_that_are_read_again_are_those_that_were_admitted(tmp_path, dtype, order):
    path = tmp_path / "X.npy"
    X = mapped(path, np.full((1000, 4), 0.4, dtype, order=order))
    assert moved_by_the_writer(X, np.ones(1000), path, np.full(4, 1e6, dtype)) == 0.0
    assert float(np.abs(X).max()) == 1e6  # the file was written


def test_one_that_is_not_copied_moves_a_sum_by_a_million(tmp_path, monkeypatch):
    monkeypatch.setattr(_records, "copy_if_shared", lambda X: X)
    path = tmp_path / "X.npy"
    X = mapped(path, np.full((1000, 4), 0.4))
    assert moved_by_the_writer(X, np.ones(1000), path, np.full(4, 1e6)) > 1e5


def test_a_copy_that_is_the_map_itself_moves_a_sum_by_a_million(tmp_path, monkeypatch):
    """A scratch file that is the user's own: a twin of the one that nobody can open."""

    def store(blocks, shape, dtype):
        return np.memmap(tmp_path / "X.npy", dtype, "r", 128, shape)

    monkeypatch.setattr(_shared_memory, "LARGE", 0)
    monkeypatch.setattr(_shared_memory, "store", store)
    X = mapped(tmp_path / "X.npy", np.full((1000, 4), 0.4))
    assert moved_by_the_writer(X, np.ones(1000), tmp_path / "X.npy", np.full(4, 1e6)) > 1e5


def test_targets_and_weights_stay_too(tmp_path):
    X = np.full((1000, 4), 0.4)
    path = tmp_path / "y.npy"
    assert moved_by_the_writer(X, mapped(path, np.ones(1000)), path, [-1e6]) == 0.0
    path = tmp_path / "weights.npy"
    public = Public(1000, 4, 0.0, "replace_one", weighted=True)
    records = Records.admit(X, np.ones(1000), public, 1.0, None, mapped(path, np.ones(1000)))
    written(path, [1e6])
    assert float(records.share.max()) == 1.0


def test_columns_of_targets_and_judgements_stay_too(tmp_path):
    X, public = np.full((1000, 4), 0.4), Public(1000, 4, 0.0, "replace_one")
    path = tmp_path / "targets.npy"
    both = Records.admit_each(X, mapped(path, np.ones((1000, 2))), public, 1.0)
    again = both[0].with_targets(mapped(tmp_path / "y.npy", np.ones(1000)))
    written(path, [-1e6])
    written(tmp_path / "y.npy", [-1e6])
    assert all(float(np.abs(records.y).max()) == 1.0 for records in (*both, again))
    path = tmp_path / "documents.npy"
    documents = Documents.of(mapped(path, X), [500, 500], data_norm=1.0)
    before = documents.middle.copy()
    written(path, np.full(4, 1e6))
    assert np.linalg.norm(documents.rows.tdot(documents.alike()) - before) == 0.0


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]
)
def test_sparse_tables_stay_too(tmp_path, form):
    table = form(np.full((1000, 4), 0.4))
    for name in ("data", "indices", "indptr"):
        if name in vars(table):
            setattr(table, name, mapped(tmp_path / f"{name}.npy", getattr(table, name)))
    assert is_shared(table.data)
    moved = moved_by_the_writer(table, np.ones(1000), tmp_path / "data.npy", np.full(4, 1e6))
    assert moved == 0.0


def test_what_is_shared_and_what_is_not(tmp_path):
    X = np.full((10, 4), 0.4)
    path = tmp_path / "X.npy"
    M = mapped(path, X)
    held = shared_memory.SharedMemory(create=True, size=X.nbytes)
    try:
        shown = np.ndarray(X.shape, buffer=held.buf)
        shared = [M, M[2:], M.T, np.asarray(M), np.asarray(M)[::2, 1:], M.view(np.uint64)]
        shared += [shown, shown[1:], np.frombuffer(bytearray(X.tobytes()))]
        own = [X, X[2:], X.T, M + 0.0, M[[0, 1]], np.frombuffer(X.tobytes()), np.empty(0)]
        assert [is_shared(a) for a in shared] == [True] * len(shared)
        assert [is_shared(a) for a in own] == [False] * len(own)
        for a in shared:
            kept = copy_if_shared(a)
            assert type(kept) is np.ndarray and not is_shared(kept) and np.array_equal(kept, a)
        assert all(copy_if_shared(a) is a for a in own)
        del shown, shared, a
    finally:
        held.close()
        held.unlink()


def test_every_engine_is_given_what_nobody_else_writes(tmp_path):
    # An engine of other tables than arrays and scipy's says here how its tables are held.
    known = {np.ndarray: "DenseRows", sparse.csr_array: "SparseRows", Shards: "ShardRows"}
    assert sorted(engine.__name__ for engine in ENGINES) == sorted(known.values())


CASES = list(predictors_and_buyers())


def shown(model):
    return {k: pickle.dumps(v) for k, v in vars(model).items() if k != "privacy_"}


@pytest.mark.parametrize("name, kind, more", CASES, ids=["-".join([c[0], *c[2]]) for c in CASES])
def test_a_fit_on_a_map_is_that_of_the_rows_that_were_there(
    tmp_path, monkeypatch, name, kind, more
):
    def of(writes):
        path, asked = tmp_path / f"{writes}.npy", Oracle.ask
        X = mapped(path, np.random.default_rng(0).normal(size=(300, 3)) / 6.0)
        done = []

        def asking(self, question):
            if writes and not done:
                done.append(written(path, np.full(3, 1e6)))
            return asked(self, question)

        with monkeypatch.context() as patched:
            patched.setattr(Oracle, "ask", asking)
            model = fitted_on(name, kind, X, **more)
        assert bool(done) is writes
        return shown(model)

    assert of(True) == of(False)


def test_a_fit_that_holds_the_map_is_found(tmp_path, monkeypatch):
    from skdp.entry import _arrays, _views

    for room in (_records, _views, _arrays, _engine):
        monkeypatch.setattr(room, "copy_if_shared", lambda X: X)
    case = next(c for c in CASES if c[0] == "DPLogisticRegression" and not c[2])
    with pytest.raises(AssertionError):
        test_a_fit_on_a_map_is_that_of_the_rows_that_were_there(tmp_path, monkeypatch, *case)
    assert inspect.signature(case[1]).parameters["data_norm"].default is None


@pytest.mark.usefixtures("copies")
def test_maps_and_arrays_give_one_model(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] > 0
    for model in (
        DPLogisticRegression(data_norm=2.0, classes=[0, 1], random_state=0),
        DPRidge(data_norm=2.0, y_bounds=(0.0, 1.0), random_state=0),
    ):
        one = shown(model.fit(X, y.astype(float)))
        targets = mapped(tmp_path / "y.npy", y.astype(float))
        assert shown(model.fit(mapped(tmp_path / "X.npy", X), targets)) == one
