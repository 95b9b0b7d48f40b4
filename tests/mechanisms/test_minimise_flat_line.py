"""A line along which the derivative does not change in doubles: the search must end, and divide by nothing."""

import numpy as np
import pytest

from skdp.mechanisms._minimise import _Round, _step


class Flat:
    """An objective whose derivative along any line is what it is at its start, but for `rise`."""

    def __init__(self, start, rise=0.0):
        self.start, self.rise = start, rise

    def along(self, w, z, p):
        return lambda t: self.start + self.rise * t


@pytest.mark.parametrize("rise", [0.0, -1e-9, 1e-9, 1.0, np.inf, np.nan])
def test_a_step_that_doubt_forbids_is_not_taken(rise):
    g = np.array([1.0, 0.0])
    known = _Round(g, error=10.0, steepness=1e6)  # so much doubt that no step is surely a descent
    assert _step(Flat(-1.0, rise), np.zeros(2), np.zeros(2), -g, known) == 0.0


def test_a_flat_line_without_doubt_is_walked_whole():
    g = np.array([1.0, 0.0])
    known = _Round(g, error=0.0, steepness=1e6)
    assert _step(Flat(-1.0), np.zeros(2), np.zeros(2), -g, known) == 1.0
