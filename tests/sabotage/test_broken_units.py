"""Vaults and mechanisms that treat units of several rows wrongly: the law that is there for it must reject each."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.test_units import AVERAGED, bent, relations
from laws.unit_laws import (
    SUMS,
    check_average,
    check_batches_take_units,
    check_bend_of_a_unit,
    check_kept,
    check_units_never_exceed,
    grouped,
    random_unit,
)

from skdp.losses import Logistic
from skdp.mechanisms import Count, Gradient, PerturbedObjective, _records
from skdp.mechanisms._records import Records
from skdp.mechanisms._units import Units, kept_rows

BY_NAME = {"ids": lambda q: q.__name__}


def _rejected(check, *args, **given):
    with pytest.raises(AssertionError):
        check(*args, **given)


def _units(seed, rows=3, count=5):
    rng = np.random.default_rng(seed)
    return [random_unit(rng, 2 * rows, 2, 1.0) for _ in range(count)], rng


@pytest.mark.parametrize("kind", [q for q in SUMS if q is not Count], **BY_NAME)
def test_forgotten_weights_are_rejected(kind, monkeypatch):
    monkeypatch.setattr(Records, "shared", lambda self, values: values)
    for relation in relations(kind):
        _rejected(check_units_never_exceed, kind, relation, 3)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipOfTheSum(Gradient):
    """Clips the average of a unit instead of its rows: within the bound, and no gradient of a convex function."""

    def _clipped(self, records):
        total = 0.0
        for u in range(len(records)):
            one = records.take(np.array([u]))
            slopes = self.loss.dz(one.rows.dot(self.at), one.y) * one.units.weights
            mean = one.rows.tdot(slopes)
            total = total + mean * min(1.0, self.clip / max(np.linalg.norm(mean), 1e-300))
        return total


def _twins(kind, public, rng):
    return [kind(at=np.ones(public.width), loss=Logistic(), clip=0.1, multiplier=1.0)]


def test_a_clip_of_the_sum_is_rejected_though_it_keeps_the_bound():
    check_average(Gradient, 3, made=_twins)
    check_units_never_exceed(ClipOfTheSum, "replace_one", 3, made=_twins)
    _rejected(check_average, ClipOfTheSum, 3, made=_twins)


@dataclass(frozen=True, eq=False, kw_only=True)
class DividesTwice(Gradient):
    """Divides by the number of rows again."""

    def _clipped(self, records):
        return super()._clipped(records) / max(1, len(records.rows)) * len(records)


def test_a_second_division_is_rejected():
    _rejected(check_average, DividesTwice, 3, made=_twins)


def test_offsets_off_by_one_are_rejected(monkeypatch):
    units, rng = _units(1)
    question = Gradient(at=np.ones(3), loss=Logistic(), clip=0.3, multiplier=1.0)
    check_batches_take_units(grouped(units, 3, rng=rng), units, 3, question)
    sound = Units.of

    def shifted(counts):
        made = sound(counts)
        offsets = made.offsets.copy()
        offsets[1:-1] -= 1
        return Units(offsets, made.weights)

    monkeypatch.setattr(Units, "of", staticmethod(shifted))
    _rejected(check_batches_take_units, grouped(units, 3, rng=rng), units, 3, question)


def _with(monkeypatch, kept):
    monkeypatch.setattr(_records, "kept_rows", kept)


def test_a_unit_of_more_rows_than_declared_is_rejected(monkeypatch):
    units, rng = _units(2)
    check_kept(units, 3, rng)
    _with(monkeypatch, lambda groups, n, most: kept_rows(groups, n, most + 1))
    _rejected(check_kept, units, 3, rng)


def test_units_that_are_sorted_by_their_ids_are_rejected(monkeypatch):
    units, rng = _units(3)
    check_kept(units, 3, rng)

    def by_name(groups, n, most):
        order = np.argsort(groups, kind="stable")
        _, counts = np.unique(groups, return_counts=True)
        within = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
        return order[within < most], np.minimum(counts, most)

    _with(monkeypatch, by_name)
    _rejected(check_kept, units, 3, rng)


def test_a_selection_from_one_stream_for_all_is_rejected(monkeypatch):
    units, rng = _units(4)

    def drawn(groups, n, most):
        order = np.random.default_rng(0).permutation(n)
        index, counts = kept_rows(groups[order], n, most)
        return order[index], counts

    _with(monkeypatch, drawn)
    _rejected(check_kept, units, 3, rng)


def test_weights_that_sum_to_more_than_one_are_rejected(monkeypatch):
    sound = Units.of

    def heavy(counts):
        made = sound(counts)
        return Units(made.offsets, np.where(made.weights < 1.0, made.weights * (1.0 + 1e-6), 1.0))

    monkeypatch.setattr(Units, "of", staticmethod(heavy))
    for kind in AVERAGED:
        _rejected(check_average, kind, 3)


@dataclass(frozen=True, eq=False, kw_only=True)
class WithoutTheConstant(PerturbedObjective):
    """Counts the directions of the features alone, in which a unit can bend the objective."""

    def event(self, public):
        return replace(super().event(public), width=public.n_features)


def test_a_direction_that_is_not_counted_is_found():
    check_bend_of_a_unit(bent(WithoutTheConstant, 1, 0.0), 2, 1, 0.0)  # sound where there is none
    for d, rows in ((1, 2), (1, 5), (2, 3)):
        _rejected(check_bend_of_a_unit, bent(WithoutTheConstant, d, 1.0), rows, d, 1.0)
