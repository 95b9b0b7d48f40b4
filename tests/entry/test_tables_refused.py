"""What is refused of tables, columns and targets, in sentences that show no cell; and cells that few tables hold."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from skdp.entry import any_table, cells_of, is_frame, labels, read_cell, read_targets, table
from skdp.entry._cells import _read_all
from skdp.entry._units import shares_of_bound

X = np.arange(6.0).reshape(3, 2)


def asked(relation="replace_one"):
    """What a check asks of an estimator."""
    return SimpleNamespace(neighbors=relation)


class Full:
    """Does not fit into memory."""

    shape, ndim = (3,), 1

    def __array__(self, dtype=None, copy=None):
        raise MemoryError("Unable to allocate 3 records")


def test_what_does_not_fit_into_memory_is_told_without_a_count():
    for call in (table, any_table):
        with pytest.raises(MemoryError, match="X does not fit into memory as a table of doubles"):
            call(asked(), Full(), reset=True)
    with pytest.raises(MemoryError, match="y does not fit into memory"):
        labels(asked(), Full(), 3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pd.DataFrame(X, columns=["a", "a"]), "X names a column twice"),
        (pd.DataFrame(X).iloc[:0], "X holds no records"),
        (pd.DataFrame(X).iloc[:, :0], r"0 feature\(s\)"),
        ([1.0, 2.0], "Expected 2D array, got 1D array"),
        ([[1.0], [2.0, 3.0]], "X is ragged"),
    ],
)
def test_tables_of_any_cells_are_refused_by_their_shape(given, said):
    with pytest.raises(ValueError, match=said):
        any_table(asked(), given, reset=True)


def test_other_columns_than_those_of_fit_are_refused():
    known = SimpleNamespace(neighbors="replace_one", n_features_in_=2)
    for call in (table, any_table):
        with pytest.raises(ValueError, match="X has 3 features, but"):
            call(Known(known), np.zeros((3, 3)), reset=False)
        with pytest.raises(TypeError, match="Feature names are only supported"):
            call(asked(), pd.DataFrame(X, columns=["a", 1]), reset=True)


class Known(pd.core.base.PandasObject):
    """An estimator that has been fitted."""

    def __init__(self, facts):
        vars(self).update(vars(facts))

    def __sklearn_tags__(self):
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()


class Odd:
    """Fails as scikit-learn looks at it, and is a column afterwards."""

    shape, ndim = (3,), 1

    def __init__(self):
        self.calls = 0

    def __array__(self, dtype=None, copy=None):
        self.calls += 1
        if self.calls == 1:
            raise ValueError("Alice")
        return np.arange(3)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (csr_array(np.ones((3, 1))), "Sparse data was passed for y"),
        ([[1], [2, 3], [4]], "y is ragged"),
        (np.ones(3, complex), "Complex data not supported: y holds complex numbers"),
        (np.ones((3, 2)), "y should be a 1d array"),
        (Odd(), "y could not be read as a column of labels"),
    ],
    ids=["sparse", "ragged", "complex", "table", "odd"],
)
def test_what_is_no_column_is_refused(y, said):
    with pytest.raises((TypeError, ValueError), match=said):
        labels(asked(), y, 3)


def test_dates_and_complex_numbers_are_no_cells():
    assert is_frame(pd.DataFrame(X))
    for cells, kind in ((np.zeros((3, 1), complex), "complex"), (dates(), "dates")):
        with pytest.raises(ValueError, match=f"Column 'x' holds {kind}"):
            cells_of(cells, 0, "x", True)


def dates():
    """A column of days."""
    return np.zeros((3, 1), dtype="M8[D]")


class Column(list):
    """A column that says nothing of its type, as those of polars do."""

    def __getitem__(self, at):
        found = super().__getitem__(at)
        return np.array(found) if isinstance(at, slice) else found


def test_a_column_of_another_library_is_known_by_its_first_cells():
    class Frame:
        columns, shape = ["a"], (2, 1)

        def __getitem__(self, name):
            return Column([1.0, 2.0])

    assert_array_equal(cells_of(Frame(), 0, "a", True), [1.0, 2.0])


def test_scalars_of_arrow_are_what_they_hold():
    class Scalar:
        def __init__(self, value):
            self.value = value

        def as_py(self):
            return self.value

    assert read_cell(Scalar(3)) == 3.0 and read_cell(Scalar(" a ")) == "a"
    assert list(_read_all(["1", "1", "a", None, 2])) == [1.0, 1.0, "a", None, 2.0]


class Fickle:
    """Fails while its type is looked at, and is text afterwards."""

    shape, ndim = (3,), 1

    def __init__(self, calls):
        self.calls = calls

    def __array__(self, dtype=None, copy=None):
        self.calls -= 1
        if self.calls >= 0:
            raise ValueError("Alice")
        return np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([1.0, np.nan, 2.0], "Input y contains NaN or infinity"),
        (["a", "1", "2"], "y holds text, missing values or other non-numbers"),
        (np.zeros((3, 2)), "predicts one number, but y has 2 columns"),
        (Fickle(1), "y holds text; a regressor needs one number for each record"),
    ],
)
def test_targets_that_are_no_numbers_are_refused(y, said):
    with pytest.raises(ValueError, match=said):
        read_targets(asked(), y, 3, False)


def test_weights_under_a_mask_weigh_nothing():
    given = np.ma.array([0.5, 0.5, 1.0], mask=[False, True, False])
    assert_array_equal(shares_of_bound(given, None, 3), [0.5, 0.0, 1.0])
    for wrong in (np.zeros((3, 1)), np.zeros(2), {1.0, 0.5}):
        with pytest.raises(ValueError, match="sample_weight must be a 1D array"):
            shares_of_bound(wrong, None, 3)
