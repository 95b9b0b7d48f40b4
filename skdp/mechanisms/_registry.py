"""The registered questions and losses: exact types that the oracle accepts, read when they are needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields
from functools import cache
from typing import Any

from .._lazy import Kinds
from ..losses import LIST_LOSSES, LOSSES

__all__ = ["declared", "losses", "questions", "register"]

_questions: Kinds | None = None


def register(package: str, places: Iterable[str]) -> Kinds:
    """Fill the registry of questions: once, where the room is put together, and never again."""
    global _questions
    if _questions is not None:
        raise RuntimeError("mechanisms are registered in skdp/mechanisms/__init__.py alone.")
    _questions = Kinds(package, places)
    return _questions


def questions() -> Collection[type]:
    """Types of question that have a proof page."""
    return _questions if _questions is not None else frozenset()


def losses(of_lists: bool = False) -> Collection[type]:
    """Types of loss whose declared constants are tested: of records, or of lists of them."""
    return LIST_LOSSES.values() if of_lists else LOSSES.values()


@cache
def declared(kind: Any) -> frozenset[str]:
    """Names that instances of a dataclass may hold; class attributes are not among them."""
    return frozenset(field.name for field in fields(kind))
