"""The registered questions and losses, as sets of exact types that the oracle accepts."""

from __future__ import annotations

__all__ = ["losses", "questions"]


def questions() -> frozenset[type]:
    """Types of question that have a proof page."""
    from . import QUESTIONS

    return QUESTIONS


def losses() -> frozenset[type]:
    """Types of loss whose declared constants are tested."""
    from ..losses import LOSSES

    return frozenset(LOSSES.values())
