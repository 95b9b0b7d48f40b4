"""Laws of drawn noise in units of what was paid: normal, radial, and on the points of a lattice."""

import math

import numpy as np
from scipy import stats

ALPHA = 1e-7


def check_normal(sample, paid):
    """Independent normal numbers of the deviation that was paid for, answer by answer and coordinate by coordinate."""
    z = np.asarray(sample).reshape(len(sample), -1) / paid
    assert stats.kstest(z.ravel(), "norm").pvalue > ALPHA, "not the normal noise that was paid for"
    assert _correlation(z[:-1, 0], z[1:, 0]) < 6, "answers share their noise"
    for other in z.T[1:]:
        assert _correlation(z[:, 0], other) < 6, "coordinates share their noise"


def check_radial(sample, paid):
    """A Gamma(d) radius of the scale that was paid for, in a uniform direction."""
    z = np.asarray(sample).reshape(len(sample), -1) / paid
    radius, d = np.linalg.norm(z, axis=1), z.shape[1]
    assert stats.kstest(radius, stats.gamma(d).cdf).pvalue > ALPHA, (
        "not the radius that was paid for"
    )
    share = z[:, 0] ** 2 / radius**2
    if d > 1:
        law = stats.beta(0.5, (d - 1) / 2)
        assert stats.kstest(share, law.cdf).pvalue > ALPHA, "some direction is preferred"
    assert abs(np.sign(z[:, 0]).mean()) < 6 / math.sqrt(len(z))


def check_lattice(answers, grid):
    """What leaves is a public multiple of the lattice's step, and nothing between."""
    answers = np.asarray(answers)
    assert np.array_equal(np.rint(answers / grid.step) * grid.step, answers), "off the lattice"


def _correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(len(a))
