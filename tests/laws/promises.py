"""Everything public that promises privacy, found by walking the package, as acts on a table that a test can repeat.

An act is one call that reads records: a fit of an estimator, a pipeline with a transformer in front, a metric, a
search, a cross-validation. What promises is found by its signature: estimators by `all_estimators`, and functions and
constructors by taking both rows and a ledger. How to call it follows from the names of its parameters, so that a new
name is tried as it comes, and one that cannot be called fails until this file says how.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from laws.other_values import others, parameters_of
from laws.records import COLUMNS, EPSILON, FEW, LIST, RELATIONS, N, Table, table
from laws.runs import short
from laws.variants import FORMS, VARIANTS, Variant, takes_holes, thirds, with_holes
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge

import skdp
from skdp import _demo
from skdp.metrics._score import SCORINGS
from skdp.model_selection import KeyFold, PositionFold
from skdp.privacy import Ledger
from skdp.solvers import CLASS_SOLVERS, SOLVERS
from skdp.utils import all_estimators
from skdp.utils._discovery import _public_modules


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
    prepare : callable
        Called before it is watched.
    """

    name: str
    relation: str
    run: Callable[[Table], Any]
    rows: int = 1
    size: int = N
    prepare: Callable[[], Any] = lambda: None

    @property
    def label(self) -> str:
        return f"{self.name} | {self.relation}"


def acts(only: str = "") -> Iterator[Act]:
    """All acts of all that promises, or of those whose name begins with `only`."""
    kinds = _of_estimators(), _of_pipelines(), _of_files(), _of_functions(), _of_commands()
    for act in chain.from_iterable(kinds):
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
EACH_PAYS: list[
    bool
] = []  # whether a ledger pays for every fit, and not only where a variant says so
OF_COUNTS = "DPPoissonRegressor"
# Whose penalty is weighed against a mean, which needs a rough count where n is private.
ROUGH_COUNT = {"n_public": 1000}


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


def kept(used: Any, given: Any) -> dict[str, Any]:
    """All that a fit leaves in the objects that were handed to an estimator: a solver, a step, a scorer."""
    before = {name: getattr(value, "__dict__", {}) for name, value in vars(given).items()}
    return {
        f"{name}.{key}": value
        for name in given.get_params(deep=False)
        for key, value in getattr(getattr(used, name), "__dict__", {}).items()
        if before[name] and key not in before[name]
    }


def _fit(model: Any, variant: Variant, relation: str) -> Callable[[Table], Any]:
    def run(given: Table) -> Any:
        fresh = clone(model)
        return fit_as(fresh, variant, relation, given) | kept(fresh, model)

    return run


def fit_as(fresh: Any, variant: Variant, relation: str, given: Table) -> dict[str, Any]:
    """All that a fit of a variant leaves on an estimator, which has its parameters."""
    given = given if variant.cut is None else variant.cut(given)
    pays = variant.paid or (EACH_PAYS and "ledger" in _parameters(type(fresh)))
    ledger = Ledger(200.0, 1e-3, neighbors=relation) if pays else None
    if pays:
        fresh.set_params(ledger=ledger)
    extra = {} if variant.arguments is None else variant.arguments(given)
    known = inspect.signature(fresh.fit).parameters
    if "qid" in known:
        extra |= {"qid": given.document_list}
    rows, targets = _rows_for(fresh, given), _targets_for(fresh, given)
    if variant.targets_of is not None:
        targets = variant.targets_of(given)
    if variant.rows_of is not None:
        rows = variant.rows_of(rows)
    fresh.fit(rows, targets, **extra)
    if getattr(fresh, "warm_start", False):
        fresh.fit(rows, targets, **extra)
    return released(fresh) | {"charged": charged(ledger)}


def _with_others(kind: type, parameter: str, relation: str) -> Act:
    """Fits with other values of a parameter, one after the other; a refusal leaves as its sentence."""

    def one(value: Any, given: Table) -> Any:
        model = built(kind, relation, {parameter: value})
        try:
            return _fit(model, VARIANTS[0], relation)(given)
        except (ValueError, TypeError) as refused:
            return f"{type(refused).__name__}: {refused}"

    @cache
    def values() -> list[Any]:
        few = table(6, FEW)

        def refusal(value: Any) -> str:
            said = one(value, few)
            return said if isinstance(said, str) else ""

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return others(_parameters(kind)[parameter].default, parameter, refusal)

    def run(given: Table) -> Any:
        return [(str(value), one(value, given)) for value in values()]

    rows = LIST if "privacy_unit" in _parameters(kind) else 1
    return Act(f"{kind.__name__}: other {parameter}", relation, run, rows, FEW, values)


