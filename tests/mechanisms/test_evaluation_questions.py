"""Questions of evaluation against counting by hand, and the claim of the rank sum against all small tables."""

from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from laws.vaults import vault
from sklearn.metrics import roc_auc_score

from skdp.exceptions import NotSupported
from skdp.mechanisms import CellCounts, MeanLoss, PoissonBatch, Public, RankSum, Records, price
from skdp.mechanisms.evaluation import KAPPA


def admitted(X, y, bound):
    """A vault whose targets reach as far as `bound`."""
    X = np.asarray(X, float).reshape(len(y), -1)
    public = Public(len(y), X.shape[1], 0.0, "replace_one", target_bound=bound)
    return Records.admit(X, np.asarray(y, float), public, 1.0)


def by_hand(labels, scores):
    """The sum over pairs."""
    ones = [s for c, s in zip(labels, scores) if c]
    zeros = [s for c, s in zip(labels, scores) if not c]
    return sum(0.5 * (int(a > b) - int(a < b)) for a in ones for b in zeros)


def test_counts_are_counts():
    records = admitted(np.zeros(6), [0, 1, 4, 4, 2, 4], 4.0)
    assert CellCounts(cells=5, multiplier=1.0).measure(records).tolist() == [1, 1, 1, 0, 3]
    assert CellCounts(cells=3, multiplier=1.0).measure(records).tolist() == [1, 1, 4]
    assert CellCounts(cells=2, multiplier=1.0).measure(vault([[0.0]] * 2, [-1, 1])).tolist() == [
        1,
        1,
    ]


@pytest.mark.parametrize("cells", [0, -1, 1.0, True, 1 << 21])
def test_numbers_of_cells_that_are_none(cells):
    with pytest.raises(ValueError, match="whole number from 1"):
        CellCounts(cells=cells, multiplier=1.0)


def test_losses_and_their_second_moment():
    t = np.random.default_rng(0).uniform(-0.2, 1.0, 1000)
    cut = t.clip(0, 1)
    found = MeanLoss(multiplier=1.0).measure(admitted(np.zeros(1000), t, 1.0))
    mean, second = found[0] / 1000, (found[0] - found[1] / KAPPA) / 1000
    assert mean == pytest.approx(cut.mean()) and second == pytest.approx((cut**2).mean())
    both = MeanLoss(multiplier=1.0).measure(vault(np.zeros((1000, 1)), t, "add_remove"))
    assert both[0] == 500.0 and both[1] == pytest.approx((cut - 0.5).sum())


def test_the_weight_is_the_largest_that_is_free():
    with mp.workdps(30):
        phi = (1 + mp.sqrt(5)) / 2
        assert 0 < phi ** mp.mpf("2.5") - mp.mpf(KAPPA) < mp.mpf("1e-8")


@pytest.mark.parametrize("seed", range(20))
def test_the_rank_sum_is_the_area(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 200))
    labels = rng.random(n) < rng.uniform(0.2, 0.8)
    labels[:2] = [True, False]
    scores = rng.normal(size=n).round(int(rng.integers(0, 4))).clip(-3, 3) / 3
    found = RankSum(largest=float(n), multiplier=1.0).measure(admitted(scores, labels, 1.0))
    assert found == by_hand(labels, scores)
    area = 0.5 + found / (labels.sum() * (~labels).sum())
    assert area == pytest.approx(roc_auc_score(labels, scores))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_no_table_of_few_records_moves_it_by_more_than_is_said(n):
    """Every table of n records with a class and one of three scores, every neighbour, every bound."""
    kinds = list(product((False, True), (0, 1, 2)))
    for largest in {1.0, *np.linspace(2 * n / 3, n, 4)}:
        question = RankSum(largest=max(1.0, float(largest)), multiplier=1.0)
        public = Public(n, 1, 0.0, "replace_one", target_bound=2.0)
        claim, worst = question.sensitivity(public), 0.0
        for common in set(tuple(sorted(c)) for c in product(kinds, repeat=n - 1)):
            values = [_value(question, [*common, last]) for last in kinds]
            worst = max(worst, max(values) - min(values))
        assert worst <= claim * (1 + 1e-12)
        assert n < 3 or worst >= 0.5 * claim


def _value(question, table):
    """What the mechanism measures, by hand."""
    labels, scores = zip(*table)
    m = max(sum(labels), len(labels) - sum(labels))
    public = Public(len(labels), 1, 0.0, "replace_one")
    return by_hand(labels, scores) * min(1.0, question.bound(public) / m)


@pytest.mark.parametrize("n", [6, 9, 30, 31, 200])
def test_classes_that_change_at_every_size(n):
    """The extreme tables of the proof: separated scores, and the record that changes at either end."""
    for largest in (1.0, 0.7 * n, 0.9 * n, float(n)):
        question = RankSum(largest=largest, multiplier=1.0)
        claim = question.sensitivity(Public(n, 1, 0.0, "replace_one"))
        for m in sorted({*range(0, n, -(-n // 40)), n - 1}):
            for sign in (1.0, -1.0):
                common = [(False, 0.0)] * m + [(True, sign)] * (n - 1 - m)
                values = [
                    _value(question, [*common, (c, s)])
                    for c in (False, True)
                    for s in (-2.0, 0.0, 2.0)
                ]
                assert max(values) - min(values) <= claim * (1 + 1e-12)


def test_what_is_measured_is_that_value():
    table = [(False, 0.0)] * 7 + [(True, 1.0)]
    labels, scores = map(np.array, zip(*table))
    question = RankSum(largest=1.0, multiplier=1.0)
    assert question.measure(admitted(scores, labels, 1.0)) == pytest.approx(_value(question, table))


@pytest.mark.parametrize("seed", range(10))
def test_a_rank_sum_is_as_near_to_the_exact_one_as_it_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 400))
    labels, scores = rng.random(n) < 0.1, rng.normal(size=n).clip(-3, 3) / 3
    records = admitted(scores, labels, 1.0)
    question = RankSum(largest=1.0, multiplier=1.0)
    m = max(int(labels.sum()), n - int(labels.sum()))
    exact = Fraction(by_hand(labels, scores)) * min(1, Fraction(question.bound(records.public)) / m)
    off = abs(Fraction(float(question.measure(records))) - exact)
    assert off <= Fraction(question.rounding(records.public))


def test_what_has_no_theorem_is_refused():
    question = RankSum(multiplier=1.0)
    with pytest.raises(NotSupported, match="replace_one"):
        price(question, Public(None, 1, 0.0, "add_remove"))
    for asked in (question, CellCounts(multiplier=1.0), MeanLoss(multiplier=1.0)):
        with pytest.raises(NotSupported, match="no price on a Poisson batch"):
            price(PoissonBatch(asked, 0.1), Public(100, 1, 0.0, "replace_one"))
