"""Units of several rows: every mechanism that claims them is held to it, and so is how they are admitted."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from laws.batch_laws import CASES, check_fixed_price, check_sampled_price
from laws.sensitivity_laws import pair_of
from laws.unit_laws import (
    BATCHES,
    CLAIMING,
    RELEASES,
    SIZES,
    SUMS,
    asked,
    check_average,
    check_batches_take_units,
    check_bend_of_a_unit,
    check_kept,
    check_units_never_exceed,
    check_worst_unit,
    grouped,
    random_unit,
    statistic,
)
from laws.vaults import RELATIONS

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import (
    MECHANISMS,
    AllocatedBatch,
    Coordinates,
    Count,
    Gradient,
    Mapped,
    Noise,
    Oracle,
    PartyGradients,
    PerturbedObjective,
    PoissonBatch,
    Public,
    RandomBatch,
    Records,
    _rows,
    price,
)
from skdp.mechanisms._oracle import pages_and_notes
from skdp.mechanisms._units import Units
from skdp.mechanisms.mapped import images_of
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.privacy import Filter, Spec

COUNT = Count(multiplier=1.0)
AVERAGED = [q for q in SUMS if q not in (Count, PartyGradients)]
ONE_RELATION = {Count: "add_remove", PartyGradients: "replace_one"}
BY_NAME = {"ids": lambda q: q.__name__}


def relations(kind):
    return [r for r in RELATIONS if ONE_RELATION.get(kind, r) == r]


def test_every_mechanism_that_claims_units_is_held_to_it():
    assert {*SUMS, *RELEASES} | {q for q in CLAIMING if q.__name__ in BATCHES} == set(CLAIMING)
    assert len(CLAIMING) >= 10


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", [*SUMS, *RELEASES], **BY_NAME)
def test_the_worst_unit_moves_as_far_as_the_worst_record_and_no_further(kind, rows):
    reached = [check_worst_unit(kind, relation, rows) for relation in RELATIONS]
    assert any(found is not None for found in reached), "refused under both relations"


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", SUMS, **BY_NAME)
def test_random_units_never_exceed_the_claim(kind, rows):
    for relation in relations(kind):
        for intercept in (0.0, 0.25, 1.0):
            if intercept == 0.25 or hasattr(pair_of(kind), "questions"):
                check_units_never_exceed(kind, relation, rows, intercept=intercept)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", AVERAGED, **BY_NAME)
def test_a_unit_contributes_the_average_of_its_rows(kind, rows):
    check_average(kind, rows)


@pytest.mark.parametrize("rows", SIZES)
def test_a_unit_counts_once_also_where_it_has_no_row(rows):
    rng = np.random.default_rng(rows)
    units = [random_unit(rng, 2 * rows, 2, 1.0) for _ in range(5)]
    assert COUNT.measure(grouped(units, rows, rng=rng)) == 5.0
    whole = grouped(units, rows)
    empty = replace(whole, units=Units.of(np.array([0, *np.diff(whole.units.offsets), 0])))
    assert COUNT.measure(empty) == len(empty) == 7.0
    assert COUNT.measure(empty.take(np.array([0, 6, 3]))) == 3.0


@pytest.mark.parametrize("kind", AVERAGED, **BY_NAME)
def test_a_unit_without_a_row_adds_nothing(kind):
    rng = np.random.default_rng(3)
    whole = grouped([random_unit(rng, 3, 2, 1.0) for _ in range(4)], 3)
    counts = np.diff(whole.units.offsets)
    padded = replace(whole, units=Units.of(np.array([0, *counts[:2], 0, *counts[2:], 0])))
    for question in asked(kind, whole.public, rng)[:4]:
        np.testing.assert_array_equal(statistic(question, padded), statistic(question, whole))
        batch = padded.take(np.array([0, 1, 3]))
        alone = padded.take(np.array([1]))
        np.testing.assert_array_equal(statistic(question, batch), statistic(question, alone))


# --------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize("rate", [0.05, 0.5])
@pytest.mark.parametrize("kind", CASES, **BY_NAME)
def test_prices_on_poisson_batches_cover_the_true_delta_of_units(kind, rate):
    for relation in relations(kind):
        for question in CASES[kind]:
            assert check_sampled_price(question, rate, relation, rows=3) > 0.05


def test_prices_on_batches_of_fixed_size_cover_the_true_delta_of_units():
    assert check_fixed_price(CASES[Gradient][1], 1, rows=3) > 0.3


def test_batches_take_units():
    rng = np.random.default_rng(5)
    units = [random_unit(rng, 6, 2, 1.0) for _ in range(4)]
    records = grouped(units, 3, rng=rng)
    for question in asked(Gradient, records.public, rng)[:3]:
        check_batches_take_units(records, units, 3, question)


def test_parts_end_where_units_do_and_leave_none_out(monkeypatch):
    monkeypatch.setattr(_rows, "PART", 1 << 20)
    rng = np.random.default_rng(6)
    units = [(rng.normal(size=(j, 200)), np.ones(j)) for j in rng.integers(1, 300, size=60)]
    records = grouped(units, 1000)
    question = Gradient(at=np.ones(201), loss=Logistic(), clip=0.3, multiplier=1.0)
    parts = list(records.chunks(256))
    assert len(parts) > 3 and sum(len(part) for part in parts) == 60
    for part in parts:
        assert part.units.offsets[0] == 0 and part.units.offsets[-1] == len(part.rows)
    whole, cut = question.measure(records), sum(question.measure(part) for part in parts)
    np.testing.assert_allclose(whole, cut, rtol=1e-12, atol=1e-12)


def test_parties_are_cut_where_units_end_and_nobody_moves_with_a_neighbour():
    rng = np.random.default_rng(7)
    units = [random_unit(rng, 6, 2, 1.0) for _ in range(6)]
    other = [*units[:3], random_unit(rng, 1, 2, 1.0), *units[4:]]
    question = PartyGradients(at=np.ones((3, 3)), loss=Logistic(), clip=0.3, multiplier=1.0)
    one, two = (question.measure(grouped(side, 4, "replace_one")) for side in (units, other))
    np.testing.assert_array_equal(one[[0, 2]], two[[0, 2]])
    assert not np.array_equal(one[1], two[1])


# ------------------------------------------------------------------------------------- admission


def of_ids(ids, rows=2, relation="add_remove", n=None):
    ids = np.asarray(ids)
    X, y = 0.5 * np.eye(2)[np.arange(len(ids)) % 2], np.ones(len(ids))
    return Records.admit(X, y, Public(n, 2, 0.0, relation, rows=rows), 1.0, ids)


@pytest.mark.parametrize("rows", SIZES)
def test_the_first_rows_of_a_unit_are_kept_whoever_else_is_there(rows):
    rng = np.random.default_rng(rows)
    for _ in range(10):
        units = [random_unit(rng, 3 * rows, 2, 1.0) for _ in range(6)]
        check_kept(units, rows, rng)


def test_units_stand_in_the_order_of_their_first_rows_whatever_they_are_called():
    X, y = np.arange(1.0, 6.0)[:, None] / 10, np.ones(5)
    given = Public(3, 1, 0.0, "replace_one", rows=2), 1.0
    for names in (["z", "a", "m"], ["a", "m", "z"], ["z", "m", "a"]):
        ids = np.array([names[u] for u in (0, 1, 0, 2, 1)])
        vault = Records.admit(X, y, *given, ids)
        np.testing.assert_allclose(vault.rows.to_dense()[:, 0], [0.1, 0.3, 0.2, 0.5, 0.4])
        np.testing.assert_array_equal(vault.units.offsets, [0, 2, 4, 5])
        np.testing.assert_array_equal(vault.units.weights[:5], [*[vault.units.weights[0]] * 4, 1.0])


def test_weights_of_a_unit_sum_to_at_most_one_as_computed():
    for count in (1, 2, 3, 7, 10, 49, 1000):
        weights = Units.of(np.array([count])).weights
        assert 1.0 - 1e-15 <= sum(map(Fraction, weights.tolist())) <= 1


def test_one_row_of_each_unit_is_the_vault_of_these_rows_to_the_last_bit():
    rng = np.random.default_rng(0)
    X, y, ids = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], 60), rng.integers(0, 9, 60)
    first = np.sort(np.unique(ids, return_index=True)[1])
    public = Public(9, 3, 0.25, "replace_one")
    question = Gradient(at=np.ones(4), loss=Logistic(), clip=0.3, multiplier=1.0)
    grouped_, alone = (
        Records.admit(X, y, public, 1.0, ids),
        Records.admit(X[first], y[first], public, 1.0),
    )
    assert grouped_.units is None
    np.testing.assert_array_equal(question.measure(grouped_), question.measure(alone))


@pytest.mark.parametrize(
    "ids",
    [
        np.array([0, 1, 1, 0]),
        np.array([7, -3, -3, 7], dtype=np.int8),
        np.array([True, False, False, True]),
        np.array([0.5, -1.0, -1.0, 0.5]),
        np.array(["b", "a", "a", "b"]),
        np.array([b"b", b"a", b"a", b"b"]),
        np.array(["b", "a", "a", "b"], dtype=object),
        np.array([10**30, 1, 1, 10**30], dtype=object),
        np.array(["2020-01-02", "2020-01-01", "2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
        np.ma.array([5, 3, 3, 5]),
    ],
)
def test_ids_of_every_usual_kind_are_taken(ids):
    vault = of_ids(ids)
    np.testing.assert_array_equal(vault.units.offsets, [0, 2, 4])
    np.testing.assert_array_equal(vault.rows.to_dense(), 0.5 * np.eye(2)[[0, 1, 1, 0]])


SECRET = "Alice"


@pytest.mark.parametrize(
    "ids",
    [
        np.array([1.0, np.nan, 2.0, 2.0]),
        np.array([SECRET, None, SECRET, "b"], dtype=object),
        np.array([SECRET, np.nan, SECRET, "b"], dtype=object),
        np.array([SECRET, 7, SECRET, "b"], dtype=object),
        np.array(["2020-01-02", "NaT", "2020-01-02", "2020-01-01"], dtype="datetime64[D]"),
        np.ma.array([4, 5, 6, 6], mask=[0, 1, 0, 0]),
        np.array([SECRET] * 3),
        np.array([[1, 2], [1, 2]]),
        np.array([SECRET] * 5),
        [SECRET] * 4,
        np.array([(1,)] * 4, dtype=[("id", int)]),
    ],
)
def test_ids_that_do_not_say_whose_each_row_is_are_refused_in_one_sentence_without_a_cell(ids):
    X, y = np.ones((4, 2)), np.ones(4)
    with pytest.raises(ValueError, match="groups") as caught:
        Records.admit(X, y, Public(None, 2, 0.0, "add_remove", rows=2), 1.0, ids)
    said = str(caught.value)
    assert SECRET not in said and not any(c.isdigit() for c in said) and said.count(".") == 1
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_no_rows_and_no_ids_are_a_vault_of_no_units():
    vault = of_ids(np.array([], dtype=int))
    assert len(vault) == 0 == len(vault.rows)
    assert len(Records.blank(vault.public)) == 0
    question = Gradient(at=np.ones(2), loss=Logistic(), clip=0.3, multiplier=1.0)
    for none in (vault, Records.blank(vault.public), vault.take(np.array([], dtype=int))):
        np.testing.assert_array_equal(question.measure(none), [0.0, 0.0])


def test_what_was_declared_and_what_is_there_have_to_agree():
    with pytest.raises(ValueError, match="give groups"):
        Records.admit(np.ones((4, 2)), np.ones(4), Public(4, 2, 0.0, "replace_one", rows=2), 1.0)
    with pytest.raises(ValueError, match="n=4 units"):
        of_ids([0, 0, 1, 1], relation="replace_one", n=4)
    assert len(of_ids([0, 0, 1, 1], relation="replace_one", n=2)) == 2
    for wrong in (0, -1, 2.0, True, None):
        with pytest.raises(ValueError, match="rows="):
            Public(4, 2, 0.0, "replace_one", rows=wrong)


def test_cut_units_are_nobodys_business(recwarn):
    many, few = of_ids([0] * 9 + [1]), of_ids([0] * 2 + [1])
    assert len(recwarn) == 0 and repr(many) == repr(few)


# ----------------------------------------------------------------------------------------- price


def test_a_question_without_a_proof_for_units_is_refused_in_one_sentence_wherever_it_is_priced(
    monkeypatch,
):
    vault = of_ids([0, 0, 1, 1], relation="replace_one", n=2)
    oracle = Oracle(vault, Filter(Spec(1.0, 1e-6, "replace_one"), "zcdp"), Noise(0))
    alone = [kind for kind in MECHANISMS if kind.__name__ not in BATCHES]
    for kind in alone:  # all, before any is asked: a file's question may be of another kind in it
        monkeypatch.setattr(kind, "covers_units", False)
    for kind in alone:
        question = COUNT if kind is Count else pair_of(kind).QUESTION
        named = type(question).__name__
        for ask in (oracle.ask, oracle.affords, oracle.share, lambda q: price(q, vault.public)):
            with pytest.raises(NotSupported, match=f"{named} has no proof for units"):
                ask(question)


def test_a_question_inside_another_is_asked_for_its_proof_too(monkeypatch):
    question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.3, multiplier=1.0)
    inside = [
        PoissonBatch(question, 0.5),
        RandomBatch(question, 1),
        AllocatedBatch(question, 2, opens=True),
        Mapped(question=question, coordinates=Coordinates(np.eye(2))),
    ]
    vault = of_ids([0, 0, 1, 1], relation="replace_one", n=2)
    for wrapped in inside:
        price(wrapped, vault.public)
    monkeypatch.setattr(Gradient, "covers_units", False)
    for wrapped in inside:
        with pytest.raises(NotSupported, match="Gradient has no proof for units"):
            price(wrapped, vault.public)


def test_rounding_is_bounded_for_all_rows_and_counts_for_units():
    one, ten = (Public(1000, 2, 0.0, "replace_one", rows=rows) for rows in (1, 10))
    assert (ten.n, ten.most, ten.most_rows, ten.of_rows().most) == (1000, 1000, 10_000, 10_000)
    private = Public(None, 2, 0.0, "add_remove", rows=10)
    assert private.most_rows == private.of_rows().most == 10 * private.most
    assert one.of_rows() is one
    for kind in SUMS:
        for question in asked(kind, one, np.random.default_rng(0)):
            if kind not in (Count, Mapped):
                assert question.rounding(ten) > 9.0 * question.rounding(one)


def test_a_neighbour_with_another_number_of_rows_moves_no_image_of_the_others():
    rng = np.random.default_rng(8)
    units = [(rng.normal(size=(3, 7)) / 3, np.ones(3)) for _ in range(40)]
    other = [(units[0][0][:1], np.ones(1)), *units[1:]]
    coordinates = Coordinates(rng.normal(size=(9, 8)))
    norms = [
        images_of(grouped(side, 3, "replace_one"), coordinates).norms[-117:]
        for side in (units, other)
    ]
    np.testing.assert_array_equal(*norms)


def test_receipts_name_the_page_and_what_is_estimated():
    vault = of_ids([0, 0, 1, 1], relation="replace_one", n=2)
    question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.3, multiplier=1.0)
    pages, notes = pages_and_notes([question], vault.public)
    assert pages == ("clipped_gradient", "units") and "mean over units" in notes[-1]
    assert pages_and_notes([question], replace(vault.public, rows=1)) == (("clipped_gradient",), ())


def bent(kind, d, intercept, strength=0.3):
    """A perturbed objective of so many columns, and a constant one where there is an intercept."""
    return kind(
        loss=Logistic(),
        penalty=ScaledPenalty(NoPenalty(), intercept=intercept > 0),
        shape=(d + (intercept > 0),),
        multiplier=5.0,
        strength=strength,
    )


@pytest.mark.parametrize("intercept", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("d, rows", [(1, 2), (1, 5), (2, 2), (2, 3), (2, 5), (3, 4)])
def test_an_objective_pays_for_all_directions_that_a_unit_can_bend(d, rows, intercept):
    near = check_bend_of_a_unit(bent(PerturbedObjective, d, intercept), rows, d, intercept)
    assert near > 0.75, "units that never come near what is counted show little"