def charged(ledger: Any) -> Any:
    """What a ledger tells of what it has paid."""
    return None if ledger is None else (len(ledger), ledger.scripts, ledger.spent)


def variants_of(kind: type, relation: str) -> Iterator[tuple[Variant, Any]]:
    """The variants that an estimator has, and an instance with the parameters of each."""
    for variant in (*VARIANTS, *(FORMS if "data_norm" in _parameters(kind) else ())):
        model = built(kind, relation, variant.parameters)
        if model is not None and variant.of(model):
            yield variant, model


def _of_estimators() -> Iterator[Act]:
    for name, kind in all_estimators():
        known = _parameters(kind)
        pays = "ledger" in known
        for relation in RELATIONS if pays else RELATIONS[:1]:
            for variant, model in variants_of(kind, relation):
                rows = LIST if "privacy_unit" in known else variant.rows
                run = _fit(model, variant, relation)
                most = FEW if "estimator" in known else N  # a search is many fits
                size = max(min(variant.size, most), 3 * rows)
                yield Act(f"{name}: {variant.name}", relation, run, rows, size)
            if "privacy_unit" in known:
                yield from _of_people(kind, relation)
            if "param_grid" in known and relation == RELATIONS[0]:
                yield _of_fits_that_warn(kind, relation)
            for parameter in parameters_of(kind):
                yield _with_others(kind, parameter, relation)
            yield from _of_solvers(name, kind, relation)


def _of_fits_that_warn(kind: type, relation: str) -> Act:
    """A search among fits that warn by their settings: without a penalty C has no effect, unless it is 1."""
    tried = skdp.DPLogisticRegression(**_of_search(relation), penalty=None)
    model = built(kind, relation, {"estimator": tried, "strategy": "geometric"})
    run = _fit(model, VARIANTS[0], relation)
    return Act(f"{kind.__name__}: fits that warn", relation, run, size=FEW)


