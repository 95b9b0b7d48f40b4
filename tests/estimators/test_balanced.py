"""Classes that weigh by noisy counts: what that costs, that it is scikit-learn's fit, and that nothing else leaves."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from estimators.of_rows import of_rows
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import skdp
from skdp import DPLinearSVC, DPLogisticRegression, NotSupported
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.exceptions import OffScript
from skdp.fitting import run
from skdp.fitting.stages import HEAVIEST, ClassCounts, Known, weights_of
from skdp.mechanisms import Gradient, Records
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_mu
from skdp.solvers import GD, SOLVERS

RNG = np.random.default_rng(0)
N = 6000
X = RNG.uniform(-1, 1, (N, 4))
SCORES = X @ RNG.normal(size=(4, 3)) * 2 + [0.0, -1.0, -2.5]
THREE = (SCORES + RNG.gumbel(size=SCORES.shape)).argmax(axis=1)
TWO = (THREE == 2).astype(int)
WEIGHTS = RNG.uniform(0, 4, N)
FACES = [pair for pair in of_rows("classifier") if "class_weight" in pair[1]().get_params()]
# Of these the price counts on the penalty, or weighted records have no proof.
NEVER = {"output-perturbation", "outpert-gd", "psgd", "rsgd-ar"}


def model(epsilon=1.0, kind=DPLogisticRegression, **given):
    declared = {"data_norm": 2.0, "classes": [0, 1], "random_state": 0, "class_weight": "balanced"}
    return kind(epsilon=epsilon, **{**declared, **given})


def exact(y, weights=None, **given):
    """What scikit-learn makes of it."""
    given = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 10_000, **given}
    return LogisticRegression(class_weight="balanced", **given).fit(X, y, weights)


# -------------------------------------------------------------------------- agreement


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_without_noise_it_is_the_fit_of_scikit_learn(y, weights, relation):
    bound = None if weights is None else 4.0
    given = {"classes": np.unique(y), "neighbors": relation, "max_sample_weight": bound}
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        found = model(math.inf, **given).fit(X, y, weights)
    wanted = exact(y, weights)
    assert_allclose(found.coef_, wanted.coef_, rtol=1e-5, atol=1e-6)
    assert_allclose(found.intercept_, wanted.intercept_, rtol=1e-5, atol=1e-6)
    counts = np.bincount(y, weights)
    assert_allclose(found.class_weight_, counts.sum() / (len(counts) * counts), rtol=1e-12)


@pytest.mark.parametrize("given", [{"l1_ratio": 1}, {"l1_ratio": 0.5}, {"penalty": None}])
def test_so_it_is_with_any_penalty(given):
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        found = model(math.inf, **given).fit(X, TWO)
    usual = {"C": np.inf} if "penalty" in given else {"solver": "saga", **given}
    assert_allclose(found.coef_, exact(TWO, **usual).coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_where_a_norm_is_bought_too_the_penalty_is_over_both(y):
    """Of rows as the fit saw them: weights and the norm decide its strength."""
    given = {"data_norm": None, "classes": np.unique(y), "C": 0.01}
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        found = model(math.inf, **given).fit(X, y)
        declared = model(math.inf, **given)
        declared.set_params(class_weight=dict(enumerate(found.class_weight_.tolist()))).fit(X, y)
        other = model(math.inf, **given | {"C": 0.02}).fit(X, y)
    assert_allclose(found.coef_, declared.coef_, rtol=1e-5, atol=1e-7)
    assert np.abs(found.coef_ - other.coef_).max() > 0.05 * np.abs(found.coef_).max()


def test_it_nears_that_as_epsilon_grows():
    wanted, off = exact(TWO).coef_, []
    for epsilon in (1e2, 1e4, 1e6):
        fits = [model(epsilon, random_state=seed).fit(X, TWO).coef_ for seed in range(5)]
        off.append(np.median([np.abs(coef - wanted).max() for coef in fits]))
    assert off[2] < 1e-2 < off[0] and off == sorted(off, reverse=True)


def test_persons_have_one_vote_between_their_rows():
    """Twice every row as one person of two is once every row."""
    twice, owners = np.repeat(X, 2, axis=0), np.repeat(np.arange(N), 2)
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        found = model(math.inf, max_rows_per_group=2).fit(twice, np.repeat(TWO, 2), groups=owners)
    assert_allclose(found.coef_, exact(TWO).coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [DPLogisticRegression, DPLinearSVC])
def test_weights_that_were_bought_are_those_that_are_declared(kind, relation):
    """Given the weights, the fit at hardly any noise is that of a dict of them."""
    given = {"kind": kind, "neighbors": relation, "solver": GD(steps=5)}
    bought = model(1e9, **given).fit(X, TWO)
    known = dict(enumerate(bought.class_weight_.tolist()))
    declared = model(1e9, **given, class_weight=known).fit(X, TWO)
    assert_allclose(bought.coef_, declared.coef_, rtol=1e-5, atol=1e-7)


def test_a_person_is_a_part_of_each_class_that_its_rows_have():
    """Of two rows of a person, one of each class, each counts a half; a third one is not kept."""
    owners = np.repeat(np.arange(N // 3), 3)
    y = np.tile([0, 1, 1], N // 3)
    y[: 3 * 500] = 0  # persons of one class
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        fit = model(math.inf, max_rows_per_group=2).fit(X, y, groups=owners)
    counts = np.array([500 + (N // 3 - 500) / 2, (N // 3 - 500) / 2])
    assert_allclose(fit.class_weight_, counts.sum() / (2 * counts), rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("name", "kind"), FACES, ids=[name for name, _ in FACES])
def test_the_penalty_is_the_one_beside_declared_weights(name, kind, classes):
    given = {"classes": list(range(classes)), "kind": kind}
    known = kind().get_params(deep=False)
    own = {"alpha": 0.3} if "alpha" in known else {"C": 0.3}
    for way in ("multinomial", "ovr") if "multi_class" in known else ("",):
        if way:
            own["multi_class"] = way
        asked = model(**given, **own)
        plan = asked._plan(N, 4, {}, asked._outputs(classes))
        weights = np.array([0.5, 4.0, 1.0])[:classes]
        found = plan.restate(Known(of_class=weights)).penalty
        asked.set_params(class_weight=dict(enumerate(weights)))
        assert found == asked._plan(N, 4, {}, asked._outputs(classes)).task.penalty
        assert found != plan.task.penalty


# ------------------------------------------------------------------------------ price


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("data_norm", [2.0, None], ids=["declared", "bought"])
def test_a_fiftieth_of_mu_squared_is_spent(relation, data_norm):
    given = {"solver": "gd", "neighbors": relation, "data_norm": data_norm, "epsilon": 2.0}
    script = model(**given).quote(N, 4).script
    whole = gaussian_mu(2.0, 1e-6) ** 2
    spent = [count / event.multiplier**2 / whole for event, count in script]
    assert sum(spent) == pytest.approx(1.0, rel=1e-6) and spent[0] == pytest.approx(0.02, rel=0.01)


@pytest.mark.parametrize("way", ["multinomial", "ovr"])
def test_so_it_is_of_many_classes(way):
    given = {"solver": "gd", "classes": [0, 1, 2], "multi_class": way}
    script = model(2.0, **given).quote(N, 4).script
    first = 1.0 / script[0][0].multiplier ** 2 / gaussian_mu(2.0, 1e-6) ** 2
    assert first == pytest.approx(0.02, rel=0.01)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_whatever_the_solver_one_script_is_what_was_quoted(solver, relation):
    ledger = Ledger(1.0, 1e-5, neighbors=relation)
    asked = model(0.9, solver=solver, neighbors=relation, penalty=None, n_public=None)
    asked.set_params(ledger=ledger, random_state=None)
    try:
        asked.set_params(class_weight={0: 1.0}).quote(N, 4)
        quoted = asked.set_params(class_weight="balanced").quote(N, 4)
    except (NotSupported, ValueError):
        with pytest.raises((NotSupported, ValueError)):
            asked.set_params(class_weight="balanced").fit(X, TWO)
        assert ledger.spent == 0.0
        return
    assert solver not in NEVER and not SOLVERS[solver].adaptive
    receipt = asked.fit(X, TWO).privacy_
    assert receipt.script == quoted.script and receipt.proofs == quoted.proofs
    assert {"class_weights", "cell_counts", "units"} <= {*receipt.proofs}
    assert receipt.epsilon <= 0.9 and 0.0 < ledger.spent <= 0.9 * (1 + 1e-9)


@pytest.mark.parametrize(("name", "kind"), FACES, ids=[name for name, _ in FACES])
def test_every_classifier_takes_it(name, kind):
    given = {} if not hasattr(kind(), "data_norm") else {"data_norm": 2.0}
    fit = kind(epsilon=4.0, classes=[0, 1], class_weight="balanced", random_state=0, **given)
    fit.fit(X, TWO)
    assert fit.class_weight_.shape == (2,) and fit.class_weight_[1] > 2.0
    recall = fit.predict(X)[TWO == 1].mean()
    assert (
        recall
        > kind(epsilon=4.0, classes=[0, 1], random_state=0, **given)
        .fit(X, TWO)
        .predict(X)[TWO == 1]
        .mean()
    )


def test_counts_are_as_noisy_as_is_paid_for():
    """What is kept follows from n_1 + N(0, s^2) and n_0 + N(0, s^2), s as on the receipt."""
    script = model(solver=GD(steps=1)).quote(N, 4).script
    noise = script[0][0].multiplier * math.sqrt(2.0)
    odds = []
    for seed in range(200):
        fit = model(solver=GD(steps=1), random_state=seed).fit(X, TWO)
        odds.append(fit.class_weight_[0] / fit.class_weight_[1])  # n_1 over n_0
    ones, zeros = TWO.sum(), N - TWO.sum()
    wanted = noise * math.hypot(1.0, ones / zeros) / zeros
    assert np.mean(odds) == pytest.approx(ones / zeros, abs=4 * wanted / math.sqrt(200))
    assert np.std(odds) == pytest.approx(wanted, rel=0.2)


def test_a_class_that_noise_hides_counts_as_one_that_is_just_seen():
    assert_allclose(weights_of(np.array([990.0, 3.0]), 5.0), [500 / 990, 50.0])
    assert_allclose(weights_of(np.array([990.0, -80.0]), 5.0), [500 / 990, 50.0])
    assert weights_of(np.array([990.0, 0.0]), 0.0)[1] == HEAVIEST
    assert np.isfinite(weights_of(np.array([-9.0, -9.0]), 1.0)).all()


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"delta": 0.0}, "delta=0"),
        ({"solver": "agd"}, "as it goes"),
        ({"solver": "objective-perturbation", "C": 1e-3}, "depends on the strength of the penalty"),
        ({"solver": "amp", "l1_ratio": 0.5}, "depends on the strength of the penalty"),
        ({"solver": "psgd"}, "no proof for weighted records"),
    ],
)
def test_what_has_no_price_is_refused_before_anything_is_paid(given, told):
    ledger = Ledger(4.0, 1e-5)
    asked = model(ledger=ledger, **{"random_state": None, **given})
    with pytest.raises(NotSupported, match=told):
        asked.quote(N, 4)
    with pytest.raises(NotSupported, match=told):
        asked.fit(X, TWO)
    assert ledger.spent == 0.0 and not hasattr(asked, "class_weight_")


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 1e5])
def test_auto_takes_a_solver_whose_price_does_not_count_on_weights(epsilon, l1_ratio):
    receipt = model(epsilon, l1_ratio=l1_ratio).fit(X, TWO).privacy_
    assert receipt.epsilon <= epsilon


@dataclass(frozen=True)
class AsksOnceMore(GD):
    """After the counts a run is held to its script as before them."""

    def solve(self, oracle, task, budget):
        found = super().solve(oracle, task, budget)
        oracle.ask(Gradient(at=found, loss=task.loss, clip=1.0, multiplier=budget.noise))
        return found


def test_no_solver_asks_more_than_was_paid():
    ledger = Ledger(4.0, 1e-5)
    asked = model(solver=AsksOnceMore(steps=2), ledger=ledger, random_state=None)
    with pytest.raises(OffScript):
        asked.fit(X, TWO)
    assert 0.0 < ledger.spent <= 1.0 + 1e-9 and not hasattr(asked, "coef_")


def test_where_nothing_is_bought_a_fit_without_noise_is_held_to_its_script_as_well():
    given = {"data_norm": 2.0, "classes": [0, 1], "solver": AsksOnceMore(steps=2)}
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"), pytest.raises(OffScript):
        DPLogisticRegression(epsilon=math.inf, **given).fit(X, TWO)


@pytest.mark.parametrize(("name", "kind"), FACES, ids=[name for name, _ in FACES])
@pytest.mark.parametrize("accountant", ["pure", "zcdp", "gdp"])
def test_a_theorem_that_does_not_hold_is_refused_as_without_it(name, kind, accountant):
    """Of what auto chooses, not of what stands in for it."""
    said = []
    for weight in ({0: 1.0, 1: 2.0}, "balanced"):
        asked = model(kind=kind, class_weight=weight, accountant=accountant)
        try:
            said.append(asked.quote(N, 4).accountant)
        except NotSupported as refusal:
            said.append(str(refusal))
    assert said[0] == said[1]


def test_a_fit_that_declares_forgets_what_was_bought():
    fit = model().fit(X, TWO)
    fit.set_params(class_weight={0: 1.0, 1: 2.0}).fit(X, TWO)
    assert not hasattr(fit, "class_weight_")


def test_a_penalty_that_a_solver_would_refuse_is_not_taken(monkeypatch):
    """What was paid for is no reason to end without a model."""
    kept = []

    def refuses(plan, known, budget):
        kept.append(plan.restate(known).penalty.scale)
        return plan

    monkeypatch.setattr(run, "priced_as_before", refuses)
    fit = model().fit(X, TWO)
    assert len(kept) == 1 and np.isfinite(fit.coef_).all()


# ----------------------------------------------------------------------------- replay


def looked(relation, **given):
    """What replays on neighbours with every odd number find."""
    fit = model(30.0, random_state=None, neighbors=relation, solver=GD(steps=2), **given)
    pairs = [*adversarial_pairs(relation, 60, 3)][::3]
    return [replay(fitted(fit), pair, k) for k, pair in enumerate(pairs)]


@pytest.mark.parametrize("data_norm", [2.0, None], ids=["declared", "bought"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_but_the_answers_tells_of_a_record(relation, data_norm):
    replays = looked(relation, data_norm=data_norm)
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 10 and max(found.moved for found in replays) > 0.4


BUY, WEIGH = ClassCounts.run, Records.weighed


def _weigh_by_true_counts(self, look, plan, noise, budget, known):
    """Buy counts, and look."""
    found = BUY(self, look, plan, noise, budget, known)
    y = look(self.views(plan)[0])._Oracle__records.y
    true = weights_of(np.bincount(y > 0, minlength=2).astype(float), 0.0)
    return replace(found, of_class=true)


def _weigh_rows_too_much(self, of_cell):
    """Hand on weights that are not over the heaviest."""
    records = WEIGH(self, of_cell)
    heavy = replace(records.units, weights=records.units.weights / min(of_cell))
    return replace(records, units=heavy)


@pytest.mark.parametrize(
    ("owner", "name", "twin"),
    [(ClassCounts, "run", _weigh_by_true_counts), (Records, "weighed", _weigh_rows_too_much)],
)
def test_a_twin_is_found(owner, name, twin, monkeypatch):
    monkeypatch.setattr(owner, name, twin)
    assert any(found.findings for found in looked("replace_one"))
