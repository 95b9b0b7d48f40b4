"""Mixtures of a linear model and a network: weights by paid counts, one script, and nothing else leaves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from skdp import DPTableClassifier, DPTableRegressor, NotSupported
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.entry import Rows, ScorePairs, Table
from skdp.fitting._calibration import bin_edges
from skdp.fitting._mixture import BINS, ScoreGrid, weigh_scores
from skdp.mechanisms import CellCounts, Public
from skdp.preprocessing._random_features import PER_FEATURE
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_mu
from skdp.solvers import WhiteGD
from skdp.tabular._choice import COUNTS_SHARE, NETWORK_SHARE, MixedLogistic, choose_model

N = 6000
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (N, 3))
PRODUCT = (RNG.logistic(size=N) < 8.0 * X[:, 0] * X[:, 1] + X[:, 2]).astype(int)
SUM = (RNG.logistic(size=N) < 3.0 * X[:, 0] - 2.0 * X[:, 2]).astype(int)


def model(epsilon=4.0, **given):
    declared = {"model": "mixture", "classes": [0, 1], "random_state": 0}
    return DPTableClassifier((-1, 1), epsilon=epsilon, **{**declared, **given})


# --- Weights of counts -----------------------------------------------------------------------------------------------


def counted(weights, shift, n=200_000, rubbish=False):
    """Counts of records whose labels follow a logistic model of two correlated scores, and the scores."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(2, n))
    scores[1] = scores[1] if rubbish else 0.6 * scores[0] + 0.8 * scores[1]
    scores *= 1.5
    y = rng.random(n) < expit(np.array(weights) @ scores + shift)
    bins = np.searchsorted(bin_edges(BINS), scores)
    cells = 2 * (BINS * bins[0] + bins[1]) + y
    return np.bincount(cells, minlength=2 * BINS**2).reshape(BINS, BINS, 2), scores, y


@pytest.mark.parametrize("weights", [(0.5, 0.7), (1.2, 0.2), (0.1, 1.0)])
@pytest.mark.parametrize("shift", [0.0, -1.5])
def test_weights_are_those_of_the_likelihood(weights, shift):
    counts, scores, y = counted(weights, shift)
    exact = LogisticRegression(C=np.inf).fit(scores.T, y)
    wanted = [*exact.coef_[0], *exact.intercept_]
    assert_allclose(weigh_scores(counts, 0.0), wanted, atol=0.08)
    # Beside noise they are as good a model: the mean loss is hardly more.
    rng, both = np.random.default_rng(2), np.vstack([scores, np.ones(len(y))])
    loss = [
        np.logaddexp(0.0, np.where(y, -1.0, 1.0) * (np.array(found) @ both)).mean()
        for found in (weigh_scores(counts + 150.0 * rng.normal(size=counts.shape), 150.0), wanted)
    ]
    assert loss[0] - loss[1] < 0.002


def test_ties_go_to_the_linear_model_and_what_tells_nothing_is_left_out():
    rng, kept = np.random.default_rng(3), []
    useless, *_ = counted((1.0, 0.0), 0.0, rubbish=True)
    for noise in (50.0, 400.0):
        found = [
            weigh_scores(useless + noise * rng.normal(size=useless.shape), noise) for _ in range(40)
        ]
        kept.append(np.mean([one.second > 0.0 for one in found]))
        assert all(one.first > 0.5 and abs(one.second) < 0.3 for one in found)
    assert max(kept) < 0.35  # one deviation: a sixth is expected, and never a negative weight
    other, *_ = counted((0.0, 1.0), 0.0, rubbish=True)
    found = weigh_scores(other + 50.0 * rng.normal(size=other.shape), 50.0)
    assert found.second == pytest.approx(1.0, abs=0.1) and found.first < 0.1


@pytest.mark.parametrize("noise", [0.0, 1.0, 1e300])
@pytest.mark.parametrize("fill", [0.0, -1e9, 1e9, 1e300])
def test_any_answer_has_weights(fill, noise):
    counts = np.full((BINS, BINS, 2), fill)
    counts[3] = 7.0
    with np.errstate(all="ignore"):
        found = weigh_scores(counts, noise)
    assert np.isfinite(found).all() and found.first >= 0.0 and found.second >= 0.0
    assert found.first + found.second > 0.0


# --- Fits ------------------------------------------------------------------------------------------------------------


def test_scores_add_up_and_products_are_seen():
    """A sum of curves knows nothing of a product; the network does, and the counts say so."""
    fit, curves = model(20.0).fit(X, PRODUCT), model(20.0, model="curves").fit(X, PRODUCT)
    assert type(fit.model_) is MixedLogistic and fit.chosen_ == "mixture"
    assert fit.score(X, PRODUCT) > curves.score(X, PRODUCT) + 0.1
    rows = fit.encoder_.transform(X)
    network = fit.model_.network_
    linear = rows @ fit.model_.coef_[0] + fit.model_.intercept_
    assert_allclose(fit.decision_function(X), linear + network.decision_function(rows), atol=1e-9)
    assert_allclose(fit.predict_proba(X)[:, 1], expit(fit.decision_function(X)), rtol=1e-9)
    assert fit.model_.weights_.second > 0.0 and "network by" in fit.privacy_.notes[-1]
    assert [*fit.shape_functions()] == ["x0", "x1", "x2"]
    assert network.ledger is None and network.random_state is None
    with pytest.raises(NotSupported, match="no model of scikit-learn"):
        fit.model_.to_sklearn()


def test_the_network_sees_the_curves_alone(monkeypatch):
    """From n * mu = 20,000 on the linear model has random features besides."""
    declared = model(2.0, model="auto").quote(60_000, 3).declared
    assert declared["random_features"] > 400
    monkeypatch.setitem(PER_FEATURE, "classification", (500.0, 1000.0))
    fit = model(8.0).fit(X, SUM)
    network, width = fit.model_.network_, len(fit.encoder_.get_feature_names_out())
    assert network.n_features_in_ == width - fit.encoder_.random_features_ == len(network.coefs_[0])
    assert 0 < fit.encoder_.random_features_ < width and fit.score(X, SUM) > 0.75


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_receipt_is_the_quote_and_a_ledger_pays_once(relation):
    ledger = Ledger(2.0, 1e-5, neighbors=relation)
    given = {"neighbors": relation, "n_public": N, "ledger": ledger, "random_state": None}
    asked = model(1.8, **given)
    quoted = asked.quote(N, 3)
    receipt = asked.fit(X, SUM).privacy_
    assert receipt.script == quoted.script and receipt.proofs == quoted.proofs
    assert {"mixture", "cell_counts", "poisson_batch"} <= {*receipt.proofs}
    assert receipt.epsilon <= 1.8 and 0.0 < ledger.spent <= 1.8 * (1 + 1e-6) and len(ledger) == 1
    assert receipt.verify(asked)


def test_shares_are_those_that_are_told():
    """Of mu squared; batches count as what they are near, where each alone says little."""
    quote = model(0.5).quote(N, 3)
    whole, (*linear, (batch, steps), (counts, _)) = gaussian_mu(0.5, 1e-6) ** 2, quote.script
    spent = [count / event.multiplier**2 / whole for event, count in linear]
    assert counts.multiplier**-2 / whole == pytest.approx(COUNTS_SHARE, rel=0.05)
    assert sum(spent) == pytest.approx(1.0 - NETWORK_SHARE - COUNTS_SHARE, rel=0.05)
    near = steps * (2.0 * batch.rate / batch.multiplier) ** 2 / whole
    assert near == pytest.approx(NETWORK_SHARE, rel=0.1)
    assert f"{NETWORK_SHARE:.2g} are for the network" in quote.declared["model"]


def test_persons_and_weights_count_as_declared():
    owners, weights = np.arange(N) // 2, np.ones(N)
    given = {"max_rows_per_group": 2, "max_sample_weight": 1.0}
    fit = model(8.0, **given).fit(X, SUM, weights, groups=owners)
    assert fit.privacy_.unit == "person" and fit.privacy_.rows == 2
    assert fit.privacy_.script == model(8.0, **given).quote(N // 2, 3).script
    assert fit.score(X, SUM) > 0.7
    heavy = model(8.0, class_weight={0: 1.0, 1: 5.0}).fit(X, SUM)
    assert heavy.predict(X).mean() > 0.6


@pytest.mark.parametrize(
    "given",
    [
        {"classes": None},
        {"classes": [0, 1, 2]},
        {"class_weight": "balanced"},
        {"calibrate": False},
        {"epsilon": math.inf},
        {"delta": 0.0},
        {"accountant": "rdp"},
        {"ledger": Ledger(9.0, 0.0, accountant="pure"), "random_state": None},
    ],
    ids=str,
)
def test_what_has_no_mixture_is_refused_and_auto_leaves_it(given):
    with pytest.raises((NotSupported, ValueError), match=r"model='mixture' needs|pure|delta=0"):
        model(**given).fit(X, SUM)
    if "ledger" not in given:
        told = model(**given | {"model": "auto"}).quote(300_000, 3, n_classes=2).declared["model"]
        assert not told.startswith("mixture")


def test_the_rule():
    for strength, wanted in ((19_999.0, "curves"), (20_001.0, "mixture"), (100_001.0, "network")):
        assert choose_model("classification", "auto", strength, 60, 20, True).model == wanted
        few = choose_model("classification", "mixture", strength, 60, 20, True)
        assert few.model == "mixture" and (few.random_features > 0) is (strength > 20_000.0)
    assert choose_model("classification", "auto", 3e4, 1200, 20, True).model == "random_features"
    told = model(1.0, model="auto").quote(120_000, 3).declared["model"]
    assert told.startswith("mixture, n * mu")
    with pytest.raises(ValueError, match="model='mixture' is not known"):
        DPTableRegressor((-1, 1), model="mixture").quote(N, 3)


# --- What is asked ---------------------------------------------------------------------------------------------------


def test_cells_are_bins_of_both_scores_and_the_label():
    edges, w = (-1.0, 0.0, 0.5), (np.array([3.0, -1.0, 0.5]), np.array([1.0, 2.0]))
    public = Public(n=N, n_features=3, intercept=0.0, neighbors="replace_one", target_bound=31.0)
    rows, two = Rows(public, 2.0), replace(public, n_features=2)
    view = ScorePairs((rows, Rows(two, 2.0, first=2)), public, w, (0.5, 2.0), edges)
    counts = CellCounts(cells=32, multiplier=1.0).measure(Table(X, 2.0 * SUM - 1.0).vault(view))
    first = np.searchsorted(edges, 2.0 * (X / 2.0) @ w[0])
    second = np.searchsorted(edges, 0.5 * (X / 2.0)[:, :2] @ w[1])
    wanted = np.zeros((4, 4, 2))
    np.add.at(wanted, (first, second, SUM), 1.0)
    assert counts.tolist() == wanted.ravel().tolist()


def looked(relation):
    """What replays on neighbours with every odd number find."""
    fit = model(30.0, random_state=None, neighbors=relation, n_public=60)
    pairs = [*adversarial_pairs(relation, 60, 3)][::6]
    return [replay(fitted(fit), pair, k) for k, pair in enumerate(pairs)]


@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_but_the_answers_tells_of_a_record(relation, monkeypatch):
    short(monkeypatch)
    replays = looked(relation)
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 4 and max(found.moved for found in replays) > 0.4


def short(monkeypatch):
    """Let both models take few steps."""
    from skdp.neural_network import _any_network
    from skdp.solvers import SGD

    given = MixedLogistic, {"calibrate": False, "solver": WhiteGD(steps=3)}
    kind = DPTableClassifier._kind
    monkeypatch.setattr(_any_network, "usual", lambda name="auto": SGD(rate=0.5, steps=3))
    monkeypatch.setattr(
        DPTableClassifier,
        "_kind",
        lambda self, name: given if name == "mixture" else kind(self, name),
    )


RUN, ADMIT = ScoreGrid.run, ScorePairs.admit


def _weights_of_true_labels(self, look, plan, noise, budget, known):
    """Ask, and look."""
    found = RUN(self, look, plan, noise, budget, known)
    y = look(plan.view(known))._Oracle__records.y
    return replace(found, mixed=found.mixed._replace(second=1.0 + y.mean()))


def _scores_over_a_sum(self, parts, kept):
    """Divide all scores by what all rows say."""
    unit = 0.01 + 0.1 * abs(float(parts.rows.sum()))
    return ADMIT(replace(self, units=(unit, unit)), parts, kept)


@pytest.mark.parametrize(
    ("owner", "name", "twin"),
    [
        (ScoreGrid, "run", _weights_of_true_labels),
        (ScorePairs, "admit", _scores_over_a_sum),
    ],
)
def test_a_twin_is_found(owner, name, twin, monkeypatch):
    short(monkeypatch)
    monkeypatch.setattr(owner, name, twin)
    assert any(found.findings for found in looked("replace_one"))


def test_the_noise_is_the_one_that_is_paid_for(monkeypatch):
    asked = []

    def note(counts, noise):
        asked.append((counts.ravel(), noise))
        return weigh_scores(counts, noise)

    short(monkeypatch)
    monkeypatch.setattr("skdp.fitting._mixture.weigh_scores", note)
    for seed in range(12):
        fit = model(2.0, random_state=seed).fit(X[:500], SUM[:500])
    noise = fit.privacy_.script[-1][0].multiplier * math.sqrt(2.0)
    assert all(told == pytest.approx(noise, rel=1e-9) for _, told in asked)
    empty = np.array([counts[[0, 1, -2, -1]] for counts, _ in asked])  # where no score is
    assert empty.std() == pytest.approx(noise, rel=0.4)
