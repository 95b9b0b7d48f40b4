"""Linear discriminant analysis of noisy class sums: what it asks, when it is chosen, and what it is made of."""

import math

import numpy as np
import pytest
from laws.vaults import RELATIONS
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skdp import DPLogisticRegression, NotSupported
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.mechanisms import ClassSums, Mapped
from skdp.solvers import LDA, resolve
from skdp.solvers.lda import discriminant, spread_of_classes

pytestmark = pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")


def clusters(n=6000, d=12, classes=8, seed=0):
    """Rows of norm at most 1 around class means, with columns that go together."""
    rng = np.random.default_rng(seed)
    means, mixed = rng.normal(size=(classes, d)), rng.normal(size=(d, d))
    y = rng.choice(classes, size=2 * n, p=(p := np.arange(1.0, classes + 1)) / p.sum())
    X = means[y] + 0.4 * rng.normal(size=(2 * n, d)) @ mixed
    X /= 1.5 * np.linalg.norm(X, axis=1).mean()
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    return X[:n], y[:n], X[n:], y[n:]


X, Y, FAR_X, FAR_Y = clusters()
CLASSES = list(range(8))


def model(**given):
    return DPLogisticRegression(
        **{"data_norm": 1.0, "classes": CLASSES, "solver": "lda", "random_state": 0, **given}
    )


def plain():
    return LinearDiscriminantAnalysis().fit(X, Y).score(FAR_X, FAR_Y)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [1e3, math.inf])
def test_without_much_noise_it_is_as_good_as_scikit_learns(epsilon, relation):
    ours = model(epsilon=epsilon, neighbors=relation).fit(X, Y)
    assert ours.score(FAR_X, FAR_Y) > plain() - 0.04


def test_noise_of_epsilon_1_leaves_most_of_it():
    assert model(epsilon=1.0).fit(X, Y).score(FAR_X, FAR_Y) > plain() - 0.2


@pytest.mark.parametrize("given", [{}, {"fit_intercept": False}, {"data_norm": None}], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_it_asks_what_it_says(relation, given):
    estimator = model(epsilon=1.0, neighbors=relation, **given)
    quoted, receipt = estimator.quote(len(X), X.shape[1]), estimator.fit(X, Y).privacy_
    assert quoted.script == receipt.script and receipt.epsilon <= 1.0
    assert {"class_sums", "mapped", "second_moment"} <= set(receipt.proofs)
    assert receipt.verify(estimator)


def test_no_price_follows_from_the_number_of_classes():
    quotes = {
        DPLogisticRegression(data_norm=1.0, solver="lda").quote(5000, 20, n_classes=k).script
        for k in (3, 10, 300)
    }
    assert len(quotes) == 1


def test_sparse_rows_weights_and_persons_are_taken():
    whole = model(epsilon=1e4).fit(X, Y)
    sparse = model(epsilon=1e4).fit(csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, whole.coef_, rtol=0.05, atol=0.05)
    weighed = model(epsilon=1e4).fit(X, Y, sample_weight=np.full(len(Y), 0.5))
    assert weighed.score(FAR_X, FAR_Y) > plain() - 0.07
    person = np.arange(len(Y)) // 2
    persons = model(epsilon=1e4, max_rows_per_group=2).fit(X, Y, groups=person)
    assert persons.score(FAR_X, FAR_Y) > plain() - 0.05


def test_weights_say_what_a_class_counts():
    """A class that weighs nothing is predicted nowhere, and one that alone weighs something everywhere."""
    light = model(epsilon=1e4, class_weight={7: 0.0}).fit(X, Y)
    assert (light.predict(FAR_X) == 7).mean() < 0.02


@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_but_the_answers_tells_of_a_record(relation):
    estimator = DPLogisticRegression(
        data_norm=1.0, classes=[0, 1, 2], solver="lda", neighbors=relation
    )
    pairs = [*adversarial_pairs(relation, 40, 3)][::5]
    replays = [replay(fitted(estimator), pair, k) for k, pair in enumerate(pairs)]
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 5 and max(found.moved for found in replays) > 0.4


def test_other_tasks_are_refused():
    for given in ({"classes": [0, 1]}, {"multi_class": "ovr"}):
        with pytest.raises(NotSupported, match="three classes or more"):
            model(**given).quote(100, 3)
    with pytest.raises(NotSupported, match="penalty"):
        model(penalty="l1").quote(100, 3)


def test_its_parameters_are_set_by_name():
    assert resolve("lda") == LDA() and model().get_params()["solver__moment_share"] == 0.1
    assert model().set_params(solver__moment_share=0.2).solver == LDA(moment_share=0.2)
    with pytest.raises(ValueError, match="leave nothing"):
        model(solver=LDA(moment_share=0.99, norm_share=0.5)).fit(X, Y)


# ------------------------------------------------------------------------------------- when it is chosen


def chosen(n, classes, **given):
    receipt = DPLogisticRegression(data_norm=1.0, **given).quote(n, 50, n_classes=classes)
    return receipt.solver.split("(")[0]


def test_auto_takes_it_where_classes_are_many_and_noise_is_high():
    for epsilon in (0.5, 2.0, 8.0):
        assert chosen(20_000, 60, epsilon=epsilon) == "LDA"
        assert chosen(20_000, 10, epsilon=epsilon) != "LDA"
    given = {"neighbors": "add_remove", "n_public": 20_000}
    assert chosen(None, 60, epsilon=2.0, **given) == "LDA"
    assert chosen(20_000_000, 60, epsilon=2.0) != "LDA"
    assert chosen(20_000, 60, epsilon=math.inf) != "LDA"


@pytest.mark.parametrize(
    "given", [{"C": 1e-3}, {"penalty": "l1"}, {"multi_class": "ovr"}, {"solver": "gd"}], ids=str
)
def test_auto_takes_it_for_nothing_that_asks_for_more(given):
    assert chosen(20_000, 60, epsilon=2.0, **given) != "LDA"


# ------------------------------------------------------------------------------------- what it is made of


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1.0, 1e6])
def test_the_discriminant_is_finite_whatever_the_answers_are(noise):
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-12, 1.0, 1e9):
        counts, sums = size * rng.normal(size=5), size * rng.normal(size=(5, 3))
        weights, offsets = discriminant(counts, sums, noise, 100.0, 0.1)
        assert np.isfinite(weights).all() and np.isfinite(offsets).all()


