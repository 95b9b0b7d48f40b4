"""Tables in files: fits are those of the table in memory to the last bit, and what cannot be read costs nothing."""

import os
import pickle
from itertools import pairwise

import numpy as np
import pytest
from laws import row_laws

from skdp import DPGaussianNB, DPLogisticRegression, DPRidge, NotSupported, make_pipeline
from skdp.engines import Shards, open_npy
from skdp.mechanisms import Oracle, _shards, _shared_memory
from skdp.mechanisms._shards import Part, ShardRows
from skdp.mechanisms._shared_memory import store
from skdp.metrics import dp_score
from skdp.model_selection import DPGridSearchCV
from skdp.preprocessing import DPStandardScaler
from skdp.privacy import Ledger

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5)) * RNG.uniform(0.1, 2.0, size=(400, 1))
Y = (X[:, 0] + 0.3 * RNG.normal(size=400) > 0).astype(int)
CUTS = (0, 1, 150, 150, 400)


@pytest.fixture(autouse=True)
def small_files(monkeypatch):
    """Whatever is made of a table in a file goes to a file, some rows at a time."""
    monkeypatch.setattr(_shared_memory, "LARGE", 0)
    monkeypatch.setattr(_shared_memory, "AT_ONCE", 2000)
    monkeypatch.setattr("skdp.entry._npy.AT_ONCE", 1000)


def saved(folder, table, order="C"):
    """Shards of a table in four files, of which one holds a row, and one none."""
    for k, (start, stop) in enumerate(pairwise(CUTS)):
        np.save(folder / f"{k}.npy", np.asarray(table[start:stop], order=order))
    return open_npy(folder)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u1", "?", ">f8", ">f4"])
def test_what_is_read_is_what_was_written(tmp_path, dtype, order):
    table = (10.0 * np.abs(X)).astype(dtype)
    shards = saved(tmp_path, table, order)
    assert shards.shape == table.shape and repr(shards) == f"Shards(5 columns, {shards.dtype})"
    found = ShardRows.read(shards)
    assert found.dtype == (np.float32 if dtype == "f4" else np.float64)  # as of arrays
    assert np.array_equal(found, table.astype(np.float64))


def test_files_are_named_in_one_order_or_another(tmp_path):
    saved(tmp_path, X)
    names = [tmp_path / f"{k}.npy" for k in range(4)]
    for paths in (tmp_path, str(tmp_path), names, map(str, names)):
        assert np.array_equal(ShardRows.read(open_npy(paths)), X)
    back = ShardRows.read(open_npy(names[::-1]))
    assert np.array_equal(back, np.concatenate([X[150:], X[1:150], X[:1]]))


GIVEN = {"epsilon": 5.0, "delta": 1e-5, "random_state": 0}
BINARY = {**GIVEN, "classes": [0, 1]}
MODELS = {
    "declared": lambda: DPLogisticRegression(**BINARY, data_norm=2.0),
    "bought": lambda: DPLogisticRegression(**BINARY),
    "shuffled": lambda: DPLogisticRegression(**BINARY, data_norm=2.0, solver="rsgd-ar"),
    "batches": lambda: DPLogisticRegression(**BINARY, data_norm=2.0, solver="sgd"),
    "add_remove": lambda: DPLogisticRegression(
        **BINARY, data_norm=2.0, neighbors="add_remove", n_public=400
    ),
    "ridge": lambda: DPRidge(**GIVEN, data_norm=2.0, y_bounds=(0.0, 1.0)),
    "bayes": lambda: DPGaussianNB(**BINARY, bounds=(-3.0, 3.0)),
    "pipeline": lambda: make_pipeline(DPStandardScaler(**GIVEN), DPLogisticRegression(**BINARY)),
    "search": lambda: DPGridSearchCV(
        DPLogisticRegression(data_norm=2.0, classes=[0, 1], solver="gd"), {"C": [0.1, 1.0]}, epsilon=20.0,
        delta=1e-5, random_state=0,
    ),
}  # fmt: skip


