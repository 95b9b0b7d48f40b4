"""Slopes of either sign in coordinates that earlier answers chose: exact densities against the price.

A Gaussian answer Y comes first, and the angle between the images of the two records is a function of it. The exact
profile of both is the mean over Y of the objective's exact profile at epsilon less the loss of Y.
"""

import math

import numpy as np
import pytest
from output_density import Instance, grid, log_density
from scipy.stats import norm

from skdp.losses import Huber
from skdp.privacy import _objective as objective
from skdp.privacy import accountants
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy.events import BestOf, Gaussian, ObjectivePerturbation
from skdp.privacy.events._written import after_answers

NONE = (np.empty((0, 2)), [])


def anywhere(r, jacobian=0.0, **given):
    return ObjectivePerturbation(r, jacobian, "two_signed_anywhere", **given)


class World:
    """Both densities of the minimiser of Huber losses of two records at an angle, on a grid."""

    def __init__(self, angle, far, sd, lam, points=301):
        rows = [np.array([[math.cos(t), math.sin(t)]]) for t in (angle / 2, -angle / 2)]
        left, right = (rows[0], [far[0]]), (rows[1], [far[1]])
        self.instance = Instance(Huber(1.0), NONE, left, right, np.zeros(2))
        cells, self.volume = grid(np.zeros(2), (7 * sd + 2) / lam, points)
        self.p, self.q = (
            log_density(self.instance, cells, side, sd, lam) for side in (left, right)
        )
        assert abs(np.exp(self.p).sum() * self.volume - 1) < 1e-3

    def delta(self, epsilon, turned=False):
        """Exact profile at any real epsilon; turned: of the second against the first."""
        p, q = (self.q, self.p) if turned else (self.p, self.q)
        # p - e^eps q, without an overflow where eps is far below 0
        gap = np.clip(1.0 - np.exp(np.clip(epsilon + q - p, -700, 700)), 0.0, None)
        return float((np.exp(p) * gap).sum() * self.volume)


def exact(worlds, choose, mu0, epsilon, turned=False):
    """Mean over the first answer, whose means are mu0 apart, of the profile of the world that it chooses."""
    y = np.linspace(-7, 7 + mu0, 141)
    at = norm.pdf(y, loc=mu0) * (y[1] - y[0])
    loss = mu0 * y - mu0**2 / 2
    return sum(
        w * worlds[choose(v)].delta(epsilon - lost, turned)
        for v, w, lost in zip(y, at, loss)
        if w > 1e-12
    )


@pytest.mark.parametrize("far", [(-40.0, 40.0), (40.0, 40.0), (0.3, -0.8)])
@pytest.mark.parametrize("mu0, epsilon, sd", [(0.4, 0.5, 4.0), (0.2, 0.2, 8.0), (0.8, 1.5, 2.0)])
def test_the_exact_profile_of_an_adaptive_angle_never_exceeds_the_price(far, mu0, epsilon, sd):
    lam = 12.0
    worlds = [World(angle, far, sd, lam) for angle in (0.02, math.pi / 2, math.pi - 0.02)]
    event = anywhere(1.0 / sd, 1.0 / lam)
    paid = objective.objective_delta(event, epsilon, "replace_one", extra_mu=mu0)
    shares = [
        exact(worlds, choose, mu0, epsilon, turned) / paid
        for choose in (
            lambda v: int(v > mu0) * 2,
            lambda v: 2 - int(v > mu0) * 2,
            lambda v: 1 + (v > mu0),
        )
        for turned in (False, True)
    ]
    assert max(shares) <= 1.0
    if far == (-40.0, 40.0):
        assert max(shares) > 0.1, "nothing was told, so nothing was tested"


def test_a_price_that_forgets_the_second_record_is_exceeded():
    """Half of the shift, which is that of add or remove: the same check rejects it."""
    sd, lam, mu0, epsilon = 4.0, 12.0, 0.1, 1.5
    worlds = [World(math.pi - 0.02, (40.0, 40.0), sd, lam), World(0.02, (-40.0, 40.0), sd, lam)]
    halved = objective.objective_delta(
        anywhere(0.5 / sd, 1.0 / lam), epsilon, "replace_one", extra_mu=mu0
    )
    assert exact(worlds, lambda v: 1, mu0, epsilon) > halved


def of_two(first, worlds, choose, epsilon, turned):
    """Exact profile of two objectives, the angle of the second one chosen by the answer to the first."""
    p, q = (first.q, first.p) if turned else (first.p, first.q)
    mass, lost = np.exp(p) * first.volume, p - q
    total, seen = 0.0, mass > 1e-14
    for index, world in enumerate(worlds):
        mine = seen & (choose(lost) == index)
        # Losses are rounded down to a lattice: a lower bound of what is exact, and nearly that.
        steps, weights = np.floor(lost[mine] / 0.02).astype(int), mass[mine]
        for step in np.unique(steps):
            total += weights[steps == step].sum() * world.delta(epsilon - 0.02 * step, turned)
    return total


