"""Tables in files that nobody else can open: they are the table, end with it, and rows over them keep every bit."""

import gc
import os
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest
from laws.row_laws import short_rows

from skdp import DPLogisticRegression, NotSupported
from skdp.mechanisms import _shared_memory
from skdp.mechanisms._rows import DenseRows
from skdp.mechanisms._shared_memory import (
    by_parts,
    copy_if_shared,
    is_shared,
    is_stored,
    parts_of,
    store,
)
from skdp.privacy import Ledger

DTYPES = (np.float64, np.float32)


def stored(X):
    """A table in a file, from three blocks."""
    cuts = np.linspace(0, len(X), 4).astype(int)
    return store((X[a:b] for a, b in pairwise(cuts)), X.shape, X.dtype)


@pytest.fixture
def small_files(monkeypatch):
    """Tables of any size go to files, a few rows at a time."""
    monkeypatch.setattr(_shared_memory, "LARGE", 0)
    monkeypatch.setattr(_shared_memory, "AT_ONCE", 1000)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (100, 7), (5, 0)])
def test_a_stored_table_is_the_table(shape, dtype):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    found = stored(X)
    assert type(found) is np.ndarray and found.dtype == dtype and np.array_equal(found, X)
    assert found.flags.c_contiguous and not is_shared(found)
    assert found.size == 0 or (is_stored(found) and is_stored(found[1:].T) and not is_stored(X))
    assert copy_if_shared(found) is found


def open_files():
    return [
        os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)
    ]


def _is_open(fd):
    return os.path.lexists(f"/proc/self/fd/{fd}")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_its_file_has_no_name_and_ends_with_the_last_array(tmp_path, monkeypatch):
    monkeypatch.setattr(_shared_memory, "TemporaryFile", lambda: _scratch_in(tmp_path))
    X = stored(np.ones((1000, 4)))
    assert list(tmp_path.iterdir()) == []  # nobody can open it
    assert any(str(tmp_path) in line for line in Path("/proc/self/maps").read_text().splitlines())
    view = X[10:].T
    del X
    assert view.sum() == 990 * 4.0
    del view
    gc.collect()
    maps = Path("/proc/self/maps").read_text()
    assert str(tmp_path) not in maps and not any(str(tmp_path) in name for name in open_files())


def _scratch_in(folder):
    return TemporaryFile(dir=folder)


def test_a_killed_process_leaves_nothing(tmp_path):
    code = (
        "import os, numpy as np; from skdp.mechanisms._shared_memory import store; "
        "X = store([np.ones((1000, 4))], (1000, 4), float); os.kill(os.getpid(), 9)"
    )
    given = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=given, timeout=60, check=False)
    assert done.returncode == -9 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [np.ones((3, 2))],
        [np.ones((3, 2)), np.ones((1, 2)), np.ones((1, 2))],
        [np.ones((4, 2)), np.ones((4, 2))],
        [np.ones((4, 3))],
        [np.ones(4)],
        [np.ones((2, 2)), np.ones((2, 1))],
    ],
)
def test_blocks_that_are_not_the_table_are_refused(blocks):
    with pytest.raises(NotSupported, match="X does not hold the rows and columns that it had") as e:
        store(blocks, (4, 2), np.float64)
    assert not any(word.isdigit() for word in str(e.value).split())


def test_a_disk_without_room_is_told_in_a_sentence(monkeypatch):
    class Full:
        def close(self):
            raise OSError(28, "No space left on device")

        def write(self, what):
            raise OSError(28, "No space left on device: 4711 bytes of Alice")

    for make in (Full, partial(TemporaryFile, dir="/nowhere/at/all")):
        monkeypatch.setattr(_shared_memory, "TemporaryFile", make)
        with pytest.raises(
            NotSupported, match=r"has no room for a copy of X; set the .* TMPDIR"
        ) as e:
            store([np.ones((4, 2))], (4, 2), np.float64)
        assert e.value.__context__ is None


def test_parts_are_all_rows_once():
    for n, row_bytes in ((0, 8), (1, 8), (10, 0), (10_000, 4096), (3, 1 << 40)):
        parts = list(parts_of(n, row_bytes))
        assert [i for part in parts for i in range(n)[part]] == list(range(n))


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["short", "long", "beyond"])
def test_rows_over_a_file_have_the_bits_of_those_in_memory(dtype, kind):
    rng = np.random.default_rng(0)
    X = short_rows(rng, 1000, 12, dtype)
    if kind != "short":
        X *= 10.0 ** rng.uniform(-2, 3, size=(1000, 1)).astype(dtype)
    if kind == "beyond":
        X[::100] = 0.1 * np.finfo(dtype).max
    one, other = (DenseRows.bounded(form, 2.0, 0.25) for form in (X, stored(X)))
    assert is_stored(other._x) and not is_stored(one._x)
    index, w = rng.integers(1000, size=1500), rng.normal(size=13)
    for pick in (slice(None), slice(3, 900), index):
        a, b = one.take(pick), other.take(pick)
        assert is_stored(b._x)
        for form in (lambda rows: rows, lambda rows: rows.in_double(), lambda rows: rows.rough()):
            _same(form(a), form(b), w)


def _same(a, b, w):
    assert a.dtype == b.dtype and np.array_equal(a.norms, b.norms)
    assert np.array_equal(a.dot(w), b.dot(w)) and np.array_equal(a.whole_dot(w), b.whole_dot(w))
    assert np.array_equal(a.tdot(a.norms), b.tdot(b.norms))
    assert np.array_equal(a.moment(), b.moment()) and np.array_equal(
        a.gram(a.norms), b.gram(b.norms)
    )
    assert np.array_equal(a.image_norms(np.eye(13)[:4], True), b.image_norms(np.eye(13)[:4], True))
    assert np.array_equal(a.careful_dot(w, w * 1e-20), b.careful_dot(w, w * 1e-20))
    assert np.array_equal(a.max_abs(), b.max_abs()) and (a.shrink is None) == (b.shrink is None)


@pytest.mark.usefixtures("small_files")
def test_what_is_made_of_a_stored_table_is_stored_by_parts():
    X, asked = stored(np.arange(2000.0).reshape(500, 4)), []

    def twice(part):
        asked.append(part.stop - part.start)
        return 2.0 * X[part]

    found = by_parts(twice, X.shape, np.float64, X)
    assert is_stored(found) and np.array_equal(found, 2.0 * X) and max(asked) < 500
    memory = np.array(X)
    assert not is_stored(by_parts(lambda part: memory[part], X.shape, np.float64, memory))


def test_a_fit_of_a_map_that_finds_no_room_says_so_and_costs_nothing(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(100, 3)))
    X, ledger = np.load(tmp_path / "X.npy", mmap_mode="r"), Ledger(1.0, 1e-5)
    monkeypatch.setattr(_shared_memory, "LARGE", 0)
    monkeypatch.setattr(_shared_memory, "TemporaryFile", partial(TemporaryFile, dir="/nowhere"))
    model = DPLogisticRegression(classes=[0, 1], data_norm=1.0, ledger=ledger)
    with pytest.raises(NotSupported, match=r"has no room for a copy of X; .* load X into memory"):
        model.fit(X, np.arange(100) % 2)
    assert ledger.spent == 0.0
