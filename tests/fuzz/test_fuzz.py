"""Fits at random: each a finite model with a receipt within its promise, or one sentence before anything is spent.

``python tests/fuzz --fits 20000`` prints a table of all; docs/fuzz.md has the last one.
"""

import numpy as np
import pytest
from fuzz.cases import draw
from fuzz.law import check

FAST, ALL, CHUNK = 300, 20_000, 500


def checked(seeds):
    """Outcomes of fits, every tenth accepted one beside its neighbour."""
    return [check(draw(seed), neighbour=seed % 10 == 0) for seed in seeds]


@pytest.mark.parametrize("first", range(0, FAST, 50))
def test_fits_at_random(first):
    outcomes = checked(range(first, first + 50))
    models = sum(outcome.refused is None for outcome in outcomes)
    assert 10 <= models <= 40, "a slice that is all models, or all refusals, shows little"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FAST, ALL, CHUNK))
def test_twenty_thousand_fits_at_random(first):
    checked(range(first, min(first + CHUNK, ALL)))


@pytest.mark.parametrize("seed", [0, 7, 42])
def test_a_fit_follows_from_its_whole_number(seed):
    one, other = draw(seed), draw(seed)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    assert (
        one.solver == other.solver
        and one.allowance == other.allowance
        and one.container == other.container
    )
    assert check(one).refused == check(other).refused
