"""Admission rules of a ledger: from a state and a charge to the next state, or a refusal.

Nothing here remembers anything or knows where a state is kept, so that one set of rules serves the
ledger in memory, the one in a file and the one that many processes share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...exceptions import BudgetExceeded, NotSupported
from .. import accountants
from .._arithmetic import own_arithmetic, round_down, round_up
from .._currencies import CURRENCIES, FILTERS
from .._exact import Counted, plus
from .._filter import Book
from .._gaussian import gaussian_epsilon, gaussian_mu
from .._shifted import AnyBook, ShiftedBook, planned_order, tightly_priced, used
from ..events import Script
from ..events._event import is_whole
from ..spec import Spec
from ._state import WHOLE, Entry, State, Totals
from ._store import Repeats

__all__ = ["MOST_COMING", "Rules", "refuse_count"]


# How delta is divided where several books are kept, see docs/accounting.md: for Gaussians alone mu loses
# 1 % by it. Shares add up to less than one, so that rounding cannot lift their sum above delta.
_SHARES = (0.8, 0.13, 0.07 * (1 - 1e-12))
_SHARES_OF_A_PLAN = (0.95, 0.05 * (1 - 1e-12))
# One Renyi order reads small totals as epsilons near the promise; a second book tells how little they are.
_SHARES_BESIDE_RENYI = (0.999, 0.001 * (1 - 1e-12))
MOST_COMING = 1_000_000  # fits that are announced together
_SHIFTS = 150  # thousandths of epsilon, for fits that are a shift and a Gaussian


@dataclass(frozen=True)
class Rules:
    """The promise of a ledger and how it is kept.

    Parameters
    ----------
    spec : Spec
        The promise.
    accountant : str
        "auto", "shifted", or a filter's currency.
    fits : int or None
        How many fits like the first one must go in, or the first is refused.
    plan : tuple of Script
        What is going to be charged, for which the books are chosen.
    """

    spec: Spec
    accountant: str
    fits: int | None = None
    plan: tuple[Script, ...] = ()

    def __post_init__(self) -> None:
        if self.accountant not in ("auto", "shifted", *CURRENCIES):
            raise NotSupported(
                f"accountant={self.accountant!r} cannot guard fits that are chosen after earlier results "
                f"were seen; use 'auto', 'shifted' or one of {FILTERS}."
            )
        if self.accountant == "shifted" and self.spec.delta == 0:
            raise NotSupported("accountant='shifted' needs delta > 0; use 'pure' or a delta.")

    @cached_property
    def _repeats(self) -> Repeats:
        return Repeats()

    @own_arithmetic
    def charged(self, state: State, entry: Entry) -> State:
        """The state with one more charge, or a refusal that names what would fit."""
        script = self._repeats.checked(entry.script)
        entry = entry._replace(script=script)
        for part in entry.parts:
            if part in state.closed:
                raise BudgetExceeded(
                    f"Spent epsilon={round_up(self.spent(state, part))} of {round_up(self.spec.epsilon)}"
                    f"{_where(part)}: the first fit took the budget as a whole and left nothing; "
                    "open another ledger for other data."
                )
        return self._added(state, entry) if state.books else self._opened(state, entry)

    def _opened(self, state: State, entry: Entry) -> State:
        """Settle the books on the first script."""
        books = self._settled(entry.script)
        opened = state._replace(books=books, totals=dict.fromkeys(state.parts, _nothing(books)))
        if self.fits is not None and self.fits > 1:
            self._promise_all(opened, entry)
        return self._added(opened, entry)

    def _promise_all(self, opened: State, entry: Entry) -> None:
        """Refuse the first of the announced fits unless all of them go in."""
        assert self.fits is not None
        try:
            self._repeated(opened, entry, self.fits)
        except BudgetExceeded:
            spec, fits = self.spec, self.fits
            each = self._each(spec.epsilon, fits)
            whole = tuple((event, count * fits) for event, count in entry.script)
            raise BudgetExceeded(
                f"fits={fits} like this one cost epsilon={round_up(self._planned(whole))} at "
                f"delta={round_up(spec.delta)}, the ledger has {round_up(spec.epsilon)}: nothing was charged. "
                f"Give each fit about epsilon={round_down(0.97 * each, 3)}, make fewer, or use Ledger.announce where "
                "prices differ."
            ) from None

    @own_arithmetic
    def announced(
        self, state: State, coming: Sequence[tuple[Script, int]], parts: tuple[str, ...]
    ) -> None:
        """Refuse unless all of these go in; where the first charge will be asked for all of them, that will do it."""
        if self.fits is not None and not state.fits:
            return
        for _, count in coming:
            refuse_count("count", count, 0)
        trial, fits = state, sum(count for _, count in coming)
        try:
            for script, count in coming:
                trial = self._repeated(trial, Entry(script, parts, "", ""), int(count))
        except (BudgetExceeded, NotSupported):
            spec, left = self.spec, self.remaining(state, *parts)
            whole = tuple((event, n * count) for script, count in coming for event, n in script)
            raise BudgetExceeded(
                f"{fits} fits are coming, which cost epsilon={round_up(self._planned(whole))} at "
                f"delta={round_up(spec.delta)} at least; the ledger has {round_down(left)} left of "
                f"{round_up(spec.epsilon)}: nothing was charged. Give each fit about "
                f"epsilon={round_down(0.97 * self._each(left, fits), 3)}, make fewer, or search with "
                "skdp.model_selection.DPGridSearchCV, at one price for all."
            ) from None

    def _repeated(self, state: State, entry: Entry, count: int) -> State:
        """The state after so many equal charges, but for its log: charges that take the same prices go in at once."""
        while count > 0:
            before, state, count = state, self.charged(state, entry), count - 1
            if not before.books or state.closed.intersection(entry.parts):
                continue
            last = [
                (part, *one)
                for part in entry.parts
                for one in zip(state.books, before.totals[part], state.totals[part])
            ]
            alike = min(_alike(book, old, new, count) for _, book, old, new in last)
            moved = {
                part: tuple(_further(old, new, alike) for at, _, old, new in last if at == part)
                for part in entry.parts
            }
            state, count = state._replace(totals={**state.totals, **moved}), count - alike
        return state

    def _each(self, left: float, fits: int) -> float:
        """Epsilon of each of so many equal Gaussian fits that together cost what is left."""
        delta = self.spec.delta
        if delta == 0 or left <= 0:
            return left / fits
        return gaussian_epsilon(gaussian_mu(left, delta) / math.sqrt(fits), delta)

    def _settled(self, script: Script) -> tuple[AnyBook, ...]:
        plan = self.plan or (script,) * min(self.fits or 1, 50)
        if self.accountant != "auto" or self.spec.delta == 0:
            kind = "pure" if self.accountant == "auto" else self.accountant
            return (self._book(kind, plan),)
        renyi = self._book("rdp", plan)
        if not self.spec.private or any(
            not tightly_priced(script, self.spec.neighbors, self.spec.delta) for script in plan
        ):
            return (renyi,)
        order = planned_order(self.spec, plan)
        if used(renyi, plan) < used(ShiftedBook(self.spec, order), plan):
            most, rest = map(self._with_share, _SHARES_BESIDE_RENYI)
            return Book(most, "rdp", renyi.order), ShiftedBook(rest, order)
        return self._shared_out(order, plan)

    def _shared_out(self, order: int, plan: Sequence[Script]) -> tuple[AnyBook, ...]:
        """Several books: one for what is planned, or else one for Gaussians and one for shifts too."""
        if self.plan or self.fits:
            most, rest = map(self._with_share, _SHARES_OF_A_PLAN)
            return ShiftedBook(most, order), Book(rest, "rdp")
        specs = list(map(self._with_share, _SHARES))
        orders = (0, _SHIFTS) if order < _SHIFTS else (_SHIFTS, 0)
        # An order that suits the whole promise may prove nothing at a share of its delta.
        renyi_order = CURRENCIES["rdp"].planned_order(specs[2], plan[0])
        return (*map(ShiftedBook, specs[:2], orders), Book(specs[2], "rdp", renyi_order))

    def _book(self, kind: str, plan: Sequence[Script]) -> AnyBook:
        """A book of the whole promise, at the order that suits the plan."""
        if kind == "shifted" and self.spec.private:
            return ShiftedBook(self.spec, planned_order(self.spec, plan))
        kind = "gdp" if kind == "shifted" else kind
        return Book(self.spec, kind, CURRENCIES[kind].planned_order(self.spec, plan[0]))

    def _with_share(self, share: float) -> Spec:
        return Spec(self.spec.epsilon, self.spec.delta * share, self.spec.neighbors)

    def _fits_alone(self, script: Script) -> bool:
        return self._planned(script) <= self.spec.epsilon

    def _added(self, state: State, entry: Entry) -> State:
        """The state with one more charge on each part; a book that cannot hold it is out there for good."""
        changed = {part: self._with(state, part, entry) for part in entry.parts}
        full = [part for part, totals in changed.items() if not any(totals)]
        totals = {**state.totals, **changed}
        closed = state.closed.union(full) if full else state.closed
        return State(state.books, state.parts, totals, state.plus(entry), closed)

    def _with(self, state: State, part: str, entry: Entry) -> Totals:
        """Return the books' totals for a part after one more charge; None for a book that cannot hold it.

        The first script on a part may be admitted alone by a tighter theorem, as a plan fixed beforehand: then no book
        holds it, and the part is closed.
        """
        books, totals = state.books, state.totals[part]
        each = zip(books, totals, self._repeats.ways(books, totals, entry.script))
        after = tuple([None if t is None else plus(t, ways, book.caps) for book, t, ways in each])
        if any(after) or self._is_first_and_fits_alone(state, part, entry):
            return after
        raise self._refused(state, part, entry)

    def _is_first_and_fits_alone(self, state: State, part: str, entry: Entry) -> bool:
        untouched = state.totals[part] == _nothing(state.books)
        return self.accountant == "auto" and untouched and self._fits_alone(entry.script)

    def _refused(self, state: State, part: str, entry: Entry) -> Exception:
        """The refusal, in epsilons where some book could price the script."""
        live = self._live(state, part)
        kinds = " or ".join(dict.fromkeys(book.kind for book, _ in live))
        asked, why = [], None
        for book, total in live:
            try:
                ways = book.ways(entry.script, book.level(total))
                asked += [book.reading(price, self.spec.delta) for price in ways]
            except NotSupported as error:
                why = error
        if why is not None and not asked:
            return NotSupported(
                f"{why} The ledger keeps its books in {kinds} permanently; use another solver or give this fit "
                f"{self._remedy(entry.script)}."
            )
        left = self.remaining(state, part)
        return BudgetExceeded(
            f"Asked for epsilon={round_up(min(asked, default=math.inf))}, "
            f"spent epsilon={round_up(self.spent(state, part))} of {round_up(self.spec.epsilon)}{_where(part)}, "
            f"left {round_down(left)} (at delta={round_up(self.spec.delta)}, in {kinds}); "
            f"nothing was charged, and a fit of epsilon={round_down(left, 3)} by Gaussian noise would fit."
        )

    def _remedy(self, script: Script) -> str:
        able = [k for k, known in CURRENCIES.items() if known.covers(script, self.spec.neighbors)]
        return f"a new ledger with accountant={able[0]!r}" if able else "a ledger of its own"

    def divided(self, state: State, parts: tuple[str, ...]) -> State:
        """The state of data that are divided into parts: what was charged before weighs on each."""
        totals = dict.fromkeys(parts, state.totals[state.parts[0]]) if state.totals else {}
        closed = frozenset(parts) if state.closed else state.closed
        return state._replace(parts=parts, totals=totals, closed=closed)

    @own_arithmetic
    def spent(self, state: State, *parts: str) -> float:
        """Epsilon, at the promised delta, of what was charged: on the part that was charged most."""
        if not state.fits:
            return 0.0
        if not self.spec.private:
            scripts = [entry.script for entry in state.entries]
            return self._planned(tuple(run for script in scripts for run in script))
        reading = max(self._reading(state, part) for part in parts or state.parts)
        if state.fits == 1:  # still a plan fixed beforehand
            return min(reading, self._planned(state.entries[0].script))
        return min(self.spec.epsilon, reading)

    @own_arithmetic
    def remaining(self, state: State, *parts: str) -> float:
        """Epsilon, at the promised delta, of the largest Gaussian fit that is affordable on the parts."""
        if not state.books or not self.spec.private:
            return self.spec.epsilon
        rooms = [self._room(state, part) for part in parts or state.parts]
        return min(self.spec.epsilon, *rooms)

    def _live(self, state: State, part: str) -> list[tuple[AnyBook, Counted]]:
        """The books that still prove the promise for a part, with their totals."""
        pairs = zip(state.books, state.totals[part])
        return [(book, spent) for book, spent in pairs if spent is not None]

    def _room(self, state: State, part: str) -> float:
        rooms = [book.room(spent, self.spec.delta) for book, spent in self._live(state, part)]
        return max(rooms, default=0.0)

    def _reading(self, state: State, part: str) -> float:
        if part in state.closed:  # by one script, which was the first there
            return self._planned(_charged_on(state, part))
        live = self._live(state, part)
        return min((book.reading(spent, self.spec.delta) for book, spent in live), default=math.inf)

    @own_arithmetic
    def alone(self, script: Script) -> float:
        """Epsilon of a script by itself, at the promised delta."""
        return self._planned(script)

    @own_arithmetic
    def share(self, state: State, entry: Entry) -> float:
        """Return a charge's share of the leading book's capacity: 1 where it closed a part, nan if unknown."""
        if not self.spec.private:
            return 0.0
        if state.closed.intersection(state.parts if entry.parts == WHOLE else entry.parts):
            return 1.0
        leading = next(
            book
            for number, book in enumerate(state.books)
            if any(totals[number] is not None for totals in state.totals.values())
        )
        try:
            ways = leading.ways(entry.script)
        except NotSupported:
            ways = ()
        return leading.share(ways[0]) if ways else math.nan

    def _planned(self, script: Script) -> float:
        """Epsilon of a script by the tightest accountant; infinite if nothing can be said."""
        try:
            return accountants.epsilon(script, self.spec.delta, self.spec.neighbors)
        except NotSupported:
            return math.inf


def _alike(book: AnyBook, before: Counted | None, after: Counted | None, most: int) -> int:
    """Count further charges, up to so many, that take from a book what the last one took.

    They do while that goes in and the book is at the same level: what did not go in before does not go in later.
    """
    if before is None or after is None:
        return most
    level, taken = book.level(before), [y - x for x, y in zip(before, after)]
    for total, price, cap in zip(after, taken, book.caps):
        most = min(most, (cap - total) // price) if price else most
    few = 0
    while few < most:  # the largest number before whose last charge the level is that of the first
        half = (few + most + 1) // 2
        there = tuple(y + (half - 1) * price for y, price in zip(after, taken))
        few, most = (half, most) if book.level(there) == level else (few, half - 1)
    return few


def _further(before: Counted | None, after: Counted | None, many: int) -> Counted | None:
    """The total after so many further charges that take what the last one took."""
    if before is None or after is None:
        return None
    return tuple(y + many * (y - x) for x, y in zip(before, after))


def _nothing(books: tuple[AnyBook, ...]) -> Totals:
    """Return the books' totals for data that nothing was charged for."""
    return tuple((0,) * len(book.caps) for book in books)


def _charged_on(state: State, part: str) -> Script:
    """All that was charged for a part, before the data were divided too."""
    entries = [entry for entry in state.entries if part in entry.parts or entry.parts == WHOLE]
    return tuple(run for entry in entries for run in entry.script)


def _where(part: str) -> str:
    return f" on the part {part!r}" if part else ""


def refuse_count(name: str, count: Any, least: int) -> None:
    """Refuse what is no number of fits to come, and more than one study has."""
    if not is_whole(count) or not least <= count <= MOST_COMING:
        raise ValueError(
            f"{name}={count!r} must be a whole number of fits from {least} to {MOST_COMING}; "
            "announce those of one study at a time."
        )
