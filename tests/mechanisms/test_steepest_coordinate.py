"""The steepest coordinate: what it finds, what it refuses, and a twin that the law of sensitivity rejects."""

import math

import numpy as np
import pytest
from laws.row_laws import left_of
from laws.sensitivity_laws import check_never_exceeded, neighbours
from laws.vaults import random_vault
from laws.worst_pairs import steepest_coordinate as pairs

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import Noise, SteepestCoordinate


class ByNorm(SteepestCoordinate):
    """Claims the spread of one sign alone."""

    def spread(self, public):
        return public.sensitivity_factor * self.bound


def test_the_law_rejects_half_the_spread():
    question, records, neighbour, _ = pairs.worst_pair("add_remove")
    check_never_exceeded(question, [(records, neighbour)])
    twin = ByNorm(at=question.at, loss=question.loss, bound=question.bound, epsilon=1.0)
    with pytest.raises(AssertionError):
        check_never_exceeded(twin, [(records, neighbour)])


@pytest.mark.parametrize("seed", range(5))
def test_finds_the_largest_entry_and_its_sign(seed):
    records = random_vault(seed, n=40, d=6)
    at = np.random.default_rng(seed).normal(size=7)
    question = SteepestCoordinate(at=at, loss=Logistic(), bound=2.0, epsilon=math.inf)
    left = left_of(records.rows)
    slopes = left * Logistic().dz(records.rows.dot(at) / left, records.y)
    gradient = records.rows.tdot(slopes)[:6]
    best = question.answer(records, Noise(0))
    assert best % 6 == np.abs(gradient).argmax()
    assert (best < 6) == (gradient[best % 6] < 0)


def test_peaks_are_largest_entries_of_the_scaled_rows():
    records, _ = neighbours(3, "replace_one", 4, 0.25)
    scaled = np.stack([records.rows.dot(e) for e in np.eye(5)[:4]], axis=1)
    assert np.allclose(records.rows.max_abs(), np.abs(scaled).max(axis=1), rtol=1e-12)


def test_refuses_several_outputs():
    with pytest.raises(NotSupported, match="one output"):
        SteepestCoordinate(at=np.zeros((3, 2)), loss=Logistic(), bound=1.0, epsilon=1.0)
