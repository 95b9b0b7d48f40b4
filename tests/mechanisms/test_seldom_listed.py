"""What vaults of lists, units and sparse rows refuse, and parts of them that are seldom asked for."""

from dataclasses import replace

import numpy as np
import pytest
from laws.listed import labelled, listed
from scipy.sparse import csr_array
from test_minimise import TOLERANCE, explicit_gradient, limits_of, problem
from test_seldom_taken import is_fixed

from skdp import NotSupported
from skdp.losses import BayesRank, Logistic
from skdp.mechanisms import (
    Documents,
    LabelGradient,
    ListGradient,
    ListTargets,
    Public,
    Records,
    SecondMoment,
    _limits,
    number_of_units,
    price,
)
from skdp.mechanisms._exact import drawn
from skdp.mechanisms._limits import Limits
from skdp.mechanisms._minimise import _Point, _Search, minimise
from skdp.mechanisms._oracle import pages_and_notes
from skdp.mechanisms._sparse_rows import SparseRows
from skdp.mechanisms._units import Units
from skdp.penalties import L1, ScaledPenalty

X = np.array([[0.6, 0.0], [0.0, 0.8], [0.3, 0.3]])
SHOWN = Documents.of(X, [2, 1], 1.0)
LABELS = {"rows": 2, "lists": "labels"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"lists": "queries"}, "must be 'labels', 'documents' or None"),
        (
            {"lists": "labels", "neighbors": "add_remove", "n": None},
            "needs neighbors='replace_one'",
        ),
        ({"lists": "documents", "weighted": True}, "lists of documents take no weights"),
        ({"lists": "documents", "documents": SHOWN}, "public only where lists='labels'"),
        ({**LABELS, "documents": SHOWN, "n": 3}, "do not match"),
        ({**LABELS, "documents": SHOWN, "rows": 1}, "do not match"),
        ({**LABELS, "documents": SHOWN, "intercept": 0.25}, "do not match"),
    ],
)
def test_what_makes_no_lists_is_refused(given, sentence):
    told = {"n": 2, "n_features": 2, "intercept": 0.0, "neighbors": "replace_one", **given}
    with pytest.raises(ValueError, match=sentence):
        Public(**told)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_documents_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="documents must be finite"):
        Documents.of(np.array([[bad, 0.0]]), [1], 1.0)


def test_documents_in_public_hands_are_not_admitted_again_nor_labels_without_them():
    public = Public(2, 2, 0.0, "replace_one", documents=SHOWN, **LABELS)
    with pytest.raises(ValueError, match=r"Records\.of_labels"):
        Records.admit(X, np.zeros(3), public, 1.0, np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="one label for each"):
        Records.of_labels(np.zeros(2), public)
    with pytest.raises(ValueError, match="one label for each"):
        Records.of_labels(np.zeros(3), Public(3, 2, 0.0, "replace_one"))


def test_gradients_of_lists_want_losses_of_lists():
    with pytest.raises(NotSupported, match="was given the loss Logistic; give a ListLoss"):
        ListGradient(at=np.zeros(2), loss=Logistic(), clip=1.0, multiplier=1.0)
    with pytest.raises(NotSupported, match=r"BayesRank\(kept=True\) only"):
        LabelGradient(at=np.zeros(2), loss=BayesRank(kept=False), clip=1.0, multiplier=1.0)


def test_a_sum_over_no_list_is_zero():
    vault = listed([(X, np.zeros(3))], "add_remove")
    asked = ListTargets(multiplier=1.0)
    assert not asked.measure(vault.take(np.empty(0, dtype=int))).any()


def test_public_lists_have_their_middle_and_their_scatter():
    rng = np.random.default_rng(0)
    documents, sizes = rng.normal(size=(7, 3)) / 4, [3, 1, 3]
    shown = labelled(documents, sizes, np.zeros(7)).public.documents
    p = np.concatenate([share / share.sum() for share in np.split(rng.random(7), [3, 4])])
    parts = np.split(documents, [3, 4])
    wanted = sum(
        (part - q @ part).T @ ((part - q @ part) * q[:, None])
        for part, q in zip(parts, np.split(p, [3, 4]))
    )
    np.testing.assert_allclose(shown.scatter(p), wanted, atol=1e-15)
    np.testing.assert_allclose(shown.middle, sum(part.mean(axis=0) for part in parts), atol=1e-15)
    w = rng.normal(size=3)
    odds = [np.exp(part @ w) / np.exp(part @ w).sum() for part in parts]
    pulls = [q[:, None] * (part - q @ part) for part, q in zip(parts, odds)]
    apart = max(np.linalg.norm(v[:, None] - v, axis=2).max() for v in pulls)
    even = [np.linalg.norm(part - part.mean(axis=0), axis=1).max() / len(part) for part in parts]
    assert shown.typical == pytest.approx(np.median(even), rel=1e-12)
    assert shown.widest_span(w) == pytest.approx(apart, rel=1e-6)


