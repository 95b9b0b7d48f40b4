"""Every number of the accounting notes that this core can produce, against an independent twin.

``tests/reference/make_accounting_pins.py`` recomputes each with mpmath or dp-accounting; the frozen
result is compared with ours, and with the digits that were printed when the formula was derived.
"""

import json
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from skdp.privacy import Filter, Spec, accountants, calibrate
from skdp.privacy._conversion import renyi_epsilon
from skdp.privacy._costs import pure_renyi
from skdp.privacy._gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from skdp.privacy.curves import cost
from skdp.privacy.events import (
    ZCDP,
    AboveThreshold,
    BoundedRange,
    Gaussian,
    PoissonBundle,
    PoissonGaussian,
    RandomPosition,
    WithoutReplacementGaussian,
)
from skdp.privacy.selection import (
    PoissonRuns,
    TruncatedNegativeBinomialRuns,
    _by_shift,
    base_curves,
)

REFERENCE = Path(__file__).parents[1] / "reference" / "accounting_pins.json"
PINS = json.loads(REFERENCE.read_text())


def _renyi(event, order, neighbors):
    return cost(event, "rdp", neighbors)(event, np.array([float(order)]), neighbors)[0]


def _form_failure(numerator, delta):
    root = math.sqrt(2 * math.log(numerator / float(delta)))
    return brentq(lambda e: gaussian_delta(e, e / root) - float(delta), 2, 50, xtol=1e-13)


def _base(base, delta="1e-6"):
    return base_curves(((Gaussian(1 / gaussian_mu(base, float(delta))), 1),))


def _selection_profile(eta, base, mean, delta):
    runs = TruncatedNegativeBinomialRuns.with_mean(eta, mean)
    return _by_shift(_base(base)[0], float(delta), runs)


def _selection_renyi(runs, base, delta):
    profile, renyi = _base(base)
    return renyi_epsilon(runs.renyi(renyi, profile), float(delta))


def _position(eps, delta, shifts):
    weights = np.full(len(shifts), 1 / len(shifts))

    def script_at(scale):
        return ((RandomPosition(weights, tuple(scale / d for d in shifts)), 1),)

    return calibrate(script_at, Spec(eps, float(delta)))[0]


OURS = {
    "gaussian_mu": lambda e, d: gaussian_mu(e, float(d)),
    "gaussian_epsilon": lambda m, d: gaussian_epsilon(m, float(d)),
    "form_failure": _form_failure,
    "cks_epsilon": lambda r, d: accountants.epsilon(((ZCDP(r), 1),), float(d)),
    "zcdp_budget": lambda e, d: Filter(Spec(e, float(d)), "zcdp").total,
    "rdp_order": lambda e, d: Filter(Spec(e, float(d)), "rdp").order,
    "rdp_budget": lambda e, d: Filter(Spec(e, float(d)), "rdp").total,
    "poisson": lambda q, z, a, replace: _renyi(
        PoissonGaussian(z, q), a, "replace_one" if replace else "add_remove"
    ),
    "without_replacement": lambda q, z, a: _renyi(
        WithoutReplacementGaussian(z, q), a, "replace_one"
    ),
    "bundle": lambda q, z, e, a: _renyi(PoissonBundle(z, (e,), q), a, "add_remove"),
    "bounded_range": lambda b, a: _renyi(BoundedRange(b), a, "replace_one"),
    "pure": lambda e, a: pure_renyi(e, np.array([float(a)]))[0],
    "range_mu": lambda b: cost(BoundedRange(b), "gdp", "replace_one")(
        BoundedRange(b), "replace_one"
    ),
    "threshold_free": lambda a, e: _renyi(AboveThreshold(math.inf, e), a, "add_remove"),
    "tnb_gamma": lambda eta, mean: TruncatedNegativeBinomialRuns.with_mean(eta, mean).gamma,
    "selection_profile": _selection_profile,
    "selection_profile_poisson": lambda base, mean, d: _by_shift(
        _base(base)[0], float(d), PoissonRuns(mean)
    ),
    "selection_renyi": lambda eta, base, mean, d: _selection_renyi(
        TruncatedNegativeBinomialRuns.with_mean(eta, mean), base, d
    ),
    "selection_renyi_poisson": lambda base, mean, d: _selection_renyi(PoissonRuns(mean), base, d),
    "random_position": _position,
    "loss_distribution": lambda q, z, t, d, n: accountants.epsilon(
        ((PoissonGaussian(z, q), t),), d, n, "pld"
    ),
    "loss_distribution_delta": lambda q, z, t, e: accountants.delta(
        ((PoissonGaussian(z, q), t),), e, "add_remove", "pld"
    ),
}

