"""Tables of which nothing is declared: what is bought, at what price, and that nothing else leaves."""

import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from estimators.of_rows import of_rows
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose
from preprocessing.test_private_scales import in_units
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import skdp
from skdp import DPGaussianNB, DPLogisticRegression, NotSupported
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.datasets import load_adult, load_bank, load_bike
from skdp.entry import Rows
from skdp.fitting import _pricing, stages
from skdp.mechanisms import Records
from skdp.preprocessing import BoundsScaler
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_mu
from skdp.ranking import DPRanker
from skdp.solvers import GD, SOLVERS, _column_scales

RNG = np.random.default_rng(0)
UNITS = np.array([1e-6, 1.0, 1e9])
X = RNG.normal(size=(6000, 3)) * UNITS
Y = (X @ [1e6, -1.0, 5e-10] > 0).astype(int)
FACES = [*of_rows("classifier"), *of_rows("regressor")]


def face(kind, **given):
    """An estimator that is told nothing of its columns."""
    declared = {"classes": [0, 1]} if hasattr(kind(), "classes") else {"y_bounds": (0.0, 1.0)}
    return kind(**{"epsilon": 2.0, "random_state": 0, **declared, **given})


@pytest.mark.parametrize(("name", "kind"), FACES, ids=[name for name, _ in FACES])
def test_a_table_in_any_unit_works_at_once_and_the_quote_says_what_it_costs(name, kind):
    model = face(kind)
    quoted = model.quote(len(X), 3)
    receipt = model.fit(X, Y).privacy_
    assert quoted.script == receipt.script and quoted.proofs == receipt.proofs
    assert {"bought_scales", "column_counts", "row_norms"} <= {
        *receipt.proofs
    } and 1.9 < receipt.epsilon <= 2.0
    assert model.bounds_.shape == (3, 2) and 0.0 < model.data_norm_ <= np.sqrt(3) * (1 + 1e-9)
    assert np.isfinite(model.predict(X)).all() and model.score(X, Y) > -0.1
    wild = np.array([[1e300, -1e300, 0.0]])
    assert np.isfinite(model.predict(wild)).all()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("solver", [name for name, kind in SOLVERS.items() if not kind.adaptive])
def test_whatever_the_solver_one_script_is_what_was_quoted(solver, relation):
    model = face(DPLogisticRegression, solver=solver, neighbors=relation)
    try:
        quoted = model.quote(len(X), 3)
        model.set_params(data_norm=1.0).quote(len(X), 3)
    except (NotSupported, ValueError):
        with pytest.raises((NotSupported, ValueError)):
            model.fit(X, Y)
        return
    receipt = model.set_params(data_norm=None).fit(X[:600], Y[:600]).privacy_
    model.set_params(data_norm=None)
    assert model.quote(600, 3).script == receipt.script and quoted.epsilon <= 2.0


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_twentieth_of_mu_squared_is_spent_and_a_declared_bound_saves_it(relation):
    model = face(DPLogisticRegression, solver="gd", neighbors=relation)
    bought, declared = (
        model.set_params(data_norm=norm).quote(len(X), 3).script for norm in (None, 1.0)
    )
    whole = gaussian_mu(2.0, 1e-6) ** 2
    spent = [count / event.multiplier**2 / whole for event, count in bought]
    assert sum(spent) == pytest.approx(1.0, rel=1e-6)
    assert_allclose(spent[:2], [0.04, 0.01], rtol=0.01)  # beside the count of private records
    assert_allclose(bought[-1][0].multiplier, declared[-1][0].multiplier / np.sqrt(0.95), rtol=1e-3)


TWO_SIGNED = [
    skdp.DPHuberRegressor,
    skdp.DPLinearRegression,
    skdp.DPLinearSVR,
    skdp.DPPoissonRegressor,
]


@pytest.mark.parametrize("kind", TWO_SIGNED)
@pytest.mark.parametrize("solver", ["objective-perturbation", "admm-objp", "amp"])
def test_no_price_rests_on_an_angle_that_answers_have_chosen(kind, solver):
    """Of slopes of either sign: with declared rows the angle is fixed, with bought ones it follows from bounds."""
    rules = []
    for norm in (1.0, None):
        try:
            script = face(kind, solver=solver, data_norm=norm, delta=1e-6).quote(len(X), 3).script
        except NotSupported:
            continue
        rules.append({getattr(event, "rule", None) for event, _ in script} - {None})
    assert rules in ([{"two_signed"}, {"two_signed_anywhere"}], [], [{"two_signed_anywhere"}])
    if solver == "objective-perturbation":
        assert len(rules) == 2


