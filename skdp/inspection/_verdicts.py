"""Verdicts of a check, and the setting that they depend on beside the step itself."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ASSUMES",
    "LEARNS",
    "NOTHING",
    "PRIVATE",
    "PUBLIC",
    "UNKNOWN",
    "VOID",
    "Setting",
    "Verdict",
    "is_ours",
]

PRIVATE, PUBLIC = "private", "public"  # all is well
ASSUMES = "assumes"  # private where something holds that no declaration enforces
VOID = "void"  # it adds noise and has a receipt, and its parameters make the guarantee worthless
LEARNS, UNKNOWN = "learns", "unknown"  # without a receipt
NOTHING = (None, "passthrough", "drop", "deprecated")  # in the place of a step

Verdict = tuple[str, str]  # and why, in a few words


@dataclass(frozen=True)
class Setting:
    """Setting of a step in a pipeline, on which its verdict depends.

    Parameters
    ----------
    relations : frozenset of str
        Neighbouring relations of all steps that charge a budget.
    n : int or None
        Number of records, where it is public and was told.
    kept : bool
        Whether the step itself is what was fitted, and no copy of it: only then its receipt counts.
    finished : bool
        Whether the step's fit is over: it is frozen, or was fitted before.
    """

    relations: frozenset[str]
    n: int | None = None
    kept: bool = True
    finished: bool = False


def is_ours(thing: object) -> bool:
    """Tell whether an object's class is one of skdp itself, and no subclass from elsewhere."""
    return type(thing).__module__.split(".")[0] == "skdp"
