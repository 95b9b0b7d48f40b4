"""Two fits of which the second begins where the first ended, under attack as one mechanism.

The first is loud. The second makes one tiny step with next to all of its noise, so that its coefficients are nearly the
first one's: what they tell of a record is the first fit's answer, whatever the second one has paid.
"""

from itertools import count
from unittest.mock import patch

import numpy as np
import pytest
from laws.vaults import RELATIONS
from sklearn.base import clone

from skdp import DPLogisticRegression, DPRidge
from skdp.audit import adversarial_pairs, audit, replay, worst_case_pair
from skdp.audit._replay import Watched
from skdp.fitting import estimator as _estimator
from skdp.fitting import program as _program
from skdp.fitting import run as _run
from skdp.fitting.starting import Start
from skdp.solvers import GD

DELTA, LOUD, SMALL = 0.01, 3.0, 0.05
RUNS = [600, pytest.param(3000, marks=pytest.mark.slow)]
ONE = GD(steps=1, momentum=0.0)


def model(relation="replace_one", **given):
    """An estimator that goes on."""
    declared = {"data_norm": 1.0, "classes": [0, 1], "neighbors": relation, "n_public": None}
    return DPLogisticRegression(
        epsilon=LOUD, delta=DELTA, solver=ONE, warm_start=True, **{**declared, **given}
    )


def twice(fitted, X, y):
    """A loud fit, and a small one behind it."""
    fitted.fit(X, y)
    first = fitted.coef_[0, 0]
    fitted.set_params(epsilon=SMALL, solver=GD(steps=1, momentum=0.0, step_size=1e-6))
    return first, fitted.fit(X, y)


def attacked(runs):
    """What an attack on the second fit's coefficients finds, and what its receipt says."""
    seeds, claims = count(), set()

    def run(data):
        _, fitted = twice(model(random_state=next(seeds)), *data)
        claims.add(fitted.privacy_.epsilon)
        return [fitted.coef_[0, 0], fitted.intercept_[0]]

    found = audit(run, worst_case_pair(n=4), DELTA, runs)
    (claim,) = claims
    return found, claim


@pytest.mark.parametrize("runs", RUNS)
def test_the_second_model_shows_no_more_than_its_receipt_claims(runs):
    found, claim = attacked(runs)
    assert LOUD < claim < LOUD + 0.1 and not found.refutes(claim)
    assert runs < 1000 or found.epsilon > 0.3 * LOUD, "an attack that sees next to nothing"


def the_last_alone(earlier, receipt, accountant):
    """In the place of the receipt of all: that of the last fit."""
    return receipt


def test_a_twin_whose_receipt_is_of_the_last_fit_alone_is_caught(monkeypatch):
    monkeypatch.setattr(_run, "continued", the_last_alone)
    found, claim = attacked(600)
    assert claim <= SMALL * (1 + 1e-9) and found.refutes(claim)


@pytest.mark.slow
def test_both_models_together_show_no_more_than_the_second_receipt_claims():
    seeds = count()

    def run(data):
        fitted = model(random_state=next(seeds)).fit(*data)
        first = fitted.coef_[0, 0]
        fitted.set_params(random_state=next(seeds)).fit(*data)
        return [first, fitted.coef_[0, 0] - first]

    pair = worst_case_pair(n=4)
    found, claim = audit(run, pair, DELTA, 4000), model().fit(*pair[0]).fit(*pair[0]).privacy_
    assert claim.epsilon > 1.4 * LOUD and not found.refutes(claim.epsilon)
    assert found.epsilon > 0.6 * LOUD


def run_of(estimator):
    """A run of two fits, and all that is kept of both."""

    def run(table, noise):
        fitted = clone(estimator)
        with (
            patch.object(_estimator, "Noise", lambda seed=None: noise),
            patch.object(_program, "Oracle", Watched),
        ):
            first = dict(vars(fitted.fit(*table)))
            return {"first": first, "second": vars(fitted.fit(*table))}

    return run


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [DPLogisticRegression, DPRidge])
def test_nothing_but_the_answers_tells_of_a_record(kind, relation):
    given = {"data_norm": 1.0, "neighbors": relation, "solver": GD(steps=2), "warm_start": True}
    own = {"classes": [0, 1]} if kind is DPLogisticRegression else {"y_bounds": (0.0, 1.0)}
    run = run_of(kind(epsilon=1.0, **given, **own))
    pairs = [*adversarial_pairs(relation, 60, 3)][::3]
    replays = [replay(run, pair, k) for k, pair in enumerate(pairs)]
    assert [found.findings for found in replays if found.findings] == []
    asked = 4 if relation == "replace_one" else 6
    assert {found.calls for found in replays} <= {0, asked} and len(replays) > 10
    assert max(found.moved for found in replays) > 0.4


class BesideTheMean(Start):
    """Begins beside the earlier coefficients, by the mean of a target."""

    def _place(self, plan, name, given, free):
        return super()._place(plan, name, given, free) + 1e-6 * self._model._seen * (
            name == "coef_"
        )


class ShowsTheMean(DPRidge):
    """Keeps the mean of a target, and begins by it."""

    _begins = BesideTheMean

    def fit(self, X, y, sample_weight=None, *, groups=None):
        self._seen = float(np.mean(y))
        return super().fit(X, y, sample_weight, groups=groups)


def test_a_twin_that_begins_at_what_was_not_paid_for_is_found():
    given = {"data_norm": 1.0, "y_bounds": (0.0, 1.0), "solver": GD(steps=2), "warm_start": True}
    run, pairs = run_of(ShowsTheMean(epsilon=1.0, **given)), adversarial_pairs("replace_one", 60, 3)
    assert any(replay(run, pair, 0).findings for pair in pairs)
