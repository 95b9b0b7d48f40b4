"""Persons with several lists: how far one of them can move a sum, who enters, and what is said of it."""

import warnings
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import pytest
from laws.listed import listed, owned, random_list
from laws.sensitivity_laws import check_never_exceeded, check_tight
from rankings import ranker, table
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from skdp import NotSupported, PrivacyWarning
from skdp.audit import Neighbours, fitted, replay
from skdp.losses import LIST_LOSSES, BayesRank, ListNet
from skdp.mechanisms import (
    Count,
    LabelGradient,
    ListGradient,
    ListTargets,
    Noise,
    Oracle,
    PoissonBatch,
    Public,
    Records,
    price,
)
from skdp.mechanisms._listed import lists_of, shares_of
from skdp.preprocessing import RowNormClipper
from skdp.privacy import Ledger
from skdp.privacy.ledger import Recorder
from skdp.ranking import ndcg
from skdp.solvers import GD, SGD

RELATIONS = ("replace_one", "add_remove")
LOSSES = [*(kind() for kind in LIST_LOSSES.values()), BayesRank(kept=False)]
OPPOSITE = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
GOOD, BAD = (OPPOSITE, np.array([1.0, 0.0])), (OPPOSITE, np.array([0.0, 1.0]))


def question(loss=None, at=None, clip=0.3):
    return ListGradient(
        at=np.zeros(3) if at is None else at, loss=loss or ListNet(), clip=clip, multiplier=1.0
    )


def person(rng, most=5):
    """Several lists, often all alike."""
    lists = [random_list(rng, 3) for _ in range(int(rng.integers(1, most + 1)))]
    return [lists[0]] * len(lists) if rng.random() < 0.3 else lists


def neighbours(seed, relation, each):
    """Persons of whom one is another, with other lists and as many as may be; or is gone."""
    rng = np.random.default_rng([seed, each])
    persons = [person(rng) for _ in range(int(rng.integers(2, 5)))]
    other, place = list(persons), int(rng.integers(len(persons)))
    if relation == "replace_one":
        other[place] = person(rng)
    else:
        del other[place]
    return [owned(who, each, 4, relation, np.random.default_rng(seed)) for who in (persons, other)]


# ----------------------------------------------------------------------------------- sensitivity


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("each", [1, 2, 5])
def test_a_person_never_moves_the_sum_beyond_the_claim(relation, each):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        pair = neighbours(seed, relation, each)
        for loss in LOSSES:
            at = rng.normal(size=3) * 10.0 ** rng.integers(-2, 5)
            check_never_exceeded(question(loss, at, 10.0 ** rng.integers(-4, 1)), [pair])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("each", [1, 2, 5])
def test_the_worst_person_reaches_the_claim_with_any_number_of_lists(relation, each):
    for count in (1, each):
        persons = [[GOOD, BAD], [GOOD] * count]
        other = persons[:1] + ([[BAD] * each] if relation == "replace_one" else [])
        vaults = [owned(who, each, 2, relation) for who in (persons, other)]
        asked = question()
        check_tight(asked, *vaults, asked.sensitivity(vaults[0].public))


@dataclass(frozen=True, eq=False, kw_only=True)
class SumsThePerson(ListGradient):
    """Each list is clipped, and a person's lists are added: he counts for as many clips as he has lists."""

    def _clipped(self, records):
        lists = lists_of(records)
        ends = lists.offsets
        x, y = records.rows.to_dense(), records.y
        return sum(
            super(SumsThePerson, self)._clipped(listed([(x[a:b], y[a:b])]))
            for a, b in pairwise(ends)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsAllLists(ListGradient):
    """A person's lists have the weight that all lists have: who has few of them counts for little, others for more."""

    def _clipped(self, records):
        return super()._clipped(records) * len(records) / 1.5


@pytest.mark.parametrize("twin", [SumsThePerson, CountsAllLists])
def test_a_twin_in_which_a_person_counts_more_than_once_is_rejected(twin):
    sound = question()
    broken = twin(**{f.name: getattr(sound, f.name) for f in fields(sound)})
    pair = [owned(who, 3, 2) for who in ([[GOOD], [GOOD] * 3], [[GOOD], [BAD] * 3])]
    check_never_exceeded(sound, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken, [pair])


# ---------------------------------------------------------------------------------- who enters


@pytest.mark.parametrize("each", [1, 2, 5])
def test_a_person_contributes_the_average_of_the_first_lists(each):
    """Wherever these stand in the table, whatever ids they have, and whoever uses the same ids."""
    for seed in range(20):
        rng = np.random.default_rng([seed, each])
        persons = [person(rng) for _ in range(4)]
        vault = owned(persons, each, 3, rng=rng, shared=(0, 2))
        at = rng.normal(size=3)
        asked = question(at=at)
        wanted = sum(
            np.mean([asked.measure(listed([(X[:3], y[:3])])) for X, y in who[:each]], axis=0)
            for who in persons
        )
        np.testing.assert_allclose(asked.measure(vault), wanted, rtol=0, atol=1e-12)
        assert len(vault) == 4 and Count(multiplier=1.0).measure(vault) == 4.0
        shares = shares_of(vault, lists_of(vault))
        assert shares.sum() == pytest.approx(4.0, abs=1e-12)
        assert lists_of(vault).sizes.max() <= 3


def test_batches_draw_persons_with_all_of_their_lists():
    rng = np.random.default_rng(1)
    persons = [person(rng) for _ in range(6)]
    vault, asked = owned(persons, 3, 6, rng=rng), question(at=np.ones(3))
    for index in (np.array([4, 1]), slice(2, 5), np.array([], dtype=int)):
        batch = vault.take(index)
        chosen = [persons[i] for i in np.arange(6)[index]]
        wanted = asked.measure(owned(chosen, 3, 6)) if chosen else np.zeros(3)
        np.testing.assert_allclose(asked.measure(batch), wanted, rtol=0, atol=1e-12)


def test_sums_in_parts_are_within_their_rounding_of_single_persons():
    rng = np.random.default_rng(2)
    persons = [person(rng) for _ in range(300)]
    vault, asked = owned(persons, 3, 6, rng=rng), question(at=np.ones(3), clip=0.05)
    alone = [asked.measure(owned([who], 3, 6)) for who in persons]
    exact = np.array(alone, dtype=np.longdouble).sum(axis=0)
    assert np.linalg.norm(asked.measure(vault) - exact) <= asked.rounding(vault.public)


# ----------------------------------------------------------------------------------- refusals


def test_what_has_no_proof_for_persons_is_refused():
    vault = owned([[GOOD], [BAD]], 2, 2)
    for asked in (
        LabelGradient(at=np.zeros(3), loss=BayesRank(), clip=1.0, multiplier=1.0),
        ListTargets(multiplier=1.0),
    ):
        for one in (asked, PoissonBatch(asked, 0.5)):
            with pytest.raises(NotSupported, match="no proof for units of several lists"):
                price(one, vault.public)
            with pytest.raises(NotSupported, match="no proof for units of several lists"):
                Oracle(vault, Recorder(), Noise(0)).ask(one)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lists_each": 2, "lists": "labels"}, "only where lists='documents'"),
        ({"lists_each": 2, "lists": None}, "only where lists='documents'"),
        ({"lists_each": 4}, "lists_each=4 must be 0, or a whole number that divides rows"),
        ({"lists_each": -1}, "lists_each=-1 must be"),
        ({"lists_each": 2.0}, r"lists_each=2\.0 must be"),
    ],
)
def test_public_facts_that_make_no_persons_are_refused(given, said):
    usual = {"n": 2, "n_features": 3, "intercept": 0.0, "neighbors": "replace_one", "rows": 6}
    with pytest.raises(ValueError, match=said):
        Public(**{**usual, "lists": "documents", **given})


