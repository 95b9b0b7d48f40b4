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


def answers(event, neighbors, kind):
    """Losses and masses of one pure event, from the two laws of its answers.

    On a sample they are mixtures of the laws with and without the record. Under replace-one the worst
    answers are three: without the record the middle one takes what randomised response would move.
    """
    yes = 1 / (1 + mp.exp(-mp.mpf(event.epsilon)))
    no = 1 - yes
    if isinstance(event, PureDP):
        return ((mp.mpf(event.epsilon), yes), (-mp.mpf(event.epsilon), no))
    rate = mp.mpf(event.rate)
    if neighbors == "replace_one":
        absent, there, other = (no, yes - no, no), (yes, mp.mpf(0), no), (no, mp.mpf(0), yes)
    else:
        absent, there, other = (no, yes), (yes, no), (no, yes)
    mixed = [[(1 - rate) * n + rate * p for n, p in zip(absent, law)] for law in (there, other)]
    first, second = mixed[::-1] if kind == "add" else mixed
    return tuple((mp.log(p / q), p) for p, q in zip(first, second) if p)


@lru_cache(maxsize=4096)
def responses(runs, neighbors="replace_one", kind="replace"):
    """Losses of pure steps in one direction and their weights."""
    law = {mp.mpf(0): mp.mpf(1)}
    for event, count in runs:
        both = {}
        for loss, weight in _multiplied(answers(event, neighbors, kind), count):
            for at, share in law.items():
                both[at + loss] = both.get(at + loss, 0) + weight * share
        law = both
    return tuple(law.items())


def _multiplied(values, count):
    """The sum of so many equal losses of two or three values."""
    (one, p), (two, q), *third = values
    three, r = third[0] if third else (mp.mpf(0), mp.mpf(0))
    for i in range(count + 1):
        for j in [count - i] if not third else range(count + 1 - i):
            k = count - i - j
            ways = mp.binomial(count, i) * mp.binomial(count - i, j)
            yield one * i + two * j + three * k, ways * p**i * q**j * r**k


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
    found = [_directed(script, mp.mpf(eps), neighbors, kind) for kind in _kinds(script, neighbors)]
    return None if any(delta is None for delta in found) else max(found)


def _kinds(script, neighbors):
    """Removing is composed alone; adding, which is rarely the larger, only where it is closed."""
    if neighbors == "replace_one":
        return ("replace",)
    noisy = [(e, k) for e, k in script if isinstance(e, PoissonGaussian)]
    alone = len(script) == len(noisy) == 1 and noisy[0][1] == 1
    return ("remove", "add") if alone or not noisy else ("remove",)


def _directed(script, eps, neighbors, kind):
    pure = tuple((e, k) for e, k in script if isinstance(e, (PureDP, PoissonPure)))
    rest = [(e, k) for e, k in script if not isinstance(e, (PureDP, PoissonPure))]
    law = responses(pure, neighbors, kind)
    if any(isinstance(e, (PoissonGaussian, WithoutReplacementGaussian)) for e, _ in rest):
        found = [(w, sampled(rest, eps - at, kind)) for at, w in law]
        return None if any(d is None for _, d in found) else mp.fsum(w * d for w, d in found)
    if any(isinstance(e, BoundedRange) for e, _ in rest):
        ((event, _),) = rest
        return mp.fsum(w * ranged(event.epsilon, eps - at) for at, w in law)
    square = mp.fsum(k / mp.mpf(e.multiplier) ** 2 for e, k in rest if isinstance(e, Gaussian))
    noisy = [(1 / mp.mpf(e.multiplier), k) for e, k in rest if isinstance(e, Laplace)]
    if not noisy:
        return mp.fsum(w * gaussian(eps - at, square) for at, w in law)
    ((shift, count),) = noisy
    return mp.fsum(w * laplaces(eps - at, shift, count, square) for at, w in law)
