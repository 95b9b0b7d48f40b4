"""The private line search: sensitivity, law, prices, and twins that break each of them."""

import dataclasses
import math

import numpy as np
import pytest
from laws.sensitivity_laws import neighbours
from laws.vaults import RELATIONS, vault
from laws.worst_pairs import line_search as pairs
from scipy.integrate import trapezoid
from scipy.stats import binomtest

from skdp import NotSupported
from skdp.losses import Huber, Logistic, Squared
from skdp.mechanisms import FirstDecrease, GaussianFirstDecrease, Noise, PoissonBatch
from skdp.privacy.events import (
    AboveThreshold,
    GaussianAboveThreshold,
    PoissonGaussian,
    PoissonPure,
)


def check_sensitivity(question, records, neighbour):
    """No query moves by more than one."""
    assert pairs.distance(question, records, neighbour) <= 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_query_moves_by_more_than_one(relation):
    for seed in range(150):
        records, neighbour = neighbours(seed, relation, 2, 0.25)
        for question in pairs.questions(records.public, np.random.default_rng(seed)):
            check_sensitivity(question, records, neighbour)


class Trusting(FirstDecrease):
    """Trusts the Lipschitz constant of the loss instead of clipping: the squared loss has none."""

    def measure(self, records):
        before = self._losses(records, self.at)
        for candidate in self.candidates:
            yield (before - self._losses(records, candidate)).sum()


class ForAddRemove(FirstDecrease):
    """Scales queries as if a record could only come or go."""

    def sensitivity(self, public):
        return self.bounds * (1.0 + self.rounding(public))


@pytest.mark.parametrize("twin", [Trusting, ForAddRemove])
def test_the_law_rejects_broken_twins(twin):
    question, records, neighbour, _ = pairs.worst_pair("replace_one")
    given = {f.name: getattr(question, f.name) for f in dataclasses.fields(question)}
    if twin is Trusting:
        given["loss"] = Squared()
    with pytest.raises(AssertionError):
        check_sensitivity(twin(**given), records, neighbour)


def one_query(law, value, **noise):
    """A search with one candidate, on a record that gives it this query."""
    records = vault([[1.0]], [1.0], "add_remove", intercept=0.0)
    given = {"at": np.zeros(1), "candidates": np.ones((1, 1)), "loss": Huber(), "bounds": [1e-3]}
    question = law(**given, demands=[1e-3 * (1 - value)], **noise)
    unit = records.public.sensitivity_factor * question.bounds[0]
    assert (next(question.measure(records)) - question.demands[0]) / unit == pytest.approx(value)
    return question, records


def pass_rate(question, records, runs=4000):
    return sum(question.answer(records, Noise(seed)) == 0 for seed in range(runs)), runs


def laplace_difference_tail(x, a, b):
    """P(V - L >= x) for Laplace scales b of the query and a of the threshold, by quadrature."""
    grid = np.linspace(-60, 60, 200_001)
    density = np.exp(-np.abs(grid) / a) / (2 * a)
    tail = np.where(
        x + grid > 0, 0.5 * np.exp(-np.abs(x + grid) / b), 1 - 0.5 * np.exp(-np.abs(x + grid) / b)
    )
    return float(trapezoid(density * tail, grid))


@pytest.mark.parametrize("factor", [2 / 3, 1.0, 3 / 2])
def test_laplace_noise_has_its_scale_and_other_scales_would_be_seen(factor):
    question, records = one_query(FirstDecrease, 2.0, threshold_epsilon=1.0, query_epsilon=0.5)
    hits, runs = pass_rate(question, records)
    expected = laplace_difference_tail(-2.0, factor * 1.0, factor * 2.0)
    assert (binomtest(hits, runs, expected).pvalue > 1e-4) == (factor == 1.0)


@pytest.mark.parametrize("factor", [2 / 3, 1.0, 3 / 2])
def test_gaussian_noise_has_its_scale_and_other_scales_would_be_seen(factor):
    noise = {"threshold_multiplier": 1.0, "query_multiplier": 2.0}
    question, records = one_query(GaussianFirstDecrease, 2.0, **noise)
    hits, runs = pass_rate(question, records)
    expected = 0.5 * math.erfc(-2.0 / (factor * math.sqrt(5.0)) / math.sqrt(2.0))
    assert (binomtest(hits, runs, expected).pvalue > 1e-4) == (factor == 1.0)


def test_finds_the_first_that_passes_without_noise():
    records = vault([[1.0], [0.5]], [1.0, 1.0], intercept=0.0)
    steps = np.array([[-1.0], [0.2], [2.0]])
    given = {"at": np.zeros(1), "candidates": steps, "bounds": np.full(3, 9.0), "loss": Logistic()}
    exact = {"threshold_epsilon": math.inf, "query_epsilon": math.inf}
    for demands, expected in (([0, 0, 0], 1), ([0, 9, 0], 2), ([9, 9, 9], 3)):
        question = FirstDecrease(**given, demands=np.array(demands, float), **exact)
        assert question.answer(records, Noise(0)) == expected
        gaussian = GaussianFirstDecrease(
            **given, demands=np.array(demands, float), threshold_multiplier=0, query_multiplier=0
        )
        assert gaussian.answer(records, Noise(0)) == expected


def test_prices():
    records = vault([[1.0]], [1.0])
    public = records.public
    laplace = pairs.QUESTION
    assert laplace.event(public) == AboveThreshold(1.0, 1.0)
    assert PoissonBatch(laplace, 0.1).event(public) == PoissonPure(3.0, 0.1)
    gaussian = GaussianFirstDecrease(**pairs.STEPS, threshold_multiplier=1.0, query_multiplier=3.0)
    assert gaussian.event(public) == GaussianAboveThreshold(1.0, 3.0, 2)
    assert PoissonBatch(gaussian, 0.1).event(public) == PoissonGaussian(6.0 / math.sqrt(2), 0.1)


def test_a_threshold_without_noise_is_refused_on_a_sample():
    question = FirstDecrease(**pairs.STEPS, threshold_epsilon=math.inf, query_epsilon=1.0)
    with pytest.raises(NotSupported, match="threshold_epsilon"):
        PoissonBatch(question, 0.1).event(vault([[1.0]], [1.0]).public)


@pytest.mark.parametrize(
    "wrong", [{"bounds": [1.0, 0.0]}, {"bounds": [1.0]}, {"demands": [np.nan, 0]}]
)
def test_refuses_what_the_proof_does_not_cover(wrong):
    given = {**pairs.STEPS, **wrong}
    with pytest.raises(ValueError, match="FirstDecrease"):
        FirstDecrease(**given, threshold_epsilon=1.0, query_epsilon=1.0)


def test_no_noise_budget_drowns_every_query():
    question = FirstDecrease(**pairs.STEPS, threshold_epsilon=0.0, query_epsilon=0.0)
    records = vault([[1.0]] * 50, [1.0] * 50)
    assert {question.answer(records, Noise(s)) for s in range(40)} == {0, 1, 2}
