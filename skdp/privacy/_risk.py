"""Meaning of a price for one person: error rates of any test, odds, and the mu of a script."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from . import accountants
from ._arithmetic import own_arithmetic
from ._compose import exact_mu, reduced, total, total_rdp
from ._engines import ENGINES
from ._gaussian import gaussian_delta, gaussian_mu
from ._scipy import ndtr, ndtri
from .events import Event, Script, checked, tally
from .spec import Spec, check_delta, check_neighbors

__all__ = ["Risk", "Share", "breakdown", "risk"]


_ORDERS = 1 + np.geomspace(1e-3, 1e5, 400)


@dataclass(frozen=True)
class Share:
    """Share of a script's price that equal events take together.

    Parameters
    ----------
    event : Event
        The event.
    count : int
        How often it is on the script.
    share : float
        Its part of the whole, in the currency in which costs add up; parts sum to 1.
    alone : float
        Epsilon of these events and nothing else.
    without : float
        Epsilon of the script without them.

    See Also
    --------
    breakdown : Makes one for each event of a script.
    """

    event: Event
    count: int
    share: float
    alone: float
    without: float


@own_arithmetic
def breakdown(script: Script, delta: float, neighbors: str = "replace_one") -> tuple[Share, ...]:
    """Split the price of a script among its events, the costliest first.

    Costs add up in squares of mu where that is known of every event; else in Renyi divergence at the
    order that prices the whole at `delta`; else in pure epsilon. Where no currency covers all,
    shares are those of the events' epsilons alone.

    Parameters
    ----------
    script : tuple of (Event, int)
        What is released; fixed before the data is touched.
    delta : float
        In [0, 1).
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation.

    Returns
    -------
    tuple of Share
        Equal events are one entry.

    See Also
    --------
    epsilon : The price of the whole.

    Examples
    --------
    >>> from skdp.privacy import breakdown
    >>> from skdp.privacy.events import Gaussian
    >>> for part in breakdown(((Gaussian(10.0), 3), (Gaussian(5.0), 1)), 1e-6):
    ...     print(part.count, part.event, round(part.share, 3), round(part.alone, 3))
    1 Gaussian(multiplier=5.0) 0.571 0.834
    3 Gaussian(multiplier=10.0) 0.429 0.715
    """
    check_delta(delta)
    counts = tally(script)
    runs = [((event, count),) for event, count in counts.items()]
    weights = _weights(runs, tuple(counts.items()), delta, check_neighbors(neighbors))
    parts = []
    for run, share in zip(runs, _normalised(weights)):
        rest = tuple(item for item in counts.items() if item != run[0])
        alone = _price(run, delta, neighbors)
        parts.append(Share(*run[0], share, alone, _price(rest, delta, neighbors)))
    return tuple(sorted(parts, key=lambda part: -part.share))


@own_arithmetic
def shares(script: Script, delta: float, neighbors: str) -> dict[Event, float]:
    """Parts alone, without the prices of what is left out: cheap enough to draw."""
    counts = tally(script)
    runs = [((event, count),) for event, count in counts.items()]
    weights = _weights(runs, tuple(counts.items()), delta, neighbors)
    return dict(zip(counts, _normalised(weights)))


def _price(script: Script, delta: float, neighbors: str) -> float:
    try:
        return accountants.epsilon(script, delta, neighbors)
    except NotSupported:
        return math.inf


def _normalised(weights: list[float]) -> list[float]:
    """Parts of a whole; what is infinite takes it all."""
    if any(map(math.isinf, weights)):
        weights = [float(math.isinf(weight)) for weight in weights]
    whole = math.fsum(weights)
    return [weight / whole if whole else 0.0 for weight in weights]


def _weights(runs: Sequence[Script], script: Script, delta: float, neighbors: str) -> list[float]:
    cost = _currency(script, delta, neighbors)
    return [cost(run) for run in runs]


def _currency(script: Script, delta: float, neighbors: str) -> Callable[[Script], float]:
    """A cost that adds up over events, in the first currency that covers all of them."""
    costs = [
        _additive("gdp", neighbors),
        _renyi(script, delta, neighbors),
        _additive("pure", neighbors),
    ]
    able = (cost for cost in costs if cost is not None and _finite(cost, script))
    return next(able, lambda run: _price(run, delta, neighbors))


def _finite(cost: Callable[[Script], float], script: Script) -> bool:
    try:
        return math.isfinite(cost(script))
    except NotSupported:
        return False


def _additive(currency: str, neighbors: str) -> Callable[[Script], float]:
    return lambda run: total(reduced(run, neighbors), currency, neighbors)


def _renyi(script: Script, delta: float, neighbors: str) -> Callable[[Script], float] | None:
    """Divergence at the one order that prices the whole."""
    if delta == 0 or not ENGINES["rdp"].supports(reduced(script, neighbors), neighbors):
        return None
    order = _order(script, delta, neighbors)
    return lambda run: float(total_rdp(reduced(run, neighbors), order, neighbors)[0])


def _order(script: Script, delta: float, neighbors: str) -> NDArray[np.float64]:
    """The order at which divergence proves the least epsilon (Canonne, Kamath and Steinke 2020)."""
    divergence = total_rdp(reduced(script, neighbors), _ORDERS, neighbors)
    excess = np.log1p(-1 / _ORDERS) - (math.log(delta) + np.log(_ORDERS)) / (_ORDERS - 1)
    best = int(np.argmin(np.where(np.isfinite(divergence), divergence + excess, np.inf)))
    return _ORDERS[best : best + 1]


DELTAS = (1e-5, 1e-6, 1e-10)  # at which every statement gives its epsilon, so that they compare
RATES = (0.01, 0.05, 0.10)
PRIORS = (0.5, 0.1)
_FALSE_ALARMS = 0.05
PROTECTS_NOBODY = 0.99  # of the people in the data, found at so many false alarms
MISSED = 0.01  # how often, over the noise, the odds may move by more than is said


@dataclass(frozen=True)
class Risk:
    """Bounds on what an observer of the answers can learn about one record (or unit).

    Parameters
    ----------
    mu : float or None
        The least known mu of Gaussian differential privacy; None where none is proved.
    exact : bool
        Whether the trade-off curve is that of mu, no better and no worse.
    epsilons : dict of float to float
        Epsilon at the deltas 1e-5, 1e-6 and 1e-10.
    power : dict of float to float
        Largest rate of true accusations of a test, by its rate of false ones: 1, 5 and 10 percent.
    advantage : float
        Largest difference of the two rates over all tests: delta at epsilon 0.
    bayes_risk : dict of float to float
        Least rate of errors of whoever believes beforehand, with that probability, that the record is there.
    odds : float
        With probability 0.99 over the noise, the odds of any statement about the record move by no more
        than this factor.

    See Also
    --------
    risk : Makes one.
    tradeoff : At any other rate.

    Notes
    -----
    The advantage and the Bayes risk are those of Kulynych et al. (2025), "Unifying re-identification, attribute
    inference, and data reconstruction risks in differential privacy", as in the package riskcal.

    Examples
    --------
    >>> from skdp.privacy import risk
    >>> from skdp.privacy.events import Gaussian
    >>> found = risk(((Gaussian(1 / 0.23670438), 1),))  # what (1, 1e-6) allows
    >>> round(found.power[0.05], 4), round(found.advantage, 4), round(found.bayes_risk[0.5], 4)
    (0.0795, 0.0942, 0.4529)
    """

    mu: float | None
    exact: bool
    epsilons: dict[float, float]
    power: dict[float, float]
    advantage: float
    bayes_risk: dict[float, float]
    odds: float


@own_arithmetic
def risk(script: Script, neighbors: str = "replace_one") -> Risk:
    """Bound what a script allows against one record; exact for Gaussians, never too small for others.

    Parameters
    ----------
    script : tuple of (Event, int)
        What is released; fixed before the data is touched.
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation.

    Returns
    -------
    Risk

    See Also
    --------
    tradeoff : The curve itself.
    breakdown : Which event costs what.

    Examples
    --------
    >>> from skdp.privacy import risk
    >>> from skdp.privacy.events import PureDP
    >>> found = risk(((PureDP(1.0), 1),))
    >>> round(found.advantage, 3), round(found.odds, 3), found.exact
    (0.462, 2.718, False)
    """
    return _risk(checked(script), check_neighbors(neighbors))


@own_arithmetic
def risk_of_pair(spec: Spec) -> Risk:
    """Bound the risk where only the promised (epsilon, delta) is known."""
    e, d = spec.epsilon, spec.delta
    at = {0.0: _advantage(e, d), e: d}
    epsilons = {delta: e if delta >= d else math.inf for delta in DELTAS}
    return _from_profile(None, epsilons, at)


def share_caught(spec: Spec) -> float:
    """Return how many people in the data the best attack finds that is wrong about 5 of 100 people outside.

    At delta > 0 of one Gaussian release of that promise, which is what nearly every fit is about; at delta = 0 the most
    that any release may allow.

    Parameters
    ----------
    spec : Spec
        A promise.

    Returns
    -------
    float
        A share. From `PROTECTS_NOBODY` on, fits warn and `skdp.check` says that nothing is private.
    """
    if not spec.private:
        return 1.0
    if spec.delta == 0.0:
        loss = math.exp(-spec.epsilon)
        return min(1.0 - loss * (1.0 - _FALSE_ALARMS), _FALSE_ALARMS / max(loss, _FALSE_ALARMS))
    return float(ndtr(gaussian_mu(spec.epsilon, spec.delta) + ndtri(_FALSE_ALARMS)))


@lru_cache(maxsize=256)
def _risk(script: Script, neighbors: str) -> Risk:
    counts = reduced(script, neighbors)
    epsilons = {d: accountants.epsilon(script, d, neighbors) for d in DELTAS}
    mu = exact_mu(counts)
    if mu is not None:
        return _of_gaussian(mu, epsilons)
    at = {e: accountants.delta(script, e, neighbors) for e in _places(epsilons)}
    pure = _pure(script, neighbors)
    at |= {} if pure is None else {pure: 0.0}
    return _from_profile(_mu_at_most(counts, neighbors), epsilons, at)


def _mu_at_most(counts: dict[Event, int], neighbors: str) -> float | None:
    """Return the root of the sum of squares of mu, or None unless every event is known to be Gaussian private."""
    if not ENGINES["gdp"].supports(counts, neighbors):
        return None
    mu = math.sqrt(total(counts, "gdp", neighbors))
    return mu if math.isfinite(mu) else None


def _pure(script: Script, neighbors: str) -> float | None:
    try:
        pure = accountants.epsilon(script, 0.0, neighbors)
    except NotSupported:
        return None
    return pure if math.isfinite(pure) else None


def _of_gaussian(mu: float, epsilons: dict[float, float]) -> Risk:
    """Closed forms of N(mu, 1) against N(0, 1)."""
    return Risk(
        mu,
        True,
        epsilons,
        {a: float(ndtr(ndtri(a) + mu)) for a in RATES},
        math.erf(mu / 2**1.5),
        {p: _gaussian_bayes(p, mu) for p in PRIORS},
        _gaussian_odds(mu),
    )


def _gaussian_odds(mu: float) -> float:
    """Bound the factor of the odds by Markov's inequality.

    The tail of the loss itself may grow when the answers are processed, so it is no bound.
    """
    if mu == 0 or math.isinf(mu):
        return 1.0 if mu == 0 else math.inf
    e = mu * mu / 2 + mu * np.linspace(-1.0, 6.0, 2001)
    e = e[e >= 0]
    deltas = gaussian_delta(e, mu)
    kept = deltas < MISSED
    return _exp(float(np.min(e[kept] - np.log1p(-deltas[kept] / MISSED), initial=math.inf)))


def _gaussian_bayes(prior: float, mu: float) -> float:
    """Least of (1 - p) a + p f(a): at the threshold where the likelihoods meet the prior odds."""
    if mu == 0 or math.isinf(mu):
        return min(prior, 1 - prior) if mu == 0 else 0.0
    threshold = math.log((1 - prior) / prior) / mu + mu / 2
    return float((1 - prior) * ndtr(-threshold) + prior * ndtr(threshold - mu))


def _places(epsilons: dict[float, float]) -> list[float]:
    """Return the epsilons at which to ask the profile: thresholds of a Gaussian of equal price, and beyond."""
    top = epsilons[1e-6]
    if not 0 < top < 700:
        return [0.0]
    mu = gaussian_mu(top, 1e-6)
    tests = [abs(mu * float(ndtri(1 - a)) - mu * mu / 2) for a in RATES]
    tails = [mu * mu / 2 + mu * z for z in np.linspace(0.75, 3.5, 8)]
    return sorted({0.0, math.log(9.0), *tests, *tails})


def _from_profile(mu: float | None, epsilons: dict[float, float], at: dict[float, float]) -> Risk:
    """Return the risk that follows from delta at some epsilons: the best of their bounds for each figure."""
    known = sorted(at.items())
    return Risk(
        mu,
        False,
        epsilons,
        {a: min(_power(a, e, d) for e, d in known) for a in RATES},
        min(_advantage(e, d) for e, d in known),
        {p: max(_bayes(p, e, d) for e, d in known) for p in PRIORS},
        _exp(min(_shift(e, d) for e, d in known)),
    )


def _power(rate: float, e: float, d: float) -> float:
    """1 - f(rate) of the region that (e, d) allows (Kairouz, Oh and Viswanath 2015)."""
    return min(1.0, d + _exp(e) * rate, 1 - _exp(-e) * (1 - d - rate))


def _advantage(e: float, d: float) -> float:
    """Largest difference of the two rates over that region: at its corner."""
    return 1 - 2 * (1 - d) / (1 + _exp(e))


def _bayes(prior: float, e: float, d: float) -> float:
    """Least of (1 - p) a + p f(a) over that region: at one of its corners."""
    corner = (1 - d) / (1 + _exp(e))
    far = max(0.0, 1 - d)
    errors = ((0.0, far), (corner, corner), (far, 0.0))
    return min((1 - prior) * a + prior * b for a, b in errors)


def _shift(e: float, d: float) -> float:
    """Least t with P(loss > t) <= MISSED: by Markov's inequality on (1 - exp(e - loss))+, whose mean is d."""
    return e - math.log1p(-d / MISSED) if d < MISSED else math.inf


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf
