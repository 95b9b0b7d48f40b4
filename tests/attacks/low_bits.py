"""Mironov (2012), "On significance of the least significant bits for differential privacy", and what it meets."""

import numpy as np
from scipy.special import ndtr, ndtri

GRID = 2.0**-53


def old_release(statistic, scale, rng):
    """What left before: the sum plus noise by inversion, U one of 2^52 odd multiples of 2^-53."""
    uniform = (2.0 * rng.integers(0, 2**52, statistic.shape) + 1.0) * GRID
    return statistic + scale * ndtri(uniform)


def reachable(y, statistic, scale, span=3):
    """For each number whether the old formula can give it from this statistic: all U near its own are tried."""
    x = (y - statistic) / scale
    near = np.rint((np.where(x > 0, 1.0 - ndtr(-np.abs(x)), ndtr(x)) / GRID - 1.0) / 2.0)
    hit = np.zeros(y.shape, dtype=bool)
    for offset in range(-span, span + 1):
        uniform = (2.0 * (near + offset) + 1.0) * GRID
        able = (uniform > 0.0) & (uniform < 1.0)
        hit |= able & (statistic + scale * ndtri(np.where(able, uniform, 0.5)) == y)
    return hit


def likelier(y, worlds):
    """1 where an answer lies nearer to the second world: no test does better on exact noise (Neyman and Pearson)."""
    first, second = worlds
    return ((y - (first + second) / 2) @ (second - first) > 0).astype(int)


def by_low_bits(y, worlds, scale):
    """The only world that can give all numbers, else the likelier one."""
    able = [reachable(y, world, scale).all(axis=1) for world in worlds]
    only = np.where(able[1], 1, 0)
    return np.where(able[0] ^ able[1], only, likelier(y, worlds))


def success(release, attack, worlds, runs, rng):
    """How often the attack tells the world right from one answer."""
    truth = rng.integers(0, 2, runs)
    return float(np.mean(attack(release(np.stack(worlds)[truth]), worlds) == truth))


def allowed(worlds, scale):
    """The best that any attack may do on two equally likely worlds: Phi(mu / 2)."""
    return float(ndtr(np.linalg.norm(worlds[1] - worlds[0]) / scale / 2))


def check_allowed(rate, best, runs, exactly=False):
    """Not above what is allowed; of the likelihood's own attack, not below it either."""
    spread = 4.0 * np.sqrt(best * (1.0 - best) / runs)
    assert rate <= best + spread, f"the attack is right in {rate:.4f}, {best:.4f} is allowed"
    assert not exactly or rate >= best - spread
