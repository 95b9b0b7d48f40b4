"""Sums of the splitting and variance-reduced solvers with one thing wrong each; their originals pass the same check."""

from dataclasses import dataclass, fields

import numpy as np
import pytest
from laws.noise_laws import check_additive_noise
from laws.sensitivity_laws import check_never_exceeded, check_tight, pair_of
from laws.vaults import RELATIONS, random_vault, vault

from skdp.losses import Logistic
from skdp.mechanisms import GradientDifference, ModelStep, Noise, PartyGradients, SecondMoment
from skdp.penalties import NoPenalty, ScaledPenalty


@dataclass(frozen=True, eq=False, kw_only=True)
class AddRemoveOnly(SecondMoment):
    """Claims the sensitivity of the literature, which is that of an added record."""

    def sensitivity(self, public):
        return self.bound(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class TriangleInequality(SecondMoment):
    """Twice the bound under replace-one: safe, and 41 % more noise than needed."""

    def sensitivity(self, public):
        return public.sensitivity_factor * self.bound(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class ForgetsTheConstantColumn(SecondMoment):
    def bound(self, public):
        return 1.0


def _worst(original, relation):
    return pair_of(original).worst_pair(relation)[1:3]


@pytest.mark.parametrize("broken", [AddRemoveOnly, ForgetsTheConstantColumn])
def test_second_moment_that_claims_too_little_is_rejected(broken):
    records, neighbour = _worst(SecondMoment, "replace_one")
    check_never_exceeded(SecondMoment(multiplier=1.0), [(records, neighbour)])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken(multiplier=1.0), [(records, neighbour)])


def test_second_moment_that_claims_too_much_is_rejected():
    records, neighbour = _worst(SecondMoment, "replace_one")
    for question in (SecondMoment(multiplier=1.0), TriangleInequality(multiplier=1.0)):
        limit = question.sensitivity(records.public)
        if type(question) is SecondMoment:
            check_tight(question, records, neighbour, limit)
        else:
            with pytest.raises(AssertionError, match="of the claim"):
                check_tight(question, records, neighbour, limit)


def _weighted(kind):
    """The answer on the scale on which its noise is isotropic, as the check of additive noise wants it."""

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Unpacked(kind):
        def answer(self, records, noise):
            matrix = super().answer(records, noise)
            upper = np.triu_indices(len(matrix))
            return matrix[upper] * np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))

    return Unpacked(multiplier=2.0)


def test_noise_of_the_matrix_is_isotropic_in_the_frobenius_norm():
    records = random_vault(1, d=12)
    check_additive_noise(_weighted(SecondMoment), records, Noise(7))
    matrix = SecondMoment(multiplier=2.0).answer(records, Noise(7))
    assert np.array_equal(matrix, matrix.T)


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheNoise(SecondMoment):
    def answer(self, records, noise):
        exact = records.rows.gram(np.ones(len(records)))
        return exact + 0.5 * (super().answer(records, noise) - exact)


def test_second_moment_with_half_the_noise_is_rejected():
    with pytest.raises(AssertionError):
        check_additive_noise(_weighted(HalfTheNoise), random_vault(1, d=12), Noise(7))


@dataclass(frozen=True, eq=False, kw_only=True)
class TrustsTheCurvature(GradientDifference):
    """Believes that the reach cuts nothing off."""

    def measure(self, records):
        object.__setattr__(self, "reach", 1e9)
        return super().measure(records)

    def bound(self, public):
        return pair_of(GradientDifference).QUESTION.reach


@pytest.mark.parametrize("relation", RELATIONS)
def test_difference_that_is_not_clipped_again_is_rejected(relation):
    sound = pair_of(GradientDifference).QUESTION
    pair = _worst(GradientDifference, relation)
    check_never_exceeded(sound, [pair])
    given = {field.name: getattr(sound, field.name) for field in fields(sound)}
    with pytest.raises(AssertionError):
        check_never_exceeded(TrustsTheCurvature(**given), [pair])


@dataclass(frozen=True, eq=False, kw_only=True)
class AsPrinted(ModelStep):
    """The paper's sensitivity of x, over n (1 + eta rho), which lacks a factor eta."""

    def bound(self, public):
        return super().bound(public) * self.inverse


@dataclass(frozen=True, eq=False, kw_only=True)
class PricesXAlone(ModelStep):
    """Noise of the size that x needs, on all three."""

    def bound(self, public):
        return self.clip / (self.n * (self.rho + self.inverse))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("broken", [AsPrinted, PricesXAlone])
def test_model_step_that_claims_too_little_is_rejected(broken, relation):
    zero = np.zeros(3)
    given = {
        "x": zero,
        "z": zero,
        "y": zero,
        "loss": Logistic(),
        "penalty": ScaledPenalty(NoPenalty()),
    }
    given |= {"clip": 0.3, "rho": 0.5, "inverse": 0.1, "n": 3.0, "multiplier": 1.0}
    pair = _worst(ModelStep, relation)
    check_never_exceeded(ModelStep(**given), [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken(**given), [pair])


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlappingParties(PartyGradients):
    """Every party has all the records."""

    def measure(self, records):
        whole = PartyGradients(at=self.at[:1], loss=self.loss, clip=self.clip, multiplier=0.0)
        return np.concatenate([whole.measure(records) for _ in self.at])


@dataclass(frozen=True, eq=False, kw_only=True)
class PartiesByRank(PartyGradients):
    """Records are dealt to parties by their first feature, so one record moves the others."""

    def measure(self, records):
        order = np.argsort(records.rows.dot(np.eye(records.rows.width)[0]))
        return super().measure(records.take(order))


@pytest.mark.parametrize("broken", [OverlappingParties, PartiesByRank])
def test_parties_that_share_or_swap_records_are_rejected(broken):
    given = {"at": np.zeros((2, 2)), "loss": Logistic(), "clip": 0.4, "multiplier": 1.0}
    rows = [[-0.9], [-0.8], [0.8], [0.9]]
    records = vault(rows, [1, -1, 1, -1])
    pairs = [(records, vault([*rows[:3], [-1.0]], [1, -1, 1, label])) for label in (1, -1)]
    check_never_exceeded(PartyGradients(**given), pairs)
    with pytest.raises(AssertionError):
        check_never_exceeded(broken(**given), pairs)