def test_of_steps_in_front_of_a_fit_the_total_rests_on_no_angle():
    given = {"y_bounds": (0.0, 1.0), "solver": "objective-perturbation"}
    fit = skdp.DPHuberRegressor(epsilon=1.0, **given)
    model = skdp.make_pipeline(skdp.preprocessing.DPBounds(epsilon=0.1), fit).fit(X, Y)
    scales, behind = (step.privacy_.script for step in (model[0], model[-1]))
    anywhere = [(replace(event, rule="two_signed_anywhere"), k) for event, k in behind]
    assert [event.rule for event, _ in behind] == ["two_signed"]
    together = skdp.privacy.epsilon((*scales, *anywhere), 1e-6, "replace_one")
    assert skdp.total(model).epsilon == together
    assert together > skdp.privacy.epsilon((*scales, *behind), 1e-6, "replace_one")


@pytest.mark.parametrize("d", [1, 2, 3, 7, 33])
def test_where_a_row_stands_decides_no_bit_of_it(monkeypatch, d):
    """Under add_remove rows stand elsewhere in a neighbour: what is made of one must be the same to the last bit."""
    table = RNG.normal(size=(9_001, d)) * 10.0 ** RNG.uniform(-3, 3, d)
    bounds = np.column_stack([-np.ones(d), 2.0 * np.ones(d)])
    entered = []
    plain = Records.admit.__func__

    def kept(cls, rows, *given, **more):
        entered.append(np.array(rows))
        return plain(cls, rows, *given, **more)

    monkeypatch.setattr(Records, "admit", classmethod(kept))
    fixed = bounds, np.where(np.arange(d) % 2, 0.125, 0.0), 9_000.0
    monkeypatch.setattr(stages, "buy_bounds", lambda o, asked: (o.ask(asked), fixed)[1])
    model = face(DPLogisticRegression, neighbors="add_remove", solver=GD(steps=1))
    for first in (0, 1, 5):
        model.fit(table[first:], np.arange(9_001 - first) % 2)
    whole, one, five = entered[:3], entered[3:6], entered[6:]
    for a, b, c in zip(whole, one, five):
        assert np.array_equal(a[1:], b) and np.array_equal(a[5:], c)


@pytest.mark.parametrize("solver", ["auto", "gd", "white-objective"])
def test_a_ledger_is_charged_once_for_all(solver):
    ledger = Ledger(4.0, 1e-5)
    given = {"solver": solver, "random_state": None}
    model = face(DPLogisticRegression, ledger=ledger, **given).fit(X, Y)
    assert len(ledger) == 1 and 0.0 < ledger.spent <= 4.0
    alone = face(DPLogisticRegression, **given)
    assert alone.quote(len(X), 3).script == model.privacy_.script
    small = Ledger(1.0, 1e-5)
    with pytest.raises(skdp.BudgetExceeded):
        face(DPLogisticRegression, ledger=small, **given).fit(X, Y)
    assert small.spent == 0.0


@pytest.mark.parametrize("kind", [skdp.DPLogisticRegression, skdp.DPLinearSVC])
def test_without_noise_it_is_the_exact_fit_of_the_scaled_columns(kind):
    noisy = X + RNG.normal(size=X.shape) * UNITS
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        model = face(kind, epsilon=np.inf, C=0.1).fit(noisy, Y)
    assert model.data_norm_ == pytest.approx(np.sqrt(3))
    rows = model._rows(noisy)
    assert np.abs(rows).max() <= 1.0
    if kind is skdp.DPLogisticRegression:
        exact = LogisticRegression(C=0.1, tol=1e-10, max_iter=10_000).fit(rows, Y)
        assert_allclose(model.coef_, exact.coef_, rtol=1e-2, atol=1e-3)


