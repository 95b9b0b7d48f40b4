"""Least squares of several targets under one price, and targets of which no bounds are declared."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from laws.vaults import RELATIONS
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import skdp
from skdp import DPHuberRegressor, DPLinearRegression, DPRidge, NotSupported, PrivacyWarning
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.fitting.stages import ColumnBounds
from skdp.metrics import dp_score
from skdp.model_selection import DPGridSearchCV
from skdp.privacy import Ledger, epsilon
from skdp.solvers import GD

rng = np.random.default_rng(0)
N = 4000
X = rng.uniform(-1.0, 1.0, (N, 3))
Y = np.column_stack(
    [X @ [3.0, -2.0, 1.0] + 10.0, 1e6 * (X @ [0.3, 0.2, -0.1] - 1.0)]
) + 0.1 * rng.normal(size=(N, 2))
BOUNDS = [(3.0, 17.0), (-2e6, 0.0)]
GIVEN = {"data_norm": math.sqrt(3.0), "random_state": 0}
FACES = (DPRidge, DPLinearRegression)


def quiet(model, *data, **more):
    """A fit whose lack of privacy is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(*data, **more)


# --------------------------------------------------------------------------------- several targets


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_it_is_scikit_learns_fit_of_all_targets(fit_intercept, neighbors):
    weights = rng.integers(1, 4, N).astype(float)
    given = {"y_bounds": BOUNDS, "neighbors": neighbors, "max_sample_weight": 3.0, **GIVEN}
    for ours, theirs in (
        (DPRidge(alpha=30.0), Ridge(alpha=30.0)),
        (DPLinearRegression(), LinearRegression()),
    ):
        ours.set_params(epsilon=np.inf, fit_intercept=fit_intercept, **given)
        quiet(ours, X, Y, sample_weight=weights)
        theirs.set_params(fit_intercept=fit_intercept).fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)
        np.testing.assert_allclose(
            ours.set_params(clip_predictions=False).predict(X), theirs.predict(X), rtol=1e-6
        )
        assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), rel=1e-9)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("solver", ["auto", "white-gd", "objective-perturbation", "agd"])
def test_all_targets_are_one_price_and_one_charge(solver, neighbors):
    given = {"y_bounds": BOUNDS, "neighbors": neighbors, "solver": solver, **GIVEN}
    model = DPRidge(epsilon=2.0, **given)
    model.set_params(n_public=N)
    receipt = model.fit(X, Y).privacy_
    quote = model.quote(N, 3)
    assert receipt.epsilon <= 2.0 and receipt.declared["n_targets"] == 2
    if solver != "agd":
        assert quote.script == receipt.script
        assert epsilon(receipt.script, 1e-6, neighbors=neighbors) <= 2.0 * (1 + 1e-9)
        alone = DPRidge(epsilon=2.0, **{**given, "y_bounds": BOUNDS[0]}).set_params(n_public=N)
        fits = [sum(count for _, count in r.script) for r in (receipt, alone.quote(N, 3))]
        assert fits[0] == 2 * fits[1]
    assert model.coef_.shape == (2, 3) and model.intercept_.shape == (2,)
    assert model.score(X, Y) > 0.7
    ledger = Ledger(2.0, 1e-6, neighbors)
    model.set_params(ledger=ledger, random_state=None).fit(X, Y)
    assert len(ledger) == 1 and 0.0 < ledger.spent <= 2.0


def test_one_price_is_better_than_a_part_of_epsilon_each():
    several = X @ np.random.default_rng(1).normal(size=(3, 10))
    several += 0.5 * np.random.default_rng(2).normal(size=several.shape)
    given = {"y_bounds": (-4.0, 4.0), **GIVEN}
    whole = DPRidge(epsilon=0.4, **given).fit(X, several).score(X, several)
    alone = []
    for seed, y in enumerate(several.T):
        part = DPRidge(epsilon=0.04, delta=1e-7, **{**given, "random_state": seed})
        alone.append(part.fit(X, y).score(X, y))
    assert whole > 0.45 and whole > np.mean(alone) + 0.1  # without noise .55


def test_intervals_are_of_each_target():
    model = DPLinearRegression(epsilon=2.0, y_bounds=BOUNDS, **GIVEN).fit(X, Y)
    assert model.coef_std_.shape == (2, 3) and (model.coef_std_ > 0).all()
    low, high = np.moveaxis(model.conf_int(0.999), -1, 0)
    truth = np.array([[3.0, -2.0, 1.0], [3e5, 2e5, -1e5]])
    assert ((low < truth) & (truth < high)).all()
    assert DPRidge(epsilon=2.0, y_bounds=BOUNDS[0], **GIVEN).fit(X, Y[:, 0]).conf_int().shape == (
        3,
        2,
    )


