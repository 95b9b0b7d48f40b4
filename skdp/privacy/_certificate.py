"""Certificates: an enclosure as plain data, with a grid on which a stand-alone program proves it anew."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from ..exceptions import NotSupported
from . import _pld
from ._arithmetic import own_arithmetic
from ._enclose import enclose
from ._pld_plan import Plan, plan_for_epsilon
from .certificate_checker import FORMAT, LOPSIDED, Families, Interval, Prover, field
from .events import (
    Event,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    Script,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    checked,
    tally,
)
from .spec import check_neighbors

__all__ = ["certificate", "plain_events"]

_EDGES = 25_000  # cells whose masses are integrated: each takes the checker some 0.15 ms
_CELLS = 200_000  # of the sum of all losses
_COARSER = 4  # how much coarser the grid of a direction may be that costs less
_WIDTH = 1e-7  # relative width that a grid aims at, if it may be so fine
_DIGITS = 15
_CLOSER, _ROUNDS = 1.02, 8
_STEEPEST, _FURTHEST = 20.0, 0.5
_WAYS = {"replace_one": ("replace",), "add_remove": ("remove", "add")}


@own_arithmetic
def certificate(
    script: Script | Event,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    neighbors: str = "replace_one",
) -> dict[str, Any]:
    """Return a price with a witness that `skdp/privacy/certificate_checker.py` verifies without this package.

    The claimed interval is what the checker proves in some seconds: wider than that of `enclose`.

    Parameters
    ----------
    script : tuple of (Event, int), or Event
        As for `enclose`.
    delta, epsilon : float
        One of them: the other is enclosed.
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation.

    Returns
    -------
    dict
        Plain data for json: the script, the claim, the grid, and under ``"engine"`` the enclosure and the account of
        roundings of this package, which the checker does not read.

    See Also
    --------
    enclose : The interval alone.

    Examples
    --------
    >>> from skdp.privacy import certificate
    >>> from skdp.privacy.certificate_checker import complaint
    >>> from skdp.privacy.events import PureDP
    >>> told = certificate(((PureDP(0.1), 20),), delta=1e-6)
    >>> low, high = told["claim"]["epsilon"]
    >>> 1.7 < low < high < 1.8, complaint(told) is None
    (True, True)
    """
    runs = ((script, 1),) if isinstance(script, Event) else checked(script)
    found = enclose(runs, delta=delta, epsilon=epsilon, neighbors=check_neighbors(neighbors))
    events = _runs(runs, neighbors)
    at = found.high if epsilon is None else epsilon
    if not events or not 0 < at < math.inf or delta == 0:
        raise ValueError(
            f"There is nothing to certify about epsilon={at:g} at delta={delta!r}; both must be above 0."
        )
    try:
        main = int(found.witness.get("direction") == "adding")
        written, provers = _witness(events, at, neighbors, main)
        claim = _epsilons(provers, delta, at) if delta is not None else _deltas(provers, at)
    except (ArithmeticError, ValueError) as error:
        raise NotSupported(
            f"The checker refuses this script ({error}); use skdp.privacy.enclose, which has no such limits."
        ) from error
    return {
        "format": FORMAT,
        "neighbors": neighbors,
        "script": [_written(*run) for run in events],
        "claim": claim,
        "witness": written,
        "engine": {"low": found.low, "high": found.high, "witness": found.witness},
    }


def plain_events(script: Script, neighbors: str) -> list[dict[str, Any]]:
    """Return a script as a certificate writes it.

    Parameters
    ----------
    script : tuple of (Event, int)
        Of events that a certificate may be about.
    neighbors : str
        The relation.
    """
    return [_written(*run) for run in _runs(script, neighbors)]


def _runs(script: Script, neighbors: str) -> list[tuple[Event, int]]:
    return [run for event, k in tally(script).items() for run in _plain(event, k, neighbors)]


def _plain(event: Event, count: int, neighbors: str) -> list[tuple[Event, int]]:
    """An event as the checker knows it, without a sample of nobody or of everybody; nothing of what costs nothing."""
    rate = getattr(event, "rate", None)
    if isinstance(event, ShuffledEpoch):
        event = Gaussian(event.multiplier)
    elif isinstance(event, (PoissonGaussian, WithoutReplacementGaussian)) and rate == 1:
        event = Gaussian(event.multiplier / (2 if neighbors == "replace_one" else 1))
    elif isinstance(event, PoissonPure) and rate == 1:
        event = PureDP(event.epsilon)
    free = rate == 0 or event in (Gaussian(math.inf), Laplace(math.inf), PureDP(0.0))
    return [] if free else [(event, count)]


def _written(event: Event, count: int) -> dict[str, Any]:
    own = {f.name: getattr(event, f.name) for f in fields(event)}
    listed = {name: list(v) if isinstance(v, tuple) else v for name, v in own.items()}
    return {"family": type(event).__name__, **listed, "count": count}


def _witness(
    events: list[tuple[Event, int]], at: float, neighbors: str, main: int
) -> tuple[dict[str, Any], list[Prover]]:
    """Grids that the checker can afford, coarser for the direction that costs less, and what it makes of them."""
    script = [_written(*run) for run in events]
    lopsided = any(one["family"] in LOPSIDED for one in script)
    ways = _WAYS[neighbors] if lopsided else _WAYS[neighbors][:1]
    directions = _pld.directions_of(_pld.live(tuple(events), neighbors), neighbors)
    plans = []
    for pairs in (directions * 2)[: len(ways)]:
        within = min(at, (1 - 1e-3) * _pld.largest_loss(pairs))
        plans.append(plan_for_epsilon(pairs, within, _WIDTH))
    steps = [_step(one, ways[0]) for one in script]
    spans = [
        _spans(event, k, plans, neighbors) if step.below else None
        for (event, k), step in zip(events, steps)
    ]
    on_line = [i for i, step in enumerate(steps) if step.spacing is not None]
    on_line.sort(key=lambda i: (steps[i].below is not None, -events[i][1]))
    exact = on_line[0] if on_line else -1
    h, grid = _step_size(events, steps, spans, plans, exact, at)
    witness: dict[str, Any] = {"digits": _digits(events), "grid": grid, "ways": {}}

    def prover(j: int, times: int = 1) -> Prover:
        own, step = {"grid": {"step": times * h}} if times > 1 else {}, times * h
        ranges = [_range(span[j], step) if span else None for span in spans]
        base = max(math.exp(min(plans[j].tilt * step, _STEEPEST)), 1 + 1e-12)
        witness["ways"][ways[j]] = {"base": base, "ranges": ranges, **own}
        return Prover(script, witness, ways[j])

    if len(ways) == 1 or "step" not in grid:
        return witness, [prover(j) for j in range(len(ways))]
    first = prover(main)
    second = prover(1 - main, _COARSER)
    if not second.delta(Interval(at))[1] < first.delta(Interval(at))[0]:
        second = prover(1 - main)
    return witness, [first, second]


def _step(written: dict[str, Any], way: str) -> Any:
    """The checker's own reading of an event."""
    family = getattr(Families(way), "_" + written["family"], None)
    if family is None:
        raise ValueError(f"it knows no {written['family']}")
    return family(**{n: field(n, v) for n, v in written.items() if n not in ("family", "count")})


