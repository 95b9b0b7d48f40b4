"""Rankers for persons with several lists: ids, receipts, replay, routing, refusals."""

import warnings

import numpy as np
import pytest
from rankings import ranker, table
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from skdp import PrivacyWarning
from skdp.audit import Neighbours, fitted, replay
from skdp.preprocessing import RowNormClipper
from skdp.privacy import Ledger
from skdp.ranking import ndcg
from skdp.solvers import GD, SGD

X, Y, QID = table(n=120)
SIZES = np.bincount(QID)
PERSONS = np.arange(120) % 50  # spread over the table
USER = {"privacy_unit": "user", "max_lists_per_user": 2}
FITS = [{**USER, "solver": GD(steps=5)}, {**USER, "solver": SGD(batch_size=20, steps=5)}]


@pytest.mark.parametrize("given", FITS, ids=lambda g: type(g["solver"]).__name__)
def test_ids_of_persons_may_be_given_by_list_or_by_document_and_be_of_any_kind(given):
    one = ranker(**given).fit(X, Y, qid=QID, groups=PERSONS)
    spelled = [f"0{who}" if row % 2 else float(who) for row, who in enumerate(PERSONS.tolist())]
    named = ["a" if who == 7 else who for who in PERSONS.tolist()]  # a word beside numbers
    texts = [f"u{who}" for who in PERSONS]
    for ids in (PERSONS[QID], texts, 10**20 + PERSONS.astype(object), spelled, named):
        other = ranker(**given).fit(X, Y, qid=QID, groups=ids)
        np.testing.assert_array_equal(one.coef_, other.coef_)
    sized = ranker(**given).fit(X, Y, group=SIZES, groups=PERSONS)
    np.testing.assert_array_equal(one.coef_, sized.coef_)


def test_a_receipt_speaks_of_persons_and_counts_them_only_where_that_is_public():
    receipt = ranker(**FITS[0]).fit(X, Y, qid=QID, groups=PERSONS).privacy_
    assert "one person with several lists of documents and their labels" in str(receipt)
    assert "at most the first 2 lists are used, with equal weights" in str(receipt)
    assert receipt.declared["n"] == 50 and receipt.declared["max_lists_per_user"] == 2
    assert receipt.proofs == ("list_gradient", "units") and receipt.epsilon <= 1.0
    assert receipt.script == ranker(**FITS[0]).quote(50, 3).script
    given = {**FITS[0], "neighbors": "add_remove"}
    private = ranker(**given).fit(X, Y, qid=QID, groups=PERSONS).privacy_
    assert "n" not in private.declared and " 50" not in str(private)


def test_one_list_of_each_person_is_what_lists_of_their_own_would_be():
    whole = ranker(solver=GD(steps=5)).fit(X, Y, qid=QID)
    for most in (1, 3):
        given = {**FITS[0], "max_lists_per_user": most}
        found = ranker(**given).fit(X, Y, qid=QID, groups=np.arange(120)[::-1])
        np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-5)  # the lattice differs


@pytest.mark.parametrize("given", FITS, ids=lambda g: type(g["solver"]).__name__)
def test_replay_with_frozen_answers_finds_nothing_of_another_person(given):
    """With other documents and labels, each of them a list of its own: far more lists than are kept."""
    rng, at = np.random.default_rng(3), PERSONS[QID] == 7
    x, y = X.copy(), Y.copy()
    x[at], y[at] = 1e3 * rng.normal(size=(at.sum(), 3)), 2 - Y[at]
    lists, who = np.where(at, 1000 + np.arange(len(QID)), QID), PERSONS[QID]
    pair = Neighbours("one person", (X, Y, QID, None, who), (x, y, lists, None, who), 7)
    found = replay(fitted(ranker(**given, random_state=None)), pair, seed=0)
    assert found.refused is None and found.findings == () and 0.0 < found.moved <= 1.0


