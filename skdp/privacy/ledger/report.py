"""Report of a ledger: its charges with date and payer, and what is left."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

from ...exceptions import BudgetExceeded, NotSupported
from .._arithmetic import round_down, round_up
from ._rules import Rules
from ._state import Entry, State

__all__ = ["Report", "Row"]

_MOST = 1000  # further fits that are tried out


@dataclass(frozen=True)
class Row:
    """Charge in a report: its number, date, payer and parts, its epsilon alone, and its share of the budget."""

    number: int
    when: str
    what: str
    parts: tuple[str, ...]
    epsilon: float
    share: float


@dataclass(frozen=True)
class Report:
    """The state of a ledger as something to read; `Ledger.report` makes it.

    Parameters
    ----------
    promise : str
        Epsilon, delta and relation.
    rows : tuple of Row
        The charges, oldest first. ``epsilon`` is what the fit alone would cost; ``share`` is the part of
        the capacity of the ledger's leading book that it took.
    capacity : float
        Epsilon of the promise.
    used, left : float
        Epsilon that everything charged comes to, and of the largest fit with Gaussian noise that fits.
    next_cost : float or None
        How much ``used`` would rise by one more fit like the last; None without a last one.
    more : int
        How many more fits like the last would be admitted, counted up to 1000.

    Examples
    --------
    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import PureDP
    >>> ledger = Ledger(1.0, 0.0)
    >>> ledger.reserve(((PureDP(0.5), 1),), "a mean")
    >>> print(str(ledger.report()).splitlines()[0])
    Budget of epsilon = 1, delta = 0, replace_one: 50 % used by 1 fit.
    """

    promise: str
    rows: tuple[Row, ...]
    capacity: float
    used: float
    left: float
    next_cost: float | None
    more: int

    @classmethod
    def of(cls, rules: Rules, state: State) -> Report:
        """The report of a state."""
        spec, entries = rules.spec, state.entries
        rows = tuple(_row(rules, state, number, entry) for number, entry in enumerate(entries, 1))
        cost, more = _next(rules, state, entries[-1]) if entries else (None, 0)
        return cls(
            promise=f"epsilon = {round_up(spec.epsilon)}, delta = {round_up(spec.delta)}, {spec.neighbors}",
            rows=rows,
            capacity=spec.epsilon,
            used=rules.spent(state),
            left=rules.remaining(state),
            next_cost=cost,
            more=more,
        )

    def __str__(self) -> str:
        fits = "1 fit" if len(self.rows) == 1 else f"{len(self.rows)} fits"
        part = 0.0 if math.isinf(self.capacity) else 100 * self.used / self.capacity
        lines = [f"Budget of {self.promise}: {round_up(part, 3)} % used by {fits}."]
        if self.rows:
            lines.append(f"{'':>4}  {'when (UTC)':<10}  {'epsilon':>9}  {'share':>6}  what")
        lines += [
            f"{row.number:>4}  {row.when}  {round_up(row.epsilon, 4):>9}  {row.share:>6.1%}  {_what(row)}"
            for row in self.rows
        ]
        return "\n".join([*lines, *self._ending()])

    def _ending(self) -> list[str]:
        out = [f"Left for Gaussian noise: epsilon = {round_down(self.left, 4)}."]
        if self.next_cost is not None:
            count = f"{self.more}{' or more' if self.more == _MOST else ''}"
            out.append(
                f"Another fit like the last would add {round_up(self.next_cost, 4)}; {count} would fit."
            )
        if self.rows:
            out.append("Shares of the budget add up; epsilons of fits do not.")
        out.append(
            "All fits together have the guarantee of the whole budget, however little of it is used."
        )
        return out

    def to_frame(self) -> Any:
        """The charges as a pandas data frame, which must be installed."""
        import pandas as pd

        names = ("when", "what", "parts", "epsilon", "share")
        data = [{name: getattr(row, name) for name in names} for row in self.rows]
        index = pd.Index([row.number for row in self.rows], name="fit")
        return pd.DataFrame(data, index=index, columns=list(names))

    def plot(self, ax: Any = None) -> Any:
        """Draw the shares of the fits on a matplotlib axes, one above the other, and return it."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(7.0, 2.0))[1]
        start = 0.0
        for row in self.rows:
            ax.barh(0, row.share, left=start, edgecolor="white", label=f"{row.number} {_what(row)}")
            start += row.share
        ax.set(xlim=(0.0, 1.0), yticks=[], xlabel="share of the budget", title=self.promise)
        if 0 < len(self.rows) <= 8:
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
        return ax

    def _repr_html_(self) -> str:
        head, *_ = str(self).splitlines()
        cells = "".join(_html_row(row) for row in self.rows)
        ends = "".join(f"<p>{html.escape(line)}</p>" for line in self._ending())
        names = "".join(f"<th>{n}</th>" for n in ("", "when (UTC)", "what", "epsilon", "share"))
        table = (
            f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>" if cells else ""
        )
        return f"<div class='skdp-ledger'><p><b>{html.escape(head)}</b></p>{table}{ends}</div>"


def _html_row(row: Row) -> str:
    bar = (
        f"<div style='background:currentColor;opacity:.35;height:.6em;width:{6 * row.share:.2f}em'></div>"
        f"{row.share:.1%}"
    )
    plain = [str(row.number), row.when, _what(row), round_up(row.epsilon, 4)]
    cells = "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in plain)
    return f"<tr>{cells}<td>{bar}</td></tr>"


def _what(row: Row) -> str:
    where = f" on {', '.join(row.parts)}" if any(row.parts) else ""
    return f"{row.what or 'unnamed'}{where}"


def _row(rules: Rules, state: State, number: int, entry: Entry) -> Row:
    parts = () if entry.parts == state.parts else entry.parts
    price, share = rules.alone(entry.script), rules.share(state, entry)
    return Row(number, entry.when, entry.what, parts, price, share)


def _next(rules: Rules, state: State, last: Entry) -> tuple[float, int]:
    """Return what another fit like the last would add to epsilon, and how many of them would be admitted."""
    here, after, more = rules.spent(state, *last.parts), None, 0
    try:
        while more < _MOST:
            state = rules.charged(state, last)
            after = rules.spent(state, *last.parts) if more == 0 else after
            more += 1
    except (BudgetExceeded, NotSupported):
        pass
    return (rules.alone(last.script) if after is None else after - here), more
