"""`check` against a table of truths, and `total` against a ledger that saw every fit."""

import inspect
import warnings

import numpy as np
import pytest
from inspection import spies
from inspection.compositions import (
    COMPOSITIONS,
    MANY,
    REAL,
    REALS,
    THREE,
    TWO,
    X,
    added,
    lr,
    ridge,
)
from sklearn.base import clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import RFE
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline

import skdp
from skdp.exceptions import NotSupported
from skdp.inspection import _structures
from skdp.inspection._rules import charges
from skdp.inspection._structures import SPOILS, STRUCTURES
from skdp.inspection.checks import relations_of
from skdp.preprocessing import BoundsScaler
from skdp.privacy import accountants
from skdp.privacy.events import Gaussian, merged
from skdp.privacy.events._written import after_answers
from skdp.utils import all_estimators

FALSE_ALARMS = 3  # at most, among all compositions that are private


def test_no_private_that_is_not():
    called = {row.name for row in COMPOSITIONS if skdp.check(row.model).private}
    assert called <= {row.name for row in COMPOSITIONS if row.truth == "private"}


def test_few_false_alarms():
    private = {row.name for row in COMPOSITIONS if row.truth == "private"}
    alarms = {name for name in private if not skdp.check(found(name).model).private}
    assert len(COMPOSITIONS) >= 60 and len(alarms) <= FALSE_ALARMS
    assert alarms == {"stack, one left out"}


def found(name):
    return next(row for row in COMPOSITIONS if row.name == name)


@pytest.mark.parametrize("row", COMPOSITIONS, ids=lambda row: row.name)
def test_verdicts_say_what_is_wrong(row):
    verdicts = {step.verdict for step in skdp.check(row.model).steps}
    if row.truth == "labels":
        assert "assumes" in verdicts and verdicts <= {"private", "public", "assumes"}
    if row.truth == "unknown":
        assert "unknown" in verdicts and not verdicts & {"learns", "void"}
    if row.truth == "not":
        assert verdicts & {"learns", "void", "unknown"}


def fitted(model, y):
    """A copy, fitted inside a budget that holds all; None where it cannot be fitted."""
    relation = next(iter(relations_of(model)), "replace_one")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with skdp.budget(200.0, 1e-5, neighbors=relation) as ledger:
            try:
                model = clone(model)
                if getattr(model, "cv", None) == "prefit":
                    for _, part in model.estimators:
                        part.fit(X, y)
                model.fit(X, y)
            except Exception:
                return None
    return model, ledger


def counted(model, ledger):
    """The number of receipts of a total, after it was held against the ledger; None where it refuses."""
    try:
        total = skdp.total(model, delta=1e-5)
    except NotSupported as refusal:
        assert "share a ledger" in str(refusal)
        return None
    charged = merged(run for script in ledger.scripts for run in script)
    if len(ledger) > 1:
        charged = after_answers(charged)
    price = accountants.epsilon(charged, 1e-5, total.neighbors) if charged else 0.0
    assert total.epsilon >= price * (1 - 1e-9)
    assert total.epsilon >= ledger.spent * (1 - 1e-9) or not _exact(charged)
    return len(total.receipts)


def _exact(script):
    """Whether a ledger's books price these events as tightly as a total does."""
    return all(isinstance(event, Gaussian) for event, _ in script)


@pytest.mark.parametrize(
    "row", [row for row in COMPOSITIONS if row.y is not None], ids=lambda row: row.name
)
def test_a_total_is_never_below_the_ledger(row):
    made = fitted(row.model, row.y)
    assert made is not None
    receipts = counted(*made)
    assert receipts is None or receipts >= len(made[1])


COUNTED = {
    "bare": 1,
    "private search": 1,
    "bought bounds": 2,
    "sound union": 2,
    "frozen private model": 1,
    "one-vs-rest": 3,
    "one-vs-one, add_remove": 3,
    "several outputs": 3,
    "chain": 3,
    "voting": 2,
    "stack of what is fitted": 2,
    "selection by a private model": 2,
    "nested": 4,
}
REFUSED = [
    "one-vs-one",
    "stack",
    "stack over positions",
    "stack of regressors",
    "chain over positions",
    "elimination",
    "elimination by scores",
    "calibration",
    "grid search",
    "tuned threshold",
]


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_counted(name):
    assert counted(*fitted(found(name).model, found(name).y)) == COUNTED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    assert counted(*fitted(found(name).model, found(name).y)) is None


