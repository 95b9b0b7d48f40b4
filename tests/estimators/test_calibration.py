"""Calibrated scores: the slope is that of the log-odds, what it costs is on the receipt, and nothing else leaves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import skdp
from skdp import DPLinearSVC, DPLogisticRegression, DPTableClassifier, NotSupported
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.entry import Rows, ScoreCells, Table
from skdp.fitting._calibration import LINEAR, NETWORK, WORTH, Expected, ScoreBins, Slope, slope_of
from skdp.fitting.stages import Known
from skdp.mechanisms import CellCounts, Public
from skdp.neural_network import DPMLPClassifier
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_mu
from skdp.solvers import GD

RNG = np.random.default_rng(0)
N = 20_000
X = RNG.uniform(-1, 1, (N, 4)) / 2.0
SCORES = X @ np.array([[9.0, 0.0, 2.0], [-4.0, 3.0, 0.0], [0.0, 1.0, -5.0], [2.0, 0.0, 0.0]])
THREE = (SCORES + RNG.gumbel(size=SCORES.shape)).argmax(axis=1)
TWO = (RNG.logistic(size=N) < SCORES[:, 0] - 1.0).astype(int)
FACES = {
    "line": (DPLogisticRegression, {}),
    "network": (DPMLPClassifier, {"hidden_layer_sizes": (8,), "max_iter": 4}),
}


def model(epsilon=1.0, kind=DPLogisticRegression, **given):
    declared = {"data_norm": 1.0, "classes": [0, 1], "random_state": 0}
    return kind(epsilon=epsilon, **{**declared, **given})


# --- Slopes of counts ------------------------------------------------------------------------------------------------


def counted(slope, shift, spread, n=400_000, classes=2):
    """Exact counts of records whose labels follow a logistic model of the score."""
    stage = ScoreBins(classes, LINEAR)
    rng = np.random.default_rng(1)
    scores = spread * rng.normal(size=n)
    scores = scores if classes == 2 else np.abs(scores)
    odds = expit(slope * scores + shift)
    bins = np.searchsorted(stage._edges(), scores)
    cells = [np.bincount(bins, w, minlength=stage._bins()) for w in (1.0 - odds, odds)]
    return stage, np.column_stack(cells)


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.5])
@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (1.6, 0.3), (0.6, -0.4), (0.3, 0.0)])
def test_without_noise_the_slope_is_that_of_the_log_odds(slope, shift, spread):
    stage, counts = counted(slope, shift, spread)
    found = slope_of(counts, 0.0, stage._places(), Expected(1.0, 10.0, 10.0))
    assert found[0] == pytest.approx(slope, rel=0.03)
    assert found[1] == pytest.approx(shift, abs=0.02)


def test_so_it_is_of_differences_of_several_scores():
    stage, counts = counted(0.7, 0.0, 2.0, classes=3)
    found = slope_of(counts, 0.0, stage._places(), stage._prior())
    assert found[:2] == pytest.approx((0.7, 0.0), rel=0.03)


def test_noise_shrinks_it_to_what_is_expected():
    stage, counts = counted(1.8, 0.5, 1.5, n=20_000)
    rng, off = np.random.default_rng(0), []
    for noise in (1.0, 300.0, 1e6):
        found = [
            slope_of(counts + noise * rng.normal(size=counts.shape), noise, *_of(stage))
            for _ in range(20)
        ]
        off.append(np.mean([slope.factor for slope in found]))
    assert off[0] == pytest.approx(1.8, rel=0.05) and 1.0 < off[1] < 1.8
    assert off[2] == pytest.approx(1.0, abs=0.1)


def _of(stage):
    return stage._places(), stage._prior()


def test_it_is_unbiased_beside_noise():
    stage, counts = counted(1.4, 0.2, 1.5, n=100_000)
    rng, loose = np.random.default_rng(0), Expected(1.0, 2.0, 2.0)
    found = np.array(
        [
            slope_of(counts + 150.0 * rng.normal(size=counts.shape), 150.0, stage._places(), loose)
            for _ in range(300)
        ]
    )
    mean, error = found.mean(axis=0), found.std(axis=0) / math.sqrt(300)
    assert np.abs(mean - [1.4, 0.2, 0.0])[:2].max() < 0.03 + 4 * error.max()
    assert mean[2] == pytest.approx(np.log(found[:, 0]).std(), rel=0.2)


@pytest.mark.parametrize("noise", [0.0, 1.0, 1e300])
@pytest.mark.parametrize("fill", [0.0, -1e9, 1e9, 1e300])
def test_any_answer_has_a_slope(fill, noise):
    stage = ScoreBins(2, NETWORK)
    counts = np.full((stage._bins(), 2), fill)
    counts[3] = 7.0
    with np.errstate(all="ignore"):
        found = slope_of(counts, noise, *_of(stage))
    assert 0.0 < found.factor < 20.0 and abs(found.shift) <= 6.0 and np.isfinite(found.spread)


def test_a_shift_that_has_no_place_stays_zero():
    stage, counts = counted(1.5, 1.0, 1.5)
    stage = replace(stage, shifted=False)
    assert slope_of(counts, 0.0, *_of(stage))[1] == pytest.approx(0.0, abs=1e-3)


# --- Fits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", FACES)
def test_scores_are_multiplied_and_shifted_and_keep_their_order(face):
    """Beside the same answers: the fit without the stage at the noise that the rest of the budget buys."""
    kind, given = FACES[face]
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        plain = model(math.inf, kind, **given).fit(X, TWO)
        found = model(math.inf, kind, calibrate=True, **given).fit(X, TWO)
    before, after = plain.decision_function(X), found.decision_function(X)
    slope, shift = np.polyfit(before, after, 1)
    assert_allclose(after, slope * before + shift, atol=1e-9)
    exact = LogisticRegression(C=np.inf).fit(before[:, None], TWO)
    assert slope == pytest.approx(exact.coef_[0, 0], rel=0.05)
    assert shift == pytest.approx(exact.intercept_[0], abs=0.1)
    assert_allclose(found.predict_proba(X)[:, 1], expit(after), rtol=1e-12)


@pytest.mark.parametrize("face", FACES)
def test_of_several_classes_differences_of_scores_are_multiplied(face):
    kind, given = FACES[face]
    given = given | {"classes": [0, 1, 2]}
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        plain = (
            model(math.inf, kind, C=0.01, **given)
            if face == "line"
            else model(math.inf, kind, **given)
        )
        plain.fit(X, THREE)
        found = type(plain)(**plain.get_params() | {"calibrate": True}).fit(X, THREE)
    before, after = plain.decision_function(X), found.decision_function(X)
    slope = (after[:, 0] - after[:, 1]).std() / (before[:, 0] - before[:, 1]).std()
    assert_allclose(after, slope * before, rtol=1e-6, atol=1e-9)
    each, pairs = np.arange(N), np.sort(np.argsort(before, axis=1)[:, -2:], axis=1)
    told = (pairs == THREE[:, None]).any(axis=1)
    margin = (before[each, pairs[:, 1]] - before[each, pairs[:, 0]])[told]
    upper = (pairs[:, 1] == THREE)[told]
    exact = LogisticRegression(C=np.inf, fit_intercept=False).fit(margin[:, None], upper)
    assert slope == pytest.approx(exact.coef_[0, 0], rel=0.05)
    assert slope > 1.2 or face == "network"


def test_without_an_intercept_nothing_is_shifted():
    fit = model(2.0, fit_intercept=False, calibrate=True).fit(X, TWO)
    assert fit.intercept_.tolist() == [0.0]


def test_weights_count_in_cells():
    """What weighs nothing says nothing."""
    weights, y = np.ones(N), TWO.copy()
    weights[: N // 2], y[: N // 2] = 0.0, 1 - TWO[: N // 2]
    given = {"calibrate": True, "max_sample_weight": 1.0}
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        found = model(math.inf, **given).fit(X, y, weights)
        alone = model(math.inf, **given).fit(X[N // 2 :], TWO[N // 2 :], weights[N // 2 :])
    assert_allclose(found.coef_, alone.coef_, rtol=1e-3)


def test_a_network_is_calibrated_and_beats_the_majority():
    fit, plain = (
        model(0.3, DPMLPClassifier, hidden_layer_sizes=(32,), calibrate=way).fit(
            X[:5000], TWO[:5000]
        )
        for way in ("auto", False)
    )
    y, p = TWO[5000:], TWO[:5000].mean()
    loss = [-np.log(f.predict_proba(X[5000:])[np.arange(len(y)), y]).mean() for f in (fit, plain)]
    majority = -np.log(np.where(y, p, 1.0 - p)).mean()
    assert loss[0] < majority and loss[0] < loss[1] - 0.05


# --- Price and rule --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("data_norm", [1.0, None], ids=["declared", "bought"])
@pytest.mark.parametrize("classes", [2, 3])
def test_three_hundredths_of_mu_squared_are_spent(classes, data_norm, relation):
    given = {"solver": "gd", "neighbors": relation, "data_norm": data_norm, "calibrate": True}
    script = model(2.0, classes=list(range(classes)), **given).quote(N, 4).script
    whole = gaussian_mu(2.0, 1e-6) ** 2
    spent = [count / event.multiplier**2 / whole for event, count in script]
    left = 1.0 - (sum(spent[:2]) if data_norm is None else 0.0)
    assert sum(spent) == pytest.approx(1.0, rel=1e-6)
    assert spent[-1] == pytest.approx(0.03 * left, rel=0.01)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("face", FACES)
def test_the_receipt_is_the_quote_and_names_the_page(face, weight, relation):
    kind, given = FACES[face]
    ledger = Ledger(1.0, 1e-5, neighbors=relation)
    given = given | {"class_weight": weight, "neighbors": relation, "n_public": N}
    asked = model(0.9, kind, calibrate=True, ledger=ledger, **given | {"random_state": None})
    quoted = asked.quote(N, 4)
    receipt = asked.fit(X, TWO).privacy_
    assert receipt.script == quoted.script and receipt.proofs == quoted.proofs
    assert {"calibration", "cell_counts"} <= {*receipt.proofs} and "calibrated" in str(receipt)
    assert receipt.epsilon <= 0.9 and 0.0 < ledger.spent <= 0.9 * (1 + 1e-9)
    assert receipt.verify(asked)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"delta": 0.0}, "delta=0"),
        ({"solver": "agd"}, "as it goes"),
        ({"classes": [0, 1, 2], "multi_class": "ovr"}, "several fits"),
    ],
)
def test_what_has_no_price_is_refused_before_anything_is_paid(given, told):
    ledger = Ledger(4.0, 1e-5)
    asked = model(ledger=ledger, calibrate=True, **{"random_state": None, **given})
    with pytest.raises(NotSupported, match=told):
        asked.quote(N, 4)
    with pytest.raises(NotSupported, match=told):
        asked.fit(X, THREE if "classes" in given else TWO)
    assert ledger.spent == 0.0
    assert "calibration" not in asked.set_params(calibrate="auto").quote(N, 4).proofs


def test_auto_goes_by_public_numbers():
    def asks(n, epsilon=1.0, **given):
        return "calibration" in model(epsilon, **given).quote(n, 4).proofs

    enough = math.ceil(WORTH / gaussian_mu(1.0, 1e-6))
    assert asks(enough) and not asks(enough - 1)
    assert not asks(enough, math.inf) and not asks(N, 1e3)
    assert not asks(N, warm_start=True) and not asks(N, solver="gd", coef_init=np.zeros(4))
    assert not asks(N, neighbors="add_remove")
    assert not asks(N, solver="privgene", accountant="pure") and asks(N, solver="privgene")
    assert not asks(N, ledger=Ledger(3.0, 0.0, accountant="pure"), random_state=None)
    assert asks(1, neighbors="add_remove", n_public=N)
    assert asks(100, kind=DPMLPClassifier, hidden_layer_sizes=(4,))
    assert not hasattr(DPLinearSVC(), "get_params") or "calibrate" not in DPLinearSVC().get_params()


def test_without_it_a_seeded_fit_is_what_it_was():
    """Where public numbers say no, the fit is to the last bit the one that is not asked."""
    few = slice(0, 2000)
    fits = [model(0.2, calibrate=way).fit(X[few], TWO[few]) for way in ("auto", False)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].privacy_.script == fits[1].privacy_.script


def test_a_table_hands_it_on():
    frame = {"declaration": {j: (-0.5, 0.5) for j in range(4)}, "epsilon": 2.0, "classes": [0, 1]}
    for way in (True, False):
        found = DPTableClassifier(**frame, model="curves", calibrate=way).quote(N)
        assert ("calibration" in found.proofs) is way


# --- What is asked ---------------------------------------------------------------------------------------------------


def facts(columns=4, **given):
    return Public(n=N, n_features=columns, intercept=0.0, neighbors="replace_one", **given)


def test_cells_are_bins_of_the_score_and_the_label():
    w, edges = np.array([3.0, -1.0, 0.5, 2.0]), (-1.0, 0.0, 0.5)
    view = ScoreCells(Rows(facts(), 1.0), facts(1, target_bound=9.0), w, 0.5, edges)
    vault = Table(X, 2.0 * TWO - 1.0).vault(view)
    wanted = [
        [((np.searchsorted(edges, 2.0 * X @ w) == b) & (y == TWO)).sum() for y in (0, 1)]
        for b in range(4)
    ]
    assert CellCounts(cells=8, multiplier=1.0).measure(vault).reshape(4, 2).tolist() == wanted


def test_cells_of_several_classes_compare_the_two_largest_scores():
    w, edges = RNG.normal(size=(4, 3)), (0.5, 1.0)
    view = ScoreCells(Rows(facts(target_bound=2.0), 1.0), facts(1, target_bound=9.0), w, 1.0, edges)
    counts = CellCounts(cells=7, multiplier=1.0).measure(Table(X, THREE.astype(float)).vault(view))
    wanted = np.zeros(7)
    for scores, y in zip(X @ w, THREE, strict=True):
        third, second, first = np.argsort(scores)
        cell = 2 * np.searchsorted(edges, scores[first] - scores[second]) + (y == first)
        wanted[6 if y == third else cell] += 1
    assert counts.tolist() == wanted.tolist()


def test_scores_without_end_have_a_cell():
    rows = np.array([[1e300, 0.0], [-1e300, 0.0], [1e200, 1e200]])
    public = Public(n=3, n_features=2, intercept=0.0, neighbors="replace_one")
    blank = Public(n=3, n_features=1, intercept=0.0, neighbors="replace_one", target_bound=9.0)
    view = ScoreCells(Rows(public, 1e100), blank, np.array([1e300, -1e300]), 1.0, (-1.0, 1.0))
    counts = CellCounts(cells=6, multiplier=1.0).measure(Table(rows, np.ones(3)).vault(view))
    assert counts.sum() == 3.0


def test_cells_of_other_weights_or_numbers_are_refused():
    vault = Table(X, 2.0 * TWO - 1.0).vault(Rows(facts(), 1.0))
    cells, public = np.zeros(N), facts(1, target_bound=3.0)
    assert len(vault.in_cells(cells, public)) == N
    wrong = [(cells[1:], public), (cells, replace(public, weighted=True)), (cells + 4.0, public)]
    for given in [*wrong, (cells + math.nan, public)]:
        with pytest.raises(ValueError, match=r"one number for each row|finite and at most"):
            vault.in_cells(*given)


# --- Replay ----------------------------------------------------------------------------------------------------------


def looked(relation, classes=2):
    """What replays on neighbours with every odd number find."""
    fit = model(
        30.0,
        random_state=None,
        neighbors=relation,
        solver=GD(steps=2),
        calibrate=True,
        classes=list(range(classes)),
        data_norm=2.0,
    )
    pairs = [*adversarial_pairs(relation, 60, 3)][::3]
    return [replay(fitted(fit), pair, k) for k, pair in enumerate(pairs)]


@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_but_the_answers_tells_of_a_record(relation):
    replays = looked(relation)
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 10 and max(found.moved for found in replays) > 0.4


RUN, CUT = ScoreBins.run, ScoreCells._bins


def _slope_of_true_counts(self, look, plan, noise, budget, known):
    """Ask, and look."""
    found = RUN(self, look, plan, noise, budget, known)
    view = ScoreCells(plan.view(known), self._public(plan), known.w, 1.0, self._edges())
    y = look(view)._Oracle__records.y
    return replace(found, slope=found.slope._replace(factor=1.0 + y.mean()))


def _bins_by_the_largest(self, scores):
    """Divide all scores by the largest."""
    return CUT(self, scores / np.abs(scores).max())


@pytest.mark.parametrize(
    ("owner", "name", "twin"),
    [
        (ScoreBins, "run", _slope_of_true_counts),
        (ScoreCells, "_bins", _bins_by_the_largest),
    ],
)
def test_a_twin_is_found(owner, name, twin, monkeypatch):
    monkeypatch.setattr(owner, name, twin)
    assert any(found.findings for found in looked("replace_one"))


def test_the_noise_is_the_one_that_is_paid_for(monkeypatch):
    """Counts that are asked differ from true ones by the receipt's noise."""
    asked = []

    def note(counts, noise, *given):
        asked.append((counts.ravel(), noise))
        return Slope(1.0, 0.0, 0.0)

    monkeypatch.setattr("skdp.fitting._calibration.slope_of", note)
    for seed in range(30):
        fit = model(2.0, solver=GD(steps=1), random_state=seed, calibrate=True).fit(X, TWO)
    noise = fit.privacy_.script[-1][0].multiplier * math.sqrt(2.0)
    assert all(told == pytest.approx(noise, rel=1e-9) for _, told in asked)
    spread = np.array([counts.sum() for counts, _ in asked]).std()
    assert spread == pytest.approx(noise * math.sqrt(len(asked[0][0])), rel=0.5)


def test_what_is_known_is_empty_where_nothing_is_calibrated():
    assert Known().slope is None and Known().w is None
