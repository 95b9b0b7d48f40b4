"""What an implementer gets wrong: each planted price is exceeded by an exact density or law, ours by none."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from units_density import (
    NOBODY,
    STEEP_HINGE,
    curved_part,
    event_of,
    log_density,
    true_delta,
    unit,
    worlds,
)

from skdp.losses import Huber, Logistic
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._objective import least_tangent, objective_delta, pure_objective_epsilon
from skdp.privacy.events import ObjectivePerturbation, PureObjectivePerturbation


def priced(branches, epsilon):
    """Least sum over branches (count, shift, offset) with one tangent for all."""
    counts, shifts, offsets = np.array(branches, float).T
    return float(least_tangent(np.asarray(float(epsilon)), counts, shifts[None, :], offsets))


# The Jacobian.


@pytest.mark.parametrize("ratio, epsilon, sd", [(8, 2.5, 20.0), (8, 2.5, 50.0), (4, 1.9, 20.0)])
def test_the_jacobian_of_one_row_is_too_small_for_two(ratio, epsilon, sd):
    lam = STEEP_HINGE.curvature / ratio
    ours = event_of(STEEP_HINGE, sd, lam, 2, 2)
    found = curved_part(epsilon, sd, lam)
    assert math.log1p(ratio) < epsilon < 2 * math.log1p(ratio / 2)
    assert found > 1e4 * objective_delta(replace(ours, width=1), epsilon, "add_remove")
    assert found <= objective_delta(ours, epsilon, "add_remove")


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_forgotten_jacobian_is_exceeded(neighbors):
    sd, lam, epsilon = 20.0, STEEP_HINGE.curvature / 8, 2.5
    ours = event_of(STEEP_HINGE, sd, lam, 2, 2)
    found = curved_part(epsilon, sd, lam)  # a person without rows may be the other one
    assert found > 1e4 * objective_delta(replace(ours, jacobian=0.0), epsilon, neighbors)
    assert found <= objective_delta(ours, epsilon, neighbors)


def test_pure_epsilon_with_the_jacobian_of_one_row_is_exceeded():
    scale, lam = 200.0, STEEP_HINGE.curvature / 8
    ours = PureObjectivePerturbation(1 / scale, 8.0, "one_signed", rows=2, width=2)
    empty = np.zeros(0), np.zeros((0, 2)), np.zeros(0)
    w = np.ones((1, 2))
    p, q = (
        log_density(STEEP_HINGE, [one], w, np.array([-lam, -lam]), scale, lam, pure=True)
        for one in (unit(np.eye(2), [1.0, 1.0]), empty)
    )
    found = abs(float((p - q)[0]))
    twin = replace(ours, width=1)
    assert found > 1.4 * pure_objective_epsilon(twin, "add_remove")
    assert found <= pure_objective_epsilon(ours, "add_remove")


# One tangent for all branches.


def pooled(branches, epsilon):
    """delta of a unit whose rows take turns in the tails of all branches, so that its average stands still.

    Each row by itself has the branches' laws. On the event that any branch is above a, which has
    the sum of their probabilities where tails are disjoint, the average over many rows is the mean
    of what is there; the worst a that leaves the tails room.
    """
    a = np.linspace(epsilon - 2, epsilon + 2, 400_001)
    chance, excess = np.zeros_like(a), np.zeros_like(a)
    for count, shift, offset in branches:
        z = (a - offset - shift**2 / 2) / shift
        chance += count * norm.sf(z)
        excess += count * shift * (norm.pdf(z) - z * norm.sf(z))
    delta = chance * -np.expm1(np.minimum(epsilon - a - excess / chance, 0.0))
    return float(delta[chance < 1].max())


@pytest.mark.parametrize(
    "branches, epsilon",
    [
        ([(1, 0.8, 0.0), (2, 0.4, 0.0)], 0.9),
        ([(1, 1.6, 0.0), (2, 0.4, 0.0)], 1.2),
        ([(1, 0.3, 0.0), (1, 0.6, 0.2)], 0.9),
    ],
)
def test_a_tangent_for_each_branch_is_exceeded_by_a_unit_that_pools_their_tails(branches, epsilon):
    ours = priced(branches, epsilon)
    twin = sum(priced([branch], epsilon) for branch in branches)
    found = pooled(branches, epsilon)
    assert found > twin * (1 + 1e-3)
    assert found == pytest.approx(ours, rel=1e-8) and found <= ours * (1 + 1e-12)


def test_the_profile_of_one_row_is_exceeded_by_a_unit_that_pools_its_tail():
    """The sum of H that prices one row is no bound for averages of so many losses."""
    assert pooled([(1, 0.8, 0.0)], 0.6) > 1.05 * gaussian_delta(0.6, 0.8)


# A branch less.


def test_the_free_jacobian_without_its_own_branch_is_exceeded():
    """At little strong convexity the curvature alone betrays a person, whatever the noise is."""
    epsilon, sd, a = 0.5, 20.0, 8 * math.expm1(0.5)
    left = unit([1.0, 1.0], [1.0, 1.0])
    found = true_delta(Logistic(), left, NOBODY, epsilon, 0.0, sd, 1 / a, points=160_001)
    event = event_of(Logistic(), sd, 1 / a, 2, 1)
    assert found > 1e6 * priced([(1, 1 / sd, 0.0)], epsilon)
    assert found <= objective_delta(event, epsilon, "add_remove")


def test_two_signs_priced_as_one_are_exceeded():
    """Slopes that follow the sign of the noise: the worst map, in one dimension."""
    r, epsilon = 0.25, 1.0
    b = np.linspace(-12, 12, 400_001)
    moved = np.maximum(r * b + r * r / 2, -r * b + r * r / 2)
    found = float(norm.pdf(b) @ np.maximum(-np.expm1(epsilon - moved), 0) * (b[1] - b[0]))
    event = ObjectivePerturbation(r, 0.0, "two_signed", rows=3)
    assert found > 1.9 * priced([(1, r, 0.0)], epsilon)
    assert found <= objective_delta(event, epsilon, "add_remove")


def test_a_replaced_person_priced_as_a_removed_one_is_exceeded():
    """Without the branch of 2r: Huber's slopes on opposite sides."""
    epsilon, sd, lam = 0.5, 6.0, 50.0
    left, right = (unit([1.0, 1.0], [far, far]) for far in (-50.0, 50.0))
    found = true_delta(Huber(1.0), left, right, epsilon, 0.0, sd, lam)
    event = event_of(Huber(1.0), sd, lam, 2, 1)
    assert found > 5 * objective_delta(event, epsilon, "add_remove")
    assert 0.3 < found / objective_delta(event, epsilon, "replace_one") <= 1


def test_rounds_priced_as_one_are_exceeded():
    left = unit([1.0, 1.0], [1.0, 1.0])
    p, q = worlds(Logistic(), left, NOBODY, 20.0, 3.0, 2.0, points=1501, width=9.0)
    both, other = np.multiply.outer(p, p), np.multiply.outer(q, q)
    found = np.maximum(both - math.exp(1.5) * other, 0).sum()
    once = event_of(Logistic(), 3.0, 2.0, 2, 1)
    assert found > 1.5 * objective_delta(once, 1.5, "add_remove")
    assert found <= objective_delta(once.repeated(2), 1.5, "add_remove")
