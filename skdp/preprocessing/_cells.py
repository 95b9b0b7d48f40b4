"""Cells of a column, each read by itself alone; the rule is in skdp/entry/_cells.py, for labels go by it too."""

from ..fitting.data import Array, as_numbers, codes, find_ambiguous

__all__ = ["Array", "as_numbers", "codes", "find_ambiguous"]
