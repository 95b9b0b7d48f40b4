"""Everything public that promises privacy, found by walking the package, as acts on a table that a test can repeat.

An act is one call that reads records: a fit of an estimator, a pipeline with a transformer in front, a metric, a
search, a cross-validation. What promises is found by its signature: estimators by `all_estimators`, and functions and
constructors by taking both rows and a ledger. How to call it follows from the names of its parameters, so that a new
name is tried as it comes, and one that cannot be called fails until this file says how.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge

import skdp
from skdp.metrics._score import SCORINGS
from skdp.model_selection import KeyFold, PositionFold
from skdp.solvers import SOLVERS
from skdp.utils import all_estimators
from skdp.utils._discovery import _public_modules

RELATIONS = ("replace_one", "add_remove")
COLUMNS = 17  # more than a register of any kernel holds, and odd, as N is: where products by blocks change their order
N = 1203  # records enough that bought bounds, norms and weights lie inside their ends
UNITS = np.resize([0.4, 3.0, 0.05], COLUMNS)  # of the columns
PERSON, LIST = 3, 8  # rows of a person, documents of a list
EPSILON = 4.0


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, a number and a key for each, and what belongs together: persons, and lists of documents."""

    X: np.ndarray
    number: np.ndarray
    weight: np.ndarray
    person: np.ndarray
    document_list: np.ndarray

    @property
    def label(self) -> np.ndarray:
        return (self.number > 0.0).astype(int)

    @property
    def count(self) -> np.ndarray:
        return np.clip(np.floor(np.abs(self.number) * 4.0), 0.0, 15.0)

    @property
    def words(self) -> pd.DataFrame:
        """The same rows as a frame with a column of words."""
        columns = {f"x{j}": self.X[:, j] for j in range(COLUMNS)}
        return pd.DataFrame({**columns, "word": np.where(self.X[:, 0] > 0.5, "high", "low")})

    def __len__(self) -> int:
        return len(self.number)

    def take(self, index: np.ndarray) -> Table:
        return Table(*(part[index] for part in vars(self).values()))


