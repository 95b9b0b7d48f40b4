"""Rows have norm at most 1 by the declaration alone, whatever the records hold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdp import datasets
from skdp.datasets import Matrix, Table
from skdp.datasets import _table as room

BOUNDS = {
    "x": (-3.0, 5.0),
    "heavy": (0, 1e9),
    "tiny": (1e-300, 2e-300),
    "vast": (-1.7e308, 1.7e308),
}
CATEGORIES = {"kind": ("a", "b", "c"), "flag": ("no", "yes")}


def table(numbers, words, target=None):
    columns = dict(zip(BOUNDS, np.asarray(numbers, float).T)) | dict(
        zip(CATEGORIES, np.asarray(words).T)
    )
    target = np.zeros(len(numbers)) if target is None else target
    return Table(
        "t", columns, target, bounds=BOUNDS, categories=CATEGORIES, symlog=frozenset({"heavy"})
    )


def exact_squared_norm(row):
    return sum(Fraction(float(value)) ** 2 for value in row)


numbers = st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=4, max_size=4)
words = st.lists(st.sampled_from(["a", "b", "c", "no", "yes", "?", ""]), min_size=2, max_size=2)


@given(numbers, words, st.sampled_from([np.float64, np.float32]))
def test_norm_at_most_one_whatever_the_record(values, kinds, dtype):
    (row,) = table([values], [kinds]).encode(dtype)
    assert np.isfinite(row).all()
    assert exact_squared_norm(row) <= 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [*range(1, 60), 784])
def test_norm_is_attained_and_not_passed(m, dtype):
    corners = np.where(np.arange(m) % 2, 1.0, -1.0)
    X = Matrix("m", corners[None], np.zeros(1), -np.ones(m), np.ones(m), ("0",)).encode(dtype)
    squared = exact_squared_norm(X[0])
    assert 1 - 64 * Fraction(float(np.finfo(dtype).eps)) < squared <= 1


def test_the_exact_root_would_not_do(monkeypatch):
    """The twin without the slack of `root` passes 1 for some number of columns."""
    monkeypatch.setattr(room, "root", lambda m, dtype: dtype(np.sqrt(m)))
    squared = []
    for m in range(1, 60):
        columns = {str(j): np.ones(1) for j in range(m)}
        twin = Table("t", columns, np.zeros(1), bounds=dict.fromkeys(columns, (0, 1)))
        squared.append(exact_squared_norm(twin.encode()[0]))
    assert max(squared) > 1


def test_a_row_does_not_see_the_others():
    values, kinds = [[1, 2, 1.5e-300, 3], [4, 5e8, 0, -1]], [["a", "no"], ["c", "?"]]
    both = table(values, kinds).encode()
    assert (both[0] == table(values[:1], kinds[:1]).encode()[0]).all()
    assert (both[1] == table(values[1:], kinds[1:]).encode()[0]).all()


def constant_table(cells):
    """A table, one column of which is of numbers, one of words; all rows but one may be alike."""
    columns = {"x": cells, "y": 0.5 * cells, "word": np.where(cells > 0.5, "b", "a")}
    bounds, words = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}, {"word": ("a", "b")}
    return Table("t", columns, np.zeros(len(cells)), bounds=bounds, categories=words)


def constant_matrix(cells):
    """The same as an array, one column of which is 0 in all rows but one."""
    X, ones = np.column_stack([cells, np.ones(len(cells)), 0.5 * cells]), np.ones(3)
    return Matrix("m", X, np.zeros(len(cells)), -ones, ones, ("0",))


ENCODED = {"Table": constant_table, "Matrix": constant_matrix}


def test_everything_that_encodes_is_held_to_the_law():
    public = {name for name in datasets.__all__ if hasattr(getattr(datasets, name), "encode")}
    assert public == set(ENCODED)


def moved_by_one(make, value):
    """How many rows are other ones, where one more record comes and where one is replaced."""
    cells, other = np.full(6, value), np.full(6, value)
    other[2] = 0.9
    tables = (make(c).encode() for c in (cells, other, np.append(cells, 0.9)))
    one, two, more = ([row.tobytes() for row in table] for table in tables)
    return sum(a != b for a, b in zip(one, two)), sum(a != b for a, b in zip(one, more))


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("value", [0.0, 1.0, -0.3, np.nan, 1e300])
def test_no_record_changes_the_rows_of_others(name, value):
    """Also where all others are alike: empty columns, constant ones, missing ones."""
    assert moved_by_one(ENCODED[name], value) == (1, 0)


def test_a_norm_by_the_columns_that_occur_is_found(monkeypatch):
    def encode(self):
        used = max(1, int(np.count_nonzero(self.X.any(axis=0))))
        return self.X / np.sqrt(used)

    monkeypatch.setattr(Matrix, "encode", encode)
    assert moved_by_one(constant_matrix, 0.0) == (6, 6)


def test_known_values():
    X = table([[5.0, np.nan, 0, 0]], [["b", "?"]]).encode() * np.sqrt(6)
    expected = [1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(X[0], expected, atol=1e-14)
    assert table([[0] * 4], [["a", "no"]]).encoded_names == (
        *BOUNDS,
        *("kind=a", "kind=b", "kind=c", "flag=no", "flag=yes"),
    )


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1)])
def test_bounds_refused(bounds):
    bad = Table("t", {"x": np.zeros(2)}, np.zeros(2), bounds={"x": bounds})
    with pytest.raises(ValueError, match="low < high"):
        bad.encode()


def test_a_column_needs_one_declaration():
    with pytest.raises(ValueError, match="exactly one declaration"):
        Table("t", {"x": np.zeros(2)}, np.zeros(2))


def test_take_and_drop():
    whole = table([[1, 2, 0, 3], [4, 5, 0, 6]], [["a", "no"], ["b", "yes"]], np.array([0, 1]))
    part = whole.take([1]).drop("kind")
    assert len(part) == 1 and part.feature_names == (*BOUNDS, "flag")
    assert part.columns["x"].tolist() == [4.0] and part.target.tolist() == [1]
    with pytest.raises(ValueError, match="No column 'absent'"):
        whole.drop("absent")