LONG = ("search", "batches")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, np.float64) for name in MODELS if name not in LONG),
        *(pytest.param(name, np.float64, marks=pytest.mark.slow) for name in LONG),
        ("declared", np.float32),
        ("bought", np.float32),
    ],
)
def test_a_fit_of_files_is_that_of_the_table(tmp_path, name, dtype):
    table = X.astype(dtype)
    shards = saved(tmp_path, table)
    one, other = (MODELS[name]().fit(form, Y) for form in (table, shards))
    for what in ("predict", "predict_proba", "decision_function"):
        if hasattr(one, what):
            found = getattr(other, what)(shards)
            assert np.array_equal(getattr(one, what)(table), found), what
    assert one.score(table, Y) == other.score(shards, Y)


def test_persons_and_weights_of_files(tmp_path):
    shards, persons = saved(tmp_path, X), RNG.permutation(400) // 3
    for more, beside in (
        ({"max_rows_per_group": 2}, {"groups": persons}),
        ({}, {"sample_weight": RNG.random(400)}),
    ):
        model = DPLogisticRegression(**BINARY, data_norm=2.0, **more)
        one = model.fit(X, Y, **beside).coef_
        assert np.array_equal(one, model.fit(shards, Y, **beside).coef_)


def test_a_private_score_of_files(tmp_path):
    model = MODELS["declared"]().fit(X, Y)
    shards = saved(tmp_path, X)
    one, other = (dp_score(model, form, Y, epsilon=1.0, random_state=0) for form in (X, shards))
    assert pickle.dumps(one.value) == pickle.dumps(other.value)


# ------------------------------------------------------------------------------------ what cannot be read


def test_a_file_that_is_named_twice_is_refused(tmp_path):
    saved(tmp_path, X)
    os.link(tmp_path / "3.npy", tmp_path / "4.npy")
    for paths in (tmp_path, [tmp_path / "0.npy"] * 2):
        with pytest.raises(ValueError, match="names a file twice"):
            open_npy(paths)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([X, X[:, :3]], "same number of columns"),
        ([X[0]], "two dimensions"),
        ([X.astype("U4")], "must hold real numbers"),
        ([X + 1j], "must hold real numbers"),
    ],
)
def test_files_that_are_no_table_are_refused_when_they_are_opened(tmp_path, tables, said):
    for k, table in enumerate(tables):
        np.save(tmp_path / f"{k}.npy", table)
    with pytest.raises(ValueError, match=said):
        open_npy(tmp_path)
    with pytest.raises(ValueError, match="paths is empty"):
        open_npy([])
    (tmp_path / "none").mkdir()
    with pytest.raises(FileNotFoundError, match=r"holds no .npy file"):
        open_npy(tmp_path / "none")


def cut(path):
    os.truncate(path, path.stat().st_size - 8)


