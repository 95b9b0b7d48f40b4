"""Private networks: another implementation's gradients, exact fits, refusals with nothing spent, far rows."""

import numpy as np
import pytest

from skdp import NotSupported, PrivacyWarning
from skdp.losses import Logistic, Multinomial, Squared
from skdp.mechanisms import Gradient, Public, Records
from skdp.models import ACTIVATIONS, Perceptron
from skdp.neural_network import DPMLPClassifier, DPMLPRegressor
from skdp.privacy import Ledger
from skdp.solvers import SGD

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
Z = np.abs(X[:, 0]) + X[:, 1]


def classifier(**given):
    declared = {"data_norm": 1.8, "classes": [0, 1], "hidden_layer_sizes": 8, "random_state": 0}
    return DPMLPClassifier(**{**declared, **given})


def regressor(**given):
    declared = {
        "data_norm": 1.8,
        "y_bounds": (-1.0, 2.0),
        "hidden_layer_sizes": 8,
        "random_state": 0,
    }
    return DPMLPRegressor(**{**declared, **given})


# ------------------------------------------------------------------------------- an independent implementation

UNITS = {
    "relu": lambda z: np.where(z.real > 0.0, z, 0.0),
    "tanh": np.tanh,
    "logistic": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "identity": lambda z: z,
}


def mean_loss(coefs, intercepts, X, y, activation, kind):
    """Mean loss of a network of plain matrices, of real or complex numbers."""
    a = X
    for k, (W, b) in enumerate(zip(coefs, intercepts)):
        a = (UNITS[activation](a) if k else a) @ W + b
    if kind is Squared:
        return (0.5 * (a[:, 0] - y) ** 2).mean()
    if kind is Logistic:
        return np.log(1.0 + np.exp(-y * a[:, 0])).mean()
    return (np.log(np.exp(a).sum(axis=1)) - a[np.arange(len(a)), y.astype(int)]).mean()


def complex_step_gradients(coefs, intercepts, *rest):
    """Derivative of the mean loss in every weight, without a difference of two numbers."""
    found = []
    for arrays in (coefs, intercepts):
        for array in arrays:
            slopes = np.empty(array.shape)
            for place in np.ndindex(array.shape):
                moved = [[a.astype(complex) for a in part] for part in (coefs, intercepts)]
                twin = next(
                    a for a, b in zip([*moved[0], *moved[1]], [*coefs, *intercepts]) if b is array
                )
                twin[place] += 1e-30j
                slopes[place] = mean_loss(*moved, *rest).imag / 1e-30
            found.append(slopes)
    return found[: len(coefs)], found[len(coefs) :]


SHAPES = [((5,), 3), ((40, 4), 3), ((4,), 50)]


