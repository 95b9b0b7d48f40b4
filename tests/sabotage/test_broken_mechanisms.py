"""Mechanisms, oracles and noise sources with one thing wrong each: the law that is there for it must reject them.

Each test holds the same checker against the sound original first, so that a rejection means something.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.batch_laws import CASES, check_average
from laws.noise_laws import check_additive_noise, check_poisson_batch, check_selection_noise
from laws.oracle_laws import asked_order, check_broke_touches_nothing
from laws.sensitivity_laws import check_never_exceeded, check_tight, neighbours, pair_of
from laws.vaults import RELATIONS, random_vault, vault

from skdp.losses import Logistic, Squared
from skdp.mechanisms import BestCandidate, Count, Gradient, Noise, Oracle, PoissonBatch
from skdp.mechanisms._lattice import lattice

AT = np.array([1.0, -1.0, 0.5, 0.0])
GIVEN = {"at": AT, "loss": Logistic(), "clip": 0.3, "multiplier": 2.0}
CHOICE = {
    "candidates": np.array([[0.0, 0, 0, 0], [0.3, 0, 0, 0], [0, 0.5, 0, 0]]),
    "loss": Logistic(),
    "cap": 0.5,
    "epsilon": 0.4,
}


def _pairs(relation, count=60, d=3):
    return [neighbours(seed, relation, d, 0.25) for seed in range(count)]


def _rejected(check, *args, **given):
    with pytest.raises(AssertionError):
        check(*args, **given)


def _exponentials(noise, shape):
    words = np.frombuffer(noise.bytes(8 * int(np.prod(shape))), dtype=np.uint64)
    return -np.log((words + 0.5) * 2.0**-64).reshape(shape)


# ---------------------------------------------------------------------------------------- noise


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheNoise(Gradient):
    def answer(self, records, noise):
        grid = self.grid(records.public)
        return noise.gaussian(self.measure(records), replace(grid, step=0.5 * grid.step))


@dataclass(frozen=True, eq=False, kw_only=True)
class OneDrawForAll(Gradient):
    def answer(self, records, noise):
        return self.measure(records) + noise.gaussian(np.zeros(1), self.grid(records.public))


@dataclass(frozen=True, eq=False, kw_only=True)
class SecondGenerator(Gradient):
    def answer(self, records, noise):
        generator = np.random.default_rng(0)
        exact = self.measure(records)
        return exact + self.multiplier * self.clip * generator.normal(size=exact.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class LaplaceForGaussian(Gradient):
    def answer(self, records, noise):
        exact = self.measure(records)
        one, other = _exponentials(noise, (2, exact.size))
        return exact + self.grid(records.public).scale * (one - other) / np.sqrt(2)


@pytest.mark.parametrize(
    "broken", [HalfTheNoise, OneDrawForAll, SecondGenerator, LaplaceForGaussian]
)
def test_wrong_noise_is_rejected(broken):
    records = random_vault(1)
    check_additive_noise(Gradient(**GIVEN), records, Noise(7))
    _rejected(check_additive_noise, broken(**GIVEN), records, Noise(7))


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheGumbel(BestCandidate):
    def answer(self, records, noise):
        return noise.largest(self.measure(records), 0.5 * self.scale(records.public))


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalForGumbel(BestCandidate):
    def answer(self, records, noise):
        grid = lattice(1.0, self.scale(records.public), 0.0, 1)
        return int(np.argmax(noise.gaussian(self.measure(records), grid)))


@pytest.mark.parametrize("broken", [HalfTheGumbel, NormalForGumbel])
def test_wrong_selection_is_rejected(broken):
    # Scores far apart on the scale of the noise, so that its tails decide.
    records, given = random_vault(1, n=40), {**CHOICE, "epsilon": 1.5}
    check_selection_noise(BestCandidate(**given), records, Noise(7), 8000)
    _rejected(check_selection_noise, broken(**given), records, Noise(7), 8000)


class Repeating(Noise):
    """Noise that is drawn once and reused."""

    def gaussian(self, statistic, grid):
        kept = self.__dict__.setdefault("kept", {})
        fresh = super().gaussian(np.zeros(statistic.shape), grid)
        return statistic + kept.setdefault(statistic.shape, fresh)


def test_reused_noise_is_rejected():
    records = random_vault(1)
    check_additive_noise(Gradient(**GIVEN), records, Noise(7))
    _rejected(check_additive_noise, Gradient(**GIVEN), records, Repeating(7))


# ---------------------------------------------------------------------------------- sensitivity


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheSensitivity(Gradient):
    def sensitivity(self, public):
        return 0.5 * super().sensitivity(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class AddRemoveOnly(Gradient):
    def sensitivity(self, public):
        return self.clip


@dataclass(frozen=True, eq=False, kw_only=True)
class TwiceTheSensitivity(Gradient):
    def sensitivity(self, public):
        return 2.0 * super().sensitivity(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class TrustsTheLoss(Gradient):
    """Believes the declared slope instead of clipping."""

    def measure(self, records):
        rows = records.rows
        return rows.tdot(self.loss.dz(rows.dot(self.at), records.y))


@dataclass(frozen=True, eq=False, kw_only=True)
class ForgetsTheIntercept(Gradient):
    """Clips by the norm of the features alone."""

    def measure(self, records):
        rows = records.rows
        slopes = self.loss.dz(rows.dot(self.at), records.y)
        features = np.sqrt(np.maximum(rows.norms**2 - rows.intercept**2, 0.0))
        size = np.abs(slopes) * features
        return rows.tdot(slopes * self.clip / np.maximum(size, self.clip))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipsTheSum(Gradient):
    """Clips coordinates of each gradient, which bounds another norm."""

    def measure(self, records):
        rows = records.rows
        slopes = self.loss.dz(rows.dot(self.at), records.y)
        each = slopes[:, None] * np.vstack(
            [rows.take([i]).tdot(np.ones(1)) for i in range(len(rows))]
        )
        return np.clip(each, -self.clip, self.clip).sum(axis=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class DividesByTheBatch(Gradient):
    """A mean over the realised batch times its expected size: every record moves the divisor too."""

    def measure(self, records):
        return super().measure(records) * (4.0 / max(len(records), 1))


@pytest.mark.parametrize(
    "broken, relation",
    [
        (HalfTheSensitivity, "replace_one"),
        (HalfTheSensitivity, "add_remove"),
        (AddRemoveOnly, "replace_one"),
        (TrustsTheLoss, "replace_one"),
        (TrustsTheLoss, "add_remove"),
        (ForgetsTheIntercept, "replace_one"),
        (ForgetsTheIntercept, "add_remove"),
        (ClipsTheSum, "add_remove"),
        (DividesByTheBatch, "add_remove"),
    ],
)
def test_more_than_the_claim_is_rejected(broken, relation):
    given = {**GIVEN, "loss": Squared(), "at": 30.0 * AT}
    check_never_exceeded(Gradient(**given), _pairs(relation))
    _rejected(check_never_exceeded, broken(**given), _pairs(relation))


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_loose_claim_is_rejected(relation):
    sound, records, neighbour, limit = pair_of(Gradient).worst_pair(relation)
    check_tight(sound, records, neighbour, limit)
    loose = TwiceTheSensitivity(at=sound.at, loss=sound.loss, clip=sound.clip, multiplier=1.0)
    _rejected(check_tight, loose, records, neighbour, loose.sensitivity(records.public))
    half = HalfTheSensitivity(at=sound.at, loss=sound.loss, clip=sound.clip, multiplier=1.0)
    _rejected(check_tight, half, records, neighbour, half.sensitivity(records.public))


@dataclass(frozen=True, eq=False, kw_only=True)
class PricedForMore(Gradient):
    """Sensitivity is right, but the event is that of twice the noise."""

    def event(self, public):
        return super().event(public).scaled(2.0)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_price_below_the_claim_is_rejected(relation):
    check_never_exceeded(Gradient(**GIVEN), _pairs(relation, 3))
    _rejected(check_never_exceeded, PricedForMore(**GIVEN), _pairs(relation, 3))


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheSpread(BestCandidate):
    def spread(self, public):
        return 0.5 * super().spread(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnclippedLosses(BestCandidate):
    def measure(self, records):
        rows = records.rows
        return -np.array([self.loss.value(rows.dot(w), records.y).sum() for w in self.candidates])


@pytest.mark.parametrize("broken", [HalfTheSpread, UnclippedLosses])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_selection_that_moves_too_far_is_rejected(broken, relation):
    given = {**CHOICE, "candidates": 40.0 * CHOICE["candidates"]}
    check_never_exceeded(BestCandidate(**given), _pairs(relation))
    _rejected(check_never_exceeded, broken(**given), _pairs(relation))


# ------------------------------------------------------------------------------ order and batches


class ChargesAfterwards(Oracle):
    """Answers, then charges: a fit that is refused has seen the data."""

    def ask(self, question):
        answer = question.answer(self._Oracle__records, self._Oracle__noise)
        self._Oracle__account.charge(question.event(self.public))
        return answer


class NeverCharges(Oracle):
    """Answers for nothing."""

    def ask(self, question):
        return question.answer(self._Oracle__records, self._Oracle__noise)


@pytest.mark.parametrize("broken", [ChargesAfterwards, NeverCharges])
@pytest.mark.parametrize("question", [Gradient(**GIVEN), PoissonBatch(Gradient(**GIVEN), 0.5)])
def test_charging_after_the_answer_is_rejected(broken, question):
    records = random_vault(1)
    check_broke_touches_nothing(Oracle, question, records)
    _rejected(check_broke_touches_nothing, broken, question, records)
    assert asked_order(Oracle, question, records)[0] == "charge"
    assert asked_order(broken, question, records)[0] != "charge"


def _without_the_last(n, rate, noise):
    return noise.poisson_batch(n - 1, rate)


def _fixed_size(n, rate, noise):
    return noise.subset(n, round(n * rate))


def _exponential_gaps(n, rate, noise):
    """Gaps of a Poisson process in continuous time: the rate is 1 - exp(-q) instead of q."""
    places = np.cumsum(_exponentials(noise, 4 * n)) / rate
    return np.unique(places[places < n].astype(int))


@pytest.mark.parametrize("broken", [_without_the_last, _fixed_size, _exponential_gaps])
def test_a_batch_that_is_not_poisson_is_rejected(broken):
    noise = Noise(0)
    check_poisson_batch(noise.poisson_batch, 12, 0.25)
    _rejected(check_poisson_batch, lambda n, rate: broken(n, rate, noise), 12, 0.25)


@dataclass(frozen=True, eq=False)
class NeverEmpty(PoissonBatch):
    """Takes one record where the draw took none, so that no step is wasted: each is likelier than the rate says."""

    def answer(self, records, noise):
        chosen = noise.poisson_batch(len(records), self.rate)
        if not len(chosen) and len(records):
            chosen = noise.subset(len(records), 1)
        return self.question.answer(records.take(chosen), noise)


def test_an_empty_batch_that_is_filled_is_rejected():
    records, rate = random_vault(2, n=4, d=2, intercept=0.0), 0.25
    question = CASES[Gradient][0]
    check_average(PoissonBatch(question, rate), records, rate, rate=rate)
    _rejected(check_average, NeverEmpty(question, rate), records, rate, rate=rate)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsTwice(Count):
    def measure(self, records):
        return 2.0 * super().measure(records)


def test_a_count_that_counts_twice_is_rejected():
    pair = [(vault([[0.1], [0.2]], [1, 1], "add_remove"), vault([[0.1]], [1], "add_remove"))]
    check_never_exceeded(Count(multiplier=1.0), pair)
    _rejected(check_never_exceeded, CountsTwice(multiplier=1.0), pair)