CHANGES = {
    "another shape": lambda path: np.save(path, X[:3]),
    "another type": lambda path: np.save(path, X[150:].astype(np.float32)),
    "another layout": lambda path: np.save(path, np.asfortranarray(X[150:])),
    "cut off": cut,
    "gone": lambda path: path.unlink(),
    "no file of numpy": lambda path: path.write_text("4711, Alice"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changed_before_it_was_read_costs_nothing(tmp_path, change):
    shards, ledger = saved(tmp_path, X), Ledger(10.0, 1e-3)
    CHANGES[change](tmp_path / "3.npy")
    model = DPLogisticRegression(classes=[0, 1], data_norm=2.0, ledger=ledger)
    with pytest.raises(NotSupported, match="open it again") as refused:
        model.fit(shards, Y)
    assert ledger.spent == 0.0 and refused.value.__context__ is None
    assert not any(word in str(refused.value) for word in ("4711", "Alice", "400", str(tmp_path)))


@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_a_number_that_is_none_is_refused(tmp_path, cell):
    wrong, ledger = X.copy(), Ledger(10.0, 1e-3)
    wrong[200, 2] = cell
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        DPLogisticRegression(classes=[0, 1], ledger=ledger).fit(saved(tmp_path, wrong), Y)
    assert ledger.spent == 0.0


# ----------------------------------------------------------------------------- attacks, and twins that are wrong


def fitted_while_it_is_written(path, writes):
    """A model of a file that somebody else writes at the first question."""
    np.save(path, X)
    asked, done = Oracle.ask, []

    def asking(self, question):
        if writes and not done:
            done.append(True)
            np.load(path, mmap_mode="r+")[-1] = 1e6
        return asked(self, question)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Oracle, "ask", asking)
        model = DPLogisticRegression(**BINARY, data_norm=2.0).fit(open_npy(path), Y)
    assert bool(done) is writes
    return model.coef_


def test_files_that_are_written_during_a_fit_change_nothing(tmp_path):
    one, other = (fitted_while_it_is_written(tmp_path / f"{w}.npy", w) for w in (False, True))
    assert np.array_equal(one, other)


def test_a_fit_that_reads_the_file_itself_is_found(tmp_path, monkeypatch):
    """Norms are of the rows that were there at admission, sums of those that are there later."""

    def show(blocks, shape, dtype):
        table = np.load(next(tmp_path.glob("*.npy")), mmap_mode="r")
        _shared_memory._OWN.add(table.base)
        return np.asarray(table)

    monkeypatch.setattr(_shards, "store", show)
    before = fitted_while_it_is_written(tmp_path / "X.npy", False)
    after = fitted_while_it_is_written(tmp_path / "X.npy", True)
    assert not np.array_equal(before, after)


class CountsAPartTwice(ShardRows):
    """The first rows in the place of the last ones."""

    __slots__ = ()

    @staticmethod
    def read(X):
        table = np.array(ShardRows.read(X))
        part = len(table) // 3
        table[len(table) - part :] = table[:part]
        return table


class LeavesAPartOut(ShardRows):
    """All rows but the first ones."""

    __slots__ = ()

    @staticmethod
    def read(X):
        table = np.array(ShardRows.read(X))
        return table[len(table) // 3 :]


class TurnsPartsAround(ShardRows):
    """The last part first."""

    __slots__ = ()

    @staticmethod
    def read(X):
        return store(Shards(X._parts[::-1]).blocks(), X.shape, X.dtype)


@pytest.mark.parametrize(
    ("law", "twin"),
    [
        (row_laws.check_features, CountsAPartTwice),
        (row_laws.check_features, TurnsPartsAround),
        (row_laws.check_nothing_is_lost, LeavesAPartOut),
    ],
)
def test_the_laws_catch_parts_that_are_lost_or_doubled(law, twin):
    with pytest.raises(AssertionError):
        law(row_laws.table_of(twin, ShardRows.from_dense))


def test_a_part_that_is_read_twice_or_not_at_all_is_refused():
    parts = [Part(x.shape, x.dtype, lambda x=x: [x]) for x in np.array_split(X, 4)]
    for blocks in ([parts[0], *parts], parts[:-1]):
        with pytest.raises(NotSupported, match="open it again"):
            store(Shards(blocks).blocks(), X.shape, np.float64)


@pytest.mark.parametrize("name", ["declared", "bought", "shuffled"])
def test_a_fit_reads_each_part_once(name):
    """Whatever is read again is the copy."""
    read = []

    def part_of(k, rows):
        return Part(rows.shape, rows.dtype, lambda: read.append(k) or [rows])

    shards = Shards(part_of(k, rows) for k, rows in enumerate(np.array_split(X, 5)))
    MODELS[name]().fit(shards, Y)
    assert read == [0, 1, 2, 3, 4]
