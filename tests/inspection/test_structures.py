"""What `check` does not accuse keeps neighbours neighbours: each fit inside sees at most the record that differs, and
nothing else that is fitted differs at all.

All of scikit-learn's meta-estimators, under both relations, around a spy that keeps the tables of its fits and answers
by public numbers alone.
"""

import warnings

import numpy as np
import pytest
from inspection import spies
from inspection.compositions import ridge
from sklearn.base import clone
from sklearn.ensemble import StackingRegressor
from sklearn.model_selection import KFold
from sklearn.multioutput import RegressorChain

from skdp.inspection._rules import kind_of
from skdp.inspection._structures import SPOILS, STRUCTURES
from skdp.inspection.checks import check
from skdp.model_selection import PositionFold

N = 30
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (N + 1, 3))
TWO = np.arange(N + 1) % 2
THREE = np.arange(N + 1) % 3
TARGETS = {  # what each kind of spy may be asked to learn; every label stays, whichever record comes or goes
    "two labels": TWO,
    "three labels": THREE,
    "two columns of labels": np.column_stack([TWO, THREE == 0]).astype(int),
    "numbers": RNG.normal(size=N + 1),
    "two columns of numbers": RNG.normal(size=(N + 1, 2)),
    "nothing": None,
}
SPIES = {
    "classifier": (spies.SpyClassifier, list(TARGETS)[:3]),
    "regressor": (spies.SpyRegressor, list(TARGETS)[3:5]),
    "transformer": (spies.SpyTransformer, list(TARGETS)[5:]),
}


def fits(model, rows, y):
    """Tables of the fits that a copy makes, and what it is afterwards; None where it cannot be fitted."""
    spies.SEEN.clear()
    copy = clone(model)
    if getattr(model, "cv", None) == "prefit":
        for _, part in getattr(copy, "estimators", ()):
            part.fit(X, TWO)
        spies.SEEN.clear()
    np.random.seed(0)  # noqa: NPY002 - what scikit-learn draws by itself is public
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            copy.fit(X[rows], None if y is None else y[rows])
        except Exception:
            return None
    return [table.copy() for table in spies.SEEN], state(copy)


def state(thing):
    """All that a fitted thing holds, as plain lists."""
    if isinstance(thing, np.ndarray):
        return [thing.dtype.str, thing.shape, thing.tolist()]
    if isinstance(thing, dict):
        return [(name, state(value)) for name, value in thing.items()]
    if isinstance(thing, np.random.RandomState):
        return "draws"  # of the operating system, where scikit-learn makes one
    if isinstance(thing, (list, tuple)):
        return [state(value) for value in thing]
    if hasattr(thing, "__dict__") and not isinstance(thing, type):
        return [type(thing).__name__, state(vars(thing))]
    return repr(thing)


def replaced(place):
    """Rows of the table whose record at a place is another one."""
    rows = np.arange(N)
    rows[place] = N
    return rows


def near(one, other, relation):
    """Whether two tables of a fit are equal or neighbours."""
    if relation == "replace_one":
        return one.shape == other.shape and (one != other).any(axis=1).sum() <= 1
    if one.shape[1] != other.shape[1] or len(other) - len(one) not in (0, 1):
        return False
    if len(one) == len(other):
        return np.array_equal(one, other)
    return any(np.array_equal(one, np.delete(other, i, axis=0)) for i in range(len(other)))


def moved(model, y, relation):
    """The first place where a neighbour changes more than its own record; None for none, "unfit" without a fit."""
    rows = np.arange(N)
    before = fits(model, rows, y)
    if before is None:
        return "unfit"
    for place in range(0, N, 5):  # of every label
        others = replaced(place) if relation == "replace_one" else np.insert(rows, place, N)
        after = fits(model, others, y)
        if after is None or after[1] != before[1] or len(after[0]) != len(before[0]):
            return place
        if not all(near(*pair, relation) for pair in zip(before[0], after[0])):
            return place
    return None


def accused(model):
    """Whether check says that the meta-estimator itself spoils what is inside."""
    verdicts = {step.verdict for step in check(model).steps if step.kind == type(model).__name__}
    return bool(verdicts & {"learns", "unknown"})


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("spy", SPIES)
@pytest.mark.parametrize(("name", "Meta"), spies.metas(), ids=lambda value: str(value)[:40])
def test_neighbours_stay_neighbours_in_what_is_not_accused(name, Meta, spy, relation):
    Spy, targets = SPIES[spy]
    for model in spies.built(Meta, Spy(neighbors=relation)):
        if accused(model):
            assert name in SPOILS or name in STRUCTURES or name == "IterativeImputer"
            continue
        assert name in STRUCTURES
        for target in targets:
            assert moved(model, TARGETS[target], relation) in (None, "unfit"), (model, target)


def test_every_structure_was_fitted():
    """A law about fits that are never made says nothing. What is frozen makes none."""
    found = {
        name
        for name, Meta in spies.metas()
        for Spy, targets in SPIES.values()
        for model in spies.built(Meta, Spy())
        for target in targets
        if (fits(model, np.arange(N), TARGETS[target]) or ((), None))[0]
    }
    assert set(STRUCTURES) - found == {"FrozenEstimator"}


ACCUSED = {
    "OneVsOneClassifier": ("replace_one", "three labels"),
    "StackingClassifier": ("replace_one", "two labels"),
    "ClassifierChain": ("replace_one", "two columns of labels"),
    "RegressorChain": ("add_remove", "two columns of numbers"),
    "StackingRegressor": ("add_remove", "numbers"),
}


@pytest.mark.parametrize("name", ACCUSED)
def test_what_is_accused_moves_other_records(name):
    """The refusals are no false alarms: a neighbour's fits do differ in more than one record."""
    relation, target = ACCUSED[name]
    spy = spies.SpyRegressor if "numbers" in target else spies.SpyClassifier
    Meta = dict(spies.metas())[name]
    models = [model for model in spies.built(Meta, spy(neighbors=relation)) if accused(model)]
    found = {moved(model, TARGETS[target], relation) for model in models}
    assert models and found - {None, "unfit"}


def test_the_law_sees_folds_that_follow_labels():
    """A planted bug: stratified folds that nobody accuses."""
    stack = next(
        model
        for model in spies.built(dict(spies.metas())["StackingClassifier"], spies.SpyClassifier())
        if kind_of(getattr(model, "cv", None)) == "StratifiedKFold"
    )
    assert accused(stack) and moved(stack, TWO, "replace_one") is not None


def test_folds_by_position_are_none_of_persons():
    """A person who is replaced by one with more rows moves the rows of others between folds, under both relations."""
    first, second = (np.array([*range(N - 10), *[7] * k]) for k in (5, 6))
    moved_rows = [
        set(a.tolist()) ^ set(b.tolist())
        for (_, a), (_, b) in zip(KFold(3).split(first), KFold(3).split(second))
    ]
    assert any(min(rows, default=N) < N - 10 for rows in moved_rows)
    for cv in (3, KFold(3), PositionFold(3)):
        for model in (
            StackingRegressor([("a", ridge())], ridge(), cv=cv),
            RegressorChain(ridge(), cv=cv),
        ):
            assert check(model).private
        person = ridge(max_rows_per_group=2)
        for model in (
            StackingRegressor([("a", person)], ridge(), cv=cv),
            RegressorChain(person, cv=cv),
        ):
            assert check(model).named("learns")