@pytest.mark.parametrize(
    ("lists", "told"), [("labels", "labels of one list"), ("documents", "one whole list")]
)
def test_a_receipt_of_lists_says_what_neighbours_differ_in(lists, told):
    public = Public(2, 2, 0.0, "replace_one", rows=2, lists=lists)
    pages, notes = pages_and_notes([ListTargets(multiplier=1.0)], public)
    assert told in notes[-1] and pages
    with pytest.raises(NotSupported, match="SecondMoment has no proof for lists of documents"):
        price(SecondMoment(multiplier=1.0), public)


def test_one_class_against_the_rest():
    public = Public(3, 2, 0.0, "replace_one", target_bound=2.0)
    vault = Records.admit(X, np.array([0.0, 2.0, 1.0]), public, 1.0).one_against_rest(2)
    assert vault.y.tolist() == [-1.0, 1.0, -1.0] and vault.public.target_bound == 1.0


class TestUnits:
    def test_every_second_unit(self):
        units = Units.of(np.array([2, 1, 3, 1]))
        rows, taken = units.take(slice(0, 4, 2))
        assert rows.tolist() == [0, 1, 3, 4, 5] and taken.offsets.tolist() == [0, 2, 5]

    def test_rows_that_are_left_keep_their_units(self):
        units = Units.of(np.array([2, 1, 3])).of_rows(np.array([1, 3, 4]))
        assert units.offsets.tolist() == [0, 1, 1, 3]
        assert number_of_units(np.array(["b", "a", "b"]), 3) == 2

    def test_a_part_that_ends_inside_a_unit_waits_for_the_next(self):
        units = Units.of(np.array([3, 1]))
        assert list(units.aligned([slice(0, 1), slice(1, 2), slice(2, 4)])) == [slice(0, 2)]


def test_a_search_without_a_promise_ends_by_a_number(monkeypatch):
    objective = problem(n=60)
    limits = replace(limits_of(objective), promised=False)
    near = minimise(objective, limits, TOLERANCE)
    monkeypatch.setattr(_limits, "PATIENCE", 1)
    first = minimise(objective, limits, TOLERANCE)
    monkeypatch.setattr(_limits, "PATIENCE", 0)
    assert not minimise(objective, limits, TOLERANCE).any()
    assert not minimise(objective, limits, TOLERANCE, ScaledPenalty(L1(2.0))).any()
    size = [np.linalg.norm(explicit_gradient(objective, w)) for w in (near, first, 0.0 * near)]
    assert size[0] < 1e-3 * size[1] < 1e-3 * size[2]


class TestSparse:
    def rows(self, intercept=0.0, data_norm=1.0):
        return SparseRows.bounded(csr_array(X), data_norm, intercept)

    def test_careful_products_without_a_constant(self):
        rows, w = self.rows().in_double(), np.array([1.0, -2.0])
        np.testing.assert_array_equal(rows.careful_dot(w, np.zeros(2)), X @ w)
        high, low = rows.careful_tdot(np.ones(3))
        np.testing.assert_allclose(high + low, X.sum(axis=0), rtol=1e-15)

    def test_tiny_scales_are_folded_in_and_every_other_row_is_taken(self):
        rows = self.rows(data_norm=1e120).in_double()
        np.testing.assert_allclose(1e120 * rows.careful_dot(np.ones(2), np.zeros(2)), X.sum(axis=1))
        assert rows.rough() is rows
        np.testing.assert_array_equal(self.rows().take(slice(0, 3, 2)).to_dense(), X[::2])


class Scant:
    """Bits whose first word is above every multiple of the total."""

    def __init__(self):
        self.words = [b"\xff", b"\x00"]

    def bytes(self, count):
        return self.words.pop(0) * count


def test_a_word_that_would_favour_the_first_is_drawn_again():
    source = Scant()
    assert drawn((1, 2), source) == 0 and not source.words


def test_errors_that_are_bounded_coarsely_only_delay(monkeypatch):
    """The quick bound says nothing: every round asks the careful one."""
    objective = problem(n=60)
    monkeypatch.setattr(Limits, "quick", lambda *given: 1e3)
    w = minimise(objective, limits_of(objective), TOLERANCE)
    assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE


def test_the_last_step_of_all_may_be_the_one_that_meets_the_tolerance(monkeypatch):
    """Certificates of both ends are lost, and so are their promises."""
    objective, penalty = problem(n=60), ScaledPenalty(L1(2.0))
    calls, meets = [], _Point.meets

    def seldom(self, tolerance):
        calls.append(1)
        return len(calls) % 3 == 0 and meets(self, tolerance)

    monkeypatch.setattr(_Point, "meets", seldom)
    monkeypatch.setattr(_Point, "below", lambda self, w: -1.0)
    monkeypatch.setattr(_Search, "_towards", lambda *given: 0.0)
    limits = replace(limits_of(objective), split=True)
    assert is_fixed(objective, penalty, minimise(objective, limits, TOLERANCE, penalty))
