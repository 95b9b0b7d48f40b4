"""What a fit warns of by public numbers: promises that protect nobody, noise that drowns a model, the other epsilon."""

import inspect
import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from estimators.checked import checked
from scipy.stats import norm
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import make_pipeline

import skdp
from skdp import DPHuberRegressor, DPLinearSVR, DPLogisticRegression, DPRidge, PrivacyWarning
from skdp.fitting import PrivateEstimator
from skdp.metrics import dp_score
from skdp.model_selection import DPGridSearchCV
from skdp.preprocessing import BoundsScaler
from skdp.privacy import Ledger, Spec, delta, risk
from skdp.privacy._risk import share_caught
from skdp.privacy.events import Gaussian, PureDP
from skdp.privacy.ledger import paid
from skdp.utils import all_estimators

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (600, 2))
Y = (X[:, 0] > 0).astype(int)
PRIVATE = {name: kind for name, kind in all_estimators() if issubclass(kind, PrivateEstimator)}


def told(call):
    """Sentences of the privacy warnings of a call."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in heard if issubclass(one.category, PrivacyWarning)]


def model(**given):
    return DPLogisticRegression(**{"epsilon": 4.0, "data_norm": 1.0, "classes": [0, 1]} | given)


# ------------------------------------------------------------------------------------ promises


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 4.6, 10.0, 25.0, 30.0, 1e3])
@pytest.mark.parametrize("delta_", [1e-12, 1e-6, 1e-3])
def test_what_an_attack_finds_is_that_of_the_gaussian_release(epsilon, delta_):
    """Against the price of that release, and the power of a test of two normal laws."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        mu = math.sqrt(low * high)
        low, high = (mu, high) if delta(((Gaussian(1 / mu), 1),), epsilon) <= delta_ else (low, mu)
    assert share_caught(Spec(epsilon, delta_)) == pytest.approx(
        norm.sf(norm.isf(0.05) - low), abs=1e-6
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 4.0, 4.6, 10.0])
def test_of_a_pure_promise_it_is_the_worst(epsilon):
    found = share_caught(Spec(epsilon, 0.0))
    assert found == pytest.approx(risk(((PureDP(epsilon), 1),)).power[0.05], rel=1e-9)


