"""The true delta of a script at an epsilon, in forty digits, by roads that no engine takes.

Doubles are read as the exact numbers they are. Pure steps are randomised responses, so that their
losses are a binomial sum; Gaussians have a closed form; Laplace losses are atoms beside a truncated
exponential, whose powers are e^{t/2} times piecewise polynomials (Irwin and Hall); one sampled step
is a half-line. Many sampled steps are a contour integral (`_contour`).
"""

from functools import lru_cache
from itertools import pairwise

import mpmath as mp
import numpy as np
from _contour import Step, exact_delta

from skdp.privacy.events import (
    BoundedRange,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    WithoutReplacementGaussian,
)

mp.mp.dps = 40
_NODES = [(mp.mpf(x), mp.mpf(w)) for x, w in zip(*np.polynomial.legendre.leggauss(30))]


def _phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gaussian(eps, square):
    """Hockey stick of a Gaussian with squared mu, or of nothing, at any real epsilon."""
    if not square:
        return max(-mp.expm1(eps), mp.mpf(0))
    mu = mp.sqrt(square)
    return _phi(mu / 2 - eps / mu) - mp.exp(eps) * _phi(-mu / 2 - eps / mu)


def amplified(event):
    """Epsilon of a pure event, exactly."""
    if isinstance(event, PureDP):
        return mp.mpf(event.epsilon)
    return mp.log1p(mp.mpf(event.rate) * mp.expm1(mp.mpf(event.epsilon)))


@lru_cache(maxsize=4096)
def responses(runs):
    """Losses of randomised responses and their weights."""
    law = {mp.mpf(0): mp.mpf(1)}
    for event, count in runs:
        loss = amplified(event)
        yes = 1 / (1 + mp.exp(-loss))
        one = [
            (loss * (count - 2 * j), mp.binomial(count, j) * yes ** (count - j) * (1 - yes) ** j)
            for j in range(count + 1)
        ]
        both = {}
        for at, weight in law.items():
            for more, share in one:
                both[at + more] = both.get(at + more, 0) + weight * share
        law = both
    return tuple(law.items())


def laplaces(eps, shift, count, square):
    """Hockey stick of ``count`` Laplace losses beside a Gaussian: atoms, and powers of the rest."""
    total = mp.mpf(0)
    for up in range(count + 1):
        for down in range(count + 1 - up):
            rest = count - up - down
            ways = mp.binomial(count, up) * mp.binomial(count - up, down)
            weight = ways * mp.mpf(0.5) ** (up + down) * mp.exp(-shift * down)
            weight *= (mp.exp(-shift / 2) * shift / 2) ** rest
            total += weight * _uniforms(eps - shift * (up - down), shift, rest, square)
    return total


def _uniforms(eps, shift, count, square):
    """Mean of e^{t/2} times the hockey stick at eps - t, t a sum of uniform laws on +-shift."""
    if count == 0:
        return gaussian(eps, square)
    knots = [-count * shift + 2 * shift * j for j in range(count + 1)]
    near = [eps + k * mp.sqrt(square) for k in (-12, -6, -3, -1, 0, 1, 3, 6, 12)]
    edges = sorted({*knots, *(x for x in near if abs(x) < count * shift)})
    total = mp.mpf(0)
    for low, high in pairwise(edges):
        if not square and high <= eps:
            continue
        for x, w in _NODES:
            t = (low + high) / 2 + (high - low) / 2 * x
            spread = mp.fsum(
                (-1) ** j * mp.binomial(count, j) * max(t - knot, 0) ** (count - 1)
                for j, knot in enumerate(knots)
                if t > knot
            ) / (mp.factorial(count - 1) * (2 * shift) ** count)
            total += w * (high - low) / 2 * spread * mp.exp(t / 2) * gaussian(eps - t, square)
    return total