@pytest.mark.parametrize("kind, outputs", [(Logistic, 1), (Multinomial, 3), (Squared, 1)])
@pytest.mark.parametrize("hidden, width", SHAPES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_are_those_of_another_implementation(activation, hidden, width, kind, outputs):
    rng = np.random.default_rng(1)
    rows, data_norm = rng.uniform(-1, 1, size=(12, width)), float(np.sqrt(width))
    y = np.arange(12.0) % 3 if outputs == 3 else np.where(np.arange(12) % 2, 1.0, -1.0)
    model = Perceptron(hidden, activation)
    public = Public(12, width, 0.25, "replace_one", 2.0, model=model)
    w = rng.normal(size=model.shape(public, outputs))
    loss = Multinomial(3) if outputs == 3 else kind()
    question = Gradient(at=w, loss=loss, clip=1e6, multiplier=0.0)
    ours = question.measure(Records.admit(rows, y, public, data_norm)) / 12
    shares = [1.0 / data_norm, *model.shares()]
    layers = list(zip(model.matrices(w, width + 1, True), shares))
    coefs, intercepts = [m[:-1] * share for m, share in layers], [m[-1] * 0.25 for m, _ in layers]
    theirs = complex_step_gradients(coefs, intercepts, rows, y, activation, kind)
    wanted = [
        np.vstack([W * share, 0.25 * b]).ravel()
        for W, b, share in zip(*theirs, shares, strict=True)
    ]
    np.testing.assert_allclose(
        ours, np.concatenate(wanted), rtol=0.0, atol=1e-10 * np.linalg.norm(ours)
    )


@pytest.mark.parametrize("alpha", [0.0, 30.0])
def test_an_exact_fit_goes_where_plain_gradient_steps_go(alpha):
    solver = SGD(rate=1.0, steps=5, averaging=False, clip=1e6, step_size=0.5)
    with pytest.warns(PrivacyWarning, match="NOT private"):
        model = classifier(epsilon=np.inf, solver=solver, alpha=alpha, activation="tanh").fit(X, Y)
    net, public = Perceptron((8,), "tanh", heard=3.0), Public(400, 3, 0.25, "replace_one")
    w, signs, shares = net.start(public), 2.0 * Y - 1.0, [1.0 / 1.8, *net.shares()]
    for _ in range(5):
        layers = list(zip(net.matrices(w, 4, True), shares))
        coefs, intercepts = [m[:-1] * s for m, s in layers], [m[-1] * 0.25 for m, _ in layers]
        W, b = complex_step_gradients(coefs, intercepts, X, signs, "tanh", Logistic)
        slopes = zip(W, b, shares)
        w = w - 0.5 * np.concatenate([np.vstack([g * s, 0.25 * c]).ravel() for g, c, s in slopes])
        for matrix, share in zip(net.matrices(w, 4, True), shares):  # the prox of alpha/2 |w|^2
            matrix[:-1] /= 1.0 + 0.5 / 400 * alpha * share**2
    for found, matrix, share in zip(model.coefs_, net.matrices(w, 4, True), shares):
        np.testing.assert_allclose(found, matrix[:-1] * share, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        model.intercepts_[1], net.matrices(w, 4, True)[1][-1] * 0.25, rtol=1e-9
    )


@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (-2.0, 4.0)])
def test_alpha_of_a_regressor_is_on_the_scale_of_targets(bounds):
    model, half = regressor(alpha=3.0, y_bounds=bounds), (bounds[1] - bounds[0]) / 2.0
    public, task = model._problem(model._sizes(400, 3, 1, 1.0, float(model.data_norm)))
    w = np.random.default_rng(1).normal(size=task.shape)
    layers = zip(
        model._made_of.model(model).matrices(w, public.width, True),
        [1.0 / 1.8, *Perceptron((8,)).shares()],
    )
    first, last = (matrix[:-1] * share for matrix, share in layers)
    # Squares of targets are counted in squares of half their range, and the last layer's weights in half ranges.
    ours = 1.5 * ((first**2).sum() + ((half * last) ** 2).sum()) / half**2
    np.testing.assert_allclose(task.penalty.penalty.value(w), ours, rtol=1e-12)


# ----------------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("solver", ["auto", "sgd", "adam", "blsgd", "blsgd-ac"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_every_solver_for_networks_learns_what_no_line_tells_apart(solver, neighbors):
    rows = np.random.default_rng(2).uniform(-1, 1, size=(6000, 2))
    labels = rows[:, 0] * rows[:, 1] > 0
    model = DPMLPClassifier(
        epsilon=8.0, delta=1e-5, solver=solver, hidden_layer_sizes=16, data_norm=1.5, classes=[False, True],
        neighbors=neighbors, n_public=6000, max_iter=10, random_state=0,
    ).fit(rows, labels)  # fmt: skip
    assert model.score(rows, labels) > 0.85
    assert model.privacy_.epsilon <= 8.0 and "networks" in model.privacy_.proofs


def test_persons_and_weights_enter():
    owners = np.arange(400) // 2
    model = classifier(max_rows_per_group=2, max_sample_weight=3.0, max_iter=2)
    model.fit(X, Y, sample_weight=np.full(400, 2.0), groups=owners)
    assert model.privacy_.unit == "person" and {"units", "networks"} <= set(model.privacy_.proofs)


