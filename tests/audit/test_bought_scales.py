"""Private scales under attack, alone and as the first step of a pipeline that is one mechanism."""

from itertools import count
from unittest.mock import patch

import numpy as np
import pytest
from laws.vaults import RELATIONS
from sklearn.base import clone

import skdp
from skdp.audit import adversarial_pairs, audit, fitted, replay
from skdp.audit._replay import Watched
from skdp.fitting import estimator as _estimator
from skdp.fitting import program as _program
from skdp.fitting.stages import ColumnBounds
from skdp.preprocessing import (
    DPBounds,
    DPImputer,
    DPQuantileScaler,
    DPStandardScaler,
    DPWhitener,
)
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.solvers import GD

N, D = 60, 3
KINDS = [DPBounds, DPStandardScaler, DPQuantileScaler, DPImputer, DPWhitener]


def pairs(relation):
    """Neighbours with every odd number that there is; every third of them."""
    return [*adversarial_pairs(relation, N, D)][::3]


def pipeline(relation, kind=DPBounds, **given):
    """Scales that are bought, and a fit behind them."""
    declared = {"neighbors": relation, "classes": [0, 1], "solver": GD(steps=3), **given}
    if kind is DPImputer:  # which leaves columns in their units
        declared["data_norm"] = 1.0
    return skdp.make_pipeline(
        kind(epsilon=1.0, neighbors=relation, **given),
        skdp.DPLogisticRegression(epsilon=1.0, **declared),
    )


def run_of(model):
    """A run of a whole pipeline: all that its steps keep."""

    def run(table, noise):
        copy = clone(model)
        with (
            patch.object(_estimator, "Noise", lambda seed=None: noise),
            patch.object(_program, "Oracle", Watched),
        ):
            copy.fit(*table)
        return {name: vars(step) for name, step in copy.steps}

    return run


def found_in(run, relation):
    """All findings of the replays on some pairs."""
    return [
        what for k, pair in enumerate(pairs(relation)) for what in replay(run, pair, k).findings
    ]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_the_answers_tells_of_a_record(kind, relation):
    model = kind(epsilon=1.0, neighbors=relation)
    replays = [replay(fitted(model), pair, k) for k, pair in enumerate(pairs(relation))]
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 10 and max(found.moved for found in replays) > 0.4
    counted = kind is DPWhitener and relation == "add_remove"  # whose moments are divided by it
    assert {found.calls for found in replays} <= {0, 1 + (kind is DPStandardScaler or counted)}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_the_answers_tells_of_a_record_in_a_pipeline(kind, relation):
    assert found_in(run_of(pipeline(relation, kind)), relation) == []


class ReadsTheBoundsOff(DPBounds):
    """Finds the bin by noisy counts, and the bound in it by looking."""

    def fit(self, X, y=None):
        self.seen_ = np.nanmax(np.where(np.isfinite(X), X, np.nan), axis=0)
        return super().fit(X, y)


class RaisesOnMissing(DPBounds):
    """Refuses a table for one record's cell."""

    def fit(self, X, y=None):
        if np.abs(X).max() > 3.0:
            raise RuntimeError("a number is too large")
        return super().fit(X, y)


class CountsRecords(DPStandardScaler):
    """Divides by the private number of records."""

    def fit(self, X, y=None):
        self._n = len(X)
        return super().fit(X, y)

    def _store(self, w, plan):
        super()._store(w, plan)
        self.mean_ = self.mean_ * self._n


@pytest.mark.parametrize(
    ("twin", "relation"),
    [
        (ReadsTheBoundsOff, "replace_one"),
        (RaisesOnMissing, "replace_one"),
        (CountsRecords, "add_remove"),
    ],
)
def test_a_twin_that_leaks_is_found(twin, relation):
    model = twin(epsilon=1.0, neighbors=relation)
    assert found_in(fitted(model), relation)


@pytest.mark.slow
def test_an_attack_on_the_pipeline_as_one_mechanism_finds_no_more_than_is_promised():
    X = np.column_stack([np.full(12, 1.0), np.full(12, -1.0)])
    y = np.arange(12) % 2
    other = X.copy()
    other[0] = [1e6, 5e-7]
    mu = np.sqrt(2.0) * gaussian_mu(1.0, 1e-6)

    def run(table):
        model = pipeline("replace_one").fit(table, y)
        return [
            *np.sign(model[0].bounds_).ravel(),
            *np.log2(1 + np.abs(model[0].bounds_)).ravel(),
            *model[-1].coef_[0],
        ]

    found = audit(run, (X, other), delta=0.05, n_runs=2000)
    assert gaussian_delta(found.epsilon, mu) >= 0.05 or found.epsilon == 0.0


def unscaled(epsilon=1.0):
    """All that a fit keeps of a table of which nothing is declared, as one mechanism."""
    y, jitter, seeds = np.arange(12) % 2, np.random.default_rng(0), count()
    given = {"classes": [0, 1], "solver": GD(steps=2)}

    def run(table):
        model = skdp.DPLogisticRegression(epsilon=epsilon, random_state=next(seeds), **given)
        model.fit(table, y)
        bounds = model.bounds_.ravel()
        scales = np.log2(1.0 + np.abs([*bounds, model.data_norm_]))
        kept = np.array([*np.sign(bounds), *scales, *np.tanh(model.coef_[0])])
        return kept + jitter.normal(scale=1e-3, size=len(kept))  # a discriminant wants some spread

    X = np.column_stack([np.full(12, 1.0), np.full(12, -1.0)])
    other = X.copy()
    other[0] = [1e6, 5e-7]
    return run, (X, other)


BUY = ColumnBounds.run


def _no_noise_on_counts(self, look, *given):
    """See which octaves are occupied."""

    def bare(view):
        oracle = look(view)
        return Bare(oracle._Oracle__records, oracle)

    return BUY(self, bare, *given)


class Bare:
    """Tells counts as they are."""

    def __init__(self, records, oracle):
        self.records, self.oracle, self.public = records, oracle, oracle.public

    def ask(self, question):
        self.oracle.ask(question)
        return 1e6 * question.measure(self.records)


def test_an_attack_on_bought_scales_and_fit_as_one_mechanism_finds_a_twin(monkeypatch):
    run, pair = unscaled(epsilon=0.5)
    assert audit(run, pair, delta=1e-6, n_runs=40).epsilon <= 0.5
    monkeypatch.setattr(ColumnBounds, "run", _no_noise_on_counts)
    assert audit(run, pair, delta=1e-6, n_runs=40).epsilon > 0.5


@pytest.mark.slow
def test_an_attack_on_bought_scales_and_fit_as_one_mechanism_finds_no_more_than_is_promised():
    run, pair = unscaled()
    found = audit(run, pair, delta=0.05, n_runs=2000)
    assert gaussian_delta(found.epsilon, gaussian_mu(1.0, 1e-6)) >= 0.05 or found.epsilon == 0.0
