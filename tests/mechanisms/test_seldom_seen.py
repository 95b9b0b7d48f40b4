"""What few questions need: ends of octaves, bounds that are none, wide rows in other coordinates, ends of searches."""

import itertools

import numpy as np
import pytest
from laws.certificate_laws import check_certificate
from laws.test_certificates import release, table, vault

from skdp.losses import Logistic
from skdp.mechanisms import (
    ColumnMoments,
    Coordinates,
    Gradient,
    Mapped,
    Noise,
    Oracle,
    PerturbedObjective,
    Public,
)
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._octaves import bins_of, edges_of, numbers_at, places_of
from skdp.penalties import L1, NoPenalty, ScaledPenalty
from skdp.privacy import Filter, Spec


def test_numbers_lie_between_the_edges_of_their_bin():
    sizes = 10.0 ** np.linspace(-320, 308, 401)
    for x in (sizes, -sizes, np.array([0.0, -0.0, np.finfo(float).max, -np.finfo(float).max])):
        low, high = edges_of(bins_of(places_of(x)))
        assert (low <= high).all() and np.isfinite([low, high]).all()
        tiny = np.abs(x) < np.finfo(float).tiny  # they count as zero
        assert ((low <= x) & (x <= high))[~tiny].all()
        assert (low[tiny] == 0.0).all() and (high[tiny] == 0.0).all()
        wide = (np.abs(x) >= 1e-300) & (np.abs(x) < 1e300)
        nearer, farther = (
            np.minimum(np.abs(low), np.abs(high)),
            np.maximum(np.abs(low), np.abs(high)),
        )
        np.testing.assert_array_equal(farther[wide], 2.0 * nearer[wide])


def test_edges_of_neighbouring_bins_meet_from_end_to_end():
    low, high = edges_of(np.arange(1, 4094))
    met = high[:-1] == low[1:]
    assert (~met).sum() == 2  # beside zero, where numbers below the normal ones would lie
    np.testing.assert_array_equal(low[1:][~met] - high[:-1][~met], np.finfo(float).tiny)
    np.testing.assert_array_equal(low, -high[::-1])
    assert high[-1] == np.finfo(float).max
    np.testing.assert_allclose(numbers_at(places_of(low)), low, rtol=1e-9)


@pytest.mark.parametrize("name", ["low", "high"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bounds_of_columns_that_are_none_are_refused(name, value):
    given = {"low": np.zeros(2), "high": np.ones(2), name: np.array([0.5, value])}
    with pytest.raises(ValueError, match=f"{name} that is not finite"):
        ColumnMoments(multiplier=1.0, **given)


@pytest.mark.parametrize(
    "low, high", [(np.zeros(3), np.ones(2)), (np.zeros(2), np.ones(3)), (np.ones(2), np.zeros(2))]
)
def test_bounds_that_do_not_fit_the_columns_are_refused_before_they_are_paid(low, high):
    public = Public(10, 2, 0.0, "replace_one")
    with pytest.raises(ValueError, match="one bound for each of the 2 columns, with low <= high"):
        ColumnMoments(multiplier=1.0, low=low, high=high).event(public)


def test_an_oracle_says_what_its_answers_rest_on():
    records = vault(*table("plain", 30, 2, np.random.default_rng(0)))
    oracle = Oracle(records, Filter(Spec(5.0, 1e-6), "zcdp"), Noise(seed=0))
    assert oracle.proofs == () == oracle.notes
    oracle.ask(Gradient(at=np.zeros(3), loss=Logistic(), clip=0.5, multiplier=20.0))
    question = release(PerturbedObjective, Logistic(), records.public, 3.0)
    oracle.ask(Gradient(at=np.ones(3), loss=Logistic(), clip=0.5, multiplier=20.0))
    assert oracle.proofs == ("clipped_gradient",) and oracle.notes == ()
    assert question.notes(records.public) and oracle.rests_on() == (oracle.proofs, oracle.notes)


def test_rows_in_wide_coordinates_are_as_near_where_they_only_shape_steps():
    """Above 48 columns curvatures come from products with rough rows, in other coordinates too."""
    rng = np.random.default_rng(1)
    records = vault(*table("plain", 400, 59, rng))
    matrix = np.eye(60) + 0.02 * rng.normal(size=(60, 60))
    inner = PerturbedObjective(
        loss=Logistic(),
        penalty=ScaledPenalty(NoPenalty(), 1.0, False),
        shape=(60,),
        multiplier=2.0,
        strength=0.5,
    )
    check_certificate(Mapped(question=inner, coordinates=Coordinates(matrix)), records)
    rows = MappedRows(records.rows, matrix, records.rows.image_norms(matrix, True))
    w = rng.normal(size=60)
    np.testing.assert_allclose(rows.rough().dot(w), rows.dot(w), rtol=1e-9, atol=1e-12)


def test_composite_minimisers_that_end_at_once_or_by_a_search_are_certified():
    """From all but no penalty to one that leaves nothing, over tables that are easy and hard."""
    rng = np.random.default_rng(2)
    for name, strength in itertools.product(("plain", "equal", "corner"), (1e-6, 0.3, 1e4)):
        records = vault(*table(name, 40, 3, rng))
        question = release(PerturbedObjective, Logistic(), records.public, 0.5, L1(strength))
        check_certificate(question, records)