@pytest.mark.parametrize("piped", [False, True])
def test_ids_of_persons_travel_through_pipelines_and_to_the_splitter(piped):
    """No person is in two parts, and each fit is told whose lists it sees."""
    ids = PERSONS[QID]
    with config_context(enable_metadata_routing=True):
        inner = ranker(**{**FITS[0], "epsilon": 5.0})
        inner.set_fit_request(qid=True, groups=True).set_score_request(qid=True)
        scorer = make_scorer(ndcg).set_score_request(qid=True) if piped else None
        search = GridSearchCV(
            make_pipeline(RowNormClipper(1.0), inner) if piped else inner,
            {"dpranker__alpha" if piped else "alpha": [0.0, 1.0]},
            cv=GroupKFold(2),
            scoring=scorer,
            error_score="raise",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            search.fit(X, Y, qid=QID, groups=ids)
        best = search.best_estimator_[-1] if piped else search.best_estimator_
        assert best.privacy_.declared["n"] == 50 and search.cv_results_["mean_test_score"].min() > 0
        inner.set_fit_request(groups=None)
        with pytest.raises(ValueError, match=r"\[groups\] are passed but are not explicitly set"):
            inner_of = make_pipeline(RowNormClipper(1.0), inner)
            inner_of.fit(X, Y, qid=QID, groups=ids)


MISSING = PERSONS.astype(float)
MISSING[3] = np.nan
SPLIT = PERSONS[QID].copy()
SPLIT[np.flatnonzero(np.argmax(SIZES) == QID)[0]] += 1
REFUSED = {
    "nobody": (None, {}, "needs groups=, the id of each list's person"),
    "unit": (PERSONS, {"privacy_unit": "list", "max_lists_per_user": None}, "takes no groups="),
    "labels": (
        PERSONS,
        {"privacy_unit": "list_labels", "max_lists_per_user": None},
        "only privacy_unit='user' protects persons, with all of their documents",
    ),
    "bound": (PERSONS, {"max_lists_per_user": None}, "needs a public bound on the lists"),
    "none": (PERSONS, {"max_lists_per_user": 0}, "max_lists_per_user=0 must be a whole number"),
    "other": (PERSONS, {"privacy_unit": "list"}, "other units take none"),
    "length": (PERSONS[:-1], {}, "one id of a person for each document or list"),
    "wide": (PERSONS[:, None], {}, "one id of a person for each document or list"),
    "ragged": ([[1], [2, 3]], {}, "one id of a person for each document or list"),
    "split": (SPLIT, {}, "assigns documents of one list to several persons"),
    "NaN": (MISSING, {}, "missing values, or objects that are neither"),
    "NaN of documents": (MISSING[QID], {}, "missing values, or objects that are neither"),
    "None": ([None, *PERSONS[1:]], {}, "missing values, or objects that are neither"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_says_no_person_of_each_list_is_refused_and_nothing_is_spent_or_shown(name):
    ids, given, said = REFUSED[name]
    ledger = Ledger(2.0, 1e-4)
    with pytest.raises(ValueError, match=said) as caught:
        ranker(**{**USER, **given}, ledger=ledger).fit(X, Y, qid=QID, groups=ids)
    assert ledger.spent == 0.0 and caught.value.__context__ is None
    assert not any(text in str(caught.value) for text in (" 50", "120", str(len(X)), "49"))


@pytest.mark.parametrize("y", [Y[:-1], np.zeros((len(Y), 2, 2)), np.zeros((len(Y), 0))], ids=str)
def test_no_text_shows_how_many_documents_persons_have(y):
    with pytest.raises(ValueError) as refusal:
        ranker(**USER).fit(X, y, qid=QID, groups=PERSONS)
    assert str(len(Y)) not in str(refusal.value) and str(len(Y) - 1) not in str(refusal.value)


def test_no_text_shows_it_of_tables_without_columns():
    with pytest.raises(ValueError) as refusal:
        ranker(**USER).fit(X[:, :0], Y, qid=QID, groups=PERSONS)
    assert str(len(Y)) not in str(refusal.value)


def test_masked_ids_are_none():
    hidden = np.ma.masked_array(PERSONS, mask=PERSONS == 3)
    with pytest.raises(ValueError):
        ranker(**USER).fit(X, Y, qid=QID, groups=hidden)
