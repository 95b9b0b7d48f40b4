"""Sums of classes with one fault each, and the law that rejects it."""

from dataclasses import dataclass

import numpy as np
import pytest
from laws.sensitivity_laws import check_never_exceeded, pair_of
from laws.vaults import vault

from skdp.mechanisms import ClassSums


@dataclass(frozen=True, eq=False, kw_only=True)
class OneClassMoves(ClassSums):
    """Forgets that a replaced record leaves one class and enters another."""

    def sensitivity(self, public):
        return max(self.bound(public), 2.0 * np.sqrt(self._square_of_row(public)))


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoClassesMove(ClassSums):
    """Forgets that two rows of one class may be opposite."""

    def sensitivity(self, public):
        return np.sqrt(2.0) * self.bound(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class FreeAnyway(ClassSums):
    """Takes the weight that is free in a box for free where norms bind."""

    def _in_box(self, public):
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Uncut(ClassSums):
    """Trusts that entries are within the cap."""

    def _contributions(self, rows):
        return np.hstack([np.full((len(rows), 1), self.counts), rows, np.square(rows) / self.cap])


@dataclass(frozen=True, eq=False, kw_only=True)
class EveryRowCounts(ClassSums):
    """Forgets what rows weigh in their unit."""

    def measure(self, records):
        bare = type(records)(records.rows, records.y, records.public)
        return super().measure(bare)


def replaced(x, other, y=(1, 1)):
    """Two vaults that differ in their second record."""
    return [vault([[0.0] * len(x), z], [1, t], intercept=0.0) for z, t in zip((x, other), y)]


def test_opposite_rows_reject_a_claim_by_two_classes():
    question, *pair, _ = pair_of(ClassSums).worst_pair("replace_one")
    check_never_exceeded(question, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(TwoClassesMove(classes=3, counts=0.5, multiplier=1.0), [pair])


def test_a_change_of_class_rejects_a_claim_by_one():
    pair = replaced([1.0, 0.0], [-1.0, 0.0], (1, -1))
    check_never_exceeded(ClassSums(counts=2.0, multiplier=1.0), [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(OneClassMoves(counts=2.0, multiplier=1.0), [pair])


def test_a_half_is_the_largest_free_weight_where_norms_bind():
    t, a = 0.8, np.sqrt(0.5)
    r = np.sqrt(1.0 - t * t)
    pair = replaced(a * np.array([1.0, -t, r]), a * np.array([-t, 1.0, -r]))
    given = {"counts": 0.0, "squares": 0.9, "cap": a, "multiplier": 1.0}
    check_never_exceeded(ClassSums(**given), [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(FreeAnyway(**given), [pair])


def test_uncut_entries_are_rejected():
    pair = replaced([1.0, 0.0], [-1.0, 0.0])
    given = {"squares": 0.5, "cap": 0.1, "multiplier": 1.0}
    check_never_exceeded(ClassSums(**given), [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(Uncut(**given), [pair])


def test_rows_that_all_count_are_rejected():
    from laws.unit_laws import grouped

    one, other = ([[x, 0.0]] * 3 for x in (1.0, -1.0))
    pair = [
        grouped([(np.array(x), np.ones(3))], 3, "replace_one", intercept=0.0) for x in (one, other)
    ]
    check_never_exceeded(ClassSums(multiplier=1.0), [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(EveryRowCounts(multiplier=1.0), [pair])