def test_it_grows_with_what_is_allowed():
    of_epsilon = [share_caught(Spec(epsilon, 1e-6)) for epsilon in np.geomspace(1e-3, 1e15, 60)]
    of_delta = [share_caught(Spec(5.0, delta_)) for delta_ in np.geomspace(1e-300, 0.5, 60)]
    assert (np.diff(of_epsilon) >= 0).all() and (np.diff(of_delta) >= 0).all()
    assert share_caught(Spec(math.inf, 0.0)) == 1.0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"epsilon": 50.0}, "epsilon=50 protects hardly anybody"),
        ({"epsilon": 5.0, "delta": 0.0}, "epsilon=5 protects hardly anybody"),
        ({"epsilon": math.inf}, "NOT private"),
        ({"delta": 1 / 600}, "delta=0.00166667 is not below 1/n=0.0017.*choose delta=1e-06 or"),
        ({"delta": 0.5}, "delta=0.5 is not below"),
        ({"delta": 0.5, "neighbors": "add_remove", "n_public": 600}, "delta=0.5 is not below"),
        ({"epsilon": 0.1}, "Noise drowns this model: it moves a score by about .* log-odds"),
    ],
)
def test_a_weak_promise_is_told_before_it_is_paid(given, sentence):
    ledger = Ledger(1e9, 0.6, given.get("neighbors", "replace_one"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        with pytest.raises(PrivacyWarning, match=sentence):
            model(**given, ledger=ledger).fit(X, Y)
    assert len(ledger) == 0
    (line,) = [line for line in told(lambda: model(**given).fit(X, Y)) if "second" not in line]
    assert line.endswith(".") and line.count(". ") <= 1


def in_a_budget(fit):
    with skdp.budget(math.inf, 0.6):
        fit()


def in_two_budgets(fit):
    with skdp.budget(math.inf, 0.6):
        in_a_budget(fit)


def in_a_thread(fit):
    with skdp.budget(math.inf, 0.6), ThreadPoolExecutor(1) as pool:
        pool.submit(fit).result()


PLACES = {
    "alone": lambda fit: fit(),
    "budget": in_a_budget,
    "budgets": in_two_budgets,
    "thread": in_a_thread,
}
# One of each sort of sentence: the promise, the number of records, the noise, and what is doubted of parameters.
SENTENCES = {
    "protects hardly": lambda: model(epsilon=50.0),
    "NOT private": lambda: model(epsilon=math.inf),
    "is not below 1/n": lambda: model(delta=0.5),
    "Noise drowns": lambda: model(epsilon=0.1),
    "epsilon is the privacy budget here": lambda: DPHuberRegressor(
        epsilon=1.35, data_norm=1.0, y_bounds=(0.0, 1.0)
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_whoever_pays_is_told(place, sentence):
    """A budget that covers a fit makes no promise stronger; only what was paid as a whole is silent."""
    fit = partial(SENTENCES[sentence]().fit, X, Y)
    assert sum(sentence in line for line in told(lambda: PLACES[place](fit))) == 1
    with paid():
        assert not told(fit)


@pytest.mark.parametrize("epsilon", [2.0, 8.0, 20.0])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_usual_promise_is_silent(epsilon, neighbors):
    assert not told(lambda: model(epsilon=epsilon, neighbors=neighbors).fit(X, Y))


def test_a_private_number_of_records_is_not_told():
    """Under add/remove whether delta * n exceeds 1 tells of n."""
    loose = model(delta=0.5, neighbors="add_remove", solver="gd")
    assert not told(lambda: loose.fit(X, Y)) and not told(lambda: loose.fit(X[:300], Y[:300]))


def test_it_is_said_of_all_that_is_promised():
    """Of every private estimator, of scores and of searches."""
    assert {type(one).__name__.replace("InLists", "DPRanker") for one in of_all()} == set(PRIVATE)
    fitted = model().fit(X, Y)
    assert "protects hardly" in told(lambda: dp_score(fitted, X, Y, epsilon=99.0))[0]
    search = DPGridSearchCV(model(epsilon=99.0), {"C": [1.0, 2.0]})
    assert ["protects hardly" in line for line in told(lambda: search.fit(X, Y))] == [True]
    search = DPGridSearchCV(model(delta=0.01), {"C": [1.0, 2.0]})
    assert ["is not below 1/n" in line for line in told(lambda: search.fit(X, Y))] == [True]


def of_all():
    return [one for one in checked() if isinstance(one, PrivateEstimator)]


@pytest.mark.parametrize(
    "estimator", of_all(), ids=lambda one: f"{type(one).__name__}-{one.neighbors}"
)
def test_every_estimator_says_so(estimator):
    """As scikit-learn's checks have them, at an epsilon of a million."""
    known = inspect.signature(type(estimator)).parameters
    y = np.round(10.0 * (X[:, 0] + 0.5)) if "y_bounds" in known else Y
    heard = told(lambda: estimator.fit(X, y))
    assert any(line.startswith("epsilon=1e+06 protects hardly anybody") for line in heard)


def test_runs_of_a_search_say_nothing_by_themselves():
    """Which settings are drawn is a secret, and noise of some would drown a model where that of others does not."""
    search = DPGridSearchCV(
        DPRidge(epsilon=0.5, data_norm=1.0, y_bounds=(0, 1)),
        {"alpha": [0.0, 1e4]},
        strategy="geometric",
        max_runs=3,
    )
    assert not told(lambda: search.fit(X[:100], Y[:100].astype(float)))


# ------------------------------------------------------------------------------------ the other epsilon

CLASHES = [(DPHuberRegressor, 1.35, "threshold"), (DPLinearSVR, 0.1, "margin")]


@pytest.mark.parametrize(("kind", "epsilon", "name"), CLASHES)
def test_the_other_epsilon_is_told_apart(kind, epsilon, name):
    given = {"data_norm": 1.0, "y_bounds": (0.0, 1.0)}
    namesake = kind.__name__.removeprefix("DP")
    sentence = f"epsilon is the privacy budget here, and {name} is what {namesake} calls epsilon"
    meant = kind(epsilon=epsilon, **given)
    assert sum(sentence in line for line in told(lambda: meant.fit(X, X[:, 0]))) == 1
    search = DPGridSearchCV(meant, {"C" if name == "margin" else "alpha": [1.0, 2.0]})
    assert sum(sentence in line for line in told(lambda: search.fit(X, X[:, 0]))) == 1
    written = kind(epsilon=epsilon, **given, **{name: 0.3})
    usual = [kind(epsilon=usual, **given) for usual in (0.5, 1.0, 2.0, 3.0, 8.0)]
    for silent in (written, *usual):
        assert sentence not in " ".join(told(partial(silent.fit, X, X[:, 0])))
    assert (
        sum(sentence in line for line in told(lambda: kind(epsilon=epsilon).fit(X, X[:, 0]))) == 1
    )
    with pytest.raises(ValueError, match=sentence):
        kind(epsilon=0.0, **given).fit(X, X[:, 0])


def test_no_margin_is_that_of_scikit_learn():
    given = {"data_norm": 1.0, "y_bounds": (0.0, 1.0), "random_state": 0}
    one, other = DPLinearSVR(**given), DPLinearSVR(**given, margin=0.0)
    np.testing.assert_array_equal(one.fit(X, X[:, 0]).coef_, other.fit(X, X[:, 0]).coef_)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda inner: inner,
        lambda inner: make_pipeline(BoundsScaler((-1, 1)), inner),
        lambda inner: skdp.make_pipeline(BoundsScaler((-1, 1)), inner),
        lambda inner: VotingClassifier([("one", make_pipeline(inner))]),
    ],
    ids=["bare", "pipeline", "own pipeline", "ensemble"],
)
def test_a_warning_points_to_the_line_of_the_user(wrapped):
    """And not to what scikit-learn or joblib have between that line and the fit."""
    whole = wrapped(model(epsilon=30.0))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        whole.fit(X, Y)
    assert heard and {one.filename for one in heard} == {__file__}
