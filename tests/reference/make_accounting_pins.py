"""Recompute every number of tests/reference/accounting_pins.json without skdp.

Run it as ``python tests/reference/make_accounting_pins.py``: mpmath with 30 digits for closed forms
and integrals, Google's dp-accounting for privacy loss distributions. Each line holds the digits that
were printed when the formula was derived and the value recomputed here.
"""

from __future__ import annotations

import json
from pathlib import Path

import dp_accounting
import mpmath as mp
from accounting_pins_asked import ASKED
from dp_accounting.pld import PLDAccountant

mp.mp.dps = 30
GOLD = (mp.sqrt(5) - 1) / 2


def least(f, low, high, cells=60):
    """Smallest value of f: a grid, then golden section around its best cell."""
    grid = [low + (high - low) * mp.mpf(i) / cells for i in range(cells + 1)]
    best = min(range(cells + 1), key=lambda i: f(grid[i]))
    a, b = grid[max(best - 1, 0)], grid[min(best + 1, cells)]
    while b - a > 1e-9:
        c, d = b - GOLD * (b - a), a + GOLD * (b - a)
        a, b = (a, d) if f(c) < f(d) else (c, b)
    return f((a + b) / 2), (a + b) / 2


def delta_of(eps, mu):
    eps, mu = mp.mpf(eps), mp.mpf(mu)
    return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)


def bisect(f, low, high):
    """Root of an increasing function, in logs of its argument."""
    low, high = mp.log(low), mp.log(high)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if f(mp.exp(middle)) < 0 else (low, middle)
    return mp.exp((low + high) / 2)


def gaussian_mu(eps, delta):
    return bisect(lambda mu: delta_of(eps, mu) - mp.mpf(delta), mp.mpf("1e-8"), mp.mpf(100))


def gaussian_epsilon(mu, delta):
    return bisect(lambda eps: mp.mpf(delta) - delta_of(eps, mu), mp.mpf("1e-8"), mp.mpf(500))


def form_failure(numerator, delta):
    """Where sigma = sqrt(2 ln(c/delta)) / eps stops being (eps, delta)-private."""
    root = mp.sqrt(2 * mp.log(mp.mpf(numerator) / mp.mpf(delta)))
    return bisect(lambda e: delta_of(e, e / root) - mp.mpf(delta), mp.mpf(2), mp.mpf(50))


def surplus(a, delta):
    return mp.log1p(-1 / a) - (mp.log(mp.mpf(delta)) + mp.log(a)) / (a - 1)


def cks_epsilon(rho, delta):
    return least(lambda x: mp.mpf(rho) * (1 + mp.exp(x)) + surplus(1 + mp.exp(x), delta), -5, 12)[0]


def zcdp_budget(eps, delta):
    def per_order(x):
        a = 1 + mp.exp(x)
        return -(mp.mpf(eps) - surplus(a, delta)) / a

    return -least(per_order, -5, 12)[0]


def rdp_order(eps, delta):
    return max(range(2, 2000), key=lambda a: float((mp.mpf(eps) - surplus(mp.mpf(a), delta)) / a))


def rdp_budget(eps, delta):
    return mp.mpf(eps) - surplus(mp.mpf(rdp_order(eps, delta)), delta)


def normal(x, mean, z):
    return mp.npdf(x, mean, z)


def poisson(q, z, a, replace):
    """(log of the integral of P^a Q^(1-a)) / (a - 1) for the dominating Poisson pair."""
    q, z, a = mp.mpf(q), mp.mpf(z), mp.mpf(a)

    def integrand(x):
        p = (1 - q) * normal(x, 0, z) + q * normal(x, 1, z)
        other = (1 - q) * normal(x, 0, z) + q * normal(x, -1, z) if replace else normal(x, 0, z)
        return p**a * other ** (1 - a)

    stops = [-14 * z + i * (a + 28 * z) / 24 for i in range(25)]
    return mp.log(mp.quad(integrand, stops)) / (a - 1)


def without_replacement(q, z, a):
    q, a, mu = mp.mpf(q), mp.mpf(a), 2 / mp.mpf(z)

    def integrand(u):
        t = mp.log1p(q * mp.expm1(u))
        weight = a * (a - 1) * (mp.exp((a - 1) * t) + mp.exp(-a * t))
        return weight * q * delta_of(u, mu) * q * mp.exp(u) / (1 + q * mp.expm1(u))

    top = mu * mu * (a + 1) + 16 * mu
    return mp.log1p(mp.quad(integrand, [top * i / 24 for i in range(25)])) / (a - 1)


def pure(eps, a):
    p, a = 1 / (1 + mp.exp(-mp.mpf(eps))), mp.mpf(a)
    return mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)


def bounded_range(b, a):
    b, a = mp.mpf(b), mp.mpf(a)

    def value(t):
        p = (1 - mp.exp(t - b)) / (mp.exp(t) - mp.exp(t - b))
        return -mp.log(p * mp.exp(a * t) + (1 - p) * mp.exp(a * (t - b)))

    return -least(value, mp.mpf(0), b)[0] / (a - 1)


