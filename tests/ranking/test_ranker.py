"""The ranker: what it learns, what it says, what it refuses, and that nothing but answers leaves."""

import warnings

import numpy as np
import pytest
from laws.listed import labelled, listed
from laws.runs import Playback, run
from rankings import TRUE, ranker, reference_slopes, table
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from skdp import NotSupported, PrivacyWarning
from skdp.audit import Neighbours, fitted, replay
from skdp.entry import Given
from skdp.fitting.stages import Known
from skdp.losses import LIST_LOSSES, BayesRank, ListNet, Lists
from skdp.mechanisms import LabelGradient, ListGradient
from skdp.preprocessing import RowNormClipper
from skdp.privacy import Ledger, Receipt
from skdp.ranking import ndcg
from skdp.solvers import GD, SGD, Adam

X, Y, QID = table()
SIZES = np.bincount(QID)
LABELS, WHOLE = {"privacy_unit": "list_labels"}, {"privacy_unit": "list"}
QUIET = pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
SHORT = [
    {**LABELS},
    {**LABELS, "loss": "bayesrank", "solver": GD(steps=5)},
    {**LABELS, "loss": "bayesrank", "solver": SGD(batch_size=150, steps=5)},
    {**LABELS, "loss": "listmle", "solver": GD(steps=5)},
    {**WHOLE, "solver": GD(steps=5)},
    {**WHOLE, "loss": "listmle", "solver": SGD(batch_size=150, steps=5)},
    {**WHOLE, "loss": BayesRank(kept=False), "solver": Adam(batch_size=150, steps=5)},
]


def parts(*columns):
    return zip(*(np.split(column, np.cumsum(SIZES)[:-1]) for column in columns))


# ------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("given", [LABELS, WHOLE, {**LABELS, "loss": "bayesrank"}], ids=str)
def test_more_epsilon_ranks_better_and_much_ranks_nearly_as_well_as_the_truth(given):
    test = table(seed=1)
    best = ndcg(test[1], test[0] @ TRUE, qid=test[2], k=10)
    scores = [
        np.mean(
            [
                ranker(**given, epsilon=epsilon, random_state=seed)
                .fit(X, Y, qid=QID)
                .score(test[0], test[1], qid=test[2])
                for seed in range(2)
            ]
        )
        for epsilon in (0.01, 20.0)
    ]
    assert scores[0] < scores[1] and scores[1] > best - 0.02


@QUIET
def test_without_noise_one_shot_is_the_minimiser_of_listnet():
    model = ranker(epsilon=np.inf, alpha=0.5, **LABELS).fit(X, Y, qid=QID)
    lists, loss = Lists(np.append(0, np.cumsum(SIZES))), ListNet()

    def objective(w):
        slopes = loss.slopes(X @ w, Y.astype(float), lists)
        value = loss.values(X @ w, Y.astype(float), lists).sum() + 0.25 * w @ w
        return value, X.T @ slopes + 0.5 * w

    found = minimize(objective, np.zeros(3), jac=True, options={"gtol": 1e-8})
    np.testing.assert_allclose(model.coef_, found.x, atol=1e-5)


@QUIET
@pytest.mark.parametrize("loss", ["listnet", "bayesrank"])
def test_without_noise_gradients_lower_the_objective_towards_its_minimum(loss):
    lists = Lists(np.append(0, np.cumsum(SIZES)))
    values = [
        LIST_LOSSES[loss]()
        .values(
            X
            @ ranker(epsilon=np.inf, loss=loss, solver=GD(steps=steps, clip=10.0))
            .fit(X, Y, qid=QID)
            .coef_,
            Y.astype(float),
            lists,
        )
        .sum()
        for steps in (1, 10, 100, 400)
    ]
    assert values == sorted(values, reverse=True) and values[-1] < values[0] - 1.0


def reference(loss, x, y, w):
    """The gradient of one list."""
    return x.T @ reference_slopes(loss, x @ w, y)


