"""Every public estimator fitted once, and every way to change one leaf of what it holds."""

import copy
import inspect
import math
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from skdp import DPLogisticRegression, DPRidge
from skdp.preprocessing import DPStandardScaler
from skdp.utils import all_estimators

rng = np.random.default_rng(5)
X = rng.uniform(-0.5, 0.5, (60, 3))
Y = (X[:, 0] > 0).astype(int)
LISTS = np.arange(60) // 5
DECLARED = {
    "epsilon": 2.0,
    "data_norm": 1.0,
    "classes": [0, 1],
    "y_bounds": (0.0, 1.0),
    "hidden_layer_sizes": (4, 3),
    "max_iter": 2,
    "n_public": 60,
    "bounds": (-1.0, 1.0),
    "declaration": (-1.0, 1.0),
    "categories": (0, 1),
}
# What is searched by each name that a search gives to it.
SEARCHED = {"param_grid": {"C": [0.1, 1.0]}, "param_distributions": {"C": [0.1, 0.3, 1.0]}}
NO_PART = {"ledger", "random_state", "verbose"}
HELD = {"_parameters", "_buffers", "_modules"}  # where a module of PyTorch has its numbers
BESIDE = {"privacy_", "_paid_by", "_behind", "_sent", "_one_of_several"}


def declared(Estimator, **given):
    """Parameters with which it fits `X` and `Y`."""
    known = inspect.signature(Estimator).parameters
    found = {name: value for name, value in {**DECLARED, **given}.items() if name in known}
    if "estimator" in known:
        found["estimator"] = DPLogisticRegression(data_norm=1.0, classes=[0, 1])
        found |= {name: value for name, value in SEARCHED.items() if name in known}
    return Estimator(**found)


def fit(model, X=X, y=Y):
    """The model fitted, with lists where it asks for them."""
    lists = {"qid": LISTS} if "qid" in inspect.signature(model.fit).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few settings, of fits without a ledger
        return model.fit(X, y, **lists)


def fitted():
    """(name, fitted estimator) of every public class, and of kinds of tables, labels and targets besides."""
    found = [(name, fit(declared(Estimator))) for name, Estimator in all_estimators()]
    texts = np.where(Y == 1, "yes", "no")
    logistic = declared(DPLogisticRegression, classes=["no", "yes"])
    found.append(("labels of text", fit(logistic, y=texts)))
    found.append(("single precision", fit(declared(DPRidge), X.astype(np.float32))))
    several = declared(DPRidge, y_bounds=[(0.0, 1.0), (-1.0, 1.0)])
    found.append(("two targets", fit(several, y=np.column_stack([Y, X[:, 1]]))))
    found.append(("bought bounds", fit(declared(DPRidge, y_bounds=None))))
    for name, Estimator in all_estimators():
        if "param_grid" in inspect.signature(Estimator).parameters:
            steps = make_pipeline(DPStandardScaler(), declared(DPLogisticRegression))
            grid = {"dplogisticregression__C": [0.1, 1.0]}
            found.append((f"{name} of steps", fit(Estimator(steps, grid))))
    return found


def changes(model):
    """(where, changed copy) for every leaf of the model that says something of it, one leaf at a time."""
    parameters = set(model.get_params(deep=False)) & NO_PART
    for name, value in vars(model).items():
        if name in BESIDE | parameters:
            continue
        for where, other in changed(value):
            yield f"{name}{where}", _with(model, name, other)
        if name not in model.get_params(deep=False):
            yield f"{name} gone", _with(model, name, _GONE)
    for name, value in (("X_train_", X), ("extra", 1), ("_X", X), ("empty_", None)):
        yield f"{name} attached", _with(model, name, value)
    yield "another class", _of_another_class(model)


_GONE = object()


def _with(model, name, value):
    twin = copy.copy(model)
    if value is _GONE:
        del vars(twin)[name]
    else:
        vars(twin)[name] = value
    return twin


