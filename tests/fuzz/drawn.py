"""Any public estimator on any table, drawn by hypothesis: shapes, types, labels, containers, parameters, weights, ids.

``PYTHONPATH=.:tests python -m fuzz.drawn --minutes 20`` runs it for so long; a slice is in `test_drawn.py`. A fit must
be **a true receipt** beside a model that is finite and predicts finite numbers, or **one clear sentence** after which
nothing has been paid and the estimator is as it was. Nothing else: `Broken` says what else it was.
"""

import argparse
import copy
import inspect
import math
import random
import sys
import time

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from skdp import DPLogisticRegression, DPRidge, penalties
from skdp.privacy import Ledger
from skdp.privacy.accountants import ACCOUNTANTS
from skdp.solvers import SOLVERS
from skdp.utils import all_estimators

from . import tables
from .law import Broken, _sentence, _tried

__all__ = ["drawn", "hold", "main"]

ESTIMATORS = dict(all_estimators())
SEARCHES = {"DPGridSearchCV": "param_grid", "DPRandomizedSearchCV": "param_distributions"}
FAR = (math.nan, math.inf, -1.0, 0, "1", None, True, 10**400, [1.0])  # what most numbers may not be
# Parameter -> values that are right somewhere, then such as are mostly wrong.
POOLS = {
    "epsilon": ((1e-3, 0.1, 1.0, 8.0, 1e4, math.inf, np.float32(1)), FAR),
    "delta": ((0.0, 1e-6, 1e-3, 1e-300), FAR),
    "neighbors": (("replace_one", "add_remove"), ("add", None)),
    "n_public": ((None, 10, 1000, 1e6), FAR),
    "accountant": (("auto", "auto", *sorted(ACCOUNTANTS)), ("best", None)),
    "random_state": ((0, None, np.random.RandomState(1)), (-1, "seed", 0.5)),
    "data_norm": ((None, 1e-3, 1.0, 3.0, 1e30), FAR),
    "solver": (("auto", "auto", "gd", "sgd", *sorted(SOLVERS)), ("lbfgs", None, 3)),
    "penalty": (("auto", "l2", "l1", "elasticnet", None, penalties.L2(0.1)), ("ridge", 3)),
    "C": ((1e-3, 1.0, 100.0, math.inf), FAR),
    "alpha": ((0.0, 1e-3, 1.0, 1e3), FAR),
    "l1_ratio": ((None, 0.0, 0.5, 1.0), FAR),
    "fit_intercept": ((True, False), ("no", None)),
    "coef_init": ((None, [0.1], [0.1, 0.2], np.ones((1, 3)), 1e300), ("ab", [math.nan])),
    "warm_start": ((False, True), ("no", None)),
    "intercept_init": ((None, 0.5, [0.5]), ("ab", math.inf)),
    "class_weight": ((None, {0: 1.0, 1: 2.0}, {1: 0}, {}, "balanced"), ("even", {7: 1.0}, 3)),
    "calibrate": (("auto", True, False), (None, 1, "always")),
    "multi_class": (("multinomial", "ovr"), ("auto", None)),
    "loss": (("huberised_hinge", "squared_hinge", "hinge", "listnet"), ("log", 3)),
    "h": ((0.5, 1e-3), FAR),
    "quantile": ((0.1, 0.5, 0.9), FAR),
    "smoothing": ((None, 0.02, 0.5), FAR),
    "positive": ((False, True), ("no", None)),
    "margin": ((0.0, 0.1), FAR),
    "threshold": ((1.35, 1e-3), FAR),
    "huber_threshold": ((None, 1.0), FAR),
    "clip_predictions": ((True, False), ("no", None)),
    "y_bounds": (
        ((-1.0, 1.0), (0.0, 5.0), (-3, 1e6), [(-1.0, 1.0), (0.0, 2.0)], None),
        ((1.0, 0.0), 3.0, "ab"),
    ),
    "max_rows_per_group": ((None, None, 1, 3), FAR),
    "max_sample_weight": ((None, 2.0), FAR),
    "hidden_layer_sizes": ((3, (2, 2)), (0, (), "ab", None)),
    "max_iter": ((1, 3), FAR),
    "batch_size": ((None, 5), FAR),
    "activation": (("relu", "tanh"), ("sine", None)),
    "max_documents": ((1, 3, 50), FAR),
    "privacy_unit": (("list_labels", "list"), ("row", None)),
    "k": ((None, 3), FAR),
    "bounds": (((-1.0, 1.0), {0: (0.0, 1.0)}, None), ((1.0, 0.0), "ab")),
    "shape": (("sphere", "box"), ("ball", None)),
    "row_norm": ((1.0, 3.0), FAR),
    "strategy": (("mean", "median", "constant"), ("mode", None)),
}
ALWAYS = {"max_iter": 2, "hidden_layer_sizes": 3}  # else a network takes minutes
# Without which encoders refuse.
DECLARED = {"bounds": (-1.0, 1.0), "declaration": (-1.0, 1.0), "categories": (0, 1)}
READ_NOTHING = ("DPSplineFeatures",)  # whose epsilon chooses a size
MAY_BE_INFINITE = {"coef_std_", "coef_noise_std_", "privacy_"}  # or unknown