@pytest.mark.parametrize("w", [np.zeros(3), 3.0 * TRUE])
@pytest.mark.parametrize(
    "loss", [*(kind() for kind in LIST_LOSSES.values()), BayesRank(kept=False)], ids=repr
)
def test_unclipped_gradients_are_those_of_a_reference(loss, w):
    wanted = sum(reference(loss, x, y, w) for x, y in parts(X, Y.astype(float)))
    whole = listed(list(parts(X, Y)))
    asked = ListGradient(at=w, loss=loss, clip=1e9, multiplier=0.0)
    np.testing.assert_allclose(asked.measure(whole), wanted, rtol=0, atol=1e-10)
    if loss == BayesRank():
        vault = labelled(X, SIZES, Y)
        for paired in (False, True):
            tight = LabelGradient(at=w, loss=loss, clip=1e9, paired=paired, multiplier=0.0)
            np.testing.assert_allclose(tight.measure(vault), wanted, rtol=0, atol=1e-10)


def test_clipped_gradients_are_those_of_a_reference():
    w, clip = 2.0 * TRUE, 0.05
    each = [reference(ListNet(), x, y, w) for x, y in parts(X, Y.astype(float))]
    wanted = sum(g * min(1.0, clip / np.linalg.norm(g)) for g in each if g.any())
    asked = ListGradient(at=w, loss=ListNet(), clip=clip, multiplier=0.0)
    np.testing.assert_allclose(asked.measure(listed(list(parts(X, Y)))), wanted, atol=1e-10)


# --------------------------------------------------------------------------------------- leaving


@pytest.mark.parametrize("given", SHORT, ids=str)
def test_the_result_is_a_function_of_the_answers(given):
    model = ranker(**given)
    model._check_parameters()
    table, facts = Given(X, Y, qid=QID).close(model, model._reader())
    plan = model._complete(model._plan(facts.n, 3, {}), facts)
    records = table.vault(plan.view(Known()))
    w, answers, budget = run(plan, records)
    again = plan.solver.solve(Playback(plan.public, answers), plan.task, budget)
    assert np.isfinite(w).all() and w.tobytes() == again.tobytes()


LONGEST = int(np.argmax(SIZES))


def neighbours(unit, place=LONGEST):
    """Tables that differ in one list: its labels, or all of it."""
    at = np.flatnonzero(np.equal(QID, place))
    x, y = X.copy(), Y.copy()
    y[at] = np.where(Y[at] == 0, 2, 0)
    if unit == "list":
        x[at] = 1e3 * np.random.default_rng(5).normal(size=(len(at), 3))
    return Neighbours("one list", (X, Y, QID), (x, y, QID), place)


@pytest.mark.parametrize("given", SHORT, ids=str)
def test_replay_with_frozen_answers_finds_nothing_of_a_neighbour(given):
    pair = neighbours(given["privacy_unit"])
    found = replay(fitted(ranker(**given, random_state=None)), pair, seed=0)
    assert found.refused is None and found.findings == () and 0.0 < found.moved <= 1.0


def test_replay_sees_documents_that_were_said_to_be_public():
    found = replay(fitted(ranker(**LABELS, random_state=None)), neighbours("list"))
    assert found.findings


# ------------------------------------------------------------------------------------- receipts


def test_receipts_say_in_plain_words_what_is_protected_and_what_is_public():
    labels = ranker(**LABELS).fit(X, Y, qid=QID).privacy_
    whole = ranker(**WHOLE, max_documents=20).fit(X, Y, qid=QID).privacy_
    assert "one list of labels (the documents are public)" in str(labels)
    assert "all their documents are public, and are not protected" in str(labels)
    assert labels.declared["public_documents"] == len(X) and labels.declared["n"] == 300
    assert "one list of documents with its labels of at most 20 rows" in str(whole)
    assert whole.declared["max_documents"] == 20 and "list_gradient" in whole.proofs
    for receipt in (labels, whole):
        assert receipt.epsilon <= 1.0 and Receipt.from_dict(receipt.to_dict()) == receipt


def test_where_n_is_private_no_receipt_shows_it():
    model = ranker(**WHOLE, neighbors="add_remove", solver=GD(steps=5)).fit(X, Y, qid=QID)
    assert "n" not in model.privacy_.declared and "count" not in model.privacy_.declared


@pytest.mark.parametrize("given", SHORT, ids=str)
def test_a_quote_is_the_receipt_of_a_fit(given):
    quote = ranker(**given).quote(300, 3)
    fit = ranker(**given).fit(X, Y, qid=QID).privacy_
    assert quote.script == fit.script and quote.epsilon == fit.epsilon


def test_ids_and_sizes_are_the_same_lists():
    one = ranker(**LABELS).fit(X, Y, qid=QID)
    other = ranker(**LABELS).fit(X, Y, group=SIZES)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.score(X, Y, qid=QID) == one.score(X, Y, group=SIZES)


