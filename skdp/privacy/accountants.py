"""Convert events to epsilon, and back, by the tightest theorem that covers a script fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ._arithmetic import own_arithmetic
from ._calibrate import calibrate_scale
from ._compose import exact_mu, reduced
from ._engines import ENGINES, refuse
from ._scipy import ndtr, ndtri
from .events import Event, PoissonGaussian, Script, checked
from .spec import Spec, check_delta, check_neighbors

__all__ = [
    "ACCOUNTANTS",
    "calibrate",
    "choose",
    "delta",
    "epsilon",
    "epsilon_spent",
    "noise_multiplier",
    "profile",
    "tradeoff",
]


ACCOUNTANTS = ("auto", *ENGINES)

_PRICEABLE = 8192


def epsilon(
    script: Script, delta: float, neighbors: str = "replace_one", accountant: str = "auto"
) -> float:
    """Smallest epsilon at which the script is private at ``delta``.

    Parameters
    ----------
    script : tuple of (Event, int)
        What is released; fixed before the data is touched.
    delta : float
        In [0, 1).
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation.
    accountant : {"auto", "gdp", "pld", "profile", "rdp", "zcdp", "pure"}
        Which composition theorem prices it; "auto" takes the tightest that covers the script.

    Returns
    -------
    float
        Never below the true cost; ``inf`` if nothing can be promised.

    See Also
    --------
    delta : The other way round.
    profile : At many epsilons at once.
    choose : Which accountant gave it.

    Examples
    --------
    >>> from skdp.privacy import epsilon
    >>> from skdp.privacy.events import Gaussian, PureDP
    >>> once, ten_times = epsilon(((Gaussian(10.0), 1),), 1e-6), epsilon(((Gaussian(10.0), 10),), 1e-6)
    >>> once < ten_times < 10 * once  # composition
    True
    >>> epsilon(((PureDP(0.25), 4),), 0.0)
    1.0
    """
    return _best(_runs(script), check_delta(delta), check_neighbors(neighbors), accountant)[0]


def choose(
    script: Script, neighbors: str = "replace_one", delta: float = 1e-6, accountant: str = "auto"
) -> str:
    """Name the accountant that ``accountant="auto"`` uses for the script at ``delta``.

    See Also
    --------
    epsilon : The price itself.

    Examples
    --------
    >>> from skdp.privacy import choose
    >>> from skdp.privacy.events import Gaussian, PoissonGaussian
    >>> choose(((Gaussian(10.0), 3),)), choose(((PoissonGaussian(10.0, 0.01), 3),), "add_remove")
    ('gdp', 'pld')
    """
    return _best(_runs(script), check_delta(delta), check_neighbors(neighbors), accountant)[1]


@own_arithmetic
def delta(
    script: Script, epsilon: float, neighbors: str = "replace_one", accountant: str = "auto"
) -> float:
    """Smallest delta at which the script is private at ``epsilon`` (0 or more).

    See Also
    --------
    epsilon : The other way round.
    profile : At many epsilons at once.

    Examples
    --------
    >>> from skdp.privacy import delta, epsilon
    >>> from skdp.privacy.events import Gaussian
    >>> script = ((Gaussian(5.0), 1),)
    >>> delta(script, epsilon(script, 1e-6)) <= 1e-6 * (1 + 1e-9)
    True
    >>> round(delta(script, 0.0), 3)  # the largest advantage of any test
    0.08
    """
    if not epsilon >= 0:
        raise ValueError(f"epsilon={epsilon!r} must be 0 or more.")
    counts = reduced(checked(script), check_neighbors(neighbors))
    return _cheapest("delta", counts, float(epsilon), neighbors, accountant)[0]


def _runs(script: Script) -> Script:
    """A script that can be looked up; what it holds is checked once it has to be priced."""
    plain = type(script) is tuple and all(type(run) is tuple for run in script)
    return script if plain else checked(script)


@lru_cache(maxsize=_PRICEABLE)
@own_arithmetic
def _best(script: Script, delta: float, neighbors: str, accountant: str) -> tuple[float, str]:
    """Cheapest valid price of the script and who gave it; a repeat is free."""
    counts = reduced(checked(script), neighbors)
    return _cheapest("epsilon", counts, delta, neighbors, accountant)


def _cheapest(
    what: str, counts: dict[Event, int], at: float, neighbors: str, accountant: str
) -> tuple[float, str]:
    """Least epsilon at a delta, or delta at an epsilon, over the accountants that can tell."""
    names = _candidates(counts, neighbors, accountant)
    prices = []
    for name in names:
        try:
            prices.append((float(getattr(ENGINES[name], what)(counts, at, neighbors)), name))
        except NotSupported:
            if name == names[-1] and not prices:
                raise
            continue
        if _settled(what, name, prices[-1][0], counts, at, neighbors):
            break
    return min(prices)


def _settled(
    what: str, name: str, price: float, counts: dict[Event, int], at: float, neighbors: str
) -> bool:
    """Return whether no other engine needs to be asked.

    A loss distribution knows epsilon to 2e-5 but may know a tiny delta to no digit, and at delta 0
    only sums of pure epsilons are exact.
    """
    if ENGINES[name].exact(counts, neighbors):
        return what == "delta" or at > 0
    tight = what == "epsilon" and at > 0 and math.isfinite(price)
    return tight and bool(ENGINES[name].tight(counts, neighbors))


def _candidates(counts: dict[Event, int], neighbors: str, accountant: str) -> list[str]:
    """Accountants that cover the script, exact ones first."""
    if accountant != "auto":
        if accountant not in ENGINES:
            raise ValueError(f"accountant={accountant!r} is unknown; use one of {ACCOUNTANTS}.")
        if not ENGINES[accountant].supports(counts, neighbors):
            raise refuse(accountant, counts, neighbors)
        return [accountant]
    if exact_mu(counts) is not None:
        return ["gdp"]
    able = [n for n in ("profile", "pld", "rdp", "gdp", "pure") if _covers(n, counts, neighbors)]
    if not able:
        raise _nobody(counts, neighbors)
    return able


def _covers(name: str, counts: dict[Event, int], neighbors: str) -> bool:
    return bool(ENGINES[name].supports(counts, neighbors))


def _nobody(counts: dict[Event, int], neighbors: str) -> NotSupported:
    """Name the event that no accountant covers, or say that the mixture has none."""
    for event in counts:
        if not any(_covers(name, {event: 1}, neighbors) for name in ENGINES):
            return refuse("rdp", {event: 1}, neighbors)
    names = sorted({type(event).__name__ for event in counts})
    return NotSupported(
        f"No accountant composes {', '.join(names)} under {neighbors}; release them in separate "
        "fits whose epsilons and deltas add up."
    )


@own_arithmetic
def profile(
    script: Script,
    epsilons: Sequence[float] | NDArray[np.float64],
    neighbors: str = "replace_one",
    accountant: str = "auto",
) -> NDArray[np.float64]:
    """Privacy profile of the script: delta at every epsilon (0 or more).

    See Also
    --------
    delta : At one epsilon.
    tradeoff : The same as errors of a test.

    Examples
    --------
    >>> from skdp.privacy import profile
    >>> from skdp.privacy.events import PureDP
    >>> profile(((PureDP(1.0), 1),), [0.0, 0.5, 1.0]).round(3)  # of randomised response
    array([0.462, 0.288, 0.   ])
    """
    values = np.asarray(epsilons, float)
    rising, back = np.unique(values.ravel(), return_inverse=True)
    if not (rising >= 0).all():
        raise ValueError(f"epsilons={rising[:1]} must be 0 or more.")
    deltas = _least_deltas(script, rising, neighbors, accountant)
    falling = np.minimum.accumulate(deltas)  # a delta that holds at one epsilon holds above it
    return np.asarray(falling[back].reshape(values.shape))


def _least_deltas(
    script: Script, epsilons: NDArray[np.float64], neighbors: str, accountant: str
) -> NDArray[np.float64]:
    """Return the least known deltas at rising epsilons, found in one pass."""
    counts = reduced(checked(script), check_neighbors(neighbors))
    names, least = _candidates(counts, neighbors, accountant), np.full(len(epsilons), math.inf)
    for name in names:
        try:
            least = np.minimum(least, ENGINES[name].profile(counts, epsilons, neighbors))
        except NotSupported:
            if name == names[-1] and math.isinf(least.max(initial=0.0)):
                raise
            continue
        if ENGINES[name].exact(counts, neighbors):
            break
    return least


@own_arithmetic
def tradeoff(
    script: Script,
    alphas: Sequence[float] | NDArray[np.float64],
    neighbors: str = "replace_one",
    accountant: str = "auto",
) -> NDArray[np.float64]:
    """Lower bound on the type II error of any test at every type I error ``alphas``.

    Exact for Gaussians; otherwise the envelope of (epsilon, delta) pairs on a grid, which can only
    lie below the true trade-off curve.

    See Also
    --------
    profile : The same as epsilons and deltas.

    Examples
    --------
    >>> from skdp.privacy import tradeoff
    >>> from skdp.privacy.events import Gaussian
    >>> tradeoff(((Gaussian(1.0), 1),), [0.05, 0.5]).round(3)  # at mu = 1
    array([0.74 , 0.159])
    """
    a = np.asarray(alphas, float)
    script = checked(script)
    mu = exact_mu(reduced(script, check_neighbors(neighbors)))
    if mu is not None and accountant in ("auto", "gdp"):
        return np.asarray(ndtr(ndtri(1 - a) - mu))
    top = min(epsilon(script, 1e-9, neighbors, accountant), 200.0)
    grid = np.linspace(0.0, top, 257)
    deltas = profile(script, grid, neighbors, accountant)[:, None]
    steep = 1 - deltas - np.exp(grid)[:, None] * a.ravel()
    flat = np.exp(-grid)[:, None] * (1 - deltas - a.ravel())
    return np.maximum(0.0, np.maximum(steep, flat).max(axis=0)).reshape(a.shape)


@own_arithmetic
def calibrate(script_at: Any, spec: Spec, accountant: str = "auto") -> tuple[float, Script]:
    """Smallest noise scale at which a script keeps a promise, erring on the private side.

    Parameters
    ----------
    script_at : callable
        From the scale to the script; a larger scale never costs more.
    spec : Spec
        The promise.
    accountant : str
        As in `epsilon`.

    Returns
    -------
    scale : float
        One with ``epsilon(script, delta) <= spec.epsilon``, re-evaluated; 0.0 if nothing is promised.
    script : tuple of (Event, int)
        ``script_at(scale)``, which is what was priced.

    See Also
    --------
    noise_multiplier : For noisy sums.
    epsilon : The price that it inverts.

    Examples
    --------
    >>> from skdp.privacy import Spec, calibrate, epsilon
    >>> from skdp.privacy.events import Gaussian, PureDP
    >>> def script_at(scale):
    ...     return ((Gaussian(scale), 20), (PureDP(0.1), 1))
    >>> scale, script = calibrate(script_at, Spec(1.0, 1e-6))
    >>> 0.99 < epsilon(script, 1e-6) <= 1.0
    True
    """

    def at(scale: float) -> Script:
        script: Script = script_at(scale)
        return script

    scale = calibrate_scale(at, spec, accountant, epsilon)
    return scale, at(scale)


def noise_multiplier(
    epsilon: float,
    delta: float,
    *,
    steps: int = 1,
    sample_rate: float = 1.0,
    neighbors: str = "replace_one",
) -> float:
    """Least noise that keeps a run of noisy sums within (epsilon, delta).

    Parameters
    ----------
    epsilon, delta : float
        The promise.
    steps : int
        How many sums are released.
    sample_rate : float
        Probability with which each record enters each sum (Poisson sampling).
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation; replacing a record moves a sum by up to 2 C, so it needs more noise.

    Returns
    -------
    float
        Standard deviation of the noise on the sum, over the bound C of one record's contribution
        (under both relations), never too small.

    See Also
    --------
    epsilon_spent : Its inverse.
    calibrate : The same for any script.

    Examples
    --------
    >>> from skdp.privacy import epsilon_spent, noise_multiplier
    >>> z = noise_multiplier(1.0, 1e-6, steps=100, neighbors="add_remove")
    >>> round(z, 2), epsilon_spent(z, 1e-6, steps=100, neighbors="add_remove") <= 1.0
    (42.25, True)
    """
    _check(steps, sample_rate)
    spec = Spec(epsilon, delta, neighbors)
    return calibrate(lambda scale: _script(scale, steps, sample_rate), spec)[0]


def epsilon_spent(
    noise_multiplier: float,
    delta: float,
    *,
    steps: int = 1,
    sample_rate: float = 1.0,
    neighbors: str = "replace_one",
) -> float:
    """Epsilon of a run of noisy sums at delta: the inverse of `noise_multiplier`.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise on the sum, over the bound C of one record's contribution.
    delta : float
        In [0, 1).
    steps, sample_rate, neighbors : object
        As in `noise_multiplier`.

    Returns
    -------
    float
        Never below the true cost.

    See Also
    --------
    noise_multiplier : Its inverse.
    epsilon : The same for any script.

    Examples
    --------
    >>> from skdp.privacy import epsilon_spent
    >>> all_records = epsilon_spent(2.0, 1e-6, steps=10, neighbors="add_remove")
    >>> batches = epsilon_spent(2.0, 1e-6, steps=10, sample_rate=0.01, neighbors="add_remove")
    >>> round(all_records, 2), batches < 0.1 * all_records
    (8.31, True)
    """
    _check(steps, sample_rate)
    script = _script(noise_multiplier, steps, sample_rate)
    return epsilon(script, check_delta(delta), check_neighbors(neighbors))


def _script(multiplier: float, steps: int, sample_rate: float) -> Script:
    return ((PoissonGaussian(multiplier, sample_rate), int(steps)),)


def _check(steps: int, sample_rate: float) -> None:
    if isinstance(steps, bool) or int(steps) != steps or steps < 1:
        raise ValueError(f"steps={steps!r} must be a whole number, 1 or more.")
    if not 0 < sample_rate <= 1:
        raise ValueError(f"sample_rate={sample_rate!r} must lie in (0, 1]; use 1 for all records.")
