"""Disjoint data, charged apart: a record pays only for what was released of its own part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ._state import WHOLE, State

if TYPE_CHECKING:
    from ._ledger import Ledger

__all__ = ["Partition"]


class Partition:
    """The parts of divided data, each with a ledger.

    Every part has the whole of the budget, and a charge on some parts leaves the others as they were:
    each record lies in one part, so only what read that part could tell it (docs/proofs/partitions.md).
    What was charged before the division, or is charged on the undivided ledger, weighs on every part.

    Parameters
    ----------
    ledger : Ledger
        The undivided one.
    groups : int or iterable
        How many parts, or their names.

    See Also
    --------
    Ledger : Makes one, by its method `partition`.

    Notes
    -----
    Which part a record is in must not depend on any other record. Under ``neighbors="replace_one"`` parts
    go by *position*: contiguous pieces, or a permutation that depends on n alone; the record that takes
    another's place takes its part. Under ``"add_remove"`` they go by something of the record's own that
    it brings along: a hospital, a year, a keyed hash of an id; never by position, since one record that
    goes moves all that follow. Stratified and data-dependent splits fulfil neither.

    Examples
    --------
    Three folds: a record trains two of three models, and is tested once.

    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import PureDP
    >>> ledger = Ledger(1.0, 0.0)
    >>> folds = ledger.partition(3)
    >>> for fold in folds:
    ...     folds.without(fold).reserve(((PureDP(0.4), 1),))  # trains on the others
    ...     folds[fold].reserve(((PureDP(0.1), 1),))  # is tested on this one
    >>> ledger.spent  # two times 0.4 and 0.1, not three times 0.5
    0.9
    """

    def __init__(self, ledger: Ledger, groups: int | Iterable[object]) -> None:
        self.ledger, self.names = ledger, _names(groups)
        if ledger.parts:
            raise ValueError(
                f"The ledger covers only the parts {ledger.parts}; divide the whole ledger, once, into the smallest "
                "parts, and use only(...) to join some."
            )

        def step(state: State) -> State:
            if state.parts not in (WHOLE, self.names):
                raise ValueError(
                    f"The ledger is divided into {state.parts}, not into {self.names}: records of one division "
                    "lie in several parts of another; use the division that it has."
                )
            return ledger._rules.divided(state, self.names) if state.parts == WHOLE else state

        ledger._store.change(step)

    def __getitem__(self, name: object) -> Ledger:
        """The ledger of one part."""
        return self.only(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def only(self, *names: object) -> Ledger:
        """The ledger of a set of parts: a charge weighs on each of them."""
        chosen = tuple(dict.fromkeys(map(str, names)))
        unknown = [name for name in chosen if name not in self.names]
        if unknown or not chosen:
            raise ValueError(f"Parts {unknown} are unknown; name one or more of {self.names}.")
        return self.ledger._view(chosen)

    def without(self, *names: object) -> Ledger:
        """The ledger of all other parts, such as the training folds where these are tested."""
        self.only(*names)
        left_out = set(map(str, names))
        return self.only(*(name for name in self.names if name not in left_out))


def _names(groups: int | Iterable[object]) -> tuple[str, ...]:
    wanted: Iterable[object] = range(groups) if isinstance(groups, int) else groups
    names = tuple(map(str, wanted))
    if len(names) < 1 or len(set(names)) < len(names) or "" in names:
        raise ValueError(
            f"groups={groups!r} must be a number of parts, 1 or more, or their names, all different."
        )
    return names
