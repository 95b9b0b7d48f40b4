"""Bounds, means and deviations that are bought: what leaves, what is paid, what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from preprocessing.mixed import frame
from sklearn.base import clone

import skdp
from skdp.entry import numbers_of
from skdp.preprocessing import BoundsScaler, DPBounds, DPStandardScaler
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_epsilon, gaussian_mu

KINDS = [DPBounds, DPStandardScaler]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(20_000, 3)) * [1e-6, 1.0, 1e9] + [0.0, 5.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_scales_are_found_and_rows_are_bounded(kind, neighbors):
    model = kind(epsilon=0.5, neighbors=neighbors, random_state=0).fit(X)
    size = np.abs(model.bounds_).max(axis=1)
    assert (size > [1e-6, 4, 1e9]).all() and (size < [9e-6, 17, 9e9]).all()
    wild = np.vstack(
        [X[:100], np.full((1, 3), np.nan), np.full((1, 3), -np.inf), np.full((1, 3), 1e308)]
    )
    rows = model.transform(wild)
    assert np.isfinite(rows).all() and np.linalg.norm(rows, axis=1).max() <= 1 == model.row_norm_
    assert_array_equal(rows[100], 0)
    assert_array_equal(rows[:1], model.transform(wild[:1]))


@pytest.mark.parametrize("cell", [True, np.True_, np.float32(0.1), 2**60 + 1, "7", None])
def test_a_cell_of_a_list_is_read_as_it_is_whatever_the_others_are(cell):
    read = [
        numbers_of(DPStandardScaler(), [[cell], [other]], "any", reset=True)[0, 0]
        for other in (1.0, "text")
    ]
    assert_array_equal(*read)


def test_mean_and_deviation():
    model = DPStandardScaler(epsilon=5.0, random_state=0).fit(X)
    assert_allclose(model.mean_ / [1e-6, 1, 1e9], [0, 5, 0], atol=0.05)
    assert_allclose(model.scale_ / [1e-6, 1, 1e9], 1, atol=0.1)
    assert (np.linalg.norm(model.transform(X), axis=1) < 1 - 1e-9).mean() > 0.7


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_the_price_is_the_promise_to_the_last_digit(kind, neighbors):
    model = kind(epsilon=0.3, delta=1e-6, neighbors=neighbors)
    quoted = model.quote(500, 3)
    spent = sum(count / event.multiplier**2 for event, count in quoted.script)
    assert spent == pytest.approx(gaussian_mu(0.3, 1e-6) ** 2, rel=1e-6)
    shares = [count / event.multiplier**2 / spent for event, count in quoted.script]
    assert_allclose(shares, np.full(len(shares), 1 / len(shares)), rtol=1e-9)
    fitted = clone(model).fit(X[:500])
    assert fitted.privacy_.script == quoted.script
    assert ("n" in fitted.privacy_.declared) == (neighbors == "replace_one")
    assert set(fitted.privacy_.proofs) >= {"column_counts"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_ledger_pays_before_and_refuses_before(kind):
    ledger = Ledger(0.35, 1e-5)
    kind(epsilon=0.3, ledger=ledger).fit(X)
    paid = ledger.spent
    assert 0.0 < paid <= 0.35
    with pytest.raises(skdp.BudgetExceeded):
        kind(epsilon=0.3, ledger=ledger).fit(X)
    assert ledger.spent == paid


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_raises_or_warns(kind):
    """Whatever cells hold: an exception that depends on a record would tell of it."""
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308, 1.7e308, 1e-310, 3.0])
    table = np.column_stack(
        [np.tile(odd, 30), np.full(300, np.nan), np.zeros(300), np.full(300, 7.0)]
    )
    for epsilon in (0.01, 50.0):
        rows = kind(epsilon=epsilon, random_state=0).fit_transform(table)
        assert np.isfinite(rows).all()
    mixed = frame()[["age", "gain", "rate"]]
    fitted = kind(epsilon=1.0, random_state=0).set_output(transform="pandas").fit(mixed)
    assert fitted.transform(mixed).columns.tolist() == ["age", "gain", "rate"]
    with pytest.raises(ValueError, match="'x0' holds dates"):
        kind().fit(pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}))


def test_without_noise_the_bounds_are_octaves_of_the_data():
    with pytest.warns(skdp.PrivacyWarning, match="NOT private"):
        model = DPBounds(epsilon=np.inf).fit([[1.0, -5.0], [3.0, 0.0]] * 50)
    assert model.bounds_.tolist() == [[1.0, 4.0], [-8.0, 0.0]]


def test_wrong_parameters_are_refused_before_data():
    for wrong in ({"epsilon": -1}, {"delta": 2}, {"neighbors": "both"}, {"ledger": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            DPBounds(**wrong).fit(None)


def test_in_a_pipeline_with_one_ledger():
    y = (X[:, 0] > 0).astype(int)
    ledger = Ledger(1.0, 1e-5, accountant="rdp")
    model = skdp.make_pipeline(
        DPBounds(epsilon=0.1, ledger=ledger),
        skdp.DPLogisticRegression(epsilon=0.6, solver="white-gd", classes=[0, 1], ledger=ledger),
    )
    assert model[-1].data_norm == 1.0 and skdp.check(model).private
    assert model.fit(X, y).score(X, y) > 0.95 and ledger.spent <= 1.0


LAWS = {  # how a column is drawn, in some unit, and the bounds that its owner would declare
    "normal": (lambda rng, n: rng.normal(size=n), (-3, 3)),
    "uniform": (lambda rng, n: rng.uniform(-1, 1, n), (-1, 1)),
    "shifted": (lambda rng, n: rng.normal(3, 1, n), (0, 6)),
    "exponential": (lambda rng, n: rng.exponential(size=n), (0, 5)),
    "lognormal": (lambda rng, n: rng.lognormal(size=n), (0, 10)),
    "heavy": (lambda rng, n: rng.standard_t(3, n), (-6, 6)),
    "zeros": (lambda rng, n: rng.exponential(size=n) * (rng.random(n) < 0.3), (0, 5)),
    "counts": (lambda rng, n: rng.poisson(2.0, n).astype(float), (0, 8)),
}


def in_units(seed, n=20_000, d=8):
    """A table whose columns have units from 1e-6 to 1e9, labels, and bounds that may be declared."""
    rng = np.random.default_rng(seed)
    names, unit = rng.choice([*LAWS], d), 10.0 ** rng.uniform(-6, 9, d)
    plain = np.column_stack([LAWS[name][0](rng, n) for name in names])
    bounds = np.array([LAWS[name][1] for name in names], dtype=float)
    u = np.clip((plain - bounds.mean(axis=1)) / (np.diff(bounds)[:, 0] / 2), -1, 1)
    score = u @ rng.normal(size=d) * 3
    y = rng.random(n) < 1 / (1 + np.exp(np.median(score) - score))
    return plain * unit, y.astype(int), bounds * unit[:, None]


def accuracy(encoder, epsilon, X, y, seed):
    """Of a private model behind an encoder, on a fifth that is held out."""
    model = skdp.DPLogisticRegression(
        epsilon=epsilon, data_norm=1.0, classes=[0, 1], random_state=seed
    )
    cut = len(X) * 4 // 5
    rows = encoder.fit_transform(X[:cut]) / encoder.row_norm_
    return model.fit(rows, y[:cut]).score(encoder.transform(X[cut:]) / encoder.row_norm_, y[cut:])


def test_private_bounds_are_as_good_as_declared_ones_in_any_unit():
    """Twelve tables, one total epsilon of 1: within one point of accuracy on each, of which noise is a part."""
    rest = gaussian_epsilon(
        (gaussian_mu(1.0, 1e-6) ** 2 - gaussian_mu(0.1, 1e-6) ** 2) ** 0.5, 1e-6
    )
    lost = []
    for seed in range(12):
        X, y, bounds = in_units(seed)
        declared = BoundsScaler({j: tuple(pair) for j, pair in enumerate(bounds)})
        bought = DPBounds(epsilon=0.1, random_state=seed)
        lost.append(accuracy(declared, 1.0, X, y, seed) - accuracy(bought, rest, X, y, seed + 100))
    assert max(lost) < 0.01 and np.mean(lost) < 0.003