def _of_people(kind: type, relation: str) -> Iterator[Act]:
    """A ranker of persons with several lists, and one of labels alone."""
    person = {"privacy_unit": "user", "max_lists_per_user": 2}
    model = built(kind, relation, person)

    def owners(given: Table) -> dict[str, Any]:
        return {"groups": given.document_list // 2}

    of_people = Variant("persons", person, owners)
    yield Act(f"{kind.__name__}: persons", relation, _fit(model, of_people, relation), 2 * LIST)
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
    ways: list[tuple[str, dict[str, Any]]] = [("", {}), (", data_norm=None", {"data_norm": None})]
    ways += [(", n bought", {"n_public": None})] if relation == "add_remove" else []
    classes = Variant("thirds", {"classes": [0, 1, 2]}, targets_of=thirds)
    of_classes = [(solver, classes) for solver in CLASS_SOLVERS if name == "DPLogisticRegression"]
    for solver, variant in (*((solver, VARIANTS[0]) for solver in SOLVERS), *of_classes):
        for what, parameters in ways:
            chosen = short(solver) if solver in SOLVERS else solver
            given = {"solver": chosen, **variant.parameters, **parameters}
            act = f"{name}: solver={solver}{what}"
            yield Act(act, relation, _fit(built(kind, relation, given), variant, relation))
    for sampling in ("without_replacement", "allocation"):
        model = built(kind, relation, {"solver": short("sgd", sampling=sampling)})
        run = _fit(model, VARIANTS[0], relation)
        yield Act(f"{name}: solver=sgd, sampling={sampling}", relation, run)


# --- Pipelines ------------------------------------------------------------------------------------------------------


def _of_pipelines() -> Iterator[Act]:
    """Every transformer in front of a classifier: what it maps are records of the next fit."""
    for name, kind in all_estimators("transformer"):
        for relation in RELATIONS:
            front = built(kind, relation, {})
            last = built(skdp.DPLogisticRegression, relation, {"solver": "gd"})
            model = skdp.make_pipeline(front, last)
            yield Act(f"make_pipeline({name})", relation, _fit_pipeline(model))
            if takes_holes(front):  # of few records no column stands out of the noise
                label = f"make_pipeline({name}): few records, missing cells"
                yield Act(label, relation, _fit_pipeline(model, with_holes), size=LIST)
    for relation in RELATIONS:
        front = built(_named("TableEncoder"), relation, {})
        search = built(_named("DPGridSearchCV"), relation, {})
        search.set_params(
            estimator=skdp.make_pipeline(front, skdp.DPLogisticRegression(**_of_search(relation))),
            param_grid={"dplogisticregression__C": [0.1, 1.0]},
        )
        # Where n is private a model is shown its rows one by one, which takes a while.
        yield Act("DPGridSearchCV(make_pipeline)", relation, _fit_words(search), size=FEW)


def _named(name: str) -> type:
    return dict(all_estimators())[name]


def _fit_pipeline(
    model: Any, rows_of: Callable[[Any], Any] = lambda rows: rows
) -> Callable[[Table], Any]:
    def run(given: Table) -> Any:
        fresh = clone(model)
        _charge_each(fresh)
        fresh.fit(rows_of(_rows_for(fresh[0], given)), given.label)
        return [released(step) for _, step in fresh.steps]

    return run


def _charge_each(pipeline: Any) -> None:
    """Let one ledger pay for all steps, where each fit is to have one."""
    steps = [step for _, step in pipeline.steps if "ledger" in _parameters(type(step))]
    if EACH_PAYS:
        ledger = Ledger(200.0, 1e-3, neighbors=steps[-1].neighbors)
        for step in steps:
            step.set_params(ledger=ledger)


def _fit_words(model: Any) -> Callable[[Table], Any]:
    return lambda given: released(clone(model).fit(given.words, given.label))


# --- Files ------------------------------------------------------------------------------------------------------------

# Of a cell of the one record that is far: whatever a reader of files infers of its column from that.
SPELLINGS = ("abc", "", "NA", "True", "1e400", "12", "1,5", "2020-01-01", "9" * 30, " 3 ", "-0")


def _of_files() -> Iterator[Act]:
    """Tables as they are read from a file: one cell of one record decides what a reader makes of a column."""
    for relation in RELATIONS:
        for name, kind in all_estimators("transformer"):
            if not {"declaration", "categories"} & _parameters(kind).keys():
                continue
            front = built(kind, relation, {})
            model = skdp.make_pipeline(front, built(skdp.DPLogisticRegression, relation, {}))
            for spelling in SPELLINGS:
                act = f"{name}: in a file with {spelling!r}"
                yield Act(act, relation, _fit_file(model, spelling), size=90)


def _fit_file(model: Any, spelling: str) -> Callable[[Table], Any]:
    def run(given: Table) -> Any:
        frame = given.words.assign(label=given.label).astype(str)
        far = given.X[:, 0] < -20.0  # as `far_record` has it
        # Numbers are whole, and short enough to be read as integers and as flags.
        for name in ("x1", "x2"):
            frame[name] = np.where(given.X[:, 3] > 0.0, "1", "0")
        frame.loc[far, ["x1", "word"]] = spelling
        read = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
        fresh = clone(model)
        known = fresh[0].get_params()
        rows = read.drop(columns="label") if "declaration" in known else read[["word"]]
        fresh.fit(rows, read["label"])
        return [released(step) for _, step in fresh.steps]

    return run


# --- Functions and constructors that take rows and a ledger -----------------------------------------------------------

_LEFT_OUT = {"names", "y_bounds"}  # declarations, whose defaults must not come from records
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
                for form in SCORED if _is_plain(given) else SCORED[:1]:
                    act = f"{name}: {', '.join(filter(None, (what, form.name))) or 'plain'}"
                    # Where n is private a model is shown its rows one by one, which takes a while.
                    size = N if relation == "replace_one" and form is SCORED[0] else FEW
                    yield Act(act, relation, _call(function, given, form), size=size)


def _is_plain(given: dict[str, Any]) -> bool:
    """Whether other models and forms of tables are tried as well."""
    return given.get("scoring", "accuracy") in ("accuracy", "r2", "log_loss")


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
            given: dict[str, Any] = {name: DECLARED[name] for name in ("epsilon", "random_state")}
            given |= {"neighbors": relation} if "neighbors" in known else {"relation": relation}
            given |= {} if scoring is None else {"scoring": scoring}
            given |= {"y_bounds": (-3.0, 3.0)} if scoring == "r2" else {}
            given |= {} if cv is None else {"cv": cv}
            given |= {"names": [0, 1]} if "names" in known else {}
            told = [str(v) for v in (scoring, cv) if v is not None]
            yield ", ".join(told), given
            if scoring == scorings[0] and isinstance(cv, KeyFold):
                # One record may be all that a part has for its training.
                yield ", ".join([*told, "few keys"]), given | {"keys": "few"}
            for name in _LEFT_OUT & given.keys():
                if known[name].default is not inspect.Parameter.empty:
                    left = {one: value for one, value in given.items() if one != name}
                    yield ", ".join([*told, f"{name} left out"]), left


def _refuses_some(kind: type, X: np.ndarray, y: np.ndarray) -> Any:
    """A model that takes no table with a far row in it, and no short one's neighbour."""

    class Picky(kind):  # type: ignore[misc]
        def _checked(self, how: str, X: Any) -> Any:
            rows = np.asarray(X)
            if ((rows[:, 0] < -20.0) | (rows[:, 1] > 1.0)).any():
                raise KeyError(f"a row that was not expected, of {len(rows)}")
            return getattr(super(), how)(X)

        def predict(self, X: Any) -> Any:
            return self._checked("predict", X)

    for how in ("predict_proba", "decision_function"):
        if hasattr(kind, how):
            setattr(Picky, how, lambda self, X, how=how: self._checked(how, X))
    return Picky().fit(X, y)


def _usual(kind: type, X: np.ndarray, y: np.ndarray) -> Any:
    return kind().fit(X, y)


def _of_labels_only(kind: type, X: np.ndarray, y: np.ndarray) -> Any:
    """A model of another number of classes."""
    return kind().fit(X, y if kind is Ridge else np.digitize(X[:, 0], [-0.4, 0.4]))


@dataclass(frozen=True, eq=False)
class Scored:
    """What is scored: a model, and the form of the rows that it is shown."""

    name: str
    model: Callable[[type, np.ndarray, np.ndarray], Any] = _usual
    rows_of: Callable[[np.ndarray], Any] = lambda X: X


SCORED = (
    Scored(""),
    Scored("a model that refuses some", _refuses_some),
    Scored("three classes", _of_labels_only),
    Scored("sparse", rows_of=csr_array),
    Scored("float32", rows_of=lambda X: X.astype(np.float32)),
)


def _call(
    function: Callable[..., Any], given: dict[str, Any], form: Scored
) -> Callable[[Table], Any]:
    known = inspect.signature(function).parameters
    numbers = given.get("scoring") == "r2"

    def run(held: Table) -> Any:
        asked = dict(given)
        relation, key = asked.pop("relation", None), asked.pop("keys", "person")
        if relation is None:  # a public model, fitted on other people
            kind = Ridge if numbers else LogisticRegression
            model = form.model(kind, _HELD_OUT.X, _HELD_OUT.number if numbers else _HELD_OUT.label)
        else:
            model = skdp.DPLogisticRegression(**_of_search(relation))
        if "groups" in known:
            keys = getattr(held, key) if "cv" in known else held.label
            if "names" in known or isinstance(asked.get("cv"), KeyFold):
                asked["groups"] = keys
        needed = {
            name
            for name, one in known.items()
            if one.default is one.empty
            and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
            and name not in ("estimator", "X", "y", "ledger", *asked)
        }
        assert not needed, (
            f"{function.__qualname__} promises privacy; say in promises.py what {needed} may be"
        )
        ledger = Ledger(200.0, 1e-3, neighbors=given.get("neighbors") or relation)
        targets, rows = held.number if numbers else held.label, form.rows_of(held.X)
        return function(model, rows, targets, ledger=ledger, **asked), charged(ledger)

    return run


# --- Commands ---------------------------------------------------------------------------------------------------------


def _of_commands() -> Iterator[Act]:
    """The command that publishes one model, on a user's own file."""
    for relation in RELATIONS:
        for what, words in {"plain": [], "batches": ["--solver", "sgd"]}.items():
            act = f"python -m skdp --no-scores: {what}"
            yield Act(act, relation, _run_command([*words, "--neighbors", relation]), size=FEW)


def _run_command(words: list[str]) -> Callable[[Table], Any]:
    # Of one name in all runs: what is opened for writing is compared.
    path = Path(tempfile.gettempdir(), f"skdp-command-{os.getpid()}.csv")
    declaration = path.with_suffix(".json")
    declared = {**DECLARED["declaration"], "label": ["0", "1"]}
    given = ["--no-scores", "--epsilon", str(EPSILON), "--target", "label", *words]
    given += ["--csv", str(path), "--bounds", str(declaration)]

    def run(held: Table) -> Any:
        seed = DECLARED["random_state"]
        try:
            held.words.assign(label=held.label).to_csv(path, index=False)
            declaration.write_text(json.dumps(declared))
            return _demo.main(given if seed is None else [*given, "--seed", str(seed)])
        finally:
            path.unlink(missing_ok=True)
            declaration.unlink(missing_ok=True)

    return run