def table(seed: int, n: int = N, stretch: float = 1.0, shift: float = 0.0) -> Table:
    """Records drawn at random; columns have unlike scales, so that bounds and norms have something to find."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS)) * UNITS * stretch + shift
    noise = rng.normal(size=n) * 0.5
    number = np.clip(X[:, 0] + 0.2 * X[:, 1] - 1.2 * shift + noise + 0.3, -2.9, 2.9)
    weight = rng.uniform(0.1, 0.9, size=n)
    return Table(X, number, weight, np.arange(n) // PERSON + 7 * seed, np.arange(n) // LIST)


def far_record(given: Table, rows: slice) -> Table:
    """The same table where these rows are other ones: far, of the other label, and heavier than any."""
    X, number, weight = given.X.copy(), given.number.copy(), given.weight.copy()
    X[rows] = -100.0 * UNITS
    number[rows] = -2.9 * np.sign(number[rows] + 1e-9)
    weight[rows] = 1.0
    return replace(given, X=X, number=number, weight=weight)


def only_one_positive(given: Table, rows: slice) -> Table:
    """The same table where these rows alone are of the second class."""
    number = -np.abs(given.number) - 1e-3
    number[rows] = 0.7
    return replace(given, number=number)


@dataclass(frozen=True, eq=False)
class Act:
    """One call that reads records.

    Parameters
    ----------
    name : str
        Of what promises, and of how it is called.
    relation : str
        Of neighbours.
    run : callable
        From a table to whatever is released.
    rows : int
        The most rows of a record: a person's, or a list's documents.
    size : int
        Records of the tables that it is run on.
    """

    name: str
    relation: str
    run: Callable[[Table], Any]
    rows: int = 1
    size: int = N

    @property
    def label(self) -> str:
        return f"{self.name} | {self.relation}"


def acts(only: str = "") -> Iterator[Act]:
    """All acts of all that promises, or of those whose name begins with `only`."""
    for act in (*_of_estimators(), *_of_pipelines(), *_of_functions()):
        if act.name.startswith(only):
            yield act


# --- Estimators -----------------------------------------------------------------------------------------------------

DECLARED: dict[str, Any] = {
    "epsilon": EPSILON,
    "delta": 1e-6,
    "data_norm": 2.0,
    "y_bounds": (-3.0, 3.0),
    "classes": [0, 1],
    "random_state": 0,
    "hidden_layer_sizes": (4,),
    "max_iter": 3,
    "bounds": (-60.0, 60.0),
    "declaration": {f"x{j}": (-60.0, 60.0) for j in range(COLUMNS)} | {"word": ["low", "high"]},
    "categories": {"word": ["low", "high"]},
    "norm": 1.0,
}
OF_COUNTS = "DPPoissonRegressor"
# Whose penalty is weighed against a mean, which needs a rough count where n is private.
ROUGH_COUNT = {"n_public": 1000}
# Each of them is tried alone beside what is declared: (name of the variant, parameters, arguments of fit).
VARIANTS: tuple[tuple[str, dict[str, Any], Callable[[Table], dict[str, Any]] | None], ...] = (
    ("declared", {}, None),
    ("data_norm=None", {"data_norm": None}, None),
    ("y_bounds=None", {"y_bounds": None}, None),
    ("data_norm=None, y_bounds=None", {"data_norm": None, "y_bounds": None}, None),
    ("class_weight=balanced", {"class_weight": "balanced"}, None),
    (
        "class_weight=balanced, data_norm=None",
        {"class_weight": "balanced", "data_norm": None},
        None,
    ),
    ("class_weight=dict", {"class_weight": {0: 1.0, 1: 3.0}}, None),
    ("sample_weight", {"max_sample_weight": 1.0}, lambda t: {"sample_weight": t.weight}),
    ("persons", {"max_rows_per_group": 2}, lambda t: {"groups": t.person}),
    ("warm_start", {"warm_start": True}, None),
    ("positive", {"positive": True}, None),
    ("no intercept", {"fit_intercept": False}, None),
)


def _parameters(kind: type) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(kind).parameters)


def built(kind: type, relation: str, extra: dict[str, Any]) -> Any | None:
    """An instance of an estimator by the names of its parameters; None where it has not those of the variant."""
    known = _parameters(kind)
    if not extra.keys() <= known.keys():
        return None
    given = {name: value for name, value in DECLARED.items() if name in known}
    given |= {"neighbors": relation} if "neighbors" in known else {}
    given |= ROUGH_COUNT if relation == "add_remove" and "n_public" in known else {}
    given |= {"y_bounds": (0.0, 20.0)} if kind.__name__ == OF_COUNTS else {}
    given |= {"privacy_unit": "list"} if "privacy_unit" in known else {}
    if "estimator" in known:
        given = {k: v for k, v in given.items() if k in ("epsilon", "delta", "random_state")}
        given |= {"estimator": skdp.DPLogisticRegression(**_of_search(relation))}
        given |= {
            name: {"C": [0.1, 1.0]}
            for name in known
            if name in ("param_grid", "param_distributions")
        }
        given |= {"n_iter": 2} if "n_iter" in known else {}
        given |= {"mean_runs": 2, "max_runs": 3}
    given |= extra
    needed = [
        name
        for name, one in known.items()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD and name not in given
    ]
    assert not needed, f"{kind.__name__} promises privacy; say in promises.py what {needed} may be"
    return kind(**given)


def _of_search(relation: str) -> dict[str, Any]:
    return {
        "data_norm": 2.0,
        "classes": [0, 1],
        "neighbors": relation,
        "solver": "gd",
        "epsilon": EPSILON,
        "delta": 1e-6,
    }


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda X: X.astype(np.float32),
    "by columns": np.asfortranarray,
    "sparse": csr_array,
}


def _rows_for(model: Any, given: Table) -> Any:
    """The rows that this estimator reads: numbers, a frame with words, or words alone."""
    if "declaration" in model.get_params():
        return given.words
    if "categories" in model.get_params():
        return given.words[["word"]]
    return given.X


def _targets_for(model: Any, given: Table) -> np.ndarray:
    if type(model).__name__ == OF_COUNTS:
        return given.count
    if is_regressor(model) and not hasattr(model, "privacy_unit"):
        return given.number
    return given.label


def released(model: Any) -> dict[str, Any]:
    """All that a fit leaves on an estimator beside its parameters, of what is inside as well."""
    given = model.get_params(deep=False)
    return {name: value for name, value in vars(model).items() if name not in given}


def _fit(
    model: Any,
    more: Callable[[Table], dict[str, Any]] | None = None,
    form: Callable[[np.ndarray], Any] | None = None,
) -> Callable[[Table], Any]:
    def run(given: Table) -> Any:
        fresh = clone(model)
        extra = {} if more is None else more(given)
        known = inspect.signature(fresh.fit).parameters
        if "qid" in known:
            extra |= {"qid": given.document_list}
        rows, targets = _rows_for(fresh, given), _targets_for(fresh, given)
        if form is not None:
            rows = form(rows)
        fresh.fit(rows, targets, **extra)
        if getattr(fresh, "warm_start", False):
            fresh.fit(rows, targets, **extra)
        return released(fresh)

    return run


def _of_estimators() -> Iterator[Act]:
    for name, kind in all_estimators():
        known = _parameters(kind)
        pays = "ledger" in known
        for relation in RELATIONS if pays else RELATIONS[:1]:
            for what, extra, more in VARIANTS:
                model = built(kind, relation, extra)
                if model is None:
                    continue
                rows = LIST if "privacy_unit" in known else PERSON if what == "persons" else 1
                yield Act(f"{name}: {what}", relation, _fit(model, more), rows)
            if "data_norm" in known:
                for form, taken in FORMS.items():
                    model = built(kind, relation, {})
                    rows = LIST if "privacy_unit" in known else 1
                    yield Act(f"{name}: {form}", relation, _fit(model, form=taken), rows)
            if "privacy_unit" in known:
                yield from _of_people(kind, relation)
            yield from _of_solvers(name, kind, relation)


def _of_people(kind: type, relation: str) -> Iterator[Act]:
    """A ranker of persons with several lists, and one of labels alone."""
    person = {"privacy_unit": "user", "max_lists_per_user": 2}
    model = built(kind, relation, person)

    def owners(given: Table) -> dict[str, Any]:
        return {"groups": given.document_list // 2}

    yield Act(f"{kind.__name__}: persons", relation, _fit(model, owners), 2 * LIST)
    if relation == "replace_one":
        labels = built(kind, relation, {"privacy_unit": "list_labels"})
        yield Act(f"{kind.__name__}: labels", relation, _only_labels(labels), LIST)


def _only_labels(model: Any) -> Callable[[Table], Any]:
    """Documents are public there: whatever the table, they are the same."""
    public = table(99)

    def run(given: Table) -> Any:
        fresh = clone(model).fit(public.X, given.label[: len(public)], qid=public.document_list)
        return released(fresh)

    return run


def _of_solvers(name: str, kind: type, relation: str) -> Iterator[Act]:
    """Every registered solver, in the first of the estimators that may choose one."""
    if name not in ("DPLogisticRegression", "DPRidge"):
        return
    for solver in SOLVERS:
        model = built(kind, relation, {"solver": solver})
        yield Act(f"{name}: solver={solver}", relation, _fit(model, None))


# --- Pipelines ------------------------------------------------------------------------------------------------------


def _of_pipelines() -> Iterator[Act]:
    """Every transformer in front of a classifier: what it maps are records of the next fit."""
    for name, kind in all_estimators("transformer"):
        for relation in RELATIONS:
            front = built(kind, relation, {})
            last = built(skdp.DPLogisticRegression, relation, {"solver": "gd"})
            model = skdp.make_pipeline(front, last)
            yield Act(f"make_pipeline({name})", relation, _fit_pipeline(model))
    for relation in RELATIONS:
        front = built(_named("TableEncoder"), relation, {})
        search = built(_named("DPGridSearchCV"), relation, {})
        search.set_params(
            estimator=skdp.make_pipeline(front, skdp.DPLogisticRegression(**_of_search(relation))),
            param_grid={"dplogisticregression__C": [0.1, 1.0]},
        )
        # Where n is private a model is shown its rows one by one, which takes a while.
        yield Act("DPGridSearchCV(make_pipeline)", relation, _fit_words(search), size=243)


def _named(name: str) -> type:
    return dict(all_estimators())[name]


def _fit_pipeline(model: Any) -> Callable[[Table], Any]:
    def run(given: Table) -> Any:
        fresh = clone(model)
        fresh.fit(_rows_for(fresh[0], given), given.label)
        return [released(step) for _, step in fresh.steps]

    return run


def _fit_words(model: Any) -> Callable[[Table], Any]:
    return lambda given: released(clone(model).fit(given.words, given.label))


# --- Functions and constructors that take rows and a ledger -----------------------------------------------------------

UNPROMISING = ("skdp.fitting", "skdp.audit", "skdp.mechanisms", "skdp.privacy")
_HELD_OUT = table(5)


def promising_functions() -> dict[str, Callable[..., Any]]:
    """Public functions, and constructors of public classes, that take rows and a ledger."""
    found: dict[str, Callable[..., Any]] = {}
    for module in _public_modules("skdp"):
        if module.__name__.startswith(UNPROMISING):
            continue
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            makers = {name: thing} if inspect.isfunction(thing) else {}
            if inspect.isclass(thing) and not hasattr(thing, "fit"):
                methods = inspect.getmembers(thing, inspect.ismethod)  # class methods
                makers = {f"{name}.{inner}": method for inner, method in methods}
            for label, made in makers.items():
                if {"X", "ledger"} <= inspect.signature(made).parameters.keys():
                    found[label] = made
    return found


def _of_functions() -> Iterator[Act]:
    for name, function in promising_functions().items():
        known = inspect.signature(function).parameters
        for relation in RELATIONS:
            for what, given in _calls(known, relation):
                yield Act(f"{name}: {what}", relation, _call(function, given))


def _calls(known: Any, relation: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ways to call a function: each scoring and each kind of folds that it may take."""
    scorings: list[str | None] = [None]
    if "scoring" in known:
        scorings = [*SCORINGS, *(["r2"] if "y_bounds" in known else [])]
    folds: list[Any] = [None]
    if "cv" in known:
        folds = [KeyFold(3)] if relation == "add_remove" else [PositionFold(3), KeyFold(3)]
    for scoring in scorings:
        for cv in folds:
            given: dict[str, Any] = {"epsilon": EPSILON, "random_state": 0}
            given |= {"neighbors": relation} if "neighbors" in known else {"relation": relation}
            given |= {} if scoring is None else {"scoring": scoring}
            given |= {"y_bounds": (-3.0, 3.0)} if scoring == "r2" else {}
            given |= {} if cv is None else {"cv": cv}
            given |= {"names": [0, 1]} if "names" in known else {}
            yield ", ".join(str(v) for v in (scoring, cv) if v is not None) or "plain", given


def _call(function: Callable[..., Any], given: dict[str, Any]) -> Callable[[Table], Any]:
    known = inspect.signature(function).parameters
    numbers = given.get("scoring") == "r2"

    def run(held: Table) -> Any:
        asked = dict(given)
        relation = asked.pop("relation", None)
        if relation is None:  # a public model, fitted on other people
            public = Ridge() if numbers else LogisticRegression()
            model = public.fit(_HELD_OUT.X, _HELD_OUT.number if numbers else _HELD_OUT.label)
        else:
            model = skdp.DPLogisticRegression(**_of_search(relation))
        if "groups" in known:
            keys = held.person if "cv" in known else held.label
            if "names" in known or isinstance(asked.get("cv"), KeyFold):
                asked["groups"] = keys
        needed = {
            name
            for name, one in known.items()
            if one.default is one.empty
            and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
            and name not in ("estimator", "X", "y", *asked)
        }
        assert not needed, (
            f"{function.__qualname__} promises privacy; say in promises.py what {needed} may be"
        )
        return function(model, held.X, held.number if numbers else held.label, **asked)

    return run
