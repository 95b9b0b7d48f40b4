"""Data at the door: scikit-learn converts and checks them, and every refusal is a sentence of our own.

What scikit-learn, numpy and pandas say of wrong data shows cells of it ("could not convert string to float: 'Alice'",
"got 1D array instead: array=[...]"). So nothing of their exceptions is passed on: no text, arguments, notes or chain.
The cause is looked up anew in the type and the shape of the data. All is raised outside of ``except`` blocks, for
``from None`` keeps the exception that it hides in ``__context__``, where log collectors find it.

Under add/remove neighbours the number of records is private, and where a record may have several rows theirs is: no
sentence shows it, nor the length of y.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from .._messages import frames_to_caller
from ..exceptions import NotSupported
from ..mechanisms._engine import read_table
from ..mechanisms._shared_memory import copy_if_shared

__all__ = [
    "Array",
    "any_table",
    "attempt",
    "hides_count",
    "is_frame",
    "known_labels",
    "labels",
    "table",
    "warn_of_column",
]

Array = np.ndarray[Any, Any]

FLOATS = [np.float64, np.float32]
FORMATS = ("csr", "csc", "coo")  # of sparse tables: each stores one entry after the other
RESHAPE = "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
# How scikit-learn's comparison of columns with those of fit begins: it shows names, types and widths, which are public.
OF_COLUMNS = re.compile(
    r"The feature names should match|X has \d+ features, but|Feature names are only supported"
)


def attempt(call: Callable[[], Any]) -> tuple[Any, type[Exception] | None]:
    """Run `call`; of an exception keep nothing but its kind.

    Parameters
    ----------
    call : callable
        Without arguments.

    Returns
    -------
    result : object
        What it returned, or None.
    kind : type or None
        TypeError, MemoryError or, for anything else that was raised, ValueError.
    """
    try:
        with np.errstate(all="ignore"):  # whether a cast overflows is seen afterwards
            return call(), None
    except (TypeError, MemoryError) as error:
        return None, TypeError if isinstance(error, TypeError) else MemoryError
    except Exception:
        return None, ValueError


def table(
    estimator: Any, X: ArrayLike, *, reset: bool, sparse: bool = True, engines: bool = False
) -> Any:
    """X as a finite table of floats, dense or sparse, and its columns compared with those of fit.

    Which engine holds it is asked before anything else of it.

    Parameters
    ----------
    estimator : estimator
        Keeps the names and the number of columns.
    X : array-like of shape (n_samples, n_features)
        What the user gave.
    reset : bool
        Whether this is a fit, which sets names and number.
    sparse : bool, default=True
        Whether sparse tables are taken.
    engines : bool, default=False
        Whether tables are taken that neither numpy nor scipy holds.

    Returns
    -------
    ndarray, sparse table or table of another engine, of shape (n_samples, n_features)
        float64, or float32 where X is an array of that; a frame is float64, and dense. A sparse one is by rows, by
        columns or as triplets, with its entries as stored: scipy adds up those of one cell in an order that depends on
        other rows.
    """
    asked: Any = {"dtype": FLOATS, "input_name": "X", "accept_sparse": sparse and FORMATS}
    own = copy_if_shared if reset else _as_it_is  # a fit reads it more than once

    rows, foreign = read_table(X, reset)
    found, kind = rows, None
    if foreign and not engines:
        raise NotSupported(_why_foreign(rows))
    if not foreign:
        found, kind = attempt(lambda: own(check_array(_with_cells(rows), **asked)))
    if kind is not None:
        raise kind(_why_no_table(rows, kind, hides_count(estimator), sparse))
    kind, said = _compared(estimator, rows, reset)
    if kind is not None:
        raise kind(said)
    # One text in a frame decides the type of its column: of an array the user says it, and of others their engine.
    own_type = foreign or isinstance(rows, np.ndarray) or issparse(rows)
    return found if own_type else found.astype(np.float64, copy=False)


def _why_foreign(X: Any) -> str:
    """Return the message on a table that neither numpy nor scipy holds, where its cells are needed."""
    return (
        f"a table of type {type(X).__name__} can be fitted with a declared data_norm, and nothing else is done with "
        "it; pass an array or a sparse table of scipy here."
    )


def _as_it_is(X: Any) -> Any:
    return X


def any_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a frame or a 2D array of cells of any kind, and its columns compared with those of fit.

    Parameters
    ----------
    estimator : estimator
        Keeps the names and the number of columns.
    X : frame or array-like of shape (n_samples, n_features)
        What the user gave.
    reset : bool
        Whether this is a fit, which sets names and number.

    Returns
    -------
    frame or ndarray of shape (n_samples, n_features)
        No cell of it has been looked at.
    """
    X, foreign = read_table(X, False)
    if foreign:
        raise NotSupported(_why_foreign(X))
    found, kind = X, None
    if not is_frame(X):
        found, kind = attempt(
            lambda: check_array(_with_cells(X), dtype=None, ensure_all_finite=False, input_name="X")
        )
    elif 0 in X.shape or len(set(X.columns)) < len(X.columns):
        kind = ValueError
    if kind is not None:
        raise kind(_why_no_cells(X, kind))
    kind, said = _compared(estimator, X, reset)
    if kind is not None:
        raise kind(said)
    return found