@st.composite
def drawn(draw, names=tuple(ESTIMATORS)):
    """An estimator, and what its fit is given.

    Parameters
    ----------
    names : tuple of str
        Estimators to choose from.

    Returns
    -------
    tuple
        Name, parameters, X, y, keywords of fit.
    """
    name = draw(st.sampled_from(names))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([0, 1, 2, 5, 20, 60, 200]))
    d = draw(st.sampled_from([0, 1, 2, 3, 8])) if rng.random() < 0.2 else 1 + int(rng.integers(6))
    rows = tables.rows(rng, n, d, draw(st.sampled_from(tables.KINDS)), _size(rng))
    y, labels = _targets(draw, rng, name, n)
    params = _parameters(draw, name, labels)
    X = _contained(draw, rng, rows)
    more = _more(draw, rng, name, n, params)
    return name, params, X, y, more


def _size(rng):
    return float(10.0 ** (rng.uniform(-300, 300) if rng.random() < 0.1 else rng.uniform(-2, 1)))


def _mostly(draw, right, wrong, odds=12):
    """One that is right, or once in so many times one that may be wrong."""
    one = draw(st.integers(0, odds))
    return draw(st.sampled_from(wrong if one == odds else right))


def _contained(draw, rng, rows):
    kinds = (*tables.CONTAINERS, "csr", "csc", "coo", "nan", "text", "1d", "none", "complex")
    kind = draw(st.sampled_from(kinds))
    if kind in tables.CONTAINERS:
        return tables.held(rows, kind) if rows.size else rows
    if kind in ("csr", "csc", "coo"):
        return getattr(sparse, f"{kind}_array")(rows * (rng.random(rows.shape) < 0.5))
    if kind == "nan":
        return np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    odd = {"text": lambda: rows.astype(str), "1d": rows.ravel, "none": lambda: None}
    return odd.get(kind, lambda: rows.astype(complex))()


def _targets(draw, rng, name, n):
    """What is to be predicted, and its labels."""
    kinds = ("right",) * 6 + ("other", "text", "nan", "column", "two", "short", "none", "objects")
    kind = draw(st.sampled_from(kinds))
    count = draw(st.sampled_from([2, 2, 3, 5]))
    codes = rng.integers(count, size=n)
    if not is_classifier(ESTIMATORS[name]()) if name not in SEARCHES else False:
        numbers = rng.normal(size=n) * _size(rng)
        y = codes.astype(float) if name == "DPRanker" or kind == "other" else numbers
        y = np.abs(y) if name == "DPPoissonRegressor" else y
        labels = None
    else:
        labels = [*range(count)]
        y = codes
        if kind == "text":
            labels = [f"class {i}" for i in labels]
            y = np.array(labels)[codes] if n else np.array([], dtype=str)
        if kind == "other":
            y = rng.normal(size=n)
    odd = {
        "nan": lambda: np.where(rng.random(n) < 0.2, np.nan, codes),
        "column": lambda: y[:, None],
        "two": lambda: np.column_stack([y, y]),
        "short": lambda: y[:-1],
        "none": lambda: None,
        "objects": lambda: np.array([*y.tolist(), None], dtype=object)[: len(y)],
    }
    return odd.get(kind, lambda: y)(), labels


