"""The registered questions and losses: exact types that the oracle accepts, read when they are needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from functools import cache
from typing import Any

import skdp.mechanisms as _room

from ..losses import LOSSES

__all__ = ["declared", "losses", "questions"]


def questions() -> Collection[type]:
    """Types of question that have a proof page."""
    return _room.MECHANISMS


def losses() -> Collection[type]:
    """Types of loss whose declared constants are tested."""
    return LOSSES.values()


@cache
def declared(kind: Any) -> frozenset[str]:
    """Names that instances of a dataclass may hold; class attributes are not among them."""
    return frozenset(field.name for field in fields(kind))
