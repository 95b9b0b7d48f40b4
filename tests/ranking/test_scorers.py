"""Rankers whose scores a network makes."""

import warnings

import numpy as np
import pytest
from laws.runs import Playback, run
from laws.textbook_networks import gradients
from rankings import ranker, table

from skdp import NotSupported
from skdp.audit import Neighbours, fitted, replay
from skdp.entry import Given
from skdp.fitting.stages import Known
from skdp.models import Perceptron
from skdp.ranking.ranker import scored
from skdp.solvers import GD, SGD, Adam

X, Y, QID = table(n=150)
SMALL = {"hidden_layer_sizes": (8,)}
STEPS = {"batch_size": 50, "steps": 5}
FITS = [
    {"privacy_unit": "list", "solver": SGD(**STEPS)},
    {
        "privacy_unit": "list",
        "loss": "listmle",
        "activation": "tanh",
        "spectral_norm": None,
        "solver": Adam(**STEPS),
    },
    {"privacy_unit": "list_labels", "loss": "bayesrank", "solver": SGD(**STEPS)},
    {"privacy_unit": "user", "max_lists_per_user": 2, "solver": SGD(**STEPS)},
]


def persons_for(given):
    return {"groups": QID // 2} if given["privacy_unit"] == "user" else {}


def curved(n=400, seed=0):
    """Lists in which the best documents lie in the middle: no line ranks them."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (n * 8, 2))
    far = np.square(x[:, 0])
    return x, np.digitize(-far, [-0.25, -0.05]), np.repeat(np.arange(n), 8)


@pytest.mark.parametrize(
    "given",
    [
        {"privacy_unit": "list"},
        {"privacy_unit": "list_labels", "loss": "bayesrank"},
        {"privacy_unit": "user", "max_lists_per_user": 1},
    ],
    ids=lambda g: g["privacy_unit"],
)
def test_a_network_ranks_what_no_line_can(given):
    x, y, qid = curved()
    more = {"groups": qid} if given["privacy_unit"] == "user" else {}
    usual = {"epsilon": 20.0, "data_norm": 1.5}
    test = curved(seed=1)
    line = ranker(**{**usual, **given, "solver": "gd"}).fit(x, y, qid=qid, **more)
    net = ranker(**{**usual, **given, "hidden_layer_sizes": 40}).fit(x, y, qid=qid, **more)
    scores = [model.score(test[0], test[1], qid=test[2]) for model in (line, net)]
    assert scores[0] < 0.8 < 0.9 < scores[1]


@pytest.mark.parametrize("given", FITS, ids=lambda g: g["privacy_unit"])
def test_the_result_is_a_function_of_the_answers_and_a_quote_its_receipt(given):
    model = ranker(**given, **SMALL)
    model._check_parameters()
    passed = Given(X, Y, qid=QID, **persons_for(given))
    table, facts = passed.close(model, model._reader())
    plan = model._complete(model._plan(facts.n, 3, {}), facts)
    records = table.vault(plan.view(Known()))
    w, answers, budget = run(plan, records)
    again = plan.solver.solve(Playback(plan.public, answers), plan.task, budget)
    assert np.isfinite(w).all() and w.tobytes() == again.tobytes()
    receipt = ranker(**given, **SMALL).fit(X, Y, qid=QID, **persons_for(given)).privacy_
    assert receipt.script == ranker(**given, **SMALL).quote(facts.n, 3).script
    assert "networks" in receipt.proofs and receipt.epsilon <= 1.0


@pytest.mark.parametrize("given", FITS, ids=lambda g: g["privacy_unit"])
def test_replay_with_frozen_answers_finds_nothing_of_a_neighbour(given):
    rng, unit = np.random.default_rng(4), given["privacy_unit"]
    at = QID // 2 == 5 if unit == "user" else QID == 10
    x, y = X.copy(), np.where(at, 2 - Y, Y)
    if unit != "list_labels":
        x[at] = 1e3 * rng.normal(size=(at.sum(), 3))
    who = (None, QID // 2) if unit == "user" else ()
    pair = Neighbours("one", (X, Y, QID, *who), (x, y, QID, *who), 5 if unit == "user" else 10)
    found = replay(fitted(ranker(**given, **SMALL, random_state=None)), pair, seed=0)
    assert found.refused is None and found.findings == () and found.moved <= 1.0


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_those_of_the_model_and_matrices_within_their_bound(dtype):
    given = {"hidden_layer_sizes": (8, 6), "spectral_norm": 0.5, "data_norm": 0.6}
    fit = ranker(epsilon=np.inf, solver=SGD(steps=30, batch_size=50), **given)
    fit.fit(X.astype(dtype), Y, qid=QID)
    assert [m.shape for m in fit.coefs_] == [(3, 8), (8, 6), (6, 1)]
    assert {m.dtype for m in fit.coefs_} == {np.dtype(dtype)} and not hasattr(fit, "coef_")
    model = Perceptron((8, 6), "relu")
    shares = [1.0 / 0.6, *model.shares()]
    matrices = [m / share for m, share in zip(fit.coefs_, shares)]
    for m in matrices:
        assert np.linalg.norm(m, 2) <= 0.5 * (np.sqrt(len(m)) + np.sqrt(m.shape[1])) * (1 + 1e-5)
    w = np.concatenate([m.ravel() for m in matrices]).astype(float)
    rows = X / np.maximum(np.linalg.norm(X, axis=1), 0.6)[:, None]
    wanted, _ = gradients(model, w, rows)
    np.testing.assert_allclose(fit.predict(X.astype(dtype)), wanted, rtol=1e-4, atol=1e-5)
    fit.set_params(hidden_layer_sizes=(), solver="gd").fit(X, Y, qid=QID)
    assert not hasattr(fit, "coefs_") and fit.coef_.shape == (3,)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"solver": "gd"}, "solver='gd' needs scores that are linear"),
        ({"solver": GD()}, "solver='gd' needs scores that are linear"),
        ({"solver": "one-shot", "privacy_unit": "list_labels"}, "needs scores that are linear"),
        ({"solver": "adam"}, "solver='adam' keeps no bound on matrices; use 'sgd', or spectral"),
        ({"hidden_layer_sizes": 0}, "hidden_layer_sizes=0 must be a number of units"),
        ({"hidden_layer_sizes": (3, 2.5)}, "must be a number of units from 1 to 1e6"),
        ({"activation": "sine"}, "activation='sine' is not known"),
        ({"spectral_norm": 0.0}, r"spectral_norm=0\.0 must be a number between"),
    ],
)
def test_what_has_no_proof_or_no_meaning_is_refused(given, said):
    with pytest.raises((ValueError, NotSupported), match=said):
        ranker(**{**SMALL, **given}).fit(X, Y, qid=QID)


@pytest.mark.parametrize("far", [1e150, 1e308])
def test_far_documents_are_scored_without_a_warning(far):
    X = np.random.default_rng(0).normal(size=(6, 3))
    X[2] = far
    matrices = [np.full((3, 4), 3.0), np.ones((4, 1))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scored(X, matrices, "tanh", 1.0)
    near = scored(np.where(far == X, 1e3, X), matrices, "tanh", 1.0)
    assert np.isfinite(found).all() and (far > 1e300 or np.allclose(found, near))
