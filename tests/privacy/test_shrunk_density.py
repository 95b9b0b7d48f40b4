"""Rows that were scaled down against the price of whole ones: exact densities of the minimiser of one coefficient."""

import numpy as np
import pytest

from skdp.privacy._objective import objective_delta
from skdp.privacy.events import ObjectivePerturbation

LAM, SD, COMMON = 1.0, 1.5, [(1.0, 0.3, 1.0), (-1.0, 0.01, -1.0)]
CASES = [(x, left, y) for x in (1.0, 0.6) for left in (1.0, 0.3, 0.01) for y in (1.0, -1.0)]


def density(w, records):
    """Of the minimiser of logistic losses ``s^2 l(x w / s)`` at w."""
    gradient, curvature = LAM * w, np.full_like(w, LAM)
    for x, left, y in records:
        p = 1.0 / (1.0 + np.exp(np.clip(y * x * w / left, -700, 700)))
        gradient, curvature = gradient - y * p * left * x, curvature + p * (1 - p) * x * x
    return np.exp(-0.5 * (gradient / SD) ** 2) / (SD * np.sqrt(2 * np.pi)) * curvature


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_no_density_exceeds_the_price(case, neighbors):
    w = np.sinh(np.linspace(-8.0, 8.0, 20001)) * 0.03
    event = ObjectivePerturbation(shift=1.0 / SD, jacobian=0.25 / LAM, rule="logistic")
    others = [[]] if neighbors == "add_remove" else [[other] for other in CASES]
    for other in others:
        sides = [density(w, COMMON + side) for side in ([case], other)]
        for p, q in (sides, sides[::-1]):
            assert abs(np.trapezoid(p, w) - 1) < 1e-3
            for epsilon in (0.0, 0.3, 1.0, 2.0):
                true = np.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0.0), w)
                assert true <= float(objective_delta(event, epsilon, neighbors)) * 1.001 + 1e-6