# -------------------------------------------------------------------------------------- refusals

BAD = np.where(np.arange(len(Y)) == 3, 1.5, Y)
REFUSED = {
    "no lists": ({"qid": None}, {}, "pass qid=, the id of each document's query, or group="),
    "unsorted": ({"qid": QID[::-1] % 7}, {}, "must stand together; sort X, y and qid by qid"),
    "sum": ({"qid": None, "group": SIZES[:-1]}, {}, "whose sum is the number of documents"),
    "fraction": ({"y": BAD}, {}, "a whole number from 0 to 31"),
    "negative": ({"y": Y - 1}, {}, "a whole number from 0 to 31"),
    "large": ({"y": Y + 31}, {}, "a whole number from 0 to 31"),
    "NaN in y": ({"y": np.where(BAD == 1.5, np.nan, BAD)}, {}, "Input y contains NaN"),
    "NaN in X": ({"X": np.where(X > 0.49, np.nan, X)}, {}, "Input X contains NaN"),
    "text": ({"y": ["good"] * len(Y)}, {}, "y holds text"),
    "unit": ({}, {"privacy_unit": "users"}, "privacy_unit='users' is not known; use 'list',"),
    "loss": ({}, {"loss": "logistic"}, "loss='logistic' is not known; use one of"),
    "solver": ({}, {"solver": "white-gd"}, "solver='white-gd' is not known here; use one of"),
    "k": ({}, {"k": 0}, "k=0 must be a whole number of 1 or more"),
    "data_norm": ({}, {"data_norm": None}, "data_norm"),
    "relation": ({}, {**LABELS, "neighbors": "add_remove"}, "makes lists private"),
    "once": ({}, {"solver": "one-shot"}, "needs loss='listnet' and privacy_unit='list_labels'"),
    "pure": ({}, {"delta": 0.0}, "delta"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused_in_a_sentence_and_nothing_is_spent(name):
    changed, given, said = REFUSED[name]
    ledger = Ledger(2.0, 1e-4)
    fit = {"X": X, "y": Y, "qid": QID} | changed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        with pytest.raises((ValueError, NotSupported), match=said) as caught:
            ranker(**given, ledger=ledger).fit(**fit)
    assert ledger.spent == 0.0 and caught.value.__context__ is None


def test_how_many_documents_there_are_is_told_where_they_are_public_and_nowhere_else():
    """A list that is replaced may bring more documents than it took along."""
    for given, shown in ((LABELS, True), (WHOLE, False)):
        with pytest.raises(ValueError, match="inconsistent lengths") as refusal:
            ranker(**given).fit(X, Y[:-1], qid=QID)
        assert (str(len(X)) in str(refusal.value)) is shown


def test_other_solvers_and_estimators_say_what_they_are_for():
    from skdp import DPLogisticRegression
    from skdp.solvers import WhiteGD

    with pytest.raises(NotSupported, match="no proof for lists of documents; use 'gd'"):
        ranker(solver=WhiteGD()).fit(X, Y, qid=QID)
    with pytest.raises((NotSupported, ValueError), match="one-shot"):
        DPLogisticRegression(data_norm=1.0, solver="one-shot").fit(X, Y > 0)


# --------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("piped", [False, True])
def test_ids_travel_through_pipelines_and_searches(piped):
    """To the ranker's own score, or through a pipeline, whose score takes no ids, to a scorer of ndcg."""
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        inner = ranker(epsilon=5.0, **LABELS)
        inner.set_fit_request(qid=True).set_score_request(qid=True)
        scoring = make_scorer(ndcg).set_score_request(qid=True) if piped else None
        search = GridSearchCV(
            make_pipeline(RowNormClipper(1.0), inner) if piped else inner,
            {"dpranker__epsilon" if piped else "epsilon": [1e-3, 5.0]},
            cv=GroupKFold(3),
            scoring=scoring,
            error_score="raise",
        )
        search.fit(X, Y, qid=QID, groups=QID)
        assert list(search.best_params_.values()) == [5.0]
        assert search.score(X, Y, qid=QID) > 0.8


def test_parameters_of_the_solver_are_set_by_name():
    model = ranker(**LABELS, solver="one-shot")
    assert clone(model).set_params(solver__max_iter=7).solver.max_iter == 7
    assert model.get_params()["solver__max_iter"] == 500