# how far ours may be from the twin, relative: round-off, a stated margin, or the twin's own grid
TOLERANCE = {
    "threshold_free": 1.1e-5,  # the search over c is multiplied by 1 + 1e-5
    "random_position": 3e-8,  # the calibrated scale errs on the private side
    "loss_distribution": 2e-3,  # both round up on a grid
    "loss_distribution_delta": 2e-2,
}

# printed with a coarser search than the twin's: how far the note is from the truth, relative
COARSE_NOTES = {
    "selection_renyi": 1e-5,
    "selection_renyi_poisson": 1e-5,
    "bounded_range": 1e-9,
    "loss_distribution_delta": 1e-2,
}


def _name(pin):
    return f"{pin['kind']}-{'-'.join(str(a)[:12] for a in pin['args'])}"


@pytest.mark.parametrize("pin", PINS, ids=_name)
def test_ours_equals_the_twin(pin):
    ours = OURS[pin["kind"]](*pin["args"])
    assert ours == pytest.approx(float(pin["value"]), rel=TOLERANCE.get(pin["kind"], 1e-9))


@pytest.mark.parametrize("pin", PINS, ids=_name)
def test_the_note_printed_the_same_digits(pin):
    printed, value = Decimal(pin["printed"]), Decimal(pin["value"])
    last_digit = Decimal(1).scaleb(printed.as_tuple().exponent)
    coarse = Decimal(COARSE_NOTES.get(pin["kind"], 0)) * printed
    assert abs(value - printed) <= last_digit + coarse


def test_whole_orders_give_the_printed_column():
    """The notes' Renyi column scans whole orders 2..500; all real orders give a little less."""
    printed = {(0.01, 1, 1000, 1e-5): 2.10775308, (0.1, 8, 500, 1e-8): 1.56872426}
    printed |= {(0.01, 4, 10000, 1e-5): 1.03549007, (0.005, 2, 2000, 1e-8): 0.653707129}
    orders = np.arange(2, 501.0)
    from skdp.privacy._conversion import renyi_epsilon_at

    for (q, z, steps, delta), epsilon in printed.items():
        event = PoissonGaussian(z, q)
        divergence = steps * cost(event, "rdp", "add_remove")(event, orders, "add_remove")
        assert renyi_epsilon_at(divergence, orders, delta).min() == pytest.approx(epsilon, 1e-7)
        assert accountants.epsilon(((event, steps),), delta, "add_remove", "rdp") <= epsilon


def test_rrpsgd_costs_what_the_note_says():
    """One record a step, n^2 steps, noise 17.79 on sensitivity 2 L: at most eps = 0.2389."""
    event = WithoutReplacementGaussian(2 * 17.79, 1e-3)
    spent = accountants.epsilon(((event, 10**6),), 1e-6, "replace_one", "rdp")
    assert spent == pytest.approx(0.2389, abs=1e-4)


def test_mpadmm_noise():
    """Noise on x alone, T = 50, rho = .5, n = 1000: sigma at (1, 1e-8) for three step sizes."""
    for eta, printed in ((0.1, 0.0068694532), (1, 0.0480861724), (5, 0.103041798)):
        sensitivity = 2 * eta / (1000 * (1 + 0.5 * eta))
        scale, _ = calibrate(lambda s: ((Gaussian(s), 50),), Spec(1, 1e-8))
        assert scale * sensitivity == pytest.approx(printed, rel=1e-8)


def test_fixed_batches_without_amplification():
    for sigma, epsilon, printed in ((0.5, 4, 0.0849533), (0.8, 1, 0.221018), (1, 1, 0.126937)):
        assert gaussian_delta(epsilon, 1 / sigma) == pytest.approx(printed, rel=1e-5)