def test_one_column_has_scikit_learns_shapes():
    column = Y[:, :1]
    for Ours, Theirs in ((DPRidge, Ridge), (DPLinearRegression, LinearRegression)):
        ours = Ours(epsilon=4.0, y_bounds=BOUNDS[0], **GIVEN).fit(X, column)
        theirs = Theirs().fit(X, column)
        assert ours.coef_.shape == theirs.coef_.shape
        assert ours.intercept_.shape == theirs.intercept_.shape
        assert ours.predict(X).shape == theirs.predict(X).shape
        assert ours.coef_std_.shape == ours.coef_.shape


def test_tables_of_any_kind_persons_and_groups():
    given = {"y_bounds": BOUNDS, **GIVEN}
    plain = DPRidge(epsilon=4.0, **given).fit(X, Y)
    same = DPRidge(epsilon=4.0, **given).fit(sp.csr_array(X), Y.tolist())
    np.testing.assert_allclose(same.coef_, plain.coef_, rtol=1e-9)
    assert DPRidge(epsilon=4.0, **given).fit(X.astype(np.float32), Y).coef_.dtype == np.float32
    persons = DPRidge(epsilon=4.0, max_rows_per_group=2, **given)
    persons.fit(X, Y, groups=np.arange(N) // 2)
    assert persons.score(X, Y) > 0.9 and persons.privacy_.unit == "person"
    assert (
        make_pipeline(FunctionTransformer(), DPRidge(epsilon=4.0, **given)).fit(X, Y).score(X, Y)
        > 0.9
    )
    assert (
        DPRidge(epsilon=4.0, data_norm=None, y_bounds=BOUNDS, random_state=0).fit(X, Y).score(X, Y)
        > 0.9
    )


WRONG = {
    "unlike numbers of pairs": (
        {"y_bounds": [*BOUNDS, (0.0, 1.0)]},
        Y,
        "another number of columns",
    ),
    "bounds of two, one target": ({"y_bounds": BOUNDS}, Y[:, 0], "another number of columns"),
    "no bounds": ({"y_bounds": [(0.0, 1.0), (1.0, 0.0)]}, Y, "y_bounds=<list> must be two numbers"),
    "three dimensions": ({"y_bounds": BOUNDS}, Y[:, :, None], "1d array"),
    "text": ({"y_bounds": BOUNDS}, np.where(Y > 10, "many", Y.astype(str)), "text"),
    "missing": ({"y_bounds": BOUNDS}, np.where(Y > 10, np.nan, Y), "NaN or infinity"),
    "of another length": ({"y_bounds": BOUNDS}, Y[:-1], "inconsistent lengths"),
}


@pytest.mark.parametrize(("given", "y", "told"), WRONG.values(), ids=[*WRONG])
def test_what_is_wrong_is_told_in_one_sentence(given, y, told):
    with pytest.raises(ValueError, match=told) as refusal:
        DPRidge(**given, **GIVEN).fit(X, y)
    assert str(refusal.value).endswith(".") and refusal.value.__context__ is None


def test_who_predicts_one_number_says_so():
    with pytest.raises(ValueError, match="DPHuberRegressor predicts one number"):
        DPHuberRegressor(y_bounds=BOUNDS[0], **GIVEN).fit(X, Y)
    with pytest.raises(ValueError, match="y_bounds="):
        DPHuberRegressor(y_bounds=BOUNDS, **GIVEN).fit(X, Y)


# --------------------------------------------------------------------------------- bought bounds


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("Estimator", FACES)
def test_targets_in_any_unit_work_at_once_and_the_quote_says_what_it_costs(Estimator, neighbors):
    for unit in (1e-9, 1.0, 1e9):
        for given in (GIVEN, {"random_state": 0}):
            model = Estimator(epsilon=4.0, neighbors=neighbors, n_public=N, **given)
            receipt = model.fit(X, unit * Y[:, 0]).privacy_
            quote = model.quote(N, 3)
            assert quote.script == receipt.script and quote.proofs == receipt.proofs
            assert (
                "column_counts" in receipt.proofs and receipt.declared["y_bounds"] == "none: bought"
            )
            low, high = model.y_bounds_[0] / unit
            assert 2.0 <= low <= 8.0 and 12.0 <= high <= 40.0
            assert model.score(X, unit * Y[:, 0]) > 0.95
            assert hasattr(model, "bounds_") == ("data_norm" not in given)


def test_bounds_of_all_targets_are_bought_together():
    model = DPLinearRegression(epsilon=6.0, **GIVEN).fit(X, Y)
    assert model.y_bounds_.shape == (2, 2) and model.score(X, Y) > 0.9
    assert (
        sum(count for _, count in model.privacy_.script) == 5
    )  # counts; moments and objective, twice
    weighted = DPRidge(epsilon=6.0, max_sample_weight=2.0, **GIVEN)
    weighted.fit(sp.csr_array(X), Y, sample_weight=np.linspace(0.0, 2.0, N))
    assert weighted.score(X, Y) > 0.9


def test_a_declared_pair_forgets_what_was_bought():
    model = DPRidge(epsilon=4.0, **GIVEN).fit(X, Y[:, 0])
    model.set_params(y_bounds=BOUNDS[0]).fit(X, Y[:, 0])
    assert not hasattr(model, "y_bounds_") and model.score(X, Y[:, 0]) > 0.9


def test_a_scale_that_noise_hides_is_said_and_predicted_as_nothing():
    model = DPRidge(epsilon=0.1, **GIVEN)
    with pytest.warns(UserWarning, match="hides the scale of a target"):
        model.fit(X[:100], Y[:100, 0])
    assert (model.coef_ == 0).all() and (model.predict(X) == 0).all()


def test_without_an_intercept_nothing_is_taken_from_targets():
    model = DPLinearRegression(epsilon=4.0, fit_intercept=False, **GIVEN).fit(X, Y[:, 0] - 10.0)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.coef_, [3.0, -2.0, 1.0], atol=0.1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"delta": 0.0}, "delta=0"),
        ({"max_rows_per_group": 2}, "several rows"),
        ({"solver": "agd"}, "as it goes"),
    ],
)
def test_what_has_no_proof_is_refused_before_anything_is_paid(given, told):
    ledger = Ledger(4.0, 1e-5)
    model = DPRidge(ledger=ledger, **{**GIVEN, "random_state": None}, **given)
    with pytest.raises(
        NotSupported, match=f"y_bounds=None estimates bounds of the targets.*{told}"
    ):
        model.fit(X, Y, groups=np.arange(N) // 2 if "max_rows_per_group" in given else None)
    assert ledger.spent == 0.0


def test_who_is_scored_by_declared_bounds_says_so():
    with pytest.raises(NotSupported, match="set y_bounds"):
        DPGridSearchCV(DPRidge(**GIVEN), {"alpha": [1.0, 2.0]}, epsilon=1.0).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="y_bounds="):
        dp_score(DPRidge(**GIVEN).fit(X, Y), X, Y, epsilon=1.0, scoring="r2")
    assert skdp.check(DPRidge(y_bounds=BOUNDS)).private


