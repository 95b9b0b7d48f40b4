"""A witness: a second memory of a ledger's last line, beside which an older copy of the file is noticed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ._place import sync_folder

__all__ = ["Head", "Witness", "WitnessFile", "refuse_rollback", "refuse_stranger", "witness_of"]


class Head(NamedTuple):
    """The last line of a ledger's file.

    Parameters
    ----------
    identity : str
        What tells the ledger from every other one.
    position : int
        Number of the line; the first line is 0.
    digest : str
        SHA-256 of the line and of all before it.
    """

    identity: str
    position: int
    digest: str


Witness: TypeAlias = "Callable[[Head], None]"
_LINE = re.compile(r"(\w+) (\d+) ([0-9a-f]{64})\n")


class WitnessFile:
    """A file to which every head is appended; it never goes back, whoever writes in which order.

    Parameters
    ----------
    path : str
        Best on another disk than the ledger.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WitnessFile) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __call__(self, head: Head) -> None:
        """Append a head and wait for the disk."""
        new = not os.path.exists(self.path)
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # One that died while it wrote may have left half a line: each begins on a line of its own.
            os.write(file, f"\n{head.identity} {head.position} {head.digest}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
        if new:
            sync_folder(self.path)

    def heads(self) -> list[Head]:
        """All heads that were told; half of a line at the end is none, and was not answered upon."""
        try:
            with open(self.path, encoding="ascii", errors="replace") as file:
                lines = list(file)
        except FileNotFoundError:
            return []
        found = [match for line in lines if (match := _LINE.fullmatch(line))]
        return [Head(match[1], int(match[2]), match[3]) for match in found]


def witness_of(given: str | os.PathLike[str] | Witness | None) -> Witness | None:
    """The witness that a user named: a function, or a file."""
    if given is None or callable(given):
        return given
    return WitnessFile(os.fspath(given))


def refuse_stranger(path: str, witness: Witness, identity: str) -> None:
    """Refuse a file that the witness does not know."""
    for head in _heads(witness):
        if head.identity != identity:
            raise ValueError(
                f"The witness of {path!r} knows another ledger, {head.identity!r} with {head.position + 1} lines; "
                "put that back, or give a new ledger a witness of its own."
            )


def refuse_rollback(path: str, witness: Witness, digests: Sequence[str]) -> None:
    """Refuse a file that lacks a line of which the witness was told."""
    for head in _heads(witness):
        if head.position >= len(digests) or digests[head.position] != head.digest:
            raise ValueError(
                f"The ledger {path!r} lacks line {head.position}, which its witness has seen: an older copy was "
                "put back. Nothing was charged; restore the newest file."
            )


def _heads(witness: Witness) -> list[Head]:
    """All heads that a file was told; a function is asked for none."""
    return witness.heads() if isinstance(witness, WitnessFile) else []