def _parameters(draw, name, labels):
    """Some of its parameters, most of them right."""
    if name in SEARCHES:
        regression = draw(st.booleans())
        inner = (
            DPRidge(y_bounds=(-1.0, 1.0), data_norm=1.0)
            if regression
            else DPLogisticRegression(classes=[0, 1], data_norm=1.0, solver="gd")
        )
        grid = {"alpha" if regression else "C": [0.1, 1.0]}
        return {"estimator": inner, SEARCHES[name]: grid, "epsilon": 1.0}
    own = inspect.signature(ESTIMATORS[name]).parameters
    params = {one: value for one, value in ALWAYS.items() if one in own}
    params |= {
        one: value for one, value in DECLARED.items() if one in own and draw(st.integers(0, 5))
    }
    if "data_norm" in own:
        params["data_norm"] = 1.0
    if "y_bounds" in own:
        params["y_bounds"] = (0.0, 5.0) if name == "DPPoissonRegressor" else (-1.0, 1.0)
    if "classes" in own and labels is not None and draw(st.integers(0, 5)):
        params["classes"] = labels
    for one in draw(
        st.lists(st.sampled_from(sorted({*own} & {*POOLS}) or ["verbose"]), max_size=5)
    ):
        if one in own:
            params[one] = copy.deepcopy(_mostly(draw, *POOLS.get(one, ((0,), (0,)))))
    return params


