"""What the perturbed objective charges for weighted rows and units of many classes, against exact output densities.

The events are the mechanism's own: what it forgets of a unit, these densities find.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from test_units_density import LOSSES, RELATIONS, ROUNDING, nobody
from units_density import (
    NOBODY,
    STEEP_HINGE,
    CappedSquaredHinge,
    cells,
    curved_part,
    event_of,
    hockey_stick,
    softmax_log_density,
    true_delta,
    unit,
)

from skdp.losses import Huber, HuberisedHinge, Logistic, Multinomial
from skdp.mechanisms import PerturbedObjective, Public
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.privacy._objective import objective_delta


def charged(loss, sd, lam, neighbors, *, width=1, rows=1, weighted=False):
    """The event of a perturbed objective over rows of norm at most 1, for exact minimisers."""
    public = Public(100, width, 0.0, neighbors, rows=rows, weighted=weighted)
    shape = (width,) if loss.outputs == 1 else (width, loss.outputs)
    question = PerturbedObjective(
        loss=loss,
        penalty=ScaledPenalty(NoPenalty(), 1.0, False),
        shape=shape,
        multiplier=sd / loss.slope,
        strength=lam,
    )
    return replace(question.event(public), output=0.0)


def random_weighted(rng, j, dimension, one_signed):
    """Rows as they enter: each with its own weight over their number."""
    rows = rng.standard_normal((j, dimension))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if rng.random() < 0.5:
        rows[:] = rows[0]
    targets = rng.choice([-1.0, 1.0], j) if one_signed else 60.0 * rng.choice([-1.0, 1.0], j)
    weights = rng.choice([0.1, 0.5, 0.9, 1.0], j) / j
    return unit(rows, targets, weights)


SMOOTH = [Logistic(), HuberisedHinge(0.5), Huber(1.0)]


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_weighted_rows_never_exceed_what_rows_of_weight_one_cost(loss, neighbors, rows):
    rng, dimension = np.random.default_rng([rows, 1]), 1
    for _ in range(6):
        epsilon, sd = rng.choice([0.05, 0.5, 1.5]), rng.choice([0.7, 2, 6]) * loss.slope
        lam = rng.choice([0.2, 1, 6])  # a curvature of several times the strength, too
        event = charged(loss, sd, lam, neighbors, rows=rows, weighted=True)
        price = objective_delta(event, epsilon, neighbors)
        left = random_weighted(rng, rows, dimension, loss.one_signed)
        right = random_weighted(rng, rows, dimension, loss.one_signed)
        right = right if neighbors == "replace_one" else NOBODY
        for pull in (-3 * sd, 0.0, 1.5 * sd):
            exact = true_delta(loss, left, right, epsilon, pull, sd, lam, points=80_001)
            assert exact <= price * ROUNDING[1]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_weighted_row_in_two_dimensions_never_exceeds_the_price(loss, neighbors):
    rng = np.random.default_rng(7)
    for lam in (0.6, 4.0):
        sd, epsilon = 2.0 * loss.slope, 0.5
        price = objective_delta(event_of(loss, sd, lam, 1, 2), epsilon, neighbors)
        left = random_weighted(rng, 1, 2, loss.one_signed)
        right = (
            random_weighted(rng, 1, 2, loss.one_signed) if neighbors == "replace_one" else nobody(2)
        )
        exact = true_delta(loss, left, right, epsilon, 0.0, sd, lam, points=401, width=7.0)
        assert exact <= price * ROUNDING[2]


@pytest.mark.parametrize("weight", [1.5, 3.0])
@pytest.mark.parametrize("loss", [Logistic(), CappedSquaredHinge()], ids=repr)
def test_a_row_of_a_weight_above_one_exceeds_the_price(loss, weight):
    """What `max_sample_weight` is divided for."""
    sd, lam, epsilon = 4.2 * loss.slope, 8.0, 1.0
    event = event_of(loss, sd, lam, 1, 1)
    price = objective_delta(event, epsilon, "add_remove")
    for heavy, exceeds in ((1.0, False), (weight, True)):
        left = unit([1.0], [1.0], [heavy])
        exact = true_delta(loss, left, NOBODY, epsilon, 40.0, sd, lam)
        assert (exact > price * (1 + 1e-3)) == exceeds


# Rows of a unit: what the mechanism says of them.


def test_a_perturbed_objective_charges_for_the_curvature_of_all_rows_of_a_unit():
    """Two orthogonal rows in one person; as one row, or as many in one column, they would be too cheap."""
    ratio, epsilon, sd = 8, 2.5, 20.0
    lam = STEEP_HINGE.curvature / ratio
    found = curved_part(epsilon, sd, lam)
    public = {"width": 2, "rows": 2}
    event = charged(STEEP_HINGE, sd, lam, "add_remove", **public)
    assert (event.rows, event.width) == (2, 2)
    assert found <= objective_delta(event, epsilon, "add_remove")
    for twin in (replace(event, rows=1, width=None, equal_weights=False), replace(event, width=1)):
        assert found > 1e4 * objective_delta(twin, epsilon, "add_remove")


# Several classes.

CLASSES = 3
LEAST = {"add_remove": 0.1, "replace_one": 0.01}  # in one feature two gradients cannot be opposite


def softmax_delta(left, right, epsilon, pull, sd, lam, points=35):
    """Exact delta of units of rows of one feature with three scores each."""
    w, volume = cells(CLASSES, pull, sd, lam, points, width=5.0, slack=0.0)
    p, q = (
        np.exp(softmax_log_density(CLASSES, one, w, pull, sd, lam)) * volume
        for one in (left, right)
    )
    return hockey_stick(p, q, epsilon)


PERSONS = {
    "one class": ([1.0, 1.0], [0, 0]),
    "two classes": ([1.0, -1.0], [0, 1]),
    "opposite rows": ([1.0, -1.0], [0, 0]),
    "unequal rows": ([1.0, 0.4], [0, 2]),
}


@pytest.mark.parametrize("weights", [[1.0, 1.0], [1.0, 0.3], [0.5, 0.0]], ids=str)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_weighted_units_of_three_classes_never_exceed_the_price(neighbors, weights):
    sd, lam, epsilon = 3.0, 4.0, 0.5
    event = charged(
        Multinomial(outputs=CLASSES), sd, lam, neighbors, rows=2, weighted=weights != [1.0, 1.0]
    )
    assert (event.rule, event.classes, event.rows, event.width) == ("multinomial", CLASSES, 2, 1)
    price = objective_delta(event, epsilon, neighbors)
    omega = np.array(weights) / 2.0
    right = unit([-1.0, 0.5], [1, 2], omega[::-1]) if neighbors == "replace_one" else NOBODY
    shares = []
    for rows, codes in PERSONS.values():
        left = unit(rows, codes, omega)
        for pull in (np.zeros(3), np.array([60.0, -60.0, 60.0])):
            shares.append(softmax_delta(left, right, epsilon, pull, sd, lam) / price)
    assert max(shares) <= 1
    if weights == [1.0, 1.0]:
        assert max(shares) > LEAST[neighbors]


def test_three_classes_priced_by_the_slope_of_one_score_are_exceeded():
    """All of the chance on a wrong class: a gradient of norm sqrt(2), not 1."""
    sd, lam, epsilon = 1.5, 40.0, 1.2
    event = charged(Multinomial(outputs=CLASSES), sd, lam, "add_remove")
    pull = np.array([200.0, -200.0, 200.0])
    found = softmax_delta(unit([1.0], [0]), NOBODY, epsilon, pull, sd, lam)
    share = found / objective_delta(event, epsilon, "add_remove")
    assert 0.48 < share <= 1.0  # two wrong classes are priced, of which a tilt takes one
    one_score = replace(event, shift=event.shift / math.sqrt(2.0))
    assert found > 2.0 * objective_delta(one_score, epsilon, "add_remove")


def test_the_way_over_all_vertices_covers_weighted_rows():
    """It is what is charged for few rows of equal weights, and for weights below those."""
    loss, epsilon, lam = Logistic(), 0.1, 6.0
    sd = 6.0 * loss.slope
    event = charged(loss, sd, lam, "add_remove", rows=2, weighted=True)
    assert event.equal_weights
    price = objective_delta(event, epsilon, "add_remove")
    for weights in ([1.0, 1.0], [1.0, 0.5], [0.7, 0.7], [1.0, 0.0], [0.2, 0.9]):
        for labels in ([1.0, 1.0], [1.0, -1.0]):
            left = unit([1.0, 1.0], labels, np.array(weights) / 2.0)
            for pull in (-2 * sd, 0.0, 2 * sd, 40.0):
                exact = true_delta(loss, left, NOBODY, epsilon, pull, sd, lam, points=20_001)
                assert exact <= price * ROUNDING[1]
