"""Quantiles, medians and whitening that are bought: against the truth, at the promised price, within the norm."""

import numpy as np
import pandas as pd
import pytest
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA

import skdp
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.mechanisms._octaves import BINS, bins_of, places_of
from skdp.preprocessing import DPPCA, DPImputer, DPQuantileScaler, DPWhitener
from skdp.preprocessing._transformer import knots_of, median_of
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_mu

KINDS = [DPQuantileScaler, DPImputer, DPWhitener, DPPCA]
RNG = np.random.default_rng(0)
X = np.column_stack(
    [RNG.lognormal(sigma=2.0, size=20_000) * 1e-6, RNG.normal(size=20_000), np.zeros(20_000)]
)


def masses(numbers):
    return np.bincount(bins_of(places_of(np.asarray(numbers))), minlength=BINS).astype(float)


def test_exact_counts_give_exact_shares_at_the_ends_of_octaves():
    rng = np.random.default_rng(0)
    cells = np.sort(rng.standard_t(1.5, size=4000))
    numbers, shares = knots_of(masses(cells))
    assert (numbers[1:] > numbers[:-1]).all() and (np.diff(shares) >= 0).all() and shares[-1] == 1.0
    assert_allclose(shares, np.searchsorted(cells, numbers) / 4000, atol=1e-12)
    near = abs(median_of(masses(cells)) - np.median(cells))
    assert near < 0.1 and median_of(masses([0.0] * 5)) == 0.0 == median_of(np.zeros(BINS))
    assert median_of(masses([-0.0, 0.0, 0.0, 1e308, 1.7e308])) == 0.0
    huge = knots_of(masses([-1.7e308, 1.7e308]))
    assert np.isfinite(huge[0]).all() and huge[1].tolist() == [0.0, 0.5, 0.5, 1.0]


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_columns_go_to_their_shares_and_missing_cells_to_medians(neighbors):
    given = {"epsilon": 1.0, "neighbors": neighbors, "random_state": 0}
    scaler = DPQuantileScaler(**given).fit(X)
    rows = scaler.transform(X) * np.sqrt(3)
    ranks = X.argsort(axis=0).argsort(axis=0) / 10_000 - 1
    assert np.abs(rows - ranks)[:, 0].max() < 0.12 and np.abs(rows - ranks)[:, 1].max() < 0.12
    assert np.abs(rows[:, 2]).max() < 1e-9
    holes = X.copy()
    holes[::4] = np.nan
    holes[1::4, 1] = np.inf
    imputer = DPImputer(**given).fit(holes)
    assert_allclose(imputer.statistics_, [1e-6, 0.0, 0.0], rtol=0.3, atol=0.1)
    filled = imputer.transform(holes)
    known = np.isfinite(holes)
    assert np.isfinite(filled).all()
    assert_array_equal(filled[known], holes[known])


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_whitened_rows_have_no_long_direction(neighbors):
    rng = np.random.default_rng(0)
    mixing = np.linalg.qr(rng.normal(size=(5, 5)))[0] * [1.0, 1.0, 0.5, 0.3, 0.1]
    rows = rng.normal(size=(50_000, 5)) @ mixing.T
    bound = float(np.quantile(np.linalg.norm(rows, axis=1), 0.99))
    white = DPWhitener(epsilon=2.0, data_norm=bound, neighbors=neighbors, random_state=0).fit(rows)
    before, after = (np.linalg.eigvalsh(np.cov(x.T)) for x in (rows, white.transform(rows)))
    assert after[-1] / after[0] < 4.0 < 20.0 < before[-1] / before[0]
    assert_allclose(white.whitening_, white.whitening_.T)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_components_are_those_of_exact_rows_as_far_as_noise_lets_them_be_seen(neighbors):
    rng = np.random.default_rng(0)
    mixing = np.linalg.qr(rng.normal(size=(40, 4)))[0] * [2.0, 1.0, 0.7, 0.5]
    rows = 0.3 * rng.normal(size=40) + rng.normal(size=(30_000, 4)) @ mixing.T
    bound = float(np.linalg.norm(rows, axis=1).max())
    model = DPPCA(epsilon=2.0, data_norm=bound, neighbors=neighbors, random_state=0).fit(rows)
    exact = PCA(4).fit(rows / bound)
    assert model.n_components_ == 4
    assert_allclose(model.mean_, exact.mean_, atol=0.01)
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=0.1)
    angles = np.linalg.svd(model.components_ @ exact.components_.T)[1]
    assert angles.min() > 0.98
    out, stretch = model.transform(rows), model.explained_variance_**-0.25
    plain = (rows / bound - model.mean_) @ model.components_.T * stretch
    plain /= 0.75 * np.sqrt(stretch**2 @ model.explained_variance_)
    assert_allclose(out, plain / np.maximum(np.linalg.norm(plain, axis=1), 1.0)[:, None], rtol=1e-9)
    noisy = DPPCA(epsilon=0.01, data_norm=bound, neighbors=neighbors, random_state=0).fit(rows)
    assert noisy.n_components_ < 4


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_rows_without_a_direction_show_no_more_than_one(neighbors):
    for seed in range(5):
        model = DPPCA(epsilon=1.0, data_norm=1.0, neighbors=neighbors, random_state=seed)
        assert model.fit(np.zeros((2000, 60))).n_components_ <= 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_price_is_the_promise_and_a_ledger_pays_it_before(kind, neighbors):
    model = kind(epsilon=0.3, neighbors=neighbors)
    quoted = model.quote(500, 3)
    spent = sum(count / event.multiplier**2 for event, count in quoted.script)
    assert spent == pytest.approx(gaussian_mu(0.3, 1e-6) ** 2, rel=1e-6)
    ledger = Ledger(0.35, 1e-5, neighbors)
    fit = clone(model).set_params(ledger=ledger).fit(X[:500])
    assert fit.privacy_.script == quoted.script and 0.0 < ledger.spent <= 0.35
    with pytest.raises(skdp.BudgetExceeded):
        clone(model).set_params(ledger=ledger).fit(X[:500])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_leave_within_the_norm_with_their_names(kind):
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X[:300], columns=names)
    for epsilon in (0.01, 50.0):
        model = kind(epsilon=epsilon, random_state=0).set_output(transform="pandas").fit(frame)
        wild = pd.DataFrame([[1e300, -1e300, 1e-300], [0.0, -0.0, 5e-324]], columns=names)
        for table in (frame, wild):
            rows = model.transform(table)
            named = (
                names if kind is not DPPCA else [f"dppca{k}" for k in range(model.n_components_)]
            )
            assert rows.columns.tolist() == named == model.get_feature_names_out().tolist()
            assert np.isfinite(rows.to_numpy()).all()
            if kind is not DPImputer:
                assert np.linalg.norm(rows, axis=1).max() <= 1.0 == model.row_norm_
        single = model.transform(frame[7:8]).to_numpy()
        assert_allclose(single, model.transform(frame).to_numpy()[7:8], rtol=1e-12)
    if kind is not DPImputer:
        pipe = skdp.make_pipeline(kind(), skdp.DPLogisticRegression(classes=[0, 1]))
        assert pipe[-1].data_norm == 1.0 and skdp.check(pipe).private


@pytest.mark.parametrize("kind", [DPQuantileScaler, DPImputer])
def test_no_number_raises_or_warns(kind):
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308, 1.7e308, 1e-310, 3.0])
    table = np.column_stack([np.tile(odd, 30), np.full(300, np.nan), np.full(300, 7.0)])
    for epsilon in (0.01, 50.0):
        assert np.isfinite(kind(epsilon=epsilon, random_state=0).fit_transform(table)).all()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_the_answers_tells_of_a_record(kind, relation):
    model = kind(epsilon=1.0, neighbors=relation)
    pairs = [*adversarial_pairs(relation, 60, 3)][::3]
    replays = [replay(fitted(model), pair, k) for k, pair in enumerate(pairs)]
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 10 and max(found.moved for found in replays) > 0.4


def test_a_whitener_wants_a_declared_norm():
    with pytest.raises(ValueError, match="data_norm=None"):
        DPWhitener(data_norm=None).fit(X)
