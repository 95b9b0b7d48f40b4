"""Figures of rankings against scikit-learn, and against the mean over all orders of ties, list by list."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from skdp.ranking import average_precision, ndcg, reciprocal_rank


def lists(seed, n=30, ties=False, grades=3):
    """Random lists of 1 to 9 documents: grades, scores, sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, n)
    scores = rng.integers(0, 3, sizes.sum()) if ties else rng.normal(size=sizes.sum())
    return rng.integers(0, grades, sizes.sum()), scores.astype(float), sizes


def parts(sizes, *columns):
    return zip(*(np.split(column, np.cumsum(sizes)[:-1]) for column in columns))


@pytest.mark.parametrize("k", [None, 1, 2, 4, 8])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("gains", ["linear", "exponential"])
def test_ndcg_is_that_of_scikit_learn(k, ties, gains):
    y, scores, sizes = lists(0, ties=ties)
    worth = y if gains == "linear" else 2.0**y - 1.0
    found = ndcg(y, scores, group=sizes, k=k, gains=gains, average=False)
    for one, gain, score in zip(found, *zip(*parts(sizes, worth, scores))):
        # scikit-learn takes no list of one document.
        wanted = ndcg_score([gain], [score], k=k) if len(gain) > 1 else float(gain[0] > 0)
        assert one == pytest.approx(wanted, abs=1e-12)


def test_average_precision_is_that_of_scikit_learn_without_ties():
    y, scores, sizes = lists(1)
    found = average_precision(y, scores, group=sizes, average=False)
    for one, grade, score in zip(found, *zip(*parts(sizes, y, scores))):
        wanted = average_precision_score(grade > 0, score) if grade.any() else 0.0
        assert one == pytest.approx(wanted, abs=1e-12)


def orders(scores):
    """All orders of documents in which better scores are first."""
    every = permutations(range(len(scores)))
    return [list(o) for o in every if all(scores[a] >= scores[b] for a, b in pairwise(o))]


def precision(grades):
    hits = np.flatnonzero(np.asarray(grades) > 0)
    return np.mean([(i + 1) / (at + 1) for i, at in enumerate(hits)])


def first(grades):
    return 1.0 / (1 + np.flatnonzero(np.asarray(grades) > 0)[0])


@pytest.mark.parametrize(
    ("figure", "of_order"), [(average_precision, precision), (reciprocal_rank, first)]
)
def test_ties_are_the_mean_over_all_their_orders(figure, of_order):
    rng = np.random.default_rng(2)
    for _ in range(40):
        n = int(rng.integers(1, 7))
        y, scores = rng.integers(0, 2, n), rng.integers(0, 2, n).astype(float)
        wanted = np.mean([of_order(y[o]) for o in orders(scores)]) if y.any() else 0.0
        assert figure(y, scores, group=[n]) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("figure", [ndcg, average_precision, reciprocal_rank])
def test_many_lists_at_once_are_the_lists_one_by_one(figure):
    y, scores, sizes = lists(3, ties=True)
    together = figure(y, scores, group=sizes, average=False)
    alone = [figure(a, b, group=[len(a)]) for a, b in parts(sizes, y, scores)]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-13)
    qid = np.repeat(np.arange(len(sizes))[::-1], sizes)
    assert figure(y, scores, qid=qid) == pytest.approx(np.mean(alone), abs=1e-13)


@pytest.mark.parametrize("figure", [ndcg, average_precision, reciprocal_rank])
def test_a_list_without_a_relevant_document_counts_as_said(figure):
    given = {"y": [0, 0, 1], "scores": [1.0, 2.0, 3.0], "group": [2, 1]}
    assert figure(**given) == 0.5 and figure(**given, empty=1.0) == 1.0


def test_ties_broken_by_position_would_be_noticed():
    """Of two equal scores neither is first: a figure that reads the order of the input differs from this."""
    assert average_precision([1, 0], [0.0, 0.0], group=[2]) == 0.75
    assert average_precision([0, 1], [0.0, 0.0], group=[2]) == 0.75
    assert reciprocal_rank([0, 1], [0.0, 0.0], group=[2]) == pytest.approx(0.75)


WRONG = {
    "neither": ({}, "pass qid=, the id of each document's query, or group="),
    "both": ({"qid": [1, 1, 2], "group": [2, 1]}, "one of them"),
    "unsorted": ({"qid": [1, 2, 1]}, "must stand together; sort X, y and qid"),
    "short": ({"qid": [1, 2]}, "one id, a whole number or a string, for each"),
    "floats": ({"qid": [1.0, np.nan, 2.0]}, "missing values or ids of several kinds"),
    "missing": ({"qid": ["a", None, "b"]}, "missing values or ids of several kinds"),
    "sum": ({"group": [2, 2]}, "whose sum is the number of documents"),
    "zero": ({"group": [3, 0]}, "numbers of 1 or more"),
    "fractions": ({"group": [1.5, 1.5]}, "whole numbers"),
    "k": ({"group": [3], "k": 0}, "k=0 must be a whole number of 1 or more"),
    "gains": ({"group": [3], "gains": "cubic"}, "gains='cubic' is not known"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_lists_are_refused_in_a_sentence(name):
    given, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        ndcg([0, 1, 2], [1.0, 2.0, 3.0], **given)


@pytest.mark.parametrize(
    ("y", "scores", "said"),
    [
        ([0, -1], [1.0, 2.0], "negative grade"),
        ([0, np.nan], [1.0, 2.0], "finite numbers"),
        ([0, 1], [1.0, np.inf], "finite numbers"),
        ([0, 1, 1], [1.0, 2.0], "one number for each document"),
        ([0, 40], [1.0, 2.0], "grade above 31"),
        ([], [], "one document at least"),
    ],
)
def test_wrong_columns_are_refused_in_a_sentence(y, scores, said):
    with pytest.raises(ValueError, match=said):
        ndcg(y, scores, group=[len(y)])