def odd_pairs(relation, several):
    """Neighbours whose targets are of any size, the record's own beyond all others."""
    for pair in [*adversarial_pairs(relation, 60, 3)][::3]:
        longer = max(len(pair.first[1]), len(pair.second[1]))

        def numbers(table, place=pair.place, longer=longer):
            rows, labels = table
            y = np.where(np.asarray(labels) > 0, 3.0, -0.5)
            if len(y) == longer:
                y[place] *= 1e250
            return rows, np.column_stack([y, -1e-5 * y]) if several else y

        yield replace(pair, first=numbers(pair.first), second=numbers(pair.second))


LEAST = {"solver": GD(steps=3)}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("several", "given"),
    [
        (False, {"data_norm": 2.0}),
        (True, {}),
        (True, {"data_norm": 1.0, "y_bounds": (-1.0, 2.0)}),
    ],
    ids=["bounds bought", "all bought, two targets", "two targets"],
)
def test_nothing_but_the_answers_tells_of_a_record(several, given, relation):
    """Whatever leaves: attributes, warnings, texts and what is printed, on neighbours with every odd number."""
    model = DPRidge(epsilon=1.0, neighbors=relation, **LEAST, **given)
    pairs = odd_pairs(relation, several)
    replays = [replay(fitted(model), pair, k) for k, pair in enumerate(pairs)]
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 10 and max(found.moved for found in replays) > 0.2


BUY = ColumnBounds.run


def _read_the_bounds_off(self, look, *given):
    """Scale targets by what is theirs, by looking."""
    targets = look._Window__table._Table__parts.targets
    seen = float(np.median(targets)) + float(np.abs(targets).max())
    known = BUY(self, look, *given)
    return replace(known, y_bounds=known.y_bounds + seen)


def test_a_twin_that_looks_is_found(monkeypatch):
    monkeypatch.setattr(ColumnBounds, "run", _read_the_bounds_off)
    model = DPRidge(epsilon=1.0, data_norm=2.0, **LEAST)
    pairs = odd_pairs("replace_one", False)
    assert any(replay(fitted(model), pair, k).findings for k, pair in enumerate(pairs))
