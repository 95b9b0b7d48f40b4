"""Gaussian naive Bayes: scikit-learn's without noise; with it one release at one price, and what noise hides shrunk."""

import inspect
import math

import numpy as np
import pytest
from laws.vaults import RELATIONS
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.naive_bayes import GaussianNB

from skdp import DPGaussianNB, NotSupported
from skdp.audit import adversarial_pairs, audit, fitted, replay
from skdp.mechanisms import ClassSums
from skdp.naive_bayes.gaussian import Gaussians, Moments
from skdp.privacy import Ledger, accountants
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy.events import Gaussian

X, Y = load_iris(return_X_y=True)
CLASSES = [0, 1, 2]
SHOWN = ("theta_", "var_", "class_prior_", "class_count_", "epsilon_")
SAID = ("predict_joint_log_proba", "predict_log_proba", "predict_proba")
quiet = pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")


def exact(**given):
    return DPGaussianNB(epsilon=math.inf, classes=CLASSES, **given)


def check_alike(ours, theirs, rows=X, scale=1.0):
    for name in SHOWN:
        np.testing.assert_allclose(
            getattr(ours, name), scale * getattr(theirs, name), rtol=1e-9, atol=1e-12
        )
        scale = 1.0 if name == "class_prior_" else scale
    for name in SAID:
        np.testing.assert_allclose(
            getattr(ours, name)(rows), getattr(theirs, name)(rows), rtol=1e-9, atol=1e-9
        )
    assert (ours.predict(rows) == theirs.predict(rows)).all()


# ------------------------------------------------------------------------------------- without noise


@quiet
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "given",
    [{"bounds": (0, 8)}, {"bounds": ([4, 2, 0.5, 0], [8, 5, 7, 3])}, {"data_norm": 12.0}]
    + [{"bounds": (0, 8), "data_norm": 1.9}],
    ids=str,
)
@pytest.mark.parametrize("own", [{}, {"priors": [0.2, 0.3, 0.5]}, {"var_smoothing": 1e-2}], ids=str)
def test_without_noise_it_is_scikit_learns(own, given, relation):
    ours = exact(neighbors=relation, **given, **own).fit(X, Y)
    check_alike(ours, GaussianNB(**own).fit(X, Y))


@quiet
def test_two_classes_and_labels_of_text_are_scikit_learns():
    names = np.array(["no", "yes"])[(Y > 0).astype(int)]
    ours = DPGaussianNB(epsilon=math.inf, classes=["yes", "no"], bounds=(0, 8)).fit(X, names)
    check_alike(ours, GaussianNB().fit(X, names))
    joint = ours.predict_joint_log_proba(X)
    assert (ours.decision_function(X) == joint[:, 1] - joint[:, 0]).all()


