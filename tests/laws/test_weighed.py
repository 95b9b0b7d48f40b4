"""Rows that weigh, besides, what a public number says of their target: at most 1, so that none moves a sum further."""

import math
from fractions import Fraction

import numpy as np
import pytest
from laws.unit_laws import neighbours, used, weighted_unit
from laws.vaults import RELATIONS, vault

from skdp.losses import Logistic
from skdp.mechanisms import CellCounts, Gradient, Public, Records

RNG = np.random.default_rng(0)


def test_a_row_weighs_what_its_target_says():
    records = weighted(np.array([1.0, 0.5, 0.25, 1.0]))
    question = Gradient(at=np.zeros(1), loss=Logistic(), clip=1.0, multiplier=1.0)
    found = records.weighed(np.array([0.5, 1.0]))
    assert found.share.tolist() == [0.5, 0.25, 0.25, 1.0]
    assert found.take(np.array([3, 0])).share.tolist() == [1.0, 0.5]
    assert question.measure(found) == pytest.approx([0.5 * (0.5 + 0.25 - 0.25 - 1.0)])
    assert CellCounts(cells=2, multiplier=1.0).measure(found).tolist() == [0.75, 1.25]


def weighted(weights):
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    public = Public(4, 1, 0.0, "replace_one", weighted=True)
    return Records.admit(np.ones((4, 1)), y, public, 1.0, None, weights)


@pytest.mark.parametrize(
    "wrong",
    [[0.5, 1.0 + 1e-9], [-1e-9, 1.0], [np.nan, 1.0], [[0.5, 1.0]], 0.5, [np.inf, 0.0]],
    ids=str,
)
def test_no_row_weighs_more_than_one(wrong):
    with pytest.raises(ValueError, match=r"one number in \[0, 1\] for each cell"):
        weighted(np.ones(4)).weighed(np.array(wrong))


def test_rows_without_weights_of_their_own_are_not_weighed():
    with pytest.raises(ValueError, match="weighted=False"):
        vault([[0.1], [0.2]], [1, -1], "replace_one").weighed(np.array([0.5, 1.0]))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", [1, 3])
def test_weighed_units_never_exceed_the_claim(rows, relation):
    """Whatever the weights, a unit moves a gradient by no more than one of weight 1; and some by nearly as much."""
    most = 0.0
    for seed in range(60):
        one, other = neighbours(seed, relation, rows, 2, 0.25, weighted_unit)
        rng = np.random.default_rng(seed)
        of_cell = rng.choice([0.0, 1.0, 0.3, rng.random()], size=2)
        question = Gradient(at=rng.normal(size=3), loss=Logistic(), clip=0.1, multiplier=1.0)
        for asked in (question, CellCounts(cells=2, multiplier=1.0)):
            most = max(most, used(asked, one.weighed(of_cell), other.weighed(of_cell)))
    assert 0.5 < most <= 1.0 + 1e-9


def test_sums_of_weights_are_as_near_as_is_said():
    """As Fractions add them; and what is said is no less than what pairwise sums may lose."""
    n, question = 5000, CellCounts(cells=3, multiplier=1.0)
    y, weights = RNG.integers(0, 3, n).astype(float), RNG.random(n) * 10.0 ** RNG.integers(-9, 1, n)
    public = Public(n, 1, 0.0, "replace_one", target_bound=2.0, weighted=True)
    records = Records.admit(np.ones((n, 1)), y, public, 1.0, None, weights)
    exact = [sum(map(Fraction, records.share[y == cell].tolist())) for cell in range(3)]
    off = [abs(Fraction(found) - true) for found, true in zip(question.measure(records), exact)]
    assert sum(off) <= question.rounding(public) < 1e-8
    assert question.rounding(public) >= (math.log2(n) + 8.0) * 2.0**-53 * n