@pytest.mark.parametrize("sd, epsilon", [(8.0, 1.0), (4.0, 2.0), (2.0, 6.0), (1.5, 6.0)])
def test_two_objectives_of_which_the_second_follows_from_the_first_never_exceed_their_price(
    sd, epsilon
):
    """As those of several targets, or of several classes, do."""
    lam, far = 12.0, (-40.0, 40.0)
    worlds = [World(angle, far, sd, lam, 121) for angle in (0.02, math.pi - 0.02)]
    paid = objective.objective_delta(
        anywhere(1.0 / sd, 1.0 / lam, rounds=2), epsilon, "replace_one"
    )
    once = objective.objective_delta(anywhere(1.0 / sd, 1.0 / lam), epsilon, "replace_one")
    found = [
        of_two(first, worlds, choose, epsilon, turned)
        for first in worlds
        for choose in (
            lambda lost: (lost > 0).astype(int),
            lambda lost: (lost <= 0).astype(int),
            lambda lost: np.zeros(lost.shape, dtype=int),
        )
        for turned in (False, True)
    ]
    assert max(found) <= paid < 1.0 and max(found) > 0.03 * paid
    assert max(found) > 5 * once, "a price that forgets the second is exceeded"


@pytest.mark.parametrize("mu0", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("r", [0.02, 0.15, 0.6])
def test_every_angle_costs_less_whatever_came_before(r, epsilon, mu0):
    angles = np.linspace(0, math.pi, 721)
    shifts = [np.hypot(2 * r * f(angles / 2), mu0) for f in (np.cos, np.sin)]
    worst = sum(2 * gaussian_delta(epsilon, shift) for shift in shifts).max()
    paid = objective.objective_delta(anywhere(r), epsilon, "replace_one", extra_mu=mu0)
    assert min(worst, 1.0) <= paid * (1 + 1e-12)


def test_the_price_is_the_stated_sum():
    e, mu0, r = 0.9, 0.2, 0.15
    expected = 2 * gaussian_delta(e, math.hypot(mu0, 2 * r)) + 2 * gaussian_delta(
        e, math.hypot(mu0, math.sqrt(2) * r)
    )
    event = anywhere(r, math.expm1(0.1))
    found = objective.objective_delta(event, 1.0, "replace_one", extra_mu=mu0)
    assert found == pytest.approx(expected, rel=1e-12)
    alone = objective.objective_delta(event, 1.0, "add_remove", extra_mu=mu0)
    assert alone == pytest.approx(2 * gaussian_delta(e, math.hypot(mu0, r)), rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "mu", "relation"),
    [
        (0.1, 0.023905, "replace_one"),
        (0.4, 0.087966, "replace_one"),
        (1.0, 0.207617, "replace_one"),
        (4.0, 0.742360, "replace_one"),
        (1.0, 0.207651, "add_remove"),
    ],
)
def test_pins_of_two_phases_at_delta_one_in_a_million(epsilon, mu, relation):
    """A release at 30 % of mu^2, then an objective whose Jacobian takes a tenth of epsilon."""
    r = mu * math.sqrt(0.7) / (2 if relation == "replace_one" else 1)
    script = (
        (Gaussian(1.0 / (mu * math.sqrt(0.3))), 1),
        (anywhere(r, math.expm1(0.1 * epsilon)), 1),
    )
    assert accountants.epsilon(script, 1e-6, relation) == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.parametrize("rows", [1, 3])
def test_more_rows_and_more_rounds_cost_more(rows):
    one = objective.objective_delta(anywhere(0.1, 0.02, rows=rows), 0.5, "replace_one")
    two = objective.objective_delta(anywhere(0.1, 0.02, rows=rows, rounds=2), 0.5, "replace_one")
    fixed = ObjectivePerturbation(0.1, 0.02, "two_signed", rows=rows)
    assert objective.objective_delta(fixed, 0.5, "replace_one") <= one < two


def test_behind_answers_every_objective_is_priced_for_any_angle():
    """Inside the best of K runs, too; what has no angle is left as it is."""
    fixed, known = ObjectivePerturbation(0.1, 0.02, "two_signed"), ObjectivePerturbation(0.1, 0.02)
    run = ((Gaussian(20.0), 2), (fixed, 1), (known, 3))
    search = BestOf((run, run[:1]), (0.5, 0.5), mean=3, cap=5)
    behind = after_answers((*run, (search, 1)))
    anywhere = ObjectivePerturbation(0.1, 0.02, "two_signed_anywhere")
    wanted = ((Gaussian(20.0), 2), (anywhere, 1), (known, 3))
    assert behind == (*wanted, (BestOf((wanted, run[:1]), (0.5, 0.5), mean=3, cap=5), 1))
    assert accountants.epsilon(wanted[:2], 1e-6) > accountants.epsilon(run[:2], 1e-6)