def test_noise_pulls_classes_together():
    rng = np.random.default_rng(0)
    counts, sums = np.full(5, 100.0), 100.0 * rng.normal(size=(5, 3))
    near, _ = discriminant(counts, sums, 1.0, 500.0, 3.0)
    far, _ = discriminant(counts, sums, 3000.0, 500.0, 3.0)
    assert np.ptp(far, axis=1).max() < 0.05 * np.ptp(near, axis=1).max()


def test_the_spread_of_classes_is_found():
    """Of columns that differ and of columns that do not, beside noise of any size."""
    rng = np.random.default_rng(0)
    true = np.where(np.arange(40) < 20, 0.5, 0.01)
    noise = rng.uniform(0.01, 0.1, size=(200, 1))
    apart = rng.normal(size=(200, 40)) * np.sqrt(true + noise)
    found = spread_of_classes(apart, noise, np.ones(40))
    assert np.abs(found[:20].mean() - 0.5) < 0.05 and found[20:].mean() < 0.05
    drowned = spread_of_classes(
        1e3 * rng.normal(size=(200, 40)), np.full((200, 1), 1e6), np.ones(40)
    )
    assert (drowned <= 1.0).all() and (drowned > 0.0).all()


def test_what_it_asks_is_priced_in_any_coordinates():
    one, two = LDA().asks, LDA(moment_share=0.3).asks
    for asks in (one, two):
        from skdp.losses import Multinomial
        from skdp.mechanisms import Public
        from skdp.penalties import L2, ScaledPenalty
        from skdp.solvers import Budget, Task

        public = Public(1000, 4, 0.25, "replace_one", target_bound=4.0)
        task = Task(Multinomial(5), ScaledPenalty(L2(1.0), 1.0, True), (5, 5))
        *_, (last, times) = asks(public, task, Budget(1.0, 1e-6, noise=20.0))
        assert times == 1 and isinstance(last, Mapped) and isinstance(last.question, ClassSums)