@quiet
def test_weights_are_scikit_learns():
    weights = np.random.default_rng(0).uniform(0.0, 3.0, len(Y))
    ours = exact(bounds=(0, 8), max_sample_weight=3.0).fit(X, Y, sample_weight=weights)
    theirs = GaussianNB().fit(X, Y, sample_weight=weights)
    for name in ("theta_", "var_", "class_prior_", "class_count_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)


@quiet
def test_persons_count_once():
    """Two rows of each person: each weighs a half."""
    twice, labels, person = (np.repeat(part, 2, axis=0) for part in (X, Y, np.arange(len(Y))))
    ours = exact(bounds=(0, 8), max_rows_per_group=2).fit(twice, labels, groups=person)
    np.testing.assert_allclose(ours.class_count_, [50.0] * 3)
    np.testing.assert_allclose(ours.theta_, GaussianNB().fit(X, Y).theta_)
    assert "person" in str(ours.privacy_.unit)


@quiet
def test_sparse_rows_are_as_dense_ones():
    rows, labels = load_digits(return_X_y=True)
    given = {"classes": list(range(10)), "data_norm": 90.0, "var_smoothing": 1e-2}
    dense = DPGaussianNB(epsilon=math.inf, **given).fit(rows, labels)
    sparse = DPGaussianNB(epsilon=math.inf, **given).fit(csr_array(rows), labels)
    np.testing.assert_allclose(sparse.theta_, dense.theta_, atol=1e-12)
    np.testing.assert_allclose(
        sparse.predict_proba(csr_array(rows)), dense.predict_proba(rows), atol=1e-9
    )


# ------------------------------------------------------------------------------------- what is released


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", [{"bounds": (0, 8)}, {"data_norm": 12.0}, {}], ids=str)
def test_the_receipt_is_of_what_was_released(given, relation):
    model = DPGaussianNB(epsilon=1.0, delta=1e-5, classes=CLASSES, neighbors=relation, **given)
    quoted, receipt = model.quote(len(X), 4), model.fit(X, Y).privacy_
    assert receipt.script == quoted.script
    again = accountants.epsilon(receipt.script, receipt.delta, receipt.neighbors)
    assert 0.99 <= again <= receipt.epsilon * (1 + 1e-9) <= 1.0 + 1e-9
    assert "class_sums" in receipt.proofs and ("bought_scales" in receipt.proofs) == (not given)
    assert len(receipt.script) == (1 if given else 3)
    receipt.verify(model)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_price_knows_no_number_of_classes(relation):
    scripts = {
        DPGaussianNB(bounds=(0, 1), neighbors=relation, classes=list(range(k)))
        .quote(1000, 5)
        .script
        for k in (2, 3, 50)
    }
    assert len(scripts) == 1 and isinstance(next(iter(scripts))[0][0], Gaussian)


def test_bought_bounds_change_no_price():
    """Columns of any scale, rows of any length: the script is that of the quote, or the account would refuse."""
    rng = np.random.default_rng(0)
    for scale, tail in ((1e-200, 0), (1.0, 3), (1e200, 0), (0.0, 0)):
        rows = rng.normal(size=(300, 3)) * scale * np.exp(tail * rng.normal(size=(300, 1)))
        model = DPGaussianNB(epsilon=2.0, classes=[0, 1])
        receipt = model.fit(rows, rng.integers(0, 2, 300)).privacy_
        assert receipt.script == model.quote(300, 3).script
        assert np.isfinite(model.theta_).all() and (model.var_ > 0.0).all()
        assert np.isfinite(model.predict_proba(rows)).all()


def test_a_ledger_pays_once_and_refuses_before_records_are_touched():
    ledger = Ledger(1.0, 1e-6)
    model = DPGaussianNB(epsilon=1.0, classes=CLASSES, bounds=(0, 8), ledger=ledger).fit(X, Y)
    assert 0.5 < ledger.spent <= 1.0 and model.privacy_.ledger is not None
    with pytest.raises(Exception, match="budget"):
        model.fit(X, Y)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", [{"bounds": (-1, 1)}, {"data_norm": 1.0}, {}], ids=str)
def test_nothing_but_the_answers_tells_of_a_record(given, relation):
    model = DPGaussianNB(epsilon=1.0, classes=[0, 1], neighbors=relation, **given)
    pairs = [*adversarial_pairs(relation, 40, 3)][::5]
    replays = [replay(fitted(model), pair, k) for k, pair in enumerate(pairs)]
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 5 and max(found.moved for found in replays) > 0.4


class TrueCounts(DPGaussianNB):
    """Takes priors from the labels themselves."""

    def fit(self, X, y):
        super().fit(X, y)
        self.class_prior_ = np.bincount(y, minlength=2) / len(y)
        return self


def test_a_twin_with_true_priors_is_found():
    model = TrueCounts(epsilon=1.0, classes=[0, 1], bounds=(-1, 1))
    pairs = [*adversarial_pairs("replace_one", 40, 3)][::5]
    assert any(replay(fitted(model), pair, k).findings for k, pair in enumerate(pairs))


def refuted(epsilon=10.0, delta=0.05):
    """Whether an attack on opposite corners of one class, seen through all that is kept, exceeds the promise."""
    labels = np.arange(40) % 2
    rows = np.where(labels, 0.5, -0.5)[:, None] * np.ones((40, 2))
    other = rows.copy()
    rows[0], other[0] = 1.0, -1.0
    mu = gaussian_mu(epsilon, 1e-5)

    def run(table):
        model = DPGaussianNB(epsilon=epsilon, delta=1e-5, bounds=(-1, 1), classes=[0, 1])
        model.fit(table, labels)
        kept = [model.theta_, np.log(model.var_), model.class_count_]
        return np.concatenate([np.ravel(part) for part in kept])

    found = audit(run, (rows, other), delta=delta, n_runs=2000).epsilon
    return found > 0.0 and gaussian_delta(found, mu) < delta


@quiet
@pytest.mark.slow
def test_an_attack_on_the_worst_pair_finds_no_more_than_is_promised():
    assert not refuted()


@quiet
@pytest.mark.slow
def test_an_attack_finds_a_fit_with_a_quarter_of_the_noise(monkeypatch):
    sound = ClassSums.sensitivity
    monkeypatch.setattr(ClassSums, "sensitivity", lambda self, public: sound(self, public) / 4.0)
    assert refuted()


# ------------------------------------------------------------------------------------- what noise does


def moments_of(rows, labels, classes, level):
    """Sums as they are, said to have noise of a level."""
    hot = labels == np.arange(classes)[:, None]
    given = hot.sum(axis=1).astype(float), hot @ rows, hot @ rows**2
    return Moments(*given, (level, level, level), float(len(labels)))


def test_little_noise_changes_little_and_more_pulls_together():
    rows, labels = make_blobs(3000, 4, centers=3, random_state=0)
    plain = Gaussians.of(moments_of(rows, labels, 3, 0.0))
    near = Gaussians.of(moments_of(rows, labels, 3, 1e-3))
    far = Gaussians.of(moments_of(rows, labels, 3, 1e5))
    np.testing.assert_allclose(near.mean, plain.mean, rtol=1e-6)
    np.testing.assert_allclose(near.variance, plain.variance, rtol=1e-4)
    assert np.ptp(far.mean, axis=0).max() < 1e-3 * np.ptp(plain.mean, axis=0).max()
    assert np.ptp(np.log(far.variance), axis=0).max() < 0.1


@pytest.mark.parametrize("level", [1e-9, 1.0, 1e3, 1e30])
def test_densities_are_proper_whatever_the_answers_are(level):
    rng = np.random.default_rng(0)
    for size in (1e-30, 1.0, 1e30):
        answers = [size * rng.normal(size=shape) for shape in (3, (3, 4), (3, 4))]
        for n in (None, 1.0, 1000.0):
            with np.errstate(all="ignore"):
                found = Gaussians.of(Moments(*answers, (level,) * 3, n, most=size))
            assert np.isfinite(found.mean).all() and (found.variance >= 0.0).all()
            assert (found.share > 0.0).all() and found.share.sum() == pytest.approx(1.0)


@quiet
def test_a_class_of_nobody_has_a_density():
    model = DPGaussianNB(epsilon=math.inf, classes=[*CLASSES, 3], bounds=(0, 8)).fit(X, Y)
    assert model.class_count_.tolist() == [50.0, 50.0, 50.0, 0.0]
    assert np.isfinite(model.predict_log_proba(X)[:, :3]).all() and (model.predict(X) < 3).all()


@quiet
def test_noise_seldom_costs_more_than_the_majority_has():
    """At a tenth, where noise drowns the small classes: level with the largest one, or above."""
    rows, labels = make_blobs([1600, 300, 100], 5, cluster_std=4.0, random_state=0)
    found = [
        DPGaussianNB(epsilon=0.1, classes=CLASSES, bounds=(-25, 25), random_state=seed)
        .fit(rows, labels)
        .score(rows, labels)
        for seed in range(10)
    ]
    assert np.mean(found) > 0.8 - 0.005


@quiet
def test_digits_are_told_apart_at_epsilon_1():
    rows, labels = load_digits(return_X_y=True)
    given = {"classes": list(range(10)), "bounds": (0, 16)}
    found = [
        DPGaussianNB(epsilon=1.0, **given, random_state=seed).fit(rows, labels).score(rows, labels)
        for seed in range(3)
    ]
    assert np.mean(found) > 0.75


def test_cells_beyond_the_bounds_are_cut_and_far_rows_have_finite_scores():
    rows = np.vstack([X, np.full((1, 4), 1e30)])
    labels = np.append(Y, 0)
    model = DPGaussianNB(epsilon=10.0, classes=CLASSES, bounds=(0, 8)).fit(rows, labels)
    assert (np.abs(model.theta_) < 100.0).all()
    far = np.array([[1e300, -1e300, 0.0, 1e200]])
    assert np.isfinite(model.predict_log_proba(far)).all()


# ------------------------------------------------------------------------------------- what is refused


def test_parameters_are_read_in_the_houses_order():
    names = list(inspect.signature(DPGaussianNB).parameters)
    assert names[:5] == ["epsilon", "delta", "priors", "var_smoothing", "bounds"]
    assert not {"solver", "class_weight", "multi_class"} & set(names)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"delta": 0.0}, "delta=0"),
        ({"priors": [0.5, 0.5]}, "2 numbers for 3 classes"),
        ({"bounds": ([0, 0], [1, 1])}, "X has 4"),
        ({"bounds": (1, 0)}, "low < high"),
        ({"priors": [0.5, 0.4, 0.3]}, "a sum of 1"),
        ({"max_rows_per_group": 2, "bounds": None}, "units of several rows"),
        ({"max_rows_per_group": 1, "bounds": None}, "the first row of each person"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_its_remedy(given, told):
    model = DPGaussianNB(**{"classes": CLASSES, "bounds": (0, 8), **given})
    arguments = {"groups": np.arange(len(Y))} if "max_rows_per_group" in given else {}
    with pytest.raises((ValueError, NotSupported), match=told):
        model.fit(X, Y, **arguments)
    assert not hasattr(model, "theta_")


def test_bounds_of_sparse_tables_are_refused():
    model = DPGaussianNB(classes=CLASSES, bounds=(0, 8))
    with pytest.raises(NotSupported, match="declare data_norm alone"):
        model.fit(csr_array(X), Y)