def _of_another_class(model):
    twin = copy.copy(model)
    twin.__class__ = type("Another", (type(model),), {})
    return twin


def changed(value, deep=0):
    """(where, another value) that differs in one leaf, its type, its order or its length."""
    if deep > 6:
        return
    if isinstance(value, np.ndarray):
        yield from _changed_array(value, deep)
    elif isinstance(value, np.generic):
        yield " as Python's", value.item()
        yield from ((w, v[()]) for w, v in _changed_array(np.array(value), deep))
    elif isinstance(value, bool):
        yield "", not value
        yield " as int", int(value)
    elif isinstance(value, int):
        yield "", value + 1
        yield " as float", float(value)
    elif isinstance(value, float):
        yield "", math.nextafter(value, math.inf) if math.isfinite(value) else 1.0
        yield " as numpy's", np.float64(value)
    elif isinstance(value, str):
        yield "", value + "x"
    elif value is None:
        yield "", 0
        yield " as text", "None"
    elif isinstance(value, dict):
        yield from _changed_dict(value, deep)
    elif isinstance(value, list | tuple):
        yield from _changed_list(value, deep)
    elif hasattr(value, "detach"):
        yield " moved", value + 1e-9
        yield " of another shape", value[None]
    elif isinstance(value, type) or not hasattr(value, "__dict__"):
        yield "", _GONE.__class__
    else:
        yield from _changed_object(value, deep)


def _changed_dict(value, deep):
    yield " with one more", {**value, "one more": 1}
    for key, part in value.items():
        yield f"[{key!r}] gone", {k: v for k, v in value.items() if k != key}
        for where, other in changed(part, deep + 1):
            yield f"[{key!r}]{where}", {**value, key: other}


def _changed_list(value, deep):
    kind = type(value)
    yield " of another kind", (tuple if kind is list else list)(value)
    if kind not in (list, tuple):
        return
    yield " with one more", kind([*value, 1])
    if value:
        yield " with one less", kind(value[:-1])
    if len(value) > 1 and repr(value[::-1]) != repr(value):
        yield " reversed", value[::-1]
    for at, part in enumerate(value):
        for where, other in changed(part, deep + 1):
            yield f"[{at}]{where}", kind([*value[:at], other, *value[at + 1 :]])


def _changed_object(value, deep):
    """Estimators within lose what is no part of a model; frozen ones are changed all the same."""
    beside = BESIDE | NO_PART if isinstance(value, BaseEstimator) else set()
    is_module = hasattr(value, "named_modules")
    for name, part in vars(value).items():
        if name in beside or (is_module and name.startswith("_") and name not in HELD):
            continue
        for where, other in changed(part, deep + 1):
            twin = copy.copy(value)
            twin.__dict__[name] = other
            yield f".{name}{where}", twin


def _changed_array(value, deep):
    other = {"f": np.float32, "i": np.int32, "b": np.int8, "U": object}.get(value.dtype.kind)
    if value.dtype == np.float32:
        other = np.float64
    if other is not None:
        yield " of another type", value.astype(other)
    yield " of another shape", value[None]
    if value.ndim and len(value) > 1:
        yield " with one less", value[:-1]
        if not np.array_equal(value, value[::-1], equal_nan=value.dtype.kind == "f"):
            yield " reversed", value[::-1]
    if value.ndim == 2 and value.shape[0] == value.shape[1] and not np.array_equal(value, value.T):
        yield " transposed", value.T
    for at in np.ndindex(value.shape):
        twin = value.copy()
        twin[at] = _other(twin[at])
        yield f"{list(at)}", twin


def _other(cell):
    if isinstance(cell, np.floating):
        return np.nextafter(cell, type(cell)(9e9)) if np.isfinite(cell) else type(cell)(1.0)
    if isinstance(cell, np.bool_ | bool):
        return not cell
    if isinstance(cell, str):
        return "x" if cell[:1] != "x" else "z"
    return cell + 1
