"""Hand a script to Google's dp-accounting, so that a sceptic can re-price it there, and read one from it.

Its accountants read a Gaussian's multiplier differently under replace-one: the PLD accountant
takes sd / C and doubles the sensitivity itself, the RDP accountant takes sd / sensitivity. Events
made here are for its PLD accountant with the relation of the script. Multipliers are passed as
floats: inside samplers, other number types in composed events lose noise terms (0.6.0).
"""

from __future__ import annotations

import math
from typing import Any

from ..exceptions import NotSupported
from .events import (
    ZCDP,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    PoissonGaussian,
    PoissonLaplace,
    RandomizedResponse,
    Script,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    merged,
    tally,
)
from .spec import check_neighbors

__all__ = ["from_dp_event", "to_dp_event"]

_LISTED = 1000


def to_dp_event(script: Script, neighbors: str = "replace_one") -> Any:
    """Translate a script into a ``dp_accounting.DpEvent``.

    Parameters
    ----------
    script : tuple of (Event, int)
        What was released.
    neighbors : {"replace_one", "add_remove"}
        The relation the script was priced under; give dp-accounting the same one.

    Returns
    -------
    dp_accounting.DpEvent
        For ``dp_accounting.pld.PLDAccountant`` with ``neighboring_relation`` set to the relation.

    Raises
    ------
    NotSupported
        If dp-accounting is not installed or has no event of the same meaning.

    See Also
    --------
    epsilon : The price here.
    from_dp_event : The way back.

    Examples
    --------
    >>> from skdp.privacy import to_dp_event
    >>> from skdp.privacy.events import Gaussian
    >>> event = to_dp_event(((Gaussian(2.0), 3),), "add_remove")
    >>> type(event).__name__, event.events[0].count
    ('ComposedDpEvent', 3)
    """
    check_neighbors(neighbors)
    try:
        import dp_accounting
    except ImportError:
        raise NotSupported("to_dp_event needs dp-accounting; pip install dp-accounting.") from None
    parts = [
        part
        for event, count in tally(script).items()
        for part in _repeated(dp_accounting, _translate(dp_accounting, event, neighbors), count)
    ]
    return dp_accounting.ComposedDpEvent(parts) if parts else dp_accounting.NoOpDpEvent()


def _translate(google: Any, event: Event, neighbors: str) -> Any:
    """Translate one event to dp-accounting; refuse an event that has no equivalent there."""
    per_record = 2.0 if neighbors == "replace_one" else 1.0
    if isinstance(event, (Gaussian, ShuffledEpoch)):
        # their PLD doubles a Gaussian's sensitivity under replace-one, our multiplier already has
        return google.GaussianDpEvent(float(event.multiplier * per_record))
    if isinstance(event, PoissonGaussian):
        batch = google.GaussianDpEvent(float(event.multiplier))
        return google.PoissonSampledDpEvent(float(event.rate), batch)
    if isinstance(event, Laplace) and neighbors == "add_remove":
        return google.LaplaceDpEvent(float(event.multiplier))
    if isinstance(event, PoissonLaplace) and neighbors == "add_remove":
        batch = google.LaplaceDpEvent(float(event.multiplier))
        return google.PoissonSampledDpEvent(float(event.rate), batch)
    if isinstance(event, MixtureOfGaussians) and neighbors == "add_remove" and not event.back:
        seen = [(m, w) for m, w in zip(event.moves, event.weights) if w > 0]
        moves, weights = ([float(part) for part in parts] for parts in zip(*seen))
        return google.dp_event.MixtureOfGaussiansDpEvent(float(event.multiplier), moves, weights)
    if isinstance(event, DiscreteLaplace) and neighbors == "add_remove" and event.scale > 0:
        return google.dp_event.DiscreteLaplaceDpEvent(1 / event.scale, event.shift)
    if isinstance(event, RandomizedResponse) and neighbors == "replace_one":
        odds, k = math.exp(-event.epsilon), event.categories
        return google.dp_event.RandomizedResponseDpEvent(k * odds / (1 + (k - 1) * odds), k)
    if isinstance(event, WithoutReplacementGaussian) and event.rate == 1:
        return google.GaussianDpEvent(float(event.multiplier))
    if isinstance(event, ZCDP) and math.isfinite(event.rho):
        return google.ZCDpEvent(float(event.rho))
    raise NotSupported(
        f"dp-accounting has no event that means {type(event).__name__} under {neighbors}; re-price "
        "the other events of the script there."
    )


