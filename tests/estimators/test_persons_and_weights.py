"""Persons by groups, and weights within declared bounds: what is promised, what is refused, what is estimated."""

import math

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import DPLogisticRegression, NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import Gradient, Public, Records
from skdp.privacy import Ledger

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3)) / 3.0
Y = (X[:, 0] + 0.1 * rng.normal(size=400) > 0).astype(int)
PERSONS = rng.integers(1000, 1100, 400)
WEIGHTS = rng.uniform(0.0, 4.0, 400)
N = len(np.unique(PERSONS))


def model(epsilon=5.0, **given):
    declared = {"data_norm": 3.0, "classes": [0, 1], "random_state": 0}
    return DPLogisticRegression(epsilon, 1e-5, **{**declared, **given})


# -------------------------------------------------------------------------------------- persons


@pytest.mark.parametrize("solver", ["auto", "gd", "sgd", "white-gd", "objective-perturbation"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_receipt_of_persons_counts_persons(solver, neighbors):
    given = {"max_rows_per_group": 5, "solver": solver, "neighbors": neighbors}
    receipt = model(**given).fit(X, Y, groups=PERSONS).privacy_
    quote = model(**given).quote(N, 3)
    assert receipt.script == quote.script and "units" in receipt.proofs
    assert receipt.unit == "person" and receipt.rows == 5
    assert "one person of at most 5 rows" in str(receipt).splitlines()[0]
    assert receipt.declared.get("n") == (N if neighbors == "replace_one" else None)


@pytest.mark.parametrize("solver", ["output-perturbation", "psgd", "outpert-gd"])
def test_what_has_no_proof_for_persons_refuses_before_it_is_paid(solver):
    ledger = Ledger(5.0, 1e-5)
    with pytest.raises(NotSupported, match="no proof for units of up to 5 rows"):
        model(max_rows_per_group=5, solver=solver, ledger=ledger, random_state=None).fit(
            X, Y, groups=PERSONS
        )
    assert ledger.spent == 0.0


WRONG_GROUPS = {
    "missing": (PERSONS.astype(float) * np.where(np.arange(400) == 7, np.nan, 1.0)),
    "short": PERSONS[:-1],
    "two columns": np.column_stack([PERSONS, PERSONS]),
    "objects": np.array([None] + ["Alice-4711"] * 399, dtype=object),
}


@pytest.mark.parametrize("kind", WRONG_GROUPS)
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_wrong_groups_are_refused_without_an_id_or_a_count(kind, neighbors):
    with pytest.raises(ValueError) as caught:
        model(max_rows_per_group=2, neighbors=neighbors).fit(X, Y, groups=WRONG_GROUPS[kind])
    told = str(caught.value)
    assert not any(secret in told for secret in ("Alice", "400", "399", str(PERSONS[0]), str(N)))
    assert caught.value.__context__ is None


def test_groups_and_their_declaration_come_together():
    with pytest.raises(ValueError, match="declare how many rows"):
        model().fit(X, Y, groups=PERSONS)
    with pytest.raises(ValueError, match="pass groups="):
        model(max_rows_per_group=3).fit(X, Y)
    with pytest.raises(ValueError) as caught:
        model(max_rows_per_group=3).fit(X, Y[:-1], groups=PERSONS)
    assert "400" not in str(caught.value)


def test_groups_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        one = model(1e4, max_rows_per_group=50).set_fit_request(groups=True)
        routed = {"cv": GroupKFold(3), "params": {"groups": PERSONS}}
        assert cross_val_score(one, X, Y, **routed).mean() > 0.8
        pipe = make_pipeline(FunctionTransformer(), one)
        assert cross_val_score(pipe, X, Y, **routed).mean() > 0.8
        search = GridSearchCV(one, {"C": [0.1, 1.0]}, cv=GroupKFold(3)).fit(X, Y, groups=PERSONS)
        assert search.best_estimator_.privacy_.unit == "person"


# -------------------------------------------------------------------------------------- weights


def test_without_noise_weights_are_those_of_scikit_learn():
    weighed = {0: 2.0, 1: 0.5}
    exact = LogisticRegression(class_weight=weighed, tol=1e-12, max_iter=10_000, solver="newton-cg")
    exact.fit(X, Y, sample_weight=WEIGHTS)
    with pytest.warns(UserWarning, match="NOT private"):
        found = model(math.inf, class_weight=weighed, max_sample_weight=4.0).fit(X, Y, WEIGHTS)
    np.testing.assert_allclose(found.coef_, exact.coef_, rtol=1e-4)


def test_a_bound_that_is_declared_larger_changes_nothing_without_noise():
    with pytest.warns(UserWarning, match="NOT private"):
        one, two = (
            model(math.inf, max_sample_weight=bound).fit(X, Y, WEIGHTS) for bound in (4.0, 40.0)
        )
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-4)


SECRET = 8675.309
WRONG_WEIGHTS = {
    "nan": np.where(np.arange(400) == 3, np.nan, 1.0),
    "negative": np.where(np.arange(400) == 3, -SECRET, 1.0),
    "too large": np.where(np.arange(400) == 3, SECRET, 1.0),
    "infinite": np.where(np.arange(400) == 3, np.inf, 1.0),
    "short": np.ones(399),
    "square": np.ones((400, 400)),
    "text": np.array(["heavy"] * 400),
}


@pytest.mark.parametrize("kind", WRONG_WEIGHTS)
def test_wrong_weights_are_refused_without_a_value(kind):
    ledger = Ledger(5.0, 1e-5)
    with pytest.raises(ValueError) as caught:
        model(max_sample_weight=4.0, ledger=ledger, random_state=None).fit(
            X, Y, WRONG_WEIGHTS[kind]
        )
    told = str(caught.value)
    assert "8675" not in told and "399" not in told and "heavy" not in told
    assert caught.value.__context__ is None and ledger.spent == 0.0


def test_weights_without_a_bound_and_balanced_ones_are_refused():
    with pytest.raises(ValueError, match="max_sample_weight is None"):
        model().fit(X, Y, WEIGHTS)
    with pytest.raises(ValueError, match="'balanced' is a statistic of all records"):
        model(class_weight="balanced").fit(X, Y)


@pytest.mark.parametrize("solver", ["output-perturbation", "psgd", "outpert-gd"])
def test_what_has_no_proof_for_weights_refuses(solver):
    with pytest.raises(NotSupported, match="no proof for weighted records"):
        model(max_sample_weight=4.0, solver=solver).fit(X, Y, WEIGHTS)


def vault(weights, relation="add_remove", gone=None):
    """Rows at the bound with weights of their own; under add/remove one of them may be gone."""
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    keep = [i for i in range(3) if i != gone]
    public = Public(None if relation == "add_remove" else 3, 2, 0.0, relation, weighted=True)
    return Records.admit(
        rows[keep], np.ones(len(keep)), public, 1.0, None, np.asarray(weights)[keep]
    )


class WeighsAfterTheClip(Gradient):
    """Brings nothing below its bound again: a weight that is more than 1 would move the sum further."""

    def _weighted(self, records):
        total, weights = super()._weighted(records)
        return 3.0 * total, weights


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_weighted_record_moves_a_sum_by_its_share_of_the_clip(weight):
    question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.25, multiplier=1.0)
    weights = np.array([1.0, weight, 1.0])
    moved = question.measure(vault(weights)) - question.measure(vault(weights, gone=1))
    assert np.linalg.norm(moved) == pytest.approx(0.25 * weight, rel=1e-9)
    twin = WeighsAfterTheClip(at=np.zeros(2), loss=Logistic(), clip=0.25, multiplier=1.0)
    heavy = twin.measure(vault([1.0] * 3)) - twin.measure(vault([1.0] * 3, gone=1))
    assert np.linalg.norm(heavy) > 2.0 * twin.sensitivity(vault([1.0] * 3).public)


@pytest.mark.parametrize("wrong", [[1.0, 1.0 + 1e-9, 1.0], [1.0, -1e-9, 1.0], [1.0, np.nan, 1.0]])
def test_the_vault_admits_no_weight_beyond_one(wrong):
    with pytest.raises(ValueError, match="one number in \\[0, 1\\]"):
        vault(wrong)