def is_frame(X: Any) -> bool:
    """Return True if X has columns by name, as the frames of pandas and polars have.

    Parameters
    ----------
    X : object
        What the user gave.

    Returns
    -------
    bool
    """
    return hasattr(X, "columns") and hasattr(X, "shape") and hasattr(X, "__getitem__")


def _why_no_cells(X: Any, kind: type[Exception]) -> str:
    """Return the message on what is wrong with a table of any cells."""
    if is_frame(X) and 0 not in X.shape:
        return "X names a column twice; give each column a name of its own."
    return _why_no_table(X, kind, True)


def _with_cells(X: Any) -> Any:
    """Sparse tables of other formats as triplets; cells of a list as they are, also where one of them is text.

    Sparse columns of a frame become dense: one text makes another type of its column, and then of the whole table.
    """
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
        return np.asarray(X, dtype=object)
    if is_frame(X) and any(hasattr(kind, "fill_value") for kind in getattr(X, "dtypes", ())):
        return np.asarray(X)
    return X.tocoo() if issparse(X) and X.format not in FORMATS else X


class _Columns(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Names and number of columns, as scikit-learn sets them."""


def _compared(
    estimator: Any, X: ArrayLike, reset: bool
) -> tuple[type[Exception] | None, str | None]:
    """Return kind and text of an error in names and number of columns, or None twice.

    Where they are set, an estimator is told of them afterwards: none of its methods is called beside a user's table.
    """
    seen = _Columns() if reset else estimator
    try:
        validate_data(seen, X, reset=reset, skip_check_array=True)
    except Exception as error:
        kind, said = TypeError if isinstance(error, TypeError) else ValueError, str(error)
        known = OF_COLUMNS.match(said)
        return kind, said if known else "X has columns that cannot be counted; pass a 2D array."
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        vars(estimator).update(vars(seen))
    return None, None


def _why_no_table(X: Any, kind: type[Exception], private: bool, sparse: bool = False) -> str:
    """Return the message on what is wrong with X, by its type and shape."""
    if kind is MemoryError:
        return "X does not fit into memory as a table of doubles; fit on fewer columns, or give float32."
    if issparse(X) and not sparse:
        return "Sparse data was passed for X, but dense data is required; use X.toarray()."
    found, wrong = (X, None) if issparse(X) else attempt(lambda: np.asarray(X))
    if wrong is not None:
        return "X is ragged or not a table; pass rows of equal length, with a number in each cell."
    if found.dtype.kind == "c":
        return "Complex data not supported: X holds complex numbers; pass real ones."
    if found.ndim != 2:
        shape = f"{found.ndim}D" if found.ndim else "scalar"
        return f"Expected 2D array, got {shape} array instead in X ({RESHAPE})."
    if 0 in found.shape:
        return _why_empty(found.shape, private)
    return _why_no_numbers(attempt(lambda: _with_cells(X).data)[0] if issparse(X) else found)


def _why_empty(shape: tuple[int, ...], private: bool) -> str:
    what = "feature" if shape[0] else "sample"
    if private and what == "sample":
        return "X holds no records; a fit needs at least one."
    # scikit-learn's checks look for a shape, also without the number
    count = "" if private else shape[0]
    return f"Found array with 0 {what}(s) (shape=({count}, {shape[1]})) while a minimum of 1 is required."


def _why_no_numbers(found: Array) -> str:
    numbers, kind = attempt(lambda: found.astype(np.float64))
    if kind is TypeError:
        return "X holds objects that are not numbers; each argument must be a string of digits or a real number."
    if kind is not None:
        return (
            "X holds text that is not a number, or a number too large for a double; declare its columns in "
            "skdp.preprocessing.TableEncoder or DeclaredEncoder."
        )
    if np.isnan(numbers).any():
        return (
            "Input X contains NaN; put skdp.preprocessing.DPImputer, which charges a budget, or "
            "TableEncoder(missing=...) in front."
        )
    if not np.isfinite(numbers).all():
        return "Input X contains infinity or a value too large for its type; clip it first."
    return "X could not be read as a table of real numbers; pass a 2D numpy array of floats."


def labels(estimator: Any, y: ArrayLike, n: int) -> Array:
    """The target as a column of n numbers or strings.

    Parameters
    ----------
    estimator : estimator
        Knows whether the number of records is public.
    y : array-like of shape (n_samples,)
        What the user gave.
    n : int
        Rows of X.

    Returns
    -------
    ndarray of shape (n,)
        Booleans, finite numbers or strings.
    """
    private = hides_count(estimator)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    found: Array
    found, kind = attempt(lambda: column_or_1d(y))
    if kind is not None:
        raise kind(_why_no_column(y, kind, private))
    _refuse_length(found, n, private)
    if (why := known_labels(found)[1]) is not None:
        raise (TypeError if found.dtype.kind == "S" else ValueError)(
            f"Unknown label type: y {why}."
        )
    return found


def warn_of_column(y: ArrayLike) -> None:
    """Warn, on the line of the user's fit, where the labels came as a column of a table.

    Parameters
    ----------
    y : array-like
        What the user gave, and `labels` has taken.
    """
    if attempt(lambda: np.ndim(y))[0] == 2:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel().",
            DataConversionWarning,
            stacklevel=frames_to_caller(),
        )


def _why_no_column(y: Any, kind: type[Exception], private: bool) -> str:
    """Return the message on what is wrong with the shape of y."""
    if kind is MemoryError:
        return "y does not fit into memory; encode the labels as small integers."
    if issparse(y):
        return "Sparse data was passed for y, but dense data is required; use y.toarray().ravel()."
    found, wrong = attempt(lambda: np.asarray(y))
    if wrong is not None:
        return "y is ragged; pass a list of labels, one for each record."
    if found.dtype.kind == "c":
        return "Complex data not supported: y holds complex numbers; pass labels."
    if found.ndim == 1:
        return "y could not be read as a column of labels; pass a 1D numpy array."
    shape = f"{found.ndim} dimensions" if private else f"shape {found.shape}"
    return (
        f"y should be a 1d array, got an array of {shape} instead; pass one label for each record."
    )


def known_labels(found: Array) -> tuple[Array, None] | tuple[None, str]:
    """The array itself if labels may be such, and else why not.

    Parameters
    ----------
    found : ndarray of shape (n,)
        Of any type.

    Returns
    -------
    array : ndarray or None
        Booleans, finite numbers or strings.
    why : str or None
        What is wrong, without a label.
    """
    kind = found.dtype.kind
    if kind in "biuUT":
        return found, None
    if kind == "f":
        if np.isfinite(found).all():
            return found, None
        return None, "contains NaN or infinity; drop such records first"
    if kind == "O" and all(isinstance(label, str) for label in found):
        return found, None
    if kind == "O":
        return (
            None,
            "holds objects, missing values (None, NaN) or a mix of text and numbers; use one type",
        )
    return None, "holds neither numbers nor strings; convert its labels to one of them"


def _refuse_length(y: Array, n: int, private: bool) -> None:
    """Refuse a target that has not one entry for each row."""
    if len(y) != n:
        shown = "" if private else f" ([{n}, {len(y)}])"
        raise ValueError(f"X and y have inconsistent lengths{shown}; pass one label for each row.")


def hides_count(estimator: Any) -> bool:
    """Return True if the number of rows is private: no sentence may show it."""
    several = getattr(estimator, "max_rows_per_group", None) is not None
    several = several or getattr(estimator, "privacy_unit", None) in ("list", "user")
    return several or getattr(estimator, "neighbors", None) != "replace_one"
