"""Modules of PyTorch with scikit-learn's faces: exact fits, pipelines, receipts, refusals with nothing spent."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import NotSupported, PrivacyWarning
from skdp.neural_network import DPTorchClassifier, DPTorchRegressor
from skdp.privacy import Ledger
from skdp.solvers import SGD

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
Z = np.abs(X[:, 0]) + X[:, 1]
FEW = SGD(rate=1.0, steps=5, averaging=False, clip=1e6, step_size=0.5)


def seeded(make):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()


def net(outputs=1, width=3):
    return seeded(lambda: nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, outputs)))


def classifier(**given):
    declared = {"module": net(), "data_norm": 1.8, "classes": [0, 1], "random_state": 0}
    return DPTorchClassifier(**{**declared, **given})


def regressor(**given):
    declared = {"module": net(), "data_norm": 1.8, "y_bounds": (-1.0, 2.0), "random_state": 0}
    return DPTorchRegressor(**{**declared, **given})


def descended(module, loss, alpha=0.0, steps=5, step=0.5):
    """Weights after plain steps of PyTorch on the mean loss, and a prox step of the penalty."""
    module = module.double()
    for _ in range(steps):
        module.zero_grad()
        loss(module(torch.from_numpy(X))).backward()
        with torch.no_grad():
            for w in module.parameters():
                w -= step * w.grad
                w /= 1.0 + step * alpha / len(X) * (w.ndim > 1)
    return np.concatenate([w.detach().numpy().ravel() for w in module.parameters()])


@pytest.mark.parametrize("alpha", [0.0, 30.0])
@pytest.mark.parametrize("outputs", [1, 3])
def test_an_exact_fit_goes_where_pytorch_goes(outputs, alpha):
    y = Y if outputs == 1 else np.arange(400) % 3
    given = {"epsilon": np.inf, "solver": FEW, "alpha": alpha, "classes": range(max(2, outputs))}
    with pytest.warns(PrivacyWarning, match="NOT private"):
        model = classifier(module=net(outputs), **given).fit(X, y)

    def loss(scores):
        if outputs == 1:
            return functional.softplus(torch.from_numpy(1.0 - 2.0 * y) * scores[:, 0]).mean()
        return functional.cross_entropy(scores, torch.from_numpy(y))

    wanted = descended(net(outputs), loss, alpha)
    np.testing.assert_allclose(model.weights_, wanted, rtol=0.0, atol=1e-10)
    scores = model.module_(torch.from_numpy(X)).detach().numpy()
    np.testing.assert_allclose(model.decision_function(X).reshape(400, -1), scores, atol=1e-12)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares, atol=1e-12)


def test_so_does_a_regressors_on_the_scale_of_its_bounds():
    with pytest.warns(PrivacyWarning, match="NOT private"):
        model = regressor(epsilon=np.inf, solver=FEW, clip_predictions=False).fit(X, Z)
    targets = torch.from_numpy((Z - 0.5) / 1.5)
    wanted = descended(net(), lambda scores: 0.5 * ((scores[:, 0] - targets) ** 2).mean())
    np.testing.assert_allclose(model.weights_, wanted, rtol=0.0, atol=1e-10)
    scores = model.module_(torch.from_numpy(X)).detach().numpy()[:, 0]
    np.testing.assert_allclose(model.predict(X), 1.5 * scores + 0.5, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "adam", "blsgd"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_modules_learn_by_the_solvers_for_networks(solver, neighbors):
    rows = np.random.default_rng(2).uniform(-1, 1, size=(4000, 2))
    labels = rows[:, 0] * rows[:, 1] > 0
    given = {"neighbors": neighbors, "n_public": 4000, "max_iter": 6, "random_state": 0}
    model = DPTorchClassifier(
        epsilon=8.0,
        delta=1e-5,
        module=net(1, 2),
        solver=solver,
        data_norm=1.5,
        classes=[False, True],
        **given,
    ).fit(rows, labels)
    assert model.score(rows, labels) > 0.7
    assert 7.0 < model.privacy_.epsilon <= 8.0 and "torch" in model.privacy_.proofs


class Image(nn.Module):
    """Frozen windows, and a line of what they say."""

    def __init__(self):
        super().__init__()
        self.windows, self.last = nn.Conv2d(1, 2, 2), nn.Linear(18, 3)
        self.windows.requires_grad_(False)

    def forward(self, x):
        return self.last(torch.relu(self.windows(x)).flatten(1))


def test_images_frozen_weights_pipelines_clones_and_pickles():
    pixels, y = np.random.default_rng(3).uniform(size=(300, 16)), np.arange(300) % 3
    given = seeded(Image)
    inner = DPTorchClassifier(
        epsilon=4.0, delta=1e-5, module=given, input_shape=(1, 4, 4), data_norm=4.0, classes=range(3), max_iter=2,
        random_state=0,
    )  # fmt: skip
    model = clone(make_pipeline(FunctionTransformer(lambda rows: 2.0 * rows - 1.0), inner))
    model.fit(pixels, y)
    last = model[-1]
    assert last.module is not given and last.n_weights_ == len(last.weights_) == 57
    assert torch.equal(last.module_.windows.weight, given.windows.weight.double())
    assert not torch.equal(last.module_.last.weight, given.last.weight.double())
    assert model.predict_proba(pixels).shape == (300, 3)
    again = pickle.loads(pickle.dumps(last))
    rows = 2.0 * pixels - 1.0
    np.testing.assert_array_equal(again.predict_proba(rows), last.predict_proba(rows))
    np.testing.assert_array_equal(last.predict_proba(rows[7:9]), last.predict_proba(rows)[7:9])
    told = str(last.privacy_)
    assert "module = Image" in told and "n_weights = 57" in told
    assert {"weights_", "module_"} <= set(last.privacy_.model)


def test_a_quote_is_what_a_fit_costs_and_other_tables_say_the_same():
    model = classifier(epsilon=2.0, max_iter=2)
    quoted = model.quote(400, 3)
    fitted = clone(model).fit(X, Y)
    assert quoted.epsilon == fitted.privacy_.epsilon
    sparse = clone(model).fit(csr_matrix(X), Y)
    np.testing.assert_allclose(sparse.weights_, fitted.weights_, atol=1e-9)
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X)), sparse.decision_function(X), atol=1e-12
    )
    single = clone(model).fit(X.astype(np.float32), Y)
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert single.weights_.dtype == np.float32


def test_rows_that_are_far_count_as_scaled_down():
    model = classifier(epsilon=8.0, max_iter=2).fit(X, Y)
    far = X * 50.0 / np.linalg.norm(X, axis=1, keepdims=True)
    near = X * 1.8 / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(
        model.decision_function(far), model.decision_function(near), atol=1e-12
    )


def test_columns_without_a_declared_norm_are_seen_as_the_fit_saw_them():
    rows = np.random.default_rng(5).normal(size=(3000, 3)) * [1.0, 100.0, 0.01]
    labels = (rows[:, 0] > 0).astype(int)
    model = classifier(epsilon=8.0, delta=1e-5, data_norm=None, max_iter=5).fit(rows, labels)
    assert model.score(rows, labels) > 0.8 and model.bounds_.shape == (3, 2)


def dropout():
    return nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.Linear(3, 1))


@pytest.mark.parametrize(
    "given, kind, told",
    [
        ({"module": nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))}, NotSupported, "GroupNorm"),
        ({"module": dropout()}, NotSupported, "module.eval"),
        ({"module": net(2)}, ValueError, r"instead of \(1, 1\)"),
        ({"module": net(1, 5)}, ValueError, "cannot be traced"),
        ({"module": 3}, ValueError, "give an instance of torch.nn.Module"),
        ({"module": nn.Linear}, ValueError, "give an instance of torch.nn.Module"),
        ({"input_shape": (2, 2)}, ValueError, "holds 4 numbers but a row has 3"),
        ({"input_shape": 3}, ValueError, "input_shape=3 must be a tuple of whole numbers"),
        ({"input_shape": (3, 0)}, ValueError, "must be a tuple of whole numbers"),
        ({"solver": "gd"}, NotSupported, "has no proof for networks"),
        ({"alpha": -1.0}, ValueError, "alpha=-1.0"),
    ],
)  # fmt: skip
def test_what_is_refused_spends_nothing(given, kind, told):
    ledger = Ledger(2.0, 1e-5)
    model = classifier(epsilon=1.0, delta=1e-6, ledger=ledger, **given)
    with pytest.raises(kind, match=told):
        model.fit(X, Y)
    assert ledger.spent == 0.0 and not hasattr(model, "module_")
    with pytest.raises(kind, match=told):
        model.quote(400, 3)


def test_a_step_is_as_long_as_public_numbers_say():
    steps = {
        clone(classifier(epsilon=epsilon)).quote(400, 3).solver.split("step_size=")[1]
        for epsilon in (0.1, 8.0)
    }
    assert len(steps) == 2


def test_without_a_module_there_is_one_hidden_layer_that_nobody_drew():
    before = torch.get_rng_state()
    fits = [classifier(module=None, epsilon=4.0, max_iter=1).fit(X, Y) for _ in range(2)]
    assert torch.equal(before, torch.get_rng_state()) and fits[0].n_weights_ == 501
    np.testing.assert_array_equal(fits[0].weights_, fits[1].weights_)
