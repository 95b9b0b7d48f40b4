"""Weights that enter wrongly: too heavy, of another row, twice, not at all, or before the cap. A law rejects each."""

from dataclasses import replace

import numpy as np
import pytest
from laws.certificate_laws import check_certificate
from laws.test_certificates import of_units, release, table, vault
from laws.test_units import AVERAGED, relations
from laws.unit_laws import (
    SUMS,
    check_average,
    check_batches_take_units,
    check_units_never_exceed,
    grouped,
    weighted_unit,
)

from skdp.losses import Logistic
from skdp.mechanisms import (
    Count,
    Gradient,
    JointMoments,
    PerturbedObjective,
    Public,
    _records,
)
from skdp.mechanisms._objective import Objective
from skdp.mechanisms._records import Records
from skdp.mechanisms._shrunk import slopes_of
from skdp.mechanisms._units import Units

BY_NAME = {"ids": lambda q: q.__name__}


def _rejected(check, *args, **given):
    with pytest.raises(AssertionError):
        check(*args, **given)


def heavy_unit(rng, most, d, data_norm):
    """A unit whose rows weigh more than one of full weight."""
    X, y, weights = weighted_unit(rng, most, d, data_norm)
    return X, y, 3.0 - weights


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("kind", [q for q in SUMS if q is not Count], **BY_NAME)
def test_weights_above_one_are_rejected(kind, rows, monkeypatch):
    monkeypatch.setattr(_records, "refuse_weights", lambda *_: None)
    for relation in relations(kind):
        _rejected(check_units_never_exceed, kind, relation, rows, unit=heavy_unit)


@pytest.mark.parametrize("kind", AVERAGED, **BY_NAME)
def test_forgotten_weights_are_rejected(kind, monkeypatch):
    monkeypatch.setattr(Records, "shared", lambda self, values: values)
    _rejected(check_average, kind, 1, unit=weighted_unit)


@pytest.mark.parametrize("kind", [Gradient, JointMoments], **BY_NAME)
def test_weights_of_other_rows_are_rejected(kind, monkeypatch):
    """As they stand in the table, where rows are taken unit after unit."""
    sound = _records.units_for

    def in_order(counts, weights, public, begins):
        return sound(counts, None if weights is None else weights[::-1].copy(), public, begins)

    monkeypatch.setattr(_records, "units_for", in_order)
    _rejected(check_average, kind, 3, unit=weighted_unit)


def test_weights_that_enter_twice_in_a_batch_are_rejected(monkeypatch):
    rng = np.random.default_rng(0)
    units = [weighted_unit(rng, 3, 2, 1.0) for _ in range(4)]
    question = Gradient(at=np.ones(3), loss=Logistic(), clip=0.3, multiplier=1.0)
    sound = Units.take

    def squared(self, index):
        rows, taken = sound(self, index)
        return rows, Units(taken.offsets, np.square(taken.weights))

    check_batches_take_units(grouped(units, 3), units, 3, question)
    monkeypatch.setattr(Units, "take", squared)
    _rejected(check_batches_take_units, grouped(units, 3), units, 3, question)


# ------------------------------------------------------------------------------------- minimisers


def _unshared(self, values):
    return values


def _weighed_before_the_cap(self, z):
    slopes = self.shared(slopes_of(self.loss, self.rows.shrink, z, self.y))
    if self.clip is not None:
        cap = self.clip / self.rows.norms
        np.clip(slopes, -cap, cap, out=slopes)
    return slopes


def _once_too_often(self, values):
    if self.share is not None:
        values *= np.square(self.share)
    return values


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "place, twin",
    [("shared", _unshared), ("shared", _once_too_often), ("slopes", _weighed_before_the_cap)],
)
def test_a_minimiser_of_other_weights_is_rejected(place, twin, weighted, monkeypatch):
    rng = np.random.default_rng(1)
    records = of_units(vault(*table("plain", 48, 3, rng)), weighted, rng)
    question = release(PerturbedObjective, Logistic(), records.public, 0.5, clip=0.1)
    check_certificate(question, records)
    monkeypatch.setattr(Objective, place, twin)
    _rejected(check_certificate, question, records)


def test_rounding_of_a_release_is_counted_for_the_rows_of_all_units():
    """A certificate for units that counts their number alone is one that double precision does not reach."""
    given = Public(100_000, 3, 0.25, "replace_one")
    question = release(PerturbedObjective, Logistic(), given, 0.5)
    many, single = replace(given, rows=100), replace(given, n=10_000_000)
    assert question.tolerance(many) == question.tolerance(single)
    assert question.tolerance(many) > 20.0 * question.tolerance(given)
    assert question.output_noise(many) == question.output_noise(single)
