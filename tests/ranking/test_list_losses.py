"""Losses of lists: against formulas written list by list, differences, and lists that stand elsewhere."""

from itertools import permutations

import numpy as np
import pytest

from skdp.losses import LIST_LOSSES, BayesRank, Lists

EVERY = [*(loss() for loss in LIST_LOSSES.values()), BayesRank(kept=False)]
BY_NAME = {"ids": repr}


def problem(seed, n=12, spread=1.0):
    """Scores, grades and lists of 1 to 9 documents, some without a relevant one."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, n)
    y = rng.integers(0, 3, sizes.sum()).astype(float)
    y[: sizes[0]] = 0.0
    return spread * rng.normal(size=sizes.sum()), y, Lists(np.append(0, np.cumsum(sizes)))


def plain(loss, z, y):
    """The loss of one list, from its definition."""
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    gain = 2.0**y - 1.0
    if type(loss).__name__ == "ListNet":
        shares = gain / gain.sum() if gain.any() else np.full(len(y), 1.0 / len(y))
        return -shares @ np.log(p)
    if type(loss).__name__ == "BayesRank":
        top = y == y.max()
        kept = top / top.sum()
        return -p @ (kept if loss.kept else gain / max(gain.max(), 1.0))
    order = sorted(range(len(y)), key=lambda i: -y[i])
    return -sum(z[i] - np.log(np.exp(z[order[k:]]).sum()) for k, i in enumerate(order))


@pytest.mark.parametrize("loss", EVERY, **BY_NAME)
@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
def test_values_are_those_of_the_definition(loss, spread):
    z, y, lists = problem(0, spread=spread)
    ends = lists.offsets[1:-1]
    wanted = [plain(loss, a, b) for a, b in zip(np.split(z, ends), np.split(y, ends))]
    np.testing.assert_allclose(loss.values(z, y, lists), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("loss", EVERY, **BY_NAME)
def test_slopes_are_differences(loss):
    z, y, lists = problem(1)
    slopes, h = loss.slopes(z, y, lists), 1e-6
    for i in range(len(z)):
        step = h * (np.arange(len(z)) == i)
        up, down = (loss.values(z + s * step, y, lists).sum() for s in (1, -1))
        assert slopes[i] == pytest.approx((up - down) / (2 * h), abs=1e-8)


def test_listmle_is_the_likelihood_of_the_order():
    """Chances of all orders of a list sum to 1, and each is that of drawing one document after the other."""
    z, lists = np.array([0.3, -1.0, 2.0, 0.1]), Lists(np.array([0, 4]))
    chances = [
        np.exp(-LIST_LOSSES["listmle"]().values(z, np.array(y, float), lists)[0])
        for y in permutations(range(4))
    ]
    assert sum(chances) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("loss", EVERY, **BY_NAME)
def test_slopes_of_a_list_are_the_same_bits_wherever_it_stands(loss):
    z, y, lists = problem(2, n=60, spread=3.0)
    slopes = loss.slopes(z, y, lists)
    for a, b in zip(lists.offsets, lists.offsets[1:]):
        alone = loss.slopes(z[a:b].copy(), y[a:b], Lists(np.array([0, b - a])))
        np.testing.assert_array_equal(slopes[a:b], alone)
        long = np.linspace(-1.0, 1.0, 500)
        beside = Lists(np.array([0, 500, 500 + b - a]))
        moved = loss.slopes(np.append(long, z[a:b]), np.append(long > 0.5, y[a:b]), beside)
        np.testing.assert_array_equal(slopes[a:b], moved[500:])


@pytest.mark.parametrize("loss", EVERY, **BY_NAME)
def test_declared_slopes_hold_and_slopes_of_a_list_sum_to_nothing(loss):
    for seed in range(20):
        z, y, lists = problem(seed, spread=10.0 ** (seed % 4 - 1))
        slopes = loss.slopes(z, y, lists)
        assert np.isfinite(slopes).all()
        np.testing.assert_allclose(lists.total(slopes), 0.0, atol=1e-9)
        if loss.slope is not None:
            assert lists.total(np.abs(slopes)).max() <= loss.slope + 1e-12


def test_one_document_and_lists_without_a_relevant_one_have_no_say_in_the_kept():
    y = np.zeros(6)
    for loss in (BayesRank(), BayesRank(kept=False)):
        np.testing.assert_array_equal(loss.slopes(np.ones(1), np.ones(1), Lists([0, 1])), [0.0])
        lists = Lists(np.array([0, 6]))
        np.testing.assert_allclose(loss.slopes(np.zeros(6), y, lists), 0.0, atol=1e-17)
