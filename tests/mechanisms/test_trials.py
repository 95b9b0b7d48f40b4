"""The loop of a search has the law that is paid for: against enumeration, and twins with one thing wrong."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from skdp.mechanisms import Noise, best_of
from skdp.mechanisms._exact import drawn
from skdp.privacy._runs import geometric_odds

REPEATS = 6000
ODDS = geometric_odds(3, 4)
WEIGHTS = (3, 1)
# Two settings: how likely each score is; scores tie within and between settings.
SCORES = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])


def exact():
    """Law of (setting, score) of the winner."""
    chances = np.array(ODDS, float) / sum(ODDS)
    draw = np.array(WEIGHTS, float)[:, None] / sum(WEIGHTS) * SCORES
    edges = np.concatenate([[0.0], np.cumsum(draw.sum(axis=0))])
    law = np.diff(sum(p * edges**k for k, p in enumerate(chances, 1)))
    return draw / draw.sum(axis=0) * law  # of equal scores any run is as likely


def check_law(search):
    """The winners have the law of the theorem, by Pearson's test at one in a million."""
    rng, noise = np.random.default_rng(5), Noise(seed=3)
    edges = np.cumsum(SCORES, axis=1)

    def run(setting):
        score = int((rng.random() > edges[setting]).sum())
        return float(score), (setting, score)

    found = Counter(search(run, WEIGHTS, ODDS, noise) for _ in range(REPEATS))
    wanted = REPEATS * exact()
    seen = np.array([[found[i, j] for j in range(3)] for i in range(2)])
    assert ((seen - wanted) ** 2 / wanted).sum() < chi2.isf(1e-6, wanted.size - 1)


def test_the_winner_has_the_law_that_is_paid_for():
    check_law(best_of)


def best_of_all(run, weights, odds, source):
    """Forgets K: all runs that were made count."""
    return best_of(run, weights, (0,) * (len(odds) - 1) + (1,), source)


def stops_when_content(run, weights, odds, source):
    """K by the data: no further run after a good score."""
    best, kept = -math.inf, None
    for _ in range(1 + drawn(odds, source)):
        score, released = run(drawn(weights, source))
        if score > best:
            best, kept = score, released
        if best == 1.0:
            break
    return kept


def without_a_cap(run, weights, odds, source):
    """Makes as many runs as the law without its cap asks for."""
    return best_of(run, weights, geometric_odds(3, 16), source)


def last_of_equals(run, weights, odds, source):
    """Among equal scores the costlier setting wins."""

    def tilted(setting):
        score, released = run(setting)
        return score + 0.1 * setting, released

    return best_of(tilted, weights, odds, source)


@pytest.mark.parametrize(
    "twin",
    [best_of_all, stops_when_content, without_a_cap, last_of_equals],
    ids=lambda f: f.__name__,
)
def test_twins_with_one_thing_wrong_are_caught(twin):
    with pytest.raises(AssertionError):
        check_law(twin)


def test_as_many_runs_whatever_k_is():
    for seed in range(20):
        asked = []
        best_of(lambda s, asked=asked: (0.0, asked.append(s)), WEIGHTS, ODDS, Noise(seed=seed))
        assert len(asked) == len(ODDS)


def test_no_score_loses_against_any_and_alone_gives_nothing():
    assert best_of(lambda s: (math.nan, s), (1,), ODDS, Noise(seed=0)) is None
    assert best_of(lambda s: (-math.inf, s), (1,), ODDS, Noise(seed=0)) is None
    assert best_of(lambda s: (-1e300, "a model"), (1,), ODDS, Noise(seed=0)) == "a model"


def test_draws_are_exactly_in_proportion():
    """All words of one byte: each index comes as often as its odds say, after rejection."""

    class Words:
        def __init__(self):
            self.next = iter(range(1 << 16))

        def bytes(self, count):
            return (next(self.next) << (8 * (count - 2))).to_bytes(count, "little")

    words, found = Words(), Counter()
    with pytest.raises(RuntimeError, match="stop"):
        while True:
            found[draw_or_stop((3, 1, 1), words)] += 1
    total = sum(found.values())
    assert [found[i] / total for i in range(3)] == pytest.approx([0.6, 0.2, 0.2], abs=1e-3)


def draw_or_stop(odds, source):
    try:
        return drawn(odds, source)
    except StopIteration:
        raise RuntimeError("stop") from None
