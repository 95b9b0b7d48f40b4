"""How far labels can move what is released of a list: all of them, by enumeration."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from laws.listed import labelled, random_list

from skdp import NotSupported
from skdp.losses import BayesRank, ListNet
from skdp.mechanisms import (
    Documents,
    Gradient,
    LabelGradient,
    ListGradient,
    ListTargets,
    Noise,
    Oracle,
    PoissonBatch,
    Public,
    RandomBatch,
    Records,
    SecondMoment,
    price,
)
from skdp.privacy.ledger import Recorder

OTHER = [[0.3, 0.1, 0.0], [0.0, -0.2, 0.4]]
FREE = 1e3  # a clip that scales nothing down


def contributions(question, X, grades=(0, 1, 2)):
    """What the list adds for all labels, beside one that stays what it is."""
    X = np.asarray(X, dtype=float)
    for y in product(grades, repeat=len(X)):
        vault = labelled(np.vstack([OTHER, X]), [2, len(X)], [0, 1, *y])
        yield question.measure(vault), vault.public


def furthest(question, X):
    """The largest move between two labels, and what is claimed."""
    sums, publics = zip(*contributions(question, X))
    sums = np.array(sums)
    moves = np.linalg.norm(sums[:, None] - sums[None], axis=2)
    return moves.max(), question.sensitivity(publics[0])


LISTS = {
    "random": np.random.default_rng(1).normal(size=(4, 3)) / 3.0,
    "one document": [[0.5, 0.5, 0.5]],
    "two documents": [[0.6, 0.0, 0.8], [-0.6, 0.0, 0.0]],
    "all alike": [[0.1, 0.2, 0.3]] * 3,
    "two alike": [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [-0.9, 0.1, 0.0]],
    "beyond the bound": [[30.0, 0.0, 0.0], [0.0, 1e200, 0.0], [0.0, 0.0, -1e-200]],
    "zeros": np.zeros((3, 3)),
}


@pytest.mark.parametrize("name", LISTS)
def test_labels_move_the_targets_by_the_diameter_and_no_further(name):
    moved, claim = furthest(ListTargets(multiplier=1.0), LISTS[name])
    assert moved <= claim * (1 + 1e-12)
    if len(LISTS[name]) > 1 and name not in ("all alike", "zeros"):
        assert moved >= 0.99 * claim or claim <= np.linalg.norm(np.subtract(*OTHER)) + 1e-6


@pytest.mark.parametrize("at", [np.zeros(3), np.array([1.0, -2.0, 0.5]), np.full(3, 1e4)])
@pytest.mark.parametrize("name", LISTS)
def test_labels_move_the_gradient_by_the_widest_pair_and_no_further(name, at):
    wide = LabelGradient(at=at, loss=BayesRank(), clip=FREE, paired=True, multiplier=1.0)
    moved, _ = furthest(wide, LISTS[name])
    vault = labelled(
        np.vstack([OTHER, LISTS[name]]), [2, len(LISTS[name])], [0.0] * (2 + len(LISTS[name]))
    )
    shown = vault.public.documents
    p, _ = shown.lists.softmax(shown.rows.dot(at))
    span = shown.spans(p)[1]
    assert moved <= span and (span < 1e-5 or moved >= 0.99 * span)
    for clip in (span, 0.3 * span, 1e-3 * span):
        moved, claim = furthest(replace(wide, clip=max(clip, 1e-30)), LISTS[name])
        assert moved <= claim and (span < 1e-5 or moved >= 0.99 * claim)


def test_the_pinned_list_of_the_notes():
    """Norms, the widest pair, and what bounds without pairs would claim."""
    X, at = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.5, -0.5])
    shown = Documents.of(X / 2.0, [3], data_norm=1.0)
    p, _ = shown.lists.softmax(X @ at)
    v = p[:, None] * (X - p @ X)
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), [0.267179, 0.178579, 0.165783], atol=5e-7)
    assert 2.0 * shown.spans(p)[0] == pytest.approx(0.423162, abs=5e-7)


def test_bounds_by_norms_hold_each_contribution_of_every_vault():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, _ = random_list(rng, 3, longest=4)
        at = rng.normal(size=3) * 10.0 ** rng.integers(-1, 5)
        question = LabelGradient(at=at, loss=BayesRank(), clip=0.07, multiplier=1.0)
        empty = question.measure(labelled(OTHER, [2], [0, 1]))
        for total, _ in contributions(question, X, (0, 1)):
            assert np.linalg.norm(total - empty) <= question.clip * (1 + 1e-12)


@pytest.mark.parametrize(
    "question",
    [
        ListTargets(multiplier=1.0),
        LabelGradient(at=np.ones(3), loss=BayesRank(), clip=0.1, paired=True, multiplier=1.0),
        LabelGradient(at=np.ones(3), loss=BayesRank(), clip=0.1, multiplier=1.0),
        ListGradient(at=np.ones(3), loss=ListNet(), clip=0.1, multiplier=1.0),
    ],
    ids=lambda q: f"{type(q).__name__}{getattr(q, 'paired', '')}",
)
def test_computed_sums_are_within_their_rounding_of_single_lists(question):
    """Of many lists, also where the vault is read in parts, against lists alone summed exactly."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 40, 600)
    X, y = rng.normal(size=(sizes.sum(), 3)), rng.integers(0, 3, sizes.sum()).astype(float)
    vault, ends = labelled(X, sizes, y, 2.0), np.append(0, np.cumsum(sizes))
    alone = [question.measure(labelled(X[a:b], [b - a], y[a:b], 2.0)) for a, b in pairwise(ends)]
    exact = np.array(alone, dtype=np.longdouble).sum(axis=0)
    off = float(np.linalg.norm(question.measure(vault) - exact))
    assert off <= question.rounding(vault.public)


