"""What units of several rows cost in noise over one row: the figures of docs/proofs/units.md."""

import math

import pytest
from scipy.optimize import brentq

from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy._objective import objective_delta
from skdp.privacy.events import ObjectivePerturbation

RELATIONS = ["add_remove", "replace_one"]


def noise_for(epsilon, delta, neighbors, extra=0.0, **fields):
    """Noise s over L at which a release is private."""

    def excess(log_noise):
        event = ObjectivePerturbation(math.exp(-log_noise), **fields)
        return math.log(max(objective_delta(event, epsilon, neighbors, extra), 1e-300) / delta)

    return math.exp(brentq(excess, -5, 8, xtol=1e-13))


COSTS = [((0.1, 1e-6), 1.0002), ((1.0, 1e-6), 1.0011), ((1.0, 1e-8), 1.0006), ((8.0, 1e-6), 1.0042)]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("promise, cost", COSTS)
def test_units_of_any_number_of_rows_cost_the_noise_of_one_row(promise, cost, neighbors):
    fields = dict(jacobian=0.0, rule="one_signed")
    ratios = [
        noise_for(*promise, neighbors, rows=k, **fields) / noise_for(*promise, neighbors, **fields)
        for k in (2, 50, 10**6)
    ]
    assert ratios == pytest.approx([cost] * 3, abs=5.5e-5)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_half_of_the_budget_in_gaussians(neighbors):
    extra = gaussian_mu(1.0, 1e-6) / math.sqrt(2)
    many, one = (noise_for(1.0, 1e-6, neighbors, extra, jacobian=0.0, rows=k) for k in (1000, 1))
    assert many / one == pytest.approx(1.0023, abs=5e-5)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("promise, cost", COSTS)
def test_the_rank_of_a_unit_adds_at_most_a_hundredth_part(promise, cost, neighbors):
    many, one = (
        noise_for(*promise, neighbors, jacobian=0.05 * promise[0], rows=k) for k in (10**6, 1)
    )
    assert 0 < many / one - cost < 0.0072


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_all_vertices_are_cheaper_for_two_equal_rows_and_for_few_more(neighbors):
    r = gaussian_mu(1.0, 1e-6) / (2 if neighbors == "replace_one" else 1)

    def price(k, equal):
        event = ObjectivePerturbation(r, 0.0, rows=k, equal_weights=equal)
        return objective_delta(event, 1.0, neighbors)

    assert price(2, True) < price(2, False)
    assert price(9, True) == price(9, False)
    cube = {
        "add_remove": [(1, 0), (2, r / 2), (1, r)],
        "replace_one": [(1, 0), (4, r / 2), (6, r), (4, 3 * r / 2), (1, 2 * r)],
    }[neighbors]
    exact = sum(n * gaussian_delta(1.0, m) for n, m in cube)
    assert price(2, True) == pytest.approx(exact, rel=1e-12)