def range_mu(b):
    return -2 * mp.sqrt(2) * mp.erfinv(2 / (1 + mp.exp(mp.mpf(b) / 2)) - 1)


def bundle(q, z, eps, a):
    q, total = mp.mpf(q), mp.mpf(0)
    for k in range(int(a) + 1):
        steps = 0 if k < 2 else mp.mpf(k) / (2 * mp.mpf(z) ** 2) + pure(eps, k)
        total += mp.binomial(a, k) * (1 - q) ** (a - k) * q**k * mp.exp((k - 1) * steps)
    return mp.log(total) / (a - 1)


def threshold_free(a, e2):
    """The coin bound of AboveThreshold that uses no threshold noise."""
    a = mp.mpf(a)

    def tail(x):
        return mp.exp(-x) / 2 if x > 0 else 1 - mp.exp(x) / 2

    def log_coin(c, t):
        go = tail(t - c) ** a * tail(-c) ** (1 - a)
        return a * mp.log(tail(c - t)) + (1 - a) * mp.log(tail(c)) - mp.log(1 - go)

    ends = [mp.mpf(sign) * mp.mpf(e2) for sign in (1, -1)]
    worst = [-least(lambda c, t=t: -log_coin(c, t), min(0, t), max(0, t))[0] for t in ends]
    return max(worst) / (a - 1)


def mean_runs(eta, g):
    if eta == 0:
        return (1 / g - 1) / mp.log(1 / g)
    return eta * (1 - g) / (g * (1 - g ** mp.mpf(eta)))


def tnb_gamma(eta, mean):
    if eta == 1:
        return 1 / mp.mpf(mean)
    return bisect(lambda g: mean - mean_runs(eta, g), mp.mpf("1e-6"), mp.mpf("0.9999"))


def selection_profile(eta, base, mean, delta):
    """Koskela, Redberg and Wang with the maximum in place of the sum."""
    mu, g = gaussian_mu(base, delta), tnb_gamma(eta, mean)
    odds = (1 - g) / g
    r = bisect(lambda x: mp.expm1(x) - odds * delta_of(x, mu), mp.mpf("1e-9"), mp.mpf(5))
    return gaussian_epsilon(mu, mp.mpf(delta) / mean) + (1 + eta) * r


def selection_profile_poisson(base, mean, delta):
    mu = gaussian_mu(base, delta)
    return gaussian_epsilon(mu, mp.mpf(delta) / mean) + mean * delta_of(0, mu)


def selection_renyi(eta, base, mean, delta):
    """Papernot and Steinke for the truncated negative binomial."""
    rho, g = gaussian_mu(base, delta) ** 2 / 2, tnb_gamma(eta, mean)
    per_run = least(lambda x: rho * mp.exp(x) - mp.log(g) / (1 + mp.exp(x)), -4, 10)[0]
    fixed = (1 + eta) * per_run

    def epsilon(x):
        a = 1 + mp.exp(x)
        return rho * a + fixed + mp.log(mean) / (a - 1) + surplus(a, delta)

    return least(epsilon, -4, 10)[0]


def selection_renyi_poisson(base, mean, delta):
    mu = gaussian_mu(base, delta)

    def epsilon(x):
        a = 1 + mp.exp(x)
        runs = mean * delta_of(mp.log1p(1 / (a - 1)), mu) + mp.log(mean) / (a - 1)
        return mu**2 / 2 * a + runs + surplus(a, delta)

    return least(epsilon, -4, 10)[0]


def random_position(eps, delta, multiplier_scale):
    """Noise of RSGD with restarts and averaging (n = 48842, batch 4000, 20 epochs, tau = 10)."""
    shifts = [mp.mpf(d) for d in multiplier_scale]

    def gap(sigma):
        return mp.mpf(delta) - mp.fsum(delta_of(eps, d / sigma) for d in shifts) / len(shifts)

    return bisect(gap, mp.mpf("1e-4"), mp.mpf(10))


def loss_distribution(q, z, steps, delta, neighbors):
    """Epsilon by Google's PLD accountant, discretised at 1e-4 (it rounds up)."""
    relation = getattr(
        dp_accounting.NeighboringRelation,
        "REPLACE_ONE" if neighbors == "replace_one" else "ADD_OR_REMOVE_ONE",
    )
    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(float(z)))
    return PLDAccountant(relation).compose(event, steps).get_epsilon(delta)


def loss_distribution_delta(q, z, steps, epsilon):
    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(float(z)))
    return PLDAccountant().compose(event, steps).get_delta(epsilon)


def main():
    lines = []
    for kind, args, printed in ASKED:
        value = globals()[kind](*args)
        text = str(value) if isinstance(value, int) else mp.nstr(mp.mpf(value), 17)
        lines.append({"kind": kind, "args": args, "printed": printed, "value": text})
        print(kind, args, printed, text, flush=True)
    target = Path(__file__).with_name("accounting_pins.json")
    target.write_text("[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n")


if __name__ == "__main__":
    main()