def sampled_once(kind, multiplier, rate, eps):
    """One sampled Gaussian step: the best set is a half-line, or the published curve for swaps."""
    z, q = mp.mpf(multiplier), mp.mpf(rate)
    if kind == "swap":
        return q * gaussian(mp.log1p(mp.expm1(eps) / q), (2 / z) ** 2)
    if kind == "remove":
        x = z**2 * mp.log((mp.expm1(eps) + q) / q) + mp.mpf(0.5)
        tail = [1 - _phi((x - m) / z) for m in (0, 1)]
        return q * tail[1] + (1 - q) * tail[0] - mp.exp(eps) * tail[0]
    if kind == "add":
        if mp.expm1(-eps) + q <= 0:
            return mp.mpf(0)
        x = z**2 * mp.log((mp.expm1(-eps) + q) / q) + mp.mpf(0.5)
        tail = [_phi((x - m) / z) for m in (0, 1)]
        return tail[0] - mp.exp(eps) * (q * tail[1] + (1 - q) * tail[0])
    lift = (1 - q) / q * mp.exp(1 / (2 * z**2))  # u - e^eps / u = lift (e^eps - 1), u = e^{x/z^2}
    half = lift * mp.expm1(eps) / 2
    x = z**2 * mp.log(half + mp.sqrt(half**2 + mp.exp(eps)))
    tail = {m: 1 - _phi((x - m) / z) for m in (-1, 0, 1)}
    up, down = (q * tail[m] + (1 - q) * tail[0] for m in (1, -1))
    return up - mp.exp(eps) * down


def sampled(script, eps, kind):
    """One direction of a script with sampled steps and Gaussians, or None out of reach."""
    steps = [_step(event, count, kind) for event, count in script]
    if len(steps) == 1 and steps[0][1] == 1:
        step = steps[0][0]
        return sampled_once(step.kind, step.z, step.q, eps)
    try:
        with np.errstate(all="ignore"):
            value = exact_delta(steps, float(eps))
    except ValueError:  # no saddle point: the largest loss is near
        return None
    return None if value is None or not value > 0 else mp.mpf(value)


def _step(event, count, kind):
    if isinstance(event, Gaussian):
        return Step("remove", event.multiplier, 1.0), count
    if isinstance(event, WithoutReplacementGaussian):
        return Step("swap", event.multiplier, event.rate), count
    return Step(kind, event.multiplier, event.rate), count


def ranged(bound, eps):
    """One release of bounded range b: the worst pair with losses t and t - b (Dong et al. 2020)."""
    b = mp.mpf(bound)

    def at(t):
        p = -mp.expm1(t - b) / (mp.exp(t) - mp.exp(t - b)) * mp.exp(t)
        return max(p * -mp.expm1(eps - t), mp.mpf(0))

    return max(at(b * j / mp.mpf(60)) for j in range(1, 61))


def true_delta(script, eps, neighbors="replace_one"):
    """The delta that a script really has at ``eps``; None where the truth is out of reach."""
    eps = mp.mpf(eps)
    pure = tuple((e, k) for e, k in script if isinstance(e, (PureDP, PoissonPure)))
    rest = [(e, k) for e, k in script if not isinstance(e, (PureDP, PoissonPure))]
    if any(isinstance(e, (PoissonGaussian, WithoutReplacementGaussian)) for e, _ in rest):
        return _sampled_beside(pure, rest, eps, neighbors)
    if any(isinstance(e, BoundedRange) for e, _ in rest):
        ((event, _),) = rest
        return mp.fsum(w * ranged(event.epsilon, eps - at) for at, w in responses(pure))
    square = mp.fsum(k / mp.mpf(e.multiplier) ** 2 for e, k in rest if isinstance(e, Gaussian))
    noisy = [(1 / mp.mpf(e.multiplier), k) for e, k in rest if isinstance(e, Laplace)]
    if not noisy:
        return mp.fsum(w * gaussian(eps - at, square) for at, w in responses(pure))
    ((shift, count),) = noisy
    return mp.fsum(w * laplaces(eps - at, shift, count, square) for at, w in responses(pure))


def _sampled_beside(pure, rest, eps, neighbors):
    """Removing is composed alone; adding, which is rarely the larger, only where it is closed."""
    once = len(rest) == 1 and rest[0][1] == 1 and not pure
    adding = ("add",) if once else ()
    worst = mp.mpf(0)
    for kind in ("replace",) if neighbors == "replace_one" else ("remove", *adding):
        found = [(w, sampled(rest, eps - at, kind)) for at, w in responses(pure)]
        if any(d is None for _, d in found):
            return None
        worst = max(worst, mp.fsum(w * d for w, d in found))
    return worst
