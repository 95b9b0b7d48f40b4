"""Delta of many equal losses by an integral over their characteristic function: no grid of losses, no transform.

With phi(s) the mean of e^(s L) of one loss under P, delta at epsilon of n of them is, for every c > 0,

    (1 / pi) int_0^inf Re[ phi(c + iy)^n e^(-(c + iy) epsilon) / ((c + iy)(c + iy + 1)) ] dy,

the inverse Laplace transform of (1 - e^(epsilon - S))+. A law is given by losses and masses of a quadrature.
"""

import numpy as np
from scipy.optimize import minimize_scalar

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(20)


def panels(low, high, count):
    """Points and weights of a Gauss rule on so many equal panels."""
    edges = np.linspace(low, high, count + 1)
    half = np.diff(edges)[:, None] / 2
    x = (edges[1:] + edges[:-1])[:, None] / 2 + half * POINTS
    return x.ravel(), (half * WEIGHTS).ravel()


def delta_of(losses, masses, count, epsilon, span=40.0, cells=6000):
    """Delta of ``count`` independent losses."""

    def log_moment(c):
        grown = c * losses
        top = grown.max()
        return top + np.log(masses @ np.exp(grown - top))

    def exponent(log_c):
        c = np.exp(log_c)
        return count * log_moment(c) - c * epsilon - np.log(c * (1 + c))

    c = np.exp(minimize_scalar(exponent, bounds=(-6, 8), method="bounded").x)
    here = log_moment(c)
    weights = masses * np.exp(c * losses - here)
    mean = weights @ losses
    sd = np.sqrt(count * (weights @ (losses - mean) ** 2))
    y, dy = panels(0.0, span / sd, cells // 20)
    phases = np.array([np.sum(weights * np.exp(1j * v * losses)) for v in y])
    s = c + 1j * y
    values = phases**count * np.exp(-1j * y * epsilon) / (s * (1 + s))
    scale = np.exp(count * here - c * epsilon)
    return float(scale * (values.real @ dy) / np.pi)
