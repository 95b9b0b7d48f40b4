"""Rows with weights of their own: what claims them is held to it, what does not is refused, and none is above 1."""

from dataclasses import replace

import numpy as np
import pytest
from laws.sensitivity_laws import pair_of
from laws.test_units import AVERAGED, relations
from laws.unit_laws import (
    BATCHES,
    SUMS,
    asked,
    check_average,
    check_batches_take_units,
    check_units_never_exceed,
    grouped,
    statistic,
    weighted_unit,
)
from laws.vaults import RELATIONS, vault

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import (
    MECHANISMS,
    Count,
    Gradient,
    PoissonBatch,
    Public,
    RandomBatch,
    Records,
    price,
)
from skdp.mechanisms._oracle import pages_and_notes

BY_NAME = {"ids": lambda q: q.__name__}
# Lists of documents have no weights of their own and are asked by questions of lists alone.
ALL = sorted(MECHANISMS, key=lambda q: q.__name__)
WITHOUT = [q for q in ALL if not (q.covers_units or q.of_lists or q.__name__ in BATCHES)]
SIZES = (1, 3)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", AVERAGED, **BY_NAME)
def test_a_row_contributes_its_weight_of_what_it_gives_alone(kind, rows):
    check_average(kind, rows, seeds=range(8), unit=weighted_unit)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", SUMS, **BY_NAME)
def test_random_weighted_units_never_exceed_the_claim(kind, rows):
    for relation in relations(kind):
        check_units_never_exceed(kind, relation, rows, seeds=range(15), unit=weighted_unit)


@pytest.mark.parametrize("kind", AVERAGED, **BY_NAME)
def test_weights_of_one_are_none_and_weights_of_zero_leave_nothing(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.choice([-1.0, 1.0], 40)
    plain = vault(X, y, "add_remove")
    public = replace(plain.public, weighted=True)
    for weight, wanted in ((1.0, plain), (0.0, plain.take(slice(0, 0)))):
        weighted = Records.admit(X, y, public, 1.0, None, np.full(40, weight))
        for question in asked(kind, plain.public, rng)[:6]:
            found, exact = statistic(question, weighted), statistic(question, wanted)
            np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_weighted_record_moves_a_sum_by_its_share_of_the_clip(weight):
    question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.25, multiplier=1.0)
    X, y, weights = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.ones(3), np.ones(3)
    weights[1] = weight
    public = Public(None, 2, 0.0, "add_remove", weighted=True)
    whole, without = (
        Records.admit(X[keep], y[keep], public, 1.0, None, weights[keep])
        for keep in ([0, 1, 2], [0, 2])
    )
    moved = question.measure(whole) - question.measure(without)
    assert np.linalg.norm(moved) == pytest.approx(0.25 * weight, rel=1e-9)


def test_a_record_counts_once_whatever_it_weighs():
    units = [weighted_unit(np.random.default_rng(1), 3, 2, 1.0) for _ in range(5)]
    assert Count(multiplier=1.0).measure(grouped(units, 3)) == 5.0


def test_batches_take_weights_with_their_rows():
    rng = np.random.default_rng(2)
    for rows in SIZES:
        units = [weighted_unit(rng, 2 * rows, 2, 1.0) for _ in range(4)]
        records = grouped(units, rows, rng=rng)
        for question in asked(Gradient, records.public, rng)[:3]:
            check_batches_take_units(records, units, rows, question)


def test_weights_of_rows_that_are_persons_of_one_row_are_the_same_with_and_without_groups():
    rng = np.random.default_rng(3)
    X, y, a = rng.normal(size=(30, 2)), rng.choice([-1.0, 1.0], 30), rng.random(30)
    public = Public(30, 2, 0.25, "replace_one", weighted=True)
    question = Gradient(at=np.ones(3), loss=Logistic(), clip=0.3, multiplier=1.0)
    owners = rng.permutation(30)
    one, other = (Records.admit(X, y, public, 1.0, ids, a) for ids in (None, owners))
    np.testing.assert_array_equal(question.measure(one), question.measure(other))


# ----------------------------------------------------------------------------------------- price


@pytest.mark.parametrize("kind", [q for q in SUMS if q is not Count], **BY_NAME)
def test_weights_cost_nothing_and_receipts_tell_of_them(kind):
    relation = relations(kind)[0]
    question, records, *_ = pair_of(kind).worst_pair(relation)
    weighted = replace(records.public, weighted=True)
    assert price(question, weighted) == price(question, records.public)
    pages, notes = pages_and_notes([question], weighted)
    assert "units" in pages and "each row has a weight of its own" in notes[-1]


@pytest.mark.parametrize("kind", WITHOUT, **BY_NAME)
def test_what_has_no_proof_for_weights_is_refused(kind):
    refused = 0
    for relation in RELATIONS:
        try:
            question, records, *_ = pair_of(kind).worst_pair(relation)
        except NotSupported:
            continue
        weighted = replace(records.public, weighted=True)
        price(question, records.public)
        with pytest.raises(NotSupported, match="has no proof for weighted records"):
            price(question, weighted)
        refused += 1
    assert refused


def test_what_is_asked_of_a_batch_is_asked_for_its_proof_too(monkeypatch):
    question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.3, multiplier=1.0)
    weighted = Public(4, 2, 0.0, "replace_one", weighted=True)
    batches = PoissonBatch(question, 0.5), RandomBatch(question, 1)
    for batch in batches:
        price(batch, weighted)
    monkeypatch.setattr(Gradient, "covers_units", False)
    for batch in batches:
        with pytest.raises(NotSupported, match="Gradient has no proof for weighted records"):
            price(batch, weighted)


# ------------------------------------------------------------------------------------- admission

SECRET = 0.8675309


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([SECRET, 1.0 + 1e-9, 1.0]),
        np.array([SECRET, -1e-9, 1.0]),
        np.array([SECRET, np.nan, 1.0]),
        np.array([SECRET, np.inf, 1.0]),
        np.array([SECRET, 1.0]),
        np.array([[SECRET], [1.0], [1.0]]),
        np.array([SECRET, 1.0, 1.0], dtype=np.float32),
        np.array([1, 0, 1]),
        np.ma.array([SECRET, 1.0, 1.0]),
        [SECRET, 1.0, 1.0],
        np.array([SECRET, 1.0, 1.0], dtype=object),
    ],
    ids=lambda w: f"{type(w).__name__}",
)
def test_a_vault_admits_no_weight_beyond_one_and_nothing_but_plain_numbers(wrong):
    with pytest.raises(ValueError, match=r"one number in \[0, 1\] for each row") as caught:
        _admitted(wrong)
    assert "867" not in str(caught.value) and caught.value.__context__ is None


def test_weights_and_their_declaration_come_together():
    with pytest.raises(ValueError, match="weighted=True was declared; give weights"):
        _admitted(None)
    with pytest.raises(ValueError, match="weighted=False was declared"):
        _admitted(np.ones(3), weighted=False)
    for wrong in (1, None, "yes"):
        with pytest.raises(ValueError, match="weighted="):
            Public(3, 2, 0.0, "replace_one", weighted=wrong)


def _admitted(weights, weighted=True):
    public = Public(3, 2, 0.0, "replace_one", weighted=weighted)
    return Records.admit(0.5 * np.ones((3, 2)), np.ones(3), public, 1.0, None, weights)