def _more(draw, rng, name, n, params):
    """Weights and groups, where its fit takes any."""
    takes = inspect.signature(ESTIMATORS[name].fit).parameters
    more = {}
    if "sample_weight" in takes and not draw(st.integers(0, 4)):
        right = rng.uniform(0, 2, n), np.ones(n), np.zeros(n), rng.integers(0, 3, n)
        wrong = -np.ones(n), np.full(n, np.nan), np.ones(n + 1), "heavy", np.full(n, 1e300)
        more["sample_weight"] = right[draw(st.integers(0, 3))]
        if not draw(st.integers(0, 6)):
            more["sample_weight"] = wrong[draw(st.integers(0, 4))]
        if draw(st.integers(0, 4)):
            params["max_sample_weight"] = 2.0
    ids = next((one for one in ("qid", "groups") if one in takes), None)
    if ids and (ids == "qid" or not draw(st.integers(0, 4))):
        owners = np.sort(rng.integers(max(n // 3, 1), size=n))
        kinds = owners, owners.astype(str), owners[::-1], owners.tolist(), [*range(n)]
        wrong = owners[:-1], None, owners.astype(float), np.zeros((n, 2)), "ab"
        more[ids] = _mostly(draw, kinds, wrong, 8)
        if ids == "groups" and draw(st.integers(0, 4)):
            params["max_rows_per_group"] = 2
        if ids == "qid" and not draw(st.integers(0, 2)):
            more["groups"] = _mostly(draw, (owners // 2, owners, owners // 3), wrong, 8)
            params |= {"privacy_unit": "user", "max_lists_per_user": 2}
    return more


def hold(case):
    """Hold a fit to the law, and say whether a model came out."""
    name, params, X, y, more = case
    try:
        return _held(name, params, X, y, more)
    except Broken as error:
        shapes = f"X {type(X).__name__} {np.shape(X)}, y {type(y).__name__} {np.shape(y)}"
        raise Broken(f"{error} [{name} {params}, {shapes}, {sorted(more)}]") from error


def _held(name, params, X, y, more):
    cells = X.data if sparse.issparse(X) else X
    case = _Case(cells)
    model, error = _tried(lambda: ESTIMATORS[name](**params))
    if error is not None:
        _sentence(error, case)
        return False
    ledger = None
    if "ledger" in params or "ledger" in inspect.signature(type(model)).parameters:
        ledger = (
            Ledger(1e9, 0.5, params.get("neighbors") or "replace_one") if _fair(params) else None
        )
    if ledger is not None and not params.get("random_state"):
        model.set_params(ledger=ledger, random_state=None)
    kept = {one: id(value) for one, value in vars(model).items()}
    before = copy.deepcopy((_plain(X), _plain(y)))
    _, error = _tried(lambda: model.fit(X, y, **more))
    if not _same(before, (_plain(X), _plain(y))):
        raise Broken("the caller's table was written to")
    if error is None:
        _true(model, params, X, ledger)
        return True
    _sentence(error, case)
    if ledger is not None and ledger.scripts:
        raise Broken(f"refused after something was paid: {error}")
    if {one: id(value) for one, value in vars(model).items()} != kept:
        raise Broken(f"refused, and the estimator is not as it was: {error}")
    return False


class _Case:
    """Cells, as `_sentence` looks for them."""

    def __init__(self, X):
        found = None if X is None else np.asarray(X)
        numbers = found is not None and found.dtype.kind == "f"
        self.X = found if numbers else np.empty(0)


def _fair(params):
    return params.get("neighbors", "replace_one") in ("replace_one", "add_remove")


def _plain(given):
    return given.toarray() if sparse.issparse(given) else given


def _same(one, other):
    return all(
        a is b is None
        or np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
        or _equal_numbers(a, b)
        for a, b in zip(one, other)
    )


def _equal_numbers(a, b):
    try:
        return np.array_equal(
            np.asarray(a, dtype=complex), np.asarray(b, dtype=complex), equal_nan=True
        )
    except (TypeError, ValueError):
        return str(a) == str(b)


def _true(model, params, X, ledger):
    """A receipt within the promise, charged once, and numbers that are finite."""
    receipt = getattr(model, "privacy_", None)
    if (
        "epsilon" in model.get_params()
        and receipt is None
        and type(model).__name__ not in READ_NOTHING
    ):
        raise Broken("a model without a receipt")
    if receipt is not None:
        target, delta = float(model.get_params()["epsilon"]), model.get_params()["delta"]
        if not receipt.epsilon <= target or receipt.delta != delta:
            raise Broken(f"({receipt.epsilon!r}, {receipt.delta!r}) of ({target!r}, {delta!r})")
        if math.isfinite(target) and not receipt.script:
            raise Broken("a model that nothing was paid for")
    if ledger is not None and model.ledger is ledger and len(ledger.scripts) != 1:
        raise Broken(f"the ledger was charged {len(ledger.scripts)} times")
    for name, value in vars(model).items():
        numbers = isinstance(value, np.ndarray | float) and np.asarray(value).dtype.kind == "f"
        stored = numbers and name.endswith("_") and name not in MAY_BE_INFINITE
        if stored and not np.isfinite(value).all():
            raise Broken(f"{name} is not finite")
    for method in ("predict", "transform", "decision_function", "predict_proba"):
        if callable(getattr(model, method, None)):
            _finite(method, lambda method=method: getattr(model, method)(X), X)


def _finite(method, call, X):
    found, error = _tried(call)
    if error is not None:
        if isinstance(error, NotFittedError):
            raise Broken(f"{method}: {error}") from error
        _sentence(error, _Case(X.data if sparse.issparse(X) else X))
        raise Broken(f"{method} refuses the table of the fit: {error}") from error
    found = np.asarray(_plain(found))
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise Broken(f"{method} gives what is not finite")


def main():
    """Run for so long; end with 1 if a fit was neither a receipt nor a sentence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--first", type=int, default=0, help="hypothesis' first seed")
    asked = parser.parse_args()
    counts, broken, start, at = {True: 0, False: 0}, [], time.monotonic(), asked.first
    while time.monotonic() - start < 60.0 * asked.minutes:

        @seed(at)
        @settings(
            max_examples=200,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        )
        @given(drawn())
        def one(case):
            random.seed(0)
            counts[hold(case)] += 1

        try:
            one()
        except Exception as error:
            broken.append((at, str(error).splitlines()[0]))
            print(
                f"seed {at}: {type(error).__name__}: {broken[-1][1]}", file=sys.stderr, flush=True
            )
        at += 1
        print(f"{at}: {counts}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{sum(counts.values())} fits: {counts[True]} models, {counts[False]} sentences.")
    print(f"{len(broken)} broke the law.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