def _repeated(google: Any, event: Any, count: int) -> list[Any]:
    """One event for all repetitions; 0.6.0 prices a repeated randomised response as one, so it is listed."""
    if type(event).__name__ != "RandomizedResponseDpEvent":
        return [google.SelfComposedDpEvent(event, count)]
    if count > _LISTED:
        raise NotSupported(
            f"dp-accounting has no repeated randomised response, and {count} of them are too many to list; "
            f"re-price {_LISTED} at most."
        )
    return [event] * count


def from_dp_event(event: Any, neighbors: str = "replace_one") -> Script:
    """Read a ``dp_accounting.DpEvent`` as a script.

    Parameters
    ----------
    event : dp_accounting.DpEvent
        As dp-accounting's PLD accountant reads it under this relation, which is also how `to_dp_event` writes.
    neighbors : {"replace_one", "add_remove"}
        The relation that it is priced under.

    Returns
    -------
    tuple of (Event, int)
        A script of the same price.

    Raises
    ------
    NotSupported
        If no event here has the same meaning.

    See Also
    --------
    to_dp_event : The way there.

    Examples
    --------
    >>> from skdp.privacy import from_dp_event, to_dp_event
    >>> from skdp.privacy.events import Gaussian
    >>> script = ((Gaussian(2.0), 3),)
    >>> from_dp_event(to_dp_event(script)) == script
    True
    """
    return merged(_runs(event, check_neighbors(neighbors)))


def _runs(event: Any, neighbors: str) -> list[tuple[Event, int]]:
    """Composed events one after the other; repetitions of a composed event are unrolled in counts."""
    name = type(event).__name__
    if name == "NoOpDpEvent":
        return []
    if name == "ComposedDpEvent":
        return [run for part in event.events for run in _runs(part, neighbors)]
    if name == "SelfComposedDpEvent":
        return [(part, n * event.count) for part, n in _runs(event.event, neighbors)]
    return [(_read(event, name, neighbors), 1)]


def _read(event: Any, name: str, neighbors: str) -> Event:
    """Translate one elementary event from dp-accounting; refuse an event that has no equivalent here."""
    sampled = type(event.event).__name__ if name == "PoissonSampledDpEvent" else ""
    if name == "GaussianDpEvent":
        per_record = 2.0 if neighbors == "replace_one" else 1.0
        return Gaussian(float(event.noise_multiplier) / per_record)
    if name == "NonPrivateDpEvent":
        return Gaussian(0.0)
    if sampled == "GaussianDpEvent":
        return PoissonGaussian(
            float(event.event.noise_multiplier), float(event.sampling_probability)
        )
    if sampled == "LaplaceDpEvent" and neighbors == "add_remove":
        return PoissonLaplace(
            float(event.event.noise_multiplier), float(event.sampling_probability)
        )
    if name == "MixtureOfGaussiansDpEvent" and neighbors == "add_remove":
        moves, weights = tuple(event.sensitivities), tuple(event.sampling_probs)
        return MixtureOfGaussians(float(event.standard_deviation), moves, weights)
    if name == "LaplaceDpEvent" and neighbors == "add_remove":
        return Laplace(float(event.noise_multiplier))
    if name == "DiscreteLaplaceDpEvent" and neighbors == "add_remove":
        return DiscreteLaplace(1 / float(event.noise_parameter), int(event.sensitivity))
    if name == "RandomizedResponseDpEvent" and neighbors == "replace_one":
        lie, k = float(event.noise_parameter), int(event.num_buckets)
        return RandomizedResponse(math.log1p(k * (1 - lie) / lie) if lie else math.inf, k)
    if name == "ZCDpEvent" and not getattr(event, "xi", 0.0):
        return ZCDP(float(event.rho))
    raise NotSupported(
        f"No event of skdp means dp-accounting's {name} under {neighbors}; write the script by hand."
    )