def test_seven_classes_have_seven_scores():
    labels = np.arange(400) % 7
    model = classifier(classes=list(range(7)), hidden_layer_sizes=[6, 5], max_iter=2).fit(X, labels)
    assert [a.shape for a in model.coefs_] == [(3, 6), (6, 5), (5, 7)]
    assert model.n_layers_ == 4 and model.n_outputs_ == 7
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(
        np.log(model.predict_proba(X)), model.predict_log_proba(X), atol=1e-9
    )


def test_scores_are_those_that_a_fit_saw():
    far = X * np.where(np.arange(400) % 3, 1.0, 50.0)[:, None]
    model = classifier(max_iter=2, hidden_layer_sizes=(40, 4)).fit(far, Y)
    net, public = Perceptron((40, 4)), Public(400, 3, 0.25, "replace_one")
    w = np.concatenate([
        np.vstack([W / share, b / 0.25]).ravel()
        for W, b, share in zip(model.coefs_, model.intercepts_, [1.0 / 1.8, *net.shares()])
    ])  # fmt: skip
    records = Records.admit(far, 2.0 * Y - 1.0, public, 1.8)
    np.testing.assert_allclose(
        model.decision_function(far), net.forward(w, records.rows)[0], atol=1e-8
    )


def test_single_precision_is_kept():
    model = classifier(max_iter=1).fit(X.astype(np.float32), Y)
    assert {a.dtype.name for a in (*model.coefs_, *model.intercepts_)} == {"float32"}
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32


def test_epochs_batches_and_steps_reach_the_solver():
    model = classifier(solver="adam", batch_size=40, max_iter=3, learning_rate_init=0.25).fit(X, Y)
    assert "rate=0.1," in model.privacy_.solver and "steps=30," in model.privacy_.solver
    assert "step_size=0.25" in model.privacy_.solver


# ----------------------------------------------------------------------------------------------------- refusals

UNPROVED = [
    "gd",
    "white-gd",
    "objective-perturbation",
    "newton",
    "ssadmm",
    "svrg",
    "blgd",
    "agd",
    "psgd",
]


@pytest.mark.parametrize("solver", UNPROVED)
def test_a_solver_without_a_proof_is_refused_before_a_table_is_looked_at(solver):
    ledger = Ledger(1.0, 1e-5)
    for face in (classifier, regressor):
        with pytest.raises(
            NotSupported, match=rf"^solver='{solver}' .* use 'sgd', 'adam' or 'blsgd'.*\.$"
        ):
            face(solver=solver, ledger=ledger, random_state=None).fit(object(), object())
    assert ledger.spent == 0.0


WRONG = {
    "hidden_layer_sizes": [0, (), (3, 0), 2.5, "wide", (3, None)],
    "activation": ["softmax", None, 3],
    "batch_size": [0, 2.5, "auto"],
    "max_iter": [0, 1.5, 10**7],
    "learning_rate_init": [0.0, -1.0, "adaptive"],
    "alpha": [-1.0, np.nan],
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_refused_by_name(name):
    ledger = Ledger(1.0, 1e-5)
    for value in WRONG[name]:
        with pytest.raises(ValueError, match=rf"^{name}=.* must |^{name}=.* is not known"):
            classifier(ledger=ledger, random_state=None, **{name: value}).fit(X, Y)
    assert ledger.spent == 0.0


def test_a_batch_size_needs_a_public_count():
    ledger = Ledger(1.0, 1e-5, neighbors="add_remove")
    model = classifier(batch_size=10, neighbors="add_remove", ledger=ledger, random_state=None)
    with pytest.raises(NotSupported, match="declare a rough n in n_public"):
        model.fit(X, Y)
    assert ledger.spent == 0.0


def test_what_an_instance_has_of_its_own_is_not_silently_ignored():
    model = classifier(solver=SGD(steps=2), max_iter=3)
    with pytest.warns(UserWarning, match=r"max_iter=3 has no effect where solver is an instance"):
        model.fit(X, Y)


def test_a_huber_threshold_bounds_what_far_targets_do():
    targets = np.where(np.arange(400) % 10 == 0, 2.0, 0.0)
    plain, robust = (
        regressor(huber_threshold=h, max_iter=20, epsilon=1e4).fit(X, targets).predict(X).mean()
        for h in (None, 0.02)
    )
    assert robust < 0.1 < plain
