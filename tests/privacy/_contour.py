"""The exact delta of a composition, by a road that shares nothing with the engine.

For any tilt c > 0 the hockey stick of the summed loss S is the contour integral

    delta(eps) = 1/(2 pi i) * integral over Re s = c of  e^{K(s) - s eps} / (s (s + 1)) ds,

with K(s) the sum over the steps of log E_P e^{s L}. Nothing is put on a grid of losses, no Fourier
transform is taken and nothing is truncated: E e^{sL} is a quadrature over the noise (or, without
replacement, over the published curve h), and trapezoidal rules on these analytic integrands
converge exponentially.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfc, log_ndtr, ndtr

LOG_2PI = math.log(2 * math.pi)


class Step:
    """E_P e^{sL} of one step; kinds: 'remove', 'add', 'replace', 'swap' (without replacement)."""

    def __init__(self, kind, multiplier, rate):
        self.kind, self.z, self.q = kind, float(multiplier), float(rate)

    def _log_mixture(self, x, mean):
        presence = math.log(self.q) + (2 * mean * x - mean**2) / (2 * self.z**2)
        return np.logaddexp(math.log1p(-self.q) if self.q < 1 else -np.inf, presence)

    def log_ratios(self, x):
        """log p and log q relative to N(0, z^2) at the points x."""
        nothing = np.zeros_like(x)
        return {
            "remove": lambda: (self._log_mixture(x, 1.0), nothing),
            "add": lambda: (nothing, self._log_mixture(x, 1.0)),
            "replace": lambda: (self._log_mixture(x, 1.0), self._log_mixture(x, -1.0)),
        }[self.kind]()

    def _grid(self, c, frequency):
        spread = self.z * 13 + 1
        reach = abs(c) / self.z * self.z * 2 + spread
        fine = min(0.15 * self.z, 0.15 * self.z**2, 0.7 * self.z**2 / max(frequency, 1e-300))
        return np.linspace(-reach, reach, min(int(2 * reach / fine) + 400, 400_000))

    def log_moment(self, c, omega):
        """log E e^{(c + i omega) L} for an array omega."""
        if self.kind == "swap":
            return self._log_moment_swap(c, omega)
        x = self._grid(c, float(np.max(omega)))
        log_p, log_q = self.log_ratios(x)
        loss = log_p - log_q
        log_w = log_p - x**2 / (2 * self.z**2) + c * loss
        top = log_w.max()
        keep = log_w > top - 90
        loss, weight = loss[keep], np.exp(log_w[keep] - top)
        scale = math.log(x[1] - x[0]) - math.log(self.z) - 0.5 * LOG_2PI + top
        center = float(weight @ loss / weight.sum())
        out = np.array([weight @ np.exp(1j * w * (loss - center)) for w in omega])
        return np.log(out) + scale + 1j * omega * center

    def _log_moment_swap(self, c, omega):
        """1 + s (s+1) int_0^inf (e^{st} + e^{-(s+1)t}) h(t) dt, with e^t - 1 = q (e^u - 1)."""
        mu, q = 2 / self.z, self.q
        top = mu * (13 + mu / 2 + (c + 1) * mu)
        fine = min(0.02, 0.02 * mu, 0.2 / max(float(np.max(omega)), 1e-300))
        count = min(int(top / fine), 200_000)
        nodes, weights = np.polynomial.legendre.leggauss(12)
        edges = np.linspace(0, top, count // 12 + 2)
        half = np.diff(edges) / 2
        u = (((edges[1:] + edges[:-1]) / 2)[:, None] + half[:, None] * nodes).ravel()
        w = (half[:, None] * weights).ravel()
        t = np.where(u < 30, np.log1p(q * np.expm1(np.minimum(u, 30))), u + math.log(q))
        jacobian = np.exp(np.log(q) + u - t)
        low, high = mu / 2 - u / mu, -mu / 2 - u / mu
        h = q * (ndtr(low) - np.exp(u + log_ndtr(high)))
        base = np.log(np.maximum(np.maximum(h, 0) * jacobian * w, 1e-300))
        top = float((base + c * t).max())
        rising, falling = np.exp(base + c * t - top), np.exp(base - (c + 1) * t - top)
        s = c + 1j * np.asarray(omega)
        sums = [rising @ np.exp(1j * v * t) + falling @ np.exp(-1j * v * t) for v in omega]
        return top + np.log(math.exp(-top) + s * (s + 1) * np.array(sums))


def single_delta(step, epsilon):
    """delta of one Poisson-sampled step in closed form: the best set is a half-line."""
    z, q = step.z, step.q
    sign = -1.0 if step.kind == "add" else 1.0

    def loss(x):
        log_p, log_q = step.log_ratios(np.array([sign * x]))
        return float(log_p[0] - log_q[0])

    span = 60 * z + 2 * z**2 * (epsilon + 30 + abs(math.log(q))) + 5
    if loss(span) <= epsilon:
        return 0.0
    x = sign * brentq(lambda v: loss(v) - epsilon, -span, span, xtol=1e-300, rtol=1e-15)
    tail = (lambda m: ndtr((m - x) / z)) if sign > 0 else (lambda m: ndtr((x - m) / z))
    mixture = (1 - q) * tail(0.0) + q * tail(1.0)
    opposite = (1 - q) * tail(0.0) + q * tail(-1.0)
    p, o = {
        "remove": (mixture, tail(0.0)),
        "add": (tail(0.0), mixture),
        "replace": (mixture, opposite),
    }[step.kind]
    return p - math.exp(epsilon) * o


def _sums(steps, c, omega):
    return sum(count * step.log_moment(c, omega) for step, count in steps)


def _saddle(steps, epsilon):
    """Saddle point of K(c) - c eps - log c - log(c + 1)."""

    def slope(log_c):
        c = math.exp(log_c)
        d = 1e-3 * c
        high, low = (float(_sums(steps, c + e, np.zeros(1))[0].real) for e in (d, -d))
        return (high - low) / (2 * d) - epsilon - 1 / c - 1 / (c + 1)

    high = -9.0
    while slope(high) < 0:
        high += 1.0
    return math.exp(brentq(slope, high - 1, high, xtol=1e-2) if high > -9 else high)


def _spread(steps, c):
    """sd of the tilted sum, with the width of the kernel added."""
    d = 1e-2 * c
    values = [float(_sums(steps, c + e, np.zeros(1))[0].real) for e in (-d, 0.0, d)]
    return math.sqrt(max((values[0] - 2 * values[1] + values[2]) / d**2, 0) + 1 / c**2)


def _smooth_cutoff(terms):
    """Sum of slowly decaying, oscillating terms: switch them off smoothly, at two places.

    An almost-atom of the loss at b makes the integrand decay as e^{i omega (b - eps)} / omega^2
    only. A smooth cutoff flat at zero leaves an error that falls faster than any power of the
    cutoff times |b - eps|; two cutoffs that agree show that it has fallen.
    """
    sums = []
    for n in (len(terms) // 2, len(terms)):
        v = (np.arange(n) / n - 0.2) / 0.8
        sums.append(float(terms[:n] @ (0.5 * erfc(5 * (2 * v - 1)))))
    return sums[1] if abs(sums[0] - sums[1]) <= 1e-6 * abs(sums[1]) else None


def exact_delta(steps, epsilon, max_nodes=2000, shares=(1.0, 0.85, 0.7, 0.5, 0.35)):
    """delta of [(Step, count), ...] at epsilon, or None where no tilt converges.

    Every tilt gives the same integral. The saddle point is the most accurate one, unless it sits at
    the wall where e^{cL} starts to be ruled by the far tail of the noise: then a smaller tilt has a
    narrower law, at the price of cancellation by e^{rise of the exponent}.
    """
    saddle = _saddle(steps, epsilon)
    least = None
    for share in shares:
        c = share * saddle
        exponent = float(_sums(steps, c, np.zeros(1))[0].real) - c * epsilon - 2 * math.log(c)
        least = exponent if least is None else min(least, exponent)
        if exponent - least > 16:
            return None
        found = _integral(steps, epsilon, c, max_nodes)
        if found is not None:
            return found
    return None


def _integral(steps, epsilon, c, max_nodes):
    spacing = 2 * math.pi / (60 * _spread(steps, c) + 60 / c)
    terms, peak = np.zeros(0), None
    while len(terms) < max_nodes:
        omega = spacing * np.arange(len(terms), len(terms) + 200)
        s = c + 1j * omega
        log_f = _sums(steps, c, omega) - s * epsilon - np.log(s) - np.log(s + 1)
        peak = float(log_f[0].real) if peak is None else peak
        terms = np.concatenate([terms, np.exp(log_f - peak).real])
        if np.abs(np.exp(log_f[-20:] - peak)).max() < 1e-13:
            break
    terms[0] /= 2
    total = terms.sum() if len(terms) < max_nodes else _smooth_cutoff(terms)
    return None if total is None else math.exp(peak) * float(total) * spacing / math.pi