def heavy(kind, n):
    """Columns with heavy tails in units apart, of which the logarithm tells labels; and of no such tails."""
    rng = np.random.default_rng(5)
    draw = {"Cauchy": rng.standard_cauchy, "normal": rng.normal}[kind]
    table = draw(size=(n, 4)) * [1.0, 30.0, 1000.0, 4.0]
    told = np.sign(table) * np.log1p(np.abs(table)) if kind == "Cauchy" else table
    score = (told / told.std(axis=0)) @ [1.0, -1.0, 1.0, 0.5]
    return table, (score + 0.3 * rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("kind", [skdp.DPLogisticRegression, skdp.DPLinearSVC])
def test_columns_with_heavy_tails_are_seen_by_octaves(kind, monkeypatch):
    table, labels = heavy("Cauchy", 12_000)
    model = face(kind, random_state=1).fit(table[:9000], labels[:9000])
    assert (model.octave_units_ > 0.0).all()
    assert np.abs(model._rows(table)).max() <= 1.0
    by_octaves = model.score(table[9000:], labels[9000:])
    monkeypatch.setattr(_column_scales, "unit_of", lambda *given: 0.0)
    straight = model.fit(table[:9000], labels[:9000]).score(table[9000:], labels[9000:])
    assert not model.octave_units_.any() and by_octaves > straight + 0.01


def test_columns_without_heavy_tails_are_seen_as_they_are():
    table, labels = heavy("normal", 9_000)
    assert not face(DPLogisticRegression).fit(table, labels).octave_units_.any()


def test_a_column_seen_by_octaves_has_no_unit_of_its_coefficient():
    table, labels = heavy("Cauchy", 9_000)
    model = face(DPLogisticRegression).fit(table, labels)
    with pytest.raises(NotSupported, match="by octaves"):
        model._affine()


def test_few_records_pay_more_for_octaves_up_to_a_tenth():
    """So much that half of the records in one octave are seen, at seven deviations."""
    mu, found = gaussian_mu(2.0, 1e-6), {}
    for n in (100, 330, 400, 6_000):
        script = face(DPLogisticRegression, solver="gd").quote(n, 3).script
        counts, lengths = (1.0 / event.multiplier**2 / mu**2 for event, _ in script[:2])
        found[n] = counts + lengths, 7.0 * np.sqrt(6.0) / (mu * np.sqrt(counts)) / n
        assert counts == pytest.approx(4 * lengths)
    assert [found[n][0] for n in (100, 6_000)] == pytest.approx([0.1, 0.05], rel=1e-6)
    between = [n for n, (share, _) in found.items() if 0.0501 < share < 0.0999]
    assert between and all(found[n][1] == pytest.approx(0.5, rel=0.02) for n in between)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [skdp.DPLogisticRegression, skdp.DPRidge])
def test_nothing_but_the_answers_tells_of_a_record(kind, relation):
    """Whatever leaves: attributes, warnings, texts and what is printed, on neighbours with every odd number."""
    model = face(kind, epsilon=1.0, neighbors=relation, random_state=None, solver=GD(steps=3))
    pairs = [*adversarial_pairs(relation, 60, 3)][::3]
    replays = [replay(fitted(model), pair, k) for k, pair in enumerate(pairs)]
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 10 and max(found.moved for found in replays) > 0.4


def _by_the_longest(self, parts):
    """Scale rows by the longest one, by looking."""
    longest = float(np.linalg.norm(parts.rows, axis=1).max())
    return MAPPED(replace(self, norm=self.norm + longest), parts)


MAPPED = Rows._mapped


def test_a_twin_that_looks_is_found(monkeypatch):
    monkeypatch.setattr(Rows, "_mapped", _by_the_longest)
    model = face(DPLogisticRegression, epsilon=1.0, random_state=None, solver=GD(steps=3))
    pairs = [*adversarial_pairs("replace_one", 60, 3)][::3]
    assert any(replay(fitted(model), pair, k).findings for k, pair in enumerate(pairs))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"delta": 0.0}, "delta=0"),
        ({"max_rows_per_group": 2}, "several rows"),
        ({"max_rows_per_group": 1}, "first row of each"),
        ({"solver": "agd"}, "as it goes"),
    ],
)
def test_what_has_no_proof_is_refused_before_anything_is_paid(given, told):
    ledger = Ledger(4.0, 1e-5)
    model = face(DPLogisticRegression, ledger=ledger, **given)
    with pytest.raises(NotSupported, match=told):
        model.quote(len(X), 3)
    with pytest.raises(NotSupported, match=told):
        model.fit(X, Y, groups=np.arange(len(X)) if "max_rows_per_group" in given else None)
    assert ledger.spent == 0.0


