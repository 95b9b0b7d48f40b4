"""Losses with one thing wrong each: the law that is there for it must reject them."""

import sys
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

sys.path.append(str(Path(__file__).parents[1] / "laws"))

import loss_laws as laws

from skdp.losses import (
    ClippedLogistic,
    Hinge,
    Huber,
    Logistic,
    MarginLoss,
    Multinomial,
    QuantileHuber,
    Squared,
)


class SlopeTooSmall(Logistic):
    slope = 0.9


class SlopeTooLarge(Logistic):
    slope = 1.1


class SlopeClaimed(Squared):
    slope = 1.0


class SlopeOfOneClass(Multinomial):
    slope = 1.0


class CurvatureTooSmall(Logistic):
    curvature = 0.2


class CurvatureTooLarge(Huber):
    curvature = 1.2


class CurvatureOfOneClass(Multinomial):
    curvature = 0.25


class CurvatureOfTheUncapped(ClippedLogistic):
    curvature = 0.25


class HingeCalledSmooth(Hinge):
    curvature = 1.0
    d2z = MarginLoss.d2z

    def curvature_at(self, margin):
        return np.zeros_like(margin)


class OneSignedByMistake(Huber):
    one_signed = True


class TwoSignedByMistake(Logistic):
    one_signed = False


class QuantileOfScaledTargets(QuantileHuber):
    scales_targets = True


class HalfTheDerivative(Logistic):
    def slope_at(self, margin):
        return 0.5 * super().slope_at(margin)


class OfTheOtherSign(Logistic):
    def slope_at(self, margin):
        return -super().slope_at(margin)


class CappedSlopeUncappedValue(ClippedLogistic):
    def of_margin(self, margin):
        return Logistic().of_margin(margin)


class SecondDerivativeForgetsTheCap(ClippedLogistic):
    def curvature_at(self, margin):
        return Logistic().curvature_at(margin)


class HessianWithoutItsRankOne(Multinomial):
    def d2z(self, z, y):
        p = self.predict(z)
        return p[:, :, None] * np.eye(p.shape[1])


@dataclass(frozen=True)
class Sigmoid(Logistic):
    """Bounded and differentiable, but not convex: objective perturbation would not be private."""

    def of_margin(self, margin):
        return expit(-margin)

    def slope_at(self, margin):
        return -expit(margin) * expit(-margin)


class BoundTooSmall(Logistic):
    def value_bound(self, radius, target_bound=1.0):
        return radius


class BoundWithoutTheTarget(Squared):
    def value_bound(self, radius, target_bound=1.0):
        return 0.5 * radius**2


class BoundTooLarge(Multinomial):
    def value_bound(self, radius, target_bound=1.0):
        return float(np.log(self.outputs) + 2.0 * radius)


class ReadAsLogOdds(ClippedLogistic):
    def predict(self, z):
        return expit(z)


class DoublesThePrecision(Logistic):
    def dz(self, z, y):
        return super().dz(np.asarray(z, dtype=np.float64), y)


class WritesOverTheScores(Squared):
    def dz(self, z, y):
        z -= y.astype(z.dtype)
        return z


class Overflows(Logistic):
    def of_margin(self, margin):
        return np.log(1.0 + np.exp(-margin))


class OneLargestForAll(Multinomial):
    """Scores are taken from the largest of all records, and far ones are cut: no overflow tells of it."""

    def dz(self, z, y):
        z = np.asarray(z)
        p = np.exp(np.maximum(z - z.max(), np.asarray(-80.0, dtype=z.dtype)))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(p)), np.asarray(y, dtype=np.intp)] -= 1
        return p


TWINS = [
    (SlopeTooSmall(), laws.slope_is_supremum),
    (SlopeTooLarge(), laws.slope_is_supremum),
    (SlopeClaimed(), laws.slope_is_supremum),
    (SlopeOfOneClass(), laws.slope_is_supremum),
    (CurvatureTooSmall(), laws.curvature_is_supremum),
    (CurvatureTooLarge(), laws.curvature_is_supremum),
    (CurvatureOfOneClass(), laws.curvature_is_supremum),
    (CurvatureOfTheUncapped(cap=0.2), laws.curvature_is_supremum),
    (HingeCalledSmooth(), laws.curvature_is_supremum),
    (OneSignedByMistake(), laws.sign_is_as_declared),
    (TwoSignedByMistake(), laws.sign_is_as_declared),
    (QuantileOfScaledTargets(tau=0.3), laws.scaled_targets_bias_nothing),
    (HalfTheDerivative(), laws.dz_is_derivative),
    (OfTheOtherSign(), laws.dz_is_derivative),
    (CappedSlopeUncappedValue(), laws.dz_is_derivative),
    (SecondDerivativeForgetsTheCap(), laws.d2z_is_derivative),
    (HessianWithoutItsRankOne(), laws.d2z_is_derivative),
    (Sigmoid(), laws.is_convex),
    (BoundTooSmall(), laws.value_bound_is_supremum),
    (BoundWithoutTheTarget(), laws.value_bound_is_supremum),
    (BoundTooLarge(), laws.value_bound_is_supremum),
    (ReadAsLogOdds(), laws.prediction_is_calibrated),
    (DoublesThePrecision(), laws.precision_is_kept),
    (WritesOverTheScores(), laws.precision_is_kept),
    (Overflows(), laws.large_scores_are_safe),
    (OneLargestForAll(), laws.belongs_to_its_record),
]


@pytest.mark.parametrize("twin, law", TWINS, ids=lambda part: getattr(part, "__name__", None))
def test_rejected(twin, law):
    with pytest.raises((AssertionError, FloatingPointError)):
        law(twin)


@pytest.mark.parametrize("twin, law", TWINS, ids=lambda part: getattr(part, "__name__", None))
def test_sound_parent_passes(twin, law):
    """It is the sabotage that is rejected, not the loss it was done to."""
    parent = type(twin).__mro__[1]
    law(parent(**{field.name: getattr(twin, field.name) for field in fields(parent)}))


def test_every_law_has_rejected_something():
    assert {law for _, law in TWINS} == set(laws.LAWS)
