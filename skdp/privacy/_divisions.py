"""Enumerate the ways to divide a number of equal events among kinds."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["divisions"]


def divisions(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways of writing ``total`` as an ordered sum of so many whole numbers."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in divisions(total - first, kinds - 1):
            yield (first, *rest)
