"""Compare receipts with the lines of a ledger's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Audit"]


@dataclass(frozen=True)
class Audit:
    """Result of comparing receipts with the file of a ledger; `Ledger.audit` makes it.

    Parameters
    ----------
    identity : str
        Of the ledger.
    charges : int
        How many charges its file holds.
    matched : tuple of int
        Which receipts, counted from 0 as they were given, name a line that is there.
    lost : tuple of int
        Which name a line behind the end of the file: an older copy was put back.
    replaced : tuple of int
        Which name a line in whose place there is another one: an older copy was put back and charged since.
    foreign : tuple of int
        Which were paid by another ledger.
    doubled : tuple of int
        Which name a line that an earlier, different one has matched: a line pays once, so one of the two is forged.
    repeated : tuple of int
        Which were given before, perhaps with other statements of a person.
    silent : tuple of int
        Which name no line: without a ledger in a file, or made before receipts named lines.
    unclaimed : int
        How many charges no receipt names: of fits that failed, or whose receipts were not given.

    See Also
    --------
    Ledger.audit : Makes it.

    Examples
    --------
    >>> from skdp.privacy.ledger import Audit
    >>> print(Audit("5f0c", charges=3, matched=(0, 1), lost=(2,)))
    The ledger 5f0c has lost charges: receipts [2] name lines beyond its end.
    Of its 3 charges, 1 is named by none of these receipts.
    """

    identity: str
    charges: int
    matched: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    foreign: tuple[int, ...] = ()
    doubled: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, identity: str, digests: Sequence[str], charges: int, receipts: Iterable[Any]
    ) -> Audit:
        """The finding of some receipts."""
        found: dict[str, list[int]] = {}
        seen: dict[str, Any] = {}  # the first receipt of each line
        for number, receipt in enumerate(receipts):
            stood = receipt.ledger or {}
            kind = _kind(stood, identity, digests)
            if kind == "matched":
                first = seen.get(stood["head"])
                if first is not None:
                    kind = "repeated" if first.same_fit(receipt) else "doubled"
                seen.setdefault(stood["head"], receipt)
            found.setdefault(kind, []).append(number)
        return cls(identity, charges, **{kind: tuple(some) for kind, some in found.items()})

    @property
    def sound(self) -> bool:
        """True if each receipt has a line of its own."""
        return not (self.lost or self.replaced or self.doubled)

    @property
    def unclaimed(self) -> int:
        """Number of charges that none of the receipts names."""
        return max(self.charges - len(self.matched), 0)

    def __str__(self) -> str:
        ledger = f"The ledger {self.identity}"
        lines = [f"{ledger} has a line for each of these receipts."] if self.sound else []
        if self.lost:
            lines.append(
                f"{ledger} has lost charges: receipts {list(self.lost)} name lines beyond its end."
            )
        if self.replaced:
            lines.append(
                f"{ledger} was restored from an older copy and charged again: receipts {list(self.replaced)} name "
                "lines that others have replaced."
            )
        if self.doubled:
            lines.append(
                f"{ledger} was charged once for several receipts: receipts {list(self.doubled)} name lines that "
                "earlier ones name."
            )
        if self.foreign:
            lines.append(f"Receipts {list(self.foreign)} belong to another ledger.")
        if self.repeated:
            lines.append(f"Receipts {list(self.repeated)} were given before.")
        if self.silent:
            lines.append(f"Receipts {list(self.silent)} name no line.")
        verb = "is" if self.unclaimed == 1 else "are"
        if self.unclaimed:
            lines.append(
                f"Of its {self.charges} charges, {self.unclaimed} {verb} named by none of these receipts."
            )
        return "\n".join(lines)


def _kind(stood: dict[str, Any], identity: str, digests: Sequence[str]) -> str:
    """Classify one receipt by the line at which the ledger stood."""
    if "head" not in stood:
        return "silent"
    if stood["identity"] != identity:
        return "foreign"
    if stood["position"] >= len(digests):
        return "lost"
    return "matched" if digests[stood["position"]] == stood["head"] else "replaced"
