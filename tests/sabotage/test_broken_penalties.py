"""Penalties with one thing wrong each: the law that is there for it must reject them."""

import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "laws"))

import penalty_laws as laws

from skdp.penalties import (
    L1,
    L2,
    MCP,
    SCAD,
    Box,
    ElasticNet,
    GroupLasso,
    L1Ball,
    L2Ball,
    ScaledPenalty,
)


class HalfTheThreshold(L1):
    def prox(self, w, step):
        return super().prox(w, 0.5 * step)


class StepForgotten(ElasticNet):
    def prox(self, w, step):
        return super().prox(w, 1.0)


class NormOfEachCoefficient(GroupLasso):
    def prox(self, w, step):
        return L1(self.strength).prox(w, step)


class ScaledOntoTheBall(L1Ball):
    """In the set, but not the nearest point of it."""

    def prox(self, w, step):
        return w * min(1.0, self.radius / np.abs(w).sum())


class BendsTooSoon(SCAD):
    def prox(self, w, step):
        shrunk = L1(self.strength).prox(w, step)
        return np.where(np.abs(w) <= 2.0 * self.strength, shrunk, w)


class NeverRefuses(MCP):
    """The formula is used at any step, as the papers do at rho = .25."""

    @property
    def largest_step(self):
        return 20.0 / 3.0

    def check_step(self, step):
        pass


class WeaklyConvexUnsaid(MCP):
    convexity = -1e-9


class ModulusHalved(L2):
    @property
    def convexity(self):
        return 0.5 * self.strength


class ModulusDoubled(ElasticNet):
    @property
    def convexity(self):
        return 2.0 * self._l2


class InterceptCountsAsConvex(ScaledPenalty):
    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "convexity", self.convexity_of_coefficients)


class PenalisesTheIntercept(ScaledPenalty):
    def prox(self, w, step):
        return self.penalty.prox(w / self.scale, step / self.scale**2) * self.scale


class ScaleOfTheStepForgotten(ScaledPenalty):
    def prox(self, w, step):
        return super().prox(w, step * float(self.scale))


class Expands(L2Ball):
    def prox(self, w, step):
        return w * (self.radius / np.linalg.norm(w)) ** 2


class GradientOfTheFullSquare(L2):
    def gradient(self, w):
        return 2.0 * super().gradient(w)


class CornersCalledSmooth(L1):
    def gradient(self, w):
        return self.strength * np.sign(w)


class FurthestVertex(L1Ball):
    def vertex(self, direction):
        return -super().vertex(direction)


class VertexOfTheFirstFeature(L1Ball):
    def vertex(self, direction):
        corner = np.zeros_like(direction)
        corner.flat[0] = -np.copysign(self.radius, direction.flat[0])
        return corner


class AllIsInside(Box):
    def value(self, w):
        return 0.0


class SumCalledInseparable(L1):
    separable = False


class BallCalledSeparable(L2Ball):
    separable = True


class DoublesThePrecision(L1):
    def prox(self, w, step):
        return super().prox(w.astype(np.float64), step)


class WritesOverTheCoefficients(L2):
    def prox(self, w, step):
        w /= 1.0 + step * self.strength
        return w


TWINS = [
    (HalfTheThreshold(), laws.prox_is_minimiser),
    (HalfTheThreshold(), laws.separable_prox_beats_a_grid),
    (StepForgotten(), laws.prox_is_minimiser),
    (NormOfEachCoefficient(0.8, (0, 0, 1, 1)), laws.prox_is_minimiser),
    (ScaledOntoTheBall(), laws.prox_is_minimiser),
    (BendsTooSoon(), laws.separable_prox_beats_a_grid),
    (NeverRefuses(), laws.separable_prox_beats_a_grid),
    (WeaklyConvexUnsaid(), laws.convexity_is_modulus),
    (ModulusHalved(), laws.convexity_is_modulus),
    (ModulusDoubled(), laws.prox_is_firmly_nonexpansive),
    (InterceptCountsAsConvex(L2()), laws.convexity_is_modulus),
    (PenalisesTheIntercept(L2()), laws.prox_is_minimiser),
    (ScaleOfTheStepForgotten(L1(), 3.0), laws.prox_is_minimiser),
    (Expands(), laws.prox_is_firmly_nonexpansive),
    (GradientOfTheFullSquare(), laws.gradient_is_derivative),
    (CornersCalledSmooth(), laws.gradient_is_derivative),
    (FurthestVertex(), laws.vertex_is_minimiser),
    (VertexOfTheFirstFeature(), laws.vertex_is_minimiser),
    (AllIsInside(), laws.constraint_is_indicator),
    (SumCalledInseparable(), laws.separable_means_a_sum),
    (BallCalledSeparable(), laws.separable_means_a_sum),
    (DoublesThePrecision(), laws.precision_is_kept),
    (WritesOverTheCoefficients(), laws.precision_is_kept),
]


@pytest.mark.parametrize("twin, law", TWINS, ids=lambda part: getattr(part, "__name__", None))
def test_rejected(twin, law):
    with pytest.raises(AssertionError):
        law(twin)


@pytest.mark.parametrize("twin, law", TWINS, ids=lambda part: getattr(part, "__name__", None))
def test_sound_parent_passes(twin, law):
    """It is the sabotage that is rejected, not the penalty it was done to."""
    parent = type(twin).__mro__[1]
    given = [field.name for field in fields(parent) if field.init]
    law(parent(**{name: getattr(twin, name) for name in given}))


def test_every_law_has_rejected_something():
    assert {law for _, law in TWINS} == set(laws.LAWS)