def test_lists_are_refused_and_class_sums_of_sparse_tables():
    with pytest.raises(NotSupported, match="sparse"):
        DPGaussianNB(classes=[0, 1]).fit(sp.csr_array(X), Y)
    with pytest.raises(ValueError, match="data_norm=None"):
        DPRanker().fit(X, Y, qid=np.arange(len(X)) // 4)


def test_weights_enter():
    model = face(DPLogisticRegression, class_weight={0: 1.0, 1: 3.0}, max_sample_weight=2.0)
    model.fit(X, Y, sample_weight=np.linspace(0.0, 2.0, len(X)))
    assert model.score(X, Y) > 0.8


def test_a_declared_norm_forgets_what_was_bought():
    model = face(DPLogisticRegression).fit(X, Y)
    model.set_params(data_norm=2.0).fit(X / UNITS, Y)
    assert not hasattr(model, "bounds_") and model.score(X / UNITS, Y) > 0.9


def test_many_classes_buy_once():
    three = np.digitize(X[:, 1], [-0.5, 0.5])
    for way in ("multinomial", "ovr"):
        model = DPLogisticRegression(
            epsilon=3.0, classes=[0, 1, 2], multi_class=way, random_state=0
        )
        receipt = model.fit(X, three).privacy_
        assert receipt.script == model.quote(len(X), 3, 3).script and model.score(X, three) > 0.6
        assert receipt.proofs == model.quote(len(X), 3, 3).proofs


def test_twelve_tables_in_any_unit_lose_less_than_a_point_to_declared_bounds():
    """One total epsilon of 1 on either side; noise is a part of what is lost."""
    lost = []
    for seed in range(12):
        table, y, bounds = in_units(seed)
        cut = len(table) * 4 // 5
        encoder = BoundsScaler({j: tuple(pair) for j, pair in enumerate(bounds)})
        rows, given = encoder.fit_transform(table), {"classes": [0, 1], "random_state": seed}
        declared = DPLogisticRegression(epsilon=1.0, data_norm=encoder.row_norm_, **given)
        bought = DPLogisticRegression(epsilon=1.0, **given)
        found = declared.fit(rows[:cut], y[:cut]).score(rows[cut:], y[cut:])
        lost.append(found - bought.fit(table[:cut], y[:cut]).score(table[cut:], y[cut:]))
    assert max(lost) < 0.01 and np.mean(lost) < 0.003


def blind(table):
    """Columns as they come, and one for each category: nothing is declared of either."""
    numbers = [np.asarray(table.columns[name], dtype=float)[:, None] for name in table.bounds]
    words = [
        np.asarray(table.columns[name])[:, None] == np.array(values)
        for name, values in table.categories.items()
    ]
    return np.hstack([*numbers, *words]).astype(float)


@pytest.mark.skipif(not os.environ.get("SKDP_DATA"), reason="set SKDP_DATA to fit real tables")
@pytest.mark.parametrize("load", [load_adult, load_bank, load_bike])
def test_real_tables_of_which_nothing_is_declared(load):
    table = load()
    y = table.target if table.target_names else (table.target > np.median(table.target)).astype(int)
    order = np.random.default_rng(0).permutation(len(y))[:20_000]
    train, test = np.split(order, [len(order) * 4 // 5])
    declared, bought = table.encode(), blind(table)
    model = DPLogisticRegression(epsilon=0.4, classes=[0, 1], random_state=0)
    right = model.fit(bought[train], y[train]).decision_function(bought[test])
    known = model.set_params(data_norm=1.0).fit(declared[train], y[train])
    left = known.decision_function(declared[test])
    assert roc_auc_score(y[test], right) > roc_auc_score(y[test], left) - 0.012


@pytest.mark.parametrize("cell", [5e-324, -1e-310, 1e300, -1.7e308])
def test_floating_point_errors_that_a_program_has_made_fatal_tell_of_no_cell(cell):
    odd = X.copy()
    odd[::7, 1] = cell
    with np.errstate(all="raise"):
        model = face(DPLogisticRegression, solver=GD(steps=3)).fit(odd, Y)
    assert np.isfinite(model.coef_).all()


def test_a_norm_that_a_solver_would_refuse_is_not_taken(monkeypatch):
    """Doubles may not do for a norm that was bought: then the fit is for rows of any."""
    plain, calls = _pricing.rehearse, []

    def refuses(plan, budget):
        if plan.data_norm not in calls:
            calls.append(plan.data_norm)
        if len(calls) == 2:  # the norm that was bought
            raise NotSupported("double precision cannot certify it")
        return plain(plan, budget)

    monkeypatch.setattr(_pricing, "rehearse", refuses)
    model = face(DPLogisticRegression).fit(X, Y)
    assert len(calls) == 2 and model.data_norm_ == calls[0]