def _range(span: tuple[float, float], h: float) -> list[int]:
    return [math.floor(span[0] / h) - 1, math.ceil(span[1] / h) + 1]


def _digits(events: list[tuple[Event, int]]) -> int:
    return min(_DIGITS + math.ceil(math.log10(sum(k for _, k in events))), 60)


def _spans(
    event: Event, count: int, plans: list[Plan], neighbors: str
) -> list[tuple[float, float]]:
    """Ends of the losses of one step in each direction."""
    times = count if isinstance(event, Gaussian) else 1
    directions = _pld.directions_of(_pld.live(((event, times),), neighbors), neighbors) * 2
    return [pairs[0][0].ends(plan.reach, plan.floor) for pairs, plan in zip(directions, plans)]


def _step_size(
    events: list[tuple[Event, int]],
    steps: list[Any],
    spans: list[list[tuple[float, float]] | None],
    plans: list[Plan],
    exact: int,
    at: float,
) -> tuple[float, dict[str, Any]]:
    """The finest grid that is affordable and of use; parts of an event's own distances where it has any."""
    spread = sum(
        1 if isinstance(event, Gaussian) else k
        for i, (event, k) in enumerate(events)
        if i != exact or steps[i].below
    )
    edges = max(sum(s[j][1] - s[j][0] for s in spans if s) for j in range(len(plans)))
    useful = math.sqrt(_WIDTH * at / ((1 + max(p.tilt for p in plans)) * max(spread, 1)))
    h = max(useful, edges / _EDGES, max(2 * p.width for p in plans) / _CELLS, 2e-9)
    if exact < 0:
        return h, {"step": h}
    spacing = float(steps[exact].spacing.lo)
    if spread == 0 or spacing <= h <= 4 * spacing:
        return spacing, {"event": exact, "parts": 1}
    if h > spacing:
        return h, {"step": h}
    parts = math.ceil(spacing / h)
    return spacing / parts, {"event": exact, "parts": parts}


def _epsilons(provers: list[Prover], delta: float, at: float) -> dict[str, Any]:
    """The claim about epsilon: as low and as high as the checker will follow."""

    def holds(epsilon: float) -> bool:
        return all(prover.delta(Interval(epsilon))[1] <= delta for prover in provers)

    high, step, least = at, 1e-12 * at, at
    while not holds(high):
        least, high, step = high, at + step, 2 * step
        if step > _FURTHEST * at:
            raise ValueError("no grid that it can afford proves an epsilon")
    for _ in range(_ROUNDS):
        middle = (least + high) / 2
        least, high = (least, middle) if holds(middle) else (middle, high)
    return {"delta": delta, "epsilon": [_low_end(provers, delta, at), high]}


def _low_end(provers: list[Prover], delta: float, at: float) -> float:
    """An epsilon at which delta is surely above delta."""
    prover = max(provers, key=lambda one: one.delta(Interval(at))[0])
    near, far = (float(prover.delta(Interval(at * x))[0]) for x in (1.0, 1 - 1e-3))
    slope = math.log(max(far, 1e-300) / max(near, 1e-300)) / (1e-3 * at) or 1.0
    low, step = at, 0.0
    for _ in range(_ROUNDS):
        known = float(prover.lower(Interval(low)))
        if known > delta:
            return low
        further = math.log(delta / known) / slope if known > 0 else 1e-3 * at
        step = 1.5 * step + _CLOSER * further + 1e-13 * at
        low = max(at - step, 0.0)
        if low == 0.0:
            break
    return 0.0


def _deltas(provers: list[Prover], at: float) -> dict[str, Any]:
    point = Interval(at)
    high = max(float(prover.delta(point)[1]) for prover in provers)
    low = max(float(prover.lower(point)) for prover in provers)
    ends = [max(low * (1 - 1e-15), 0.0), min(high * (1 + 1e-15), 1.0)]
    return {"epsilon": at, "delta": ends}
