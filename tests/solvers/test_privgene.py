"""PrivGene: its limit, its script, and offspring that are no draw."""

import math

import numpy as np
import pytest
from solvers.comparing import (
    check_determined_by_seed,
    distance_to_optimum,
    model,
    problem,
    quality,
    task,
)

from skdp.penalties import Box
from skdp.privacy.events import BoundedRange
from skdp.solvers import PrivGene
from skdp.solvers.privgene import _diameter, _offspring

LONG = PrivGene(generations=250, decay=0.95)


@pytest.mark.parametrize("C", [0.02, 1.0])
def test_comes_near_the_optimum_without_noise(C):
    """A search in single coordinates with falling steps: no gradient, so no more than this."""
    assert distance_to_optimum(LONG, C, n=300) < 0.05


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_spends_what_was_promised(neighbors):
    fitted = model("privgene", 0.5, neighbors=neighbors).fit(*problem(300))
    assert 0.99 * 0.5 <= fitted.privacy_.epsilon <= 0.5
    ((event, count),) = fitted.privacy_.script
    assert isinstance(event, BoundedRange) and count == 39  # the last generation has one parent


def test_a_seed_determines_the_result():
    check_determined_by_seed("privgene")


def test_learns():
    assert quality("privgene", 2.0, n=8000) > 0.7


def test_stays_in_a_box():
    box = Box(-0.5, 0.5)
    fitted = model("privgene", penalty=box).fit(*problem(300))
    assert math.isfinite(box.value(fitted.coef_[0])) and fitted.coef_.any()


def test_offspring_mutate_every_coordinate_either_way_and_mix_both_parents():
    first, second = np.zeros(3), np.ones(3)
    born = _offspring(task(0.0).penalty, first, second, 10.0)
    assert np.array_equal(born[0], first) and len(born) == 7
    assert {(k, math.copysign(1, w[k])) for w in born[1:] for k in range(3) if abs(w[k]) > 5} == {
        (k, s) for k in range(3) for s in (1.0, -1.0)
    }
    genes = np.array([w[np.abs(w) < 5] for w in born[1:]])
    assert {0.0, 1.0} <= set(np.round(genes.ravel(), 6))


def test_diameter_covers_every_pair():
    points = np.random.default_rng(0).normal(size=(6, 4))
    apart = max(np.linalg.norm(a - b) for a in points for b in points)
    assert _diameter(points) >= apart
