"""The formula of the dissertation gives all 16 epsilons that it prints for private ranking, and does not hold."""

import importlib
import math
from pathlib import Path

import pytest
from scipy.integrate import quad
from scipy.special import comb

FOLDER = Path(__file__).parents[2] / "benchmarks"

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(FOLDER)
    priced = importlib.import_module("papers_priced")

SETTINGS = list(priced.settings())


def test_there_are_sixteen():
    assert len(SETTINGS) == 16


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: "-".join(map(str, (s[0], *s[2:4]))))
def test_the_formula_gives_the_printed_epsilon(setting):
    _, rate, sigma, steps, printed = setting
    found = priced.as_published(sigma, rate, steps)
    assert found == pytest.approx(priced.LOST_DIGIT.get(printed, printed), abs=0.003)


def test_the_formula_is_lemma_2_3():
    """Term by term in plain numbers, at the only orders where these do not overflow."""
    sigma, rate, steps = 2.0, 0.01, 200

    def of(order):
        def cost(a):
            return a / (2 * sigma**2)

        total = 1 + rate**2 * comb(order, 2) * min(
            4 * (math.exp(cost(2)) - 1), 2 * math.exp(cost(2))
        )
        for j in range(3, order + 1):
            total += rate**j * comb(order, j) * 2 * math.exp((j - 1) * cost(j))
        return (steps * math.log(total) + math.log(1e4)) / (order - 1)

    assert priced.as_published(sigma, rate, steps) == pytest.approx(
        min(map(of, range(2, 41))), rel=1e-12
    )


def test_the_formula_is_below_the_truth_for_these_batches():
    """One batch of one out of two: a record of the other end is in half of them, a distance of two away."""
    sigma, rate = 1.0, 0.5
    claimed = priced.as_published(sigma, rate, 1)

    def density(x, mean):
        return math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))

    def excess(x):
        with_it = 0.5 * density(x, 1) + 0.5 * density(x, -1)
        return max(with_it - math.exp(claimed) * density(x, -1), 0.0)

    assert quad(excess, -8, 12, limit=500)[0] > 1e-4
