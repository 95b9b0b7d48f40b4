"""Mechanisms that draw half of what they pay, or something else: the registry's law of noise rejects each of them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.batch_laws import CASES, check_as_many_as_paid, check_average, check_sampled_price, worlds
from laws.ears import Ear
from laws.registry_noise_law import (
    check_noise,
    hidden_descent,
    law_of,
    minimiser,
    perturbed_objective,
    tilted,
)
from laws.sample_laws import check_lattice
from laws.test_registry import EVERY, check_public_noise
from laws.vaults import random_vault

from skdp.mechanisms import (
    GaussianFirstDecrease,
    Gradient,
    HiddenDescent,
    Noise,
    PerturbedObjective,
    PoissonBatch,
    SecondMoment,
)
from skdp.mechanisms._mechanism import poisson_gaussian
from skdp.privacy import events


class Through(Noise):
    """Draws what another source draws."""

    def __init__(self, source):
        super().__init__(0)
        self.source = source

    def bytes(self, count):
        return self.source.bytes(count)

    def gaussian(self, statistic, grid):
        return self.source.gaussian(statistic, grid)

    def radial(self, statistic, grid):
        return self.source.radial(statistic, grid)

    def linear_term(self, shape, grid, pure=False):
        return self.source.linear_term(shape, grid, pure)

    def poisson_batch(self, n, rate):
        return self.source.poisson_batch(n, rate)

    def subset(self, n, size):
        return self.source.subset(n, size)


def half(grid):
    return replace(grid, step=0.5 * grid.step)


class Halved(Through):
    """Half of the noise that is asked for, whatever its kind."""

    def gaussian(self, statistic, grid):
        return self.source.gaussian(statistic, half(grid))

    def radial(self, statistic, grid):
        return self.source.radial(statistic, half(grid))

    def linear_term(self, shape, grid, pure=False):
        return self.source.linear_term(shape, half(grid), pure)

    def largest(self, scores, scale):
        return self.source.largest(scores, 0.5 * scale)

    def first_above(self, totals, demands, own, shared):
        return self.source.first_above(totals, demands, 0.5 * own, 0.5 * shared)


class OutputHalved(Through):
    """The tilt as it should be, and half of the noise on the minimiser."""

    def gaussian(self, statistic, grid):
        return self.source.gaussian(statistic, half(grid))

    def radial(self, statistic, grid):
        return self.source.radial(statistic, half(grid))


class ByCoordinate(Through):
    """Laplace noise on each coordinate, where one radius is asked for."""

    def radial(self, statistic, grid):
        each = [self.source.radial(np.array([v]), grid)[0] for v in np.ravel(statistic)]
        return np.array(each).reshape(statistic.shape)

    def linear_term(self, shape, grid, pure=False):
        return (
            self.radial(np.zeros(shape), grid) if pure else super().linear_term(shape, grid, pure)
        )


def through(source):
    """Questions like the given ones, with this source between them and their noise."""

    def twin(question):
        def answer(self, records, noise):
            return kind.answer(self, records, noise if isinstance(noise, Ear) else source(noise))

        kind = type(question)
        broken = object.__new__(type(f"Broken{kind.__name__}", (kind,), {"answer": answer}))
        vars(broken).update(vars(question))
        return broken

    return twin


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_half_of_the_noise_that_is_paid_for_is_rejected(kind):
    with pytest.raises(AssertionError):
        check_noise(kind, through(Halved))


@pytest.mark.parametrize("law", [hidden_descent, minimiser, perturbed_objective])
def test_laplace_noise_by_coordinate_is_no_radial_noise(law):
    with pytest.raises(AssertionError):
        law(through(ByCoordinate))


def test_a_minimiser_with_half_of_its_last_noise_is_rejected():
    with pytest.raises(AssertionError):
        perturbed_objective(through(OutputHalved))


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawsByItself(Gradient):
    """A mechanism that nobody listed."""

    def answer(self, records, noise):
        return noise.gaussian(self.measure(records), half(self.grid(records.public)))


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasesByItself(HiddenDescent):
    """A release that nobody listed."""


@pytest.mark.parametrize("kind", [DrawsByItself, ReleasesByItself])
def test_a_mechanism_without_its_law_fails_by_name(kind):
    with pytest.raises(AssertionError, match=kind.__name__):
        law_of(kind)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsInMoves(Gradient):
    """Noise counted in bounds, and a price that counts it in moves."""

    def event(self, public):
        return events.Gaussian(self.multiplier)


def remade(kind):
    """Questions like the given ones, of another class."""

    def twin(question):
        broken = object.__new__(kind)
        vars(broken).update(vars(question))
        return broken

    return twin


def test_a_price_in_another_unit_is_rejected():
    with pytest.raises(AssertionError):
        check_noise(Gradient, remade(CountsInMoves))


def test_an_answer_between_the_points_of_the_lattice_is_rejected():
    records, question = (
        random_vault(1),
        Gradient(at=np.ones(4), loss=CASES[Gradient][0].loss, clip=0.3, multiplier=1.0),
    )
    answer, grid = question.answer(records, Noise(1)), question.grid(records.public)
    check_lattice(answer, grid)
    with pytest.raises(AssertionError):
        check_lattice(answer + 0.3 * grid.step, grid)


@dataclass(frozen=True, eq=False, kw_only=True)
class PaysOneQueryLess(GaussianFirstDecrease):
    def event(self, public):
        paid = super().event(public)
        return replace(paid, max_queries=max(paid.max_queries - 1, 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class PaysOneQuery(GaussianFirstDecrease):
    def sampled_event(self, public, rate):
        return poisson_gaussian(self.query_multiplier * public.sensitivity_factor, rate)


def test_queries_that_nobody_pays_for_are_rejected():
    records, question = next(worlds("replace_one"))[0], CASES[GaussianFirstDecrease][0]
    check_as_many_as_paid(question, records)
    with pytest.raises(AssertionError):
        check_as_many_as_paid(remade(PaysOneQueryLess)(question), records)
    check_sampled_price(question, 0.5, "replace_one")
    with pytest.raises(AssertionError, match="is more than"):
        check_sampled_price(remade(PaysOneQuery)(question), 0.5, "replace_one")


@dataclass(frozen=True, eq=False, kw_only=True)
class CommonPartForgotten(SecondMoment):
    """Two outer squares are sqrt(2) apart; but on a batch what they have in common tells, too."""

    def sampled_event(self, public, rate):
        return poisson_gaussian(self.multiplier * np.sqrt(2.0), rate)


def test_a_second_moment_that_is_priced_by_its_difference_on_a_batch_is_rejected():
    check_sampled_price(SecondMoment(multiplier=1.5), 0.5, "replace_one")
    with pytest.raises(AssertionError, match="is more than"):
        check_sampled_price(CommonPartForgotten(multiplier=1.5), 0.5, "replace_one")


@dataclass(frozen=True, eq=False)
class Rescaled(PoissonBatch):
    """Times the expected size over the realised one."""

    def answer(self, records, noise):
        batch = records.take(noise.poisson_batch(len(records), self.rate))
        share = len(records) * self.rate / max(len(batch), 1)
        return share * self.question.answer(batch, noise)


def test_a_batch_that_is_rescaled_by_its_size_is_rejected():
    records, question = random_vault(2, n=6, d=2, intercept=0.0), CASES[Gradient][0]
    check_average(PoissonBatch(question, 0.3), records, 0.3, rate=0.3)
    with pytest.raises(AssertionError):
        check_average(Rescaled(question, 0.3), records, 0.3, rate=0.3)


class KnowsHowMany(PerturbedObjective):
    """Less noise on the minimiser where there are more records, although their number is private."""

    def answer(self, records, noise):
        grid = self.grid(records.public)
        w = super().answer(records, Ear())
        return noise.gaussian(w, replace(grid, step=grid.step / (1.0 + len(records))))


def test_noise_of_a_private_size_is_rejected():
    question = tilted(False, 3)
    check_public_noise(question, "add_remove", 3, 0.0, (1, 2, 7))
    with pytest.raises(AssertionError, match="tells of the records"):
        check_public_noise(remade(KnowsHowMany)(question), "add_remove", 3, 0.0, (1, 2, 7))