INNER = {"classifier": lr(), "add_remove": added(), "regressor": ridge()}
TARGETS = (TWO, THREE, MANY, REAL, REALS)


def automatic(depth):
    """All of scikit-learn's meta-estimators around ours, and such around those that keep their fits."""
    inner = (
        [] if depth == 1 else [m for m in automatic(depth - 1) if type(m).__name__ in STRUCTURES]
    )
    for estimator in inner or INNER.values():
        for _, Meta in spies.metas():
            keeps = Meta.__name__ in STRUCTURES and "cv" not in inspect.signature(Meta).parameters
            if depth == 1 or keeps:
                yield from spies.built(Meta, estimator)


def held_against_the_ledger(models, once=False):
    """Names of the outermost kinds of which a fit was counted, for every target or the first that a model takes."""
    kinds = set()
    for model in models:
        for y in TARGETS:
            made = fitted(model, y)
            if made is not None and len(made[1]):
                receipts = counted(*made)
                assert receipts is None or receipts >= len(made[1]), model
                kinds |= {type(model).__name__} if receipts else set()
                if once:
                    break
    return kinds


@pytest.mark.parametrize("name", [name for name, _ in spies.metas()])
def test_totals_of_all_meta_estimators(name):
    models = [model for model in automatic(1) if type(model).__name__ == name]
    if name in SPOILS:  # refused whatever its folds are, and made of many fits
        models = [model for model in models if getattr(model, "cv", 3) == 3]
    kinds = held_against_the_ledger(models, once=name in SPOILS)
    nothing = {
        "FrozenEstimator",
        "FeatureUnion",
        "ColumnTransformer",
        "OutputCodeClassifier",
        "RFE",
    }
    assert kinds == ({name} if name in set(STRUCTURES) - nothing else set())


@pytest.mark.slow
def test_totals_of_meta_estimators_inside_each_other():
    assert len(held_against_the_ledger(automatic(2))) > 8


def ours():
    """Each of our estimators that charges a budget, with the declarations that it needs."""
    known = {"data_norm": 1.0, "y_bounds": (0, 1), "epsilon": 1.0, "delta": 1e-6, "classes": [0, 1]}
    known |= {"declaration": (-1, 1)}
    for name, kind in all_estimators():
        params = inspect.signature(kind).parameters
        if hasattr(kind, "quote") and "estimator" not in params and name != "DPRanker":
            given = {key: value for key, value in known.items() if key in params}
            yield kind(**given, **({"max_iter": 2} if "max_iter" in params else {}))


@pytest.mark.parametrize("estimator", list(ours()), ids=lambda step: type(step).__name__)
def test_totals_of_all_of_ours(estimator):
    if hasattr(estimator, "transform"):
        made = fitted(make_pipeline(estimator, lr()), TWO)
        assert counted(*made) == 2
    elif is_classifier(estimator):
        assert counted(*fitted(OneVsRestClassifier(estimator), THREE)) == 3
    else:
        model = TransformedTargetRegressor(make_pipeline(BoundsScaler((-1, 1)), estimator))
        assert counted(*fitted(model, np.clip(REAL, 0, 1))) == 1


def test_the_law_finds_fits_that_are_thrown_away(monkeypatch):
    """Planted: an elimination, and a chain over folds, that are said to keep all."""
    for kind, model, y in (
        ("RFE", RFE(lr(), n_features_to_select=1), TWO),
        ("ClassifierChain", ClassifierChain(lr(), cv=3), MANY),
    ):
        keeps = _structures.Structure(lambda step, setting: None)
        monkeypatch.setitem(_structures.STRUCTURES, kind, keeps)
        with pytest.raises(AssertionError):
            counted(*fitted(model, y))


def test_a_template_that_was_fitted_before_is_no_part_of_a_model():
    template = lr().fit(X, TWO)
    model = OneVsRestClassifier(template).fit(X, THREE)
    assert charges(model.estimator) and len(skdp.total(model).receipts) == 3
    assert skdp.total(OneVsRestClassifier(template)).receipts == ()


def test_totals_count_models_in_sets_and_arrays():
    models = [lr().fit(X, TWO), lr().fit(X, TWO)]
    expected = skdp.total(models).epsilon
    for held in (set(models), frozenset(models), np.array(models, dtype=object)):
        assert len(skdp.total(held).receipts) == 2 and skdp.total(held).epsilon == expected
