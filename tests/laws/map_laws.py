"""Whatever maps rows maps each by itself, to the last bit: the law, and fitted instances of everything that maps."""

import inspect

import numpy as np

from skdp import DPLogisticRegression
from skdp.utils import all_estimators

__all__ = [
    "FAR",
    "LAYOUTS",
    "MAPS",
    "bits",
    "check_rows_are_mapped_alone",
    "fitted",
    "fitted_on",
    "mappers",
    "predictors_and_buyers",
    "table",
]

MAPS = ("transform", "predict", "decision_function", "predict_proba", "predict_log_proba")
COUNTS = (*range(1, 34), 100, 101, 1000)
WIDTHS = (3, 33)  # numpy's own loop over a row, and one of BLAS
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda rows: np.repeat(np.repeat(rows, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda rows: np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1],
}
BOUNDS = (-1.0, 1.0)
FAR = 30.0  # times a row: most maps cut one so long, by its norm
# What an estimator is made with, where it has such a parameter.
GIVEN = {
    "epsilon": 5.0,
    "delta": 1e-5,
    "random_state": 0,
    "classes": [0, 1],
    "y_bounds": (0.0, 1.0),
    "n_iter": 2,
    "hidden_layer_sizes": (40, 3),
    "max_iter": 1,
    "bounds": BOUNDS,
    "declaration": BOUNDS,
    "categories": [0, 1, 2],
    "interactions": [(0, 1), (1, 2)],
    "random_features": 20,
    "clip_predictions": False,
}
SEARCHES = {"DPGridSearchCV": "param_grid", "DPRandomizedSearchCV": "param_distributions"}


def table(name, width, n=300, seed=0):
    """Rows that an estimator is fitted on: numbers, or categories where it reads these."""
    rng = np.random.default_rng(seed)
    if name == "DeclaredEncoder":
        return rng.integers(0, 4, size=(n, width)).astype(float)
    return rng.normal(size=(n, width)) / (3.0 * np.sqrt(width)) + 0.05


def fitted(name, kind, width, **more):
    """One public estimator, fitted; `more` are parameters beside the usual ones."""
    return fitted_on(name, kind, table(name, width), **more)


def fitted_on(name, kind, X, **more):
    """The same, on a given table."""
    known = inspect.signature(kind).parameters
    given = {word: value for word, value in (GIVEN | more).items() if word in known}
    if name in SEARCHES:
        inner = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
        given = {"estimator": inner, SEARCHES[name]: {"C": [0.1, 1.0]}, "random_state": 0}
        given |= {"epsilon": 50.0, "delta": 1e-5} | ({"n_iter": 2} if "n_iter" in known else {})
    y = (X[:, 0] > X[:, 1]).astype(int)
    if name == "DPRanker":
        return kind(**given, data_norm=1.0).fit(X, y, qid=np.arange(len(X)) // 5)
    if "data_norm" in known and "data_norm" not in given:
        given["data_norm"] = 1.0
    return kind(**given).fit(X, y)


def mappers():
    """Name, class, width and parameters of all that maps rows: of each estimator those that map them otherwise."""
    for name, kind in all_estimators():
        known = inspect.signature(kind).parameters
        ways = [{}]
        if name in SEARCHES or not any(hasattr(kind, what) for what in MAPS):
            ways = [{}] if name in SEARCHES else []
        elif "data_norm" in known and name not in ("DPPCA", "DPWhitener", "DPRanker"):
            ways.append({"data_norm": None})
        if "classes" in known:
            ways.append({"classes": [0, 1, 2]})
        if name == "DPRanker":
            ways.append({"hidden_layer_sizes": (40,), "privacy_unit": "list"})
            ways[0] = {"hidden_layer_sizes": ()}
        for more in ways:
            yield from ((name, kind, width, more) for width in WIDTHS)


def predictors_and_buyers():
    """Name, class and parameters of every public estimator that asks records something in fit."""
    for name, kind in all_estimators():
        known = inspect.signature(kind).parameters
        if "epsilon" not in known or name == "DPSplineFeatures":
            continue
        yield name, kind, {}
        if "data_norm" in known and name not in ("DPPCA", "DPWhitener", "DPRanker"):
            yield name, kind, {"data_norm": None}
            if "y_bounds" in known and _takes(kind, y_bounds=None):
                yield name, kind, {"y_bounds": None}
            if "class_weight" in known:
                yield name, kind, {"class_weight": "balanced", "data_norm": None}


def _takes(kind, **given):
    """Whether these parameters are right for an estimator, which prices a fit without data."""
    try:
        return kind(data_norm=1.0, **given).quote(300, 3) is not None
    except ValueError:
        return False


def dense(found):
    """Rows as an array in C order, whatever they came as."""
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return np.ascontiguousarray(found.reshape(len(found), -1))


def bits(rows):
    """Each row as bytes."""
    return [row.tobytes() for row in dense(rows)]


def check_rows_are_mapped_alone(of, row, others, counts=COUNTS, layouts=tuple(LAYOUTS), far=FAR):
    """Raise where the bits of a row, or of one that is cut, hang on its place, on the count of rows, or on the layout.

    Parameters
    ----------
    of : callable
        From a table to one row, or one number, for each of its rows.
    row : ndarray of shape (d,)
        Repeated.
    others : ndarray of shape (k, d)
        Rows to stand in front, in the middle and behind.
    counts : iterable of int
        Lengths of tables.
    layouts : iterable of str
        In which equal rows are to have equal bits.
    far : float
        What the row is multiplied by for one that is cut.
    """
    for one in (row, far * row):
        _check_one(of, one, others, counts, layouts)


def _check_one(of, row, others, counts, layouts):
    alone = bits(of(row[None, :]))[0]
    beside = bits(np.vstack([dense(of(other[None, :])) for other in others]))
    for n in counts:
        rows = np.tile(row, (n, 1))
        for layout in layouts:
            wrong = sum(found != alone for found in bits(of(LAYOUTS[layout](rows))))
            assert not wrong, f"{wrong} of {n} equal rows in the layout {layout} differ"
        for at in {0, n // 2, n}:
            mixed = np.insert(rows, at, others[n % len(others)], axis=0)
            found = bits(of(mixed))
            assert found.pop(at) == beside[n % len(others)], f"a row at {at} of {n} differs"
            wrong = sum(other != alone for other in found)
            assert not wrong, f"{wrong} of {n} rows differ where another comes at {at}"