# ------------------------------------------------------------------------------------- refusals


def vault():
    return labelled(OTHER, [2], [0, 1])


def test_a_vault_of_lists_is_asked_of_lists_only_and_others_of_records_only():
    oracle = Oracle(vault(), Recorder(), Noise(0))
    gradient = Gradient(at=np.zeros(3), loss=ListNet(), clip=1.0, multiplier=1.0)
    for question in (SecondMoment(multiplier=1.0), PoissonBatch(SecondMoment(multiplier=1.0), 0.1)):
        with pytest.raises(NotSupported, match="SecondMoment has no proof for lists of documents"):
            oracle.ask(question)
    with pytest.raises(NotSupported, match=r"ListNet is not registered in skdp\.losses"):
        oracle.ask(gradient)  # it would take all records for one list


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LabelGradient(at=[0.0], loss=ListNet(), clip=1.0, multiplier=1.0), "loss ListNet"),
        (
            lambda: LabelGradient(at=[0.0], loss=BayesRank(kept=False), clip=1.0, multiplier=1.0),
            "kept=True",
        ),
        (lambda: price(ListTargets(multiplier=1.0), whole()), "public documents"),
        (lambda: price(PoissonBatch(ListTargets(multiplier=1.0), 0.1), vault().public), "batch"),
        (lambda: price(RandomBatch(PAIRED, 1), vault().public), "no price on a batch"),
        (lambda: price(PoissonBatch(PAIRED, 0.1), vault().public), "no price on a batch"),
    ],
)
def test_what_has_no_proof_is_refused(make, said):
    with pytest.raises(NotSupported, match=said):
        make()


PAIRED = LabelGradient(at=np.zeros(3), loss=BayesRank(), clip=1.0, paired=True, multiplier=1.0)


def whole():
    return Public(5, 3, 0.0, "replace_one", rows=4, lists="documents")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lists": "names"}, "lists='names' must be"),
        ({"lists": "documents", "weighted": True}, "lists of documents take no weights"),
        ({"lists": "labels", "weighted": True}, "lists of documents take no weights"),
        ({"lists": "labels", "neighbors": "add_remove"}, "needs neighbors='replace_one'"),
        ({"lists": "documents", "documents": Documents.of(np.eye(3), [3], 1.0)}, "only where"),
        (
            {"lists": "labels", "documents": Documents.of(np.eye(3), [3], 1.0), "n": 2},
            "do not match",
        ),
        ({"lists": "labels", "documents": Documents.of(np.eye(3), [3], 1.0), "rows": 2}, "do not"),
        ({"lists": "labels", "documents": Documents.of(np.eye(2), [2], 1.0)}, "do not match"),
    ],
)
def test_public_facts_that_make_no_lists_are_refused(given, said):
    usual = {"n": 1, "n_features": 3, "intercept": 0.0, "neighbors": "replace_one", "rows": 3}
    with pytest.raises(ValueError, match=said):
        Public(**{**usual, **given})


def test_labels_are_admitted_to_the_documents_that_were_declared():
    public = vault().public
    with pytest.raises(ValueError, match=r"Records\.of_labels"):
        Records.admit(np.eye(3)[:2], np.zeros(2), public, 1.0, np.zeros(2, int))
    with pytest.raises(ValueError, match="one label for each of the public documents"):
        Records.of_labels(np.zeros(3), public)
    with pytest.raises(ValueError, match="targets must be finite and at most 31"):
        Records.of_labels(np.array([0.0, np.nan]), public)


def test_long_lists_are_bounded_without_their_pairs():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 3))
    shown = Documents.of(X, [600, 100], data_norm=1.0)
    p, _ = shown.lists.softmax(shown.rows.dot(np.array([3.0, 0.0, -3.0])))
    x = shown.rows.to_dense()
    for j, (a, b) in enumerate([(0, 600), (600, 700)]):
        v = p[a:b, None] * (x[a:b] - p[a:b] @ x[a:b])
        assert np.linalg.norm(v[:, None] - v[None], axis=2).max() <= shown.spans(p)[j]
        assert np.linalg.norm(x[a:b, None] - x[None, a:b], axis=2).max() <= shown.diameter
