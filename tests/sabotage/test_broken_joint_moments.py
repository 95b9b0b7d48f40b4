"""Joint moments with one thing wrong each: the laws of sensitivity and of noise reject them."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from laws.registry_noise_law import check_noise
from laws.sensitivity_laws import check_never_exceeded, check_tight, pair_of
from laws.vaults import vault

from skdp.mechanisms import JointMoments
from skdp.mechanisms.moments import triangle


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheSensitivity(JointMoments):
    """Half of what a record can move it by."""

    def sensitivity(self, public):
        return 0.5 * super().sensitivity(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class ForgetsTheProducts(JointMoments):
    """The claim of a second moment alone."""

    def sensitivity(self, public):
        return math.sqrt(public.sensitivity_factor) * public.row_bound**2


@dataclass(frozen=True, eq=False, kw_only=True)
class HeavierSquare(JointMoments):
    """A squared target that weighs more than what is free."""

    def weights(self, public):
        product, square = super().weights(public)
        return product, 1.35 / 1.2247 * square


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainTriangle(JointMoments):
    """Noise as large on the doubled entries as on the diagonal's: sqrt(2) too small there."""

    def answer(self, records, noise):
        moments = super().answer(records, noise)
        exact = self.measure(records)
        upper, across = triangle(records.rows.width)
        part = moments[:-1, :-1]
        part[upper] += (np.sqrt(0.5) - 1.0) * (part[upper] - exact[: len(across)] / across)
        return moments


def pairs():
    """The worst pair, and one whose targets alone differ."""
    records, neighbour = pair_of(JointMoments).worst_pair("replace_one")[1:3]
    yield records, neighbour
    far, near = vault([[1.0, 0.0]], [1.0]), vault([[-0.0625, 0.998045]], [0.0])
    yield far, near


@pytest.mark.parametrize("broken", [HalfTheSensitivity, ForgetsTheProducts, HeavierSquare])
def test_joint_moments_that_claim_too_little_are_rejected(broken):
    check_never_exceeded(JointMoments(multiplier=1.0), list(pairs()))
    with pytest.raises(AssertionError):
        check_never_exceeded(broken(multiplier=1.0), list(pairs()))


def test_joint_moments_that_claim_what_single_releases_do_are_rejected():
    records, neighbour = next(pairs())
    public, question = records.public, JointMoments(multiplier=1.0)
    check_tight(question, records, neighbour, question.sensitivity(public))
    apart = public.row_bound**2 * math.sqrt(2.0 + 4.0 + 1.5)
    with pytest.raises(AssertionError, match="of the claim"):
        check_tight(question, records, neighbour, apart)


def test_noise_of_another_shape_is_rejected():
    with pytest.raises(AssertionError):
        check_noise(JointMoments, lambda question: PlainTriangle(multiplier=question.multiplier))
