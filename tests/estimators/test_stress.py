"""Tables that are hard in one way each, through ``solver="auto"``: no exception, no warning, no worse than guessing."""

import warnings

import numpy as np
import pytest

import skdp

N = 500


def wide(rng):
    """More columns than records, of which one says the label."""
    X = rng.normal(size=(N, 1200)) / np.sqrt(1200)
    return X, X[:, 0] > 0


def separable(rng):
    X = rng.normal(size=(N, 5)) / 3
    return X, X[:, 0] > 0


def one_hot(rng):
    kinds = rng.integers(0, 30, N)
    return np.eye(30)[kinds], rng.random(N) < 0.2 + 0.6 * (kinds % 2)


def all_zero(rng):
    return np.zeros((N, 6)), rng.random(N) < 0.4


def correlated(rng):
    shared = rng.normal(size=(N, 1))
    return (shared + 1e-6 * rng.normal(size=(N, 10))) / 4, shared[:, 0] > 0


def imbalanced(rng):
    return rng.normal(size=(N, 5)) / 3, rng.random(N) < 0.02


def told_nothing(rng):
    return rng.normal(size=(N, 8)) / 3, rng.random(N) < 0.3


FAMILIES = [wide, separable, one_hot, all_zero, correlated, imbalanced, told_nothing]
FACES = [skdp.DPLogisticRegression, skdp.DPLinearSVC]


def warned(fit):
    """What a fit warns of, but for what follows of its number of records: a second fit's cost, noise that drowns it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="This is the second fit|Noise drowns this model")
        fit()
    return [str(one.message) for one in told]


@pytest.mark.parametrize("kind", FACES)
@pytest.mark.parametrize("family", FAMILIES)
def test_without_a_warning_and_at_a_large_epsilon_no_worse_than_the_majority(family, kind):
    X, y = family(np.random.default_rng(0))
    y = y.astype(int)
    model = kind(epsilon=10.0, data_norm=1.0, classes=[0, 1], random_state=0)
    assert warned(lambda: model.fit(X, y)) == []
    assert model.score(X, y) >= max(y.mean(), 1 - y.mean()) - 0.05


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("family", FAMILIES)
def test_where_noise_drowns_everything_a_fit_is_a_guess_and_no_failure(family, relation):
    """At an epsilon of .01 the noise is larger than what 500 records say: labels are as good as drawn."""
    X, y = family(np.random.default_rng(0))
    y = y.astype(int)
    model = skdp.DPLogisticRegression(
        epsilon=0.01, data_norm=1.0, classes=[0, 1], neighbors=relation
    )
    assert warned(lambda: model.fit(X, y)) == []
    assert np.isfinite(model.predict_proba(X)).all() and 0.0 <= model.score(X, y) <= 1.0


@pytest.mark.parametrize("epsilon", [0.01, 10.0])
@pytest.mark.parametrize("family", [one for one in FAMILIES if one is not wide])
def test_with_nothing_declared_either(family, epsilon):
    X, y = family(np.random.default_rng(0))
    y = y.astype(int)
    model = skdp.DPLogisticRegression(epsilon=epsilon, classes=[0, 1], random_state=0)
    assert warned(lambda: model.fit(X * 10.0 ** (np.arange(X.shape[1]) % 7), y)) == []
    assert np.isfinite(model.predict_proba(X)).all()