def test_a_vault_of_persons_wants_lists_and_no_other_does():
    x, y, who = np.zeros((2, 3)), np.zeros(2), np.array([0, 1])
    facts = {"n": 2, "n_features": 3, "intercept": 0.0, "neighbors": "replace_one", "rows": 2}
    persons = Public(**facts, lists="documents", lists_each=1)
    with pytest.raises(ValueError, match="give lists, the id of each row's list"):
        Records.admit(x, y, persons, 1.0, who)
    with pytest.raises(ValueError, match="give lists, the id of each row's list"):
        Records.admit(x, y, Public(**facts, lists="documents"), 1.0, who, lists=who)
    with pytest.raises(ValueError, match="groups must be an array of one id for each row"):
        Records.admit(x, y, persons, 1.0, who, lists=who[:1])


# ------------------------------------------------------------------------------------ the ranker

X, Y, QID = table(n=120)
SIZES = np.bincount(QID)
PERSONS = np.arange(120) % 50  # spread over the table
USER = {"privacy_unit": "user", "max_lists_per_user": 2}
FITS = [{**USER, "solver": GD(steps=5)}, {**USER, "solver": SGD(batch_size=20, steps=5)}]


@pytest.mark.parametrize("given", FITS, ids=lambda g: type(g["solver"]).__name__)
def test_ids_of_persons_may_be_given_by_list_or_by_document_and_be_of_any_kind(given):
    one = ranker(**given).fit(X, Y, qid=QID, groups=PERSONS)
    for ids in (PERSONS[QID], [f"u{who}" for who in PERSONS], 10**20 + PERSONS.astype(object)):
        other = ranker(**given).fit(X, Y, qid=QID, groups=ids)
        np.testing.assert_array_equal(one.coef_, other.coef_)
    sized = ranker(**given).fit(X, Y, group=SIZES, groups=PERSONS)
    np.testing.assert_array_equal(one.coef_, sized.coef_)


def test_a_receipt_speaks_of_persons_and_counts_them_only_where_that_is_public():
    receipt = ranker(**FITS[0]).fit(X, Y, qid=QID, groups=PERSONS).privacy_
    assert "one person with several lists of documents and their labels" in str(receipt)
    assert "of which the first 2 at most enter with equal weights" in str(receipt)
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
    "other": (PERSONS, {"privacy_unit": "list"}, "no other takes one"),
    "length": (PERSONS[:-1], {}, "one id of a person for each document or list"),
    "wide": (PERSONS[:, None], {}, "one id of a person for each document or list"),
    "ragged": ([[1], [2, 3]], {}, "one id of a person for each document or list"),
    "split": (SPLIT, {}, "gives documents of one list to several persons"),
    "NaN": (MISSING, {}, "missing values, or objects that are neither"),
    "NaN of documents": (MISSING[QID], {}, "missing values, or objects that are neither"),
    "None": ([None, *PERSONS[1:]], {}, "missing values, or objects that are neither"),
    "kinds": (["a", *PERSONS[1:].tolist()], {}, "missing values, or objects that are neither"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_says_no_person_of_each_list_is_refused_and_nothing_is_spent_or_shown(name):
    ids, given, said = REFUSED[name]
    ledger = Ledger(2.0, 1e-4)
    with pytest.raises(ValueError, match=said) as caught:
        ranker(**{**USER, **given}, ledger=ledger).fit(X, Y, qid=QID, groups=ids)
    assert ledger.spent == 0.0 and caught.value.__context__ is None
    assert not any(text in str(caught.value) for text in (" 50", "120", str(len(X)), "49"))
