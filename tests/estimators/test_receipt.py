"""The receipt: what was promised, what was spent, what was declared, in a form that can be priced again."""

import json
import math

import numpy as np
import pytest
from estimators.of_rows import of_rows

from skdp import DPLogisticRegression, PrivacyWarning
from skdp.neural_network import DPMLPClassifier
from skdp.privacy import accountants, events
from skdp.solvers import SGD

ESTIMATORS = [kind for _, kind in of_rows("classifier") if "solver" in kind().get_params()]
RELATIONS = ["replace_one", "add_remove"]
SOLVERS = ["gd", "sgd"]
rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))
Y = (X[:, 0] > 0).astype(int)


def _fitted(Estimator=DPLogisticRegression, **given):
    declared = {"epsilon": 1.0, "delta": 1e-5, "data_norm": 2.0, "classes": [0, 1], **given}
    return Estimator(**declared).fit(X, Y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_the_script_prices_to_the_epsilon_that_is_stated(Estimator, neighbors, solver):
    if solver == "gd" and issubclass(Estimator, DPMLPClassifier):
        pytest.skip("no proof for networks")
    receipt = _fitted(Estimator, neighbors=neighbors, solver=solver).privacy_
    again = accountants.epsilon(receipt.script, receipt.delta, receipt.neighbors)
    assert again == pytest.approx(receipt.epsilon, rel=1e-6)
    assert 0.99 <= receipt.epsilon <= 1.0
    assert receipt.neighbors == neighbors and receipt.delta == 1e-5


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_script_lists_what_was_released(neighbors):
    receipt = _fitted(neighbors=neighbors, solver=SGD(steps=7)).privacy_
    counts = {type(event): count for event, count in receipt.script}
    assert counts[events.PoissonGaussian] == 7
    assert counts.get(events.Gaussian, 0) == (1 if neighbors == "add_remove" else 0)
    assert set(receipt.proofs) >= {"clipped_gradient", "poisson_batch"}
    assert ("count" in receipt.proofs) == (neighbors == "add_remove")


def test_declarations_are_listed_and_a_private_count_is_not():
    told = _fitted(classes=[0, 1]).privacy_.declared
    assert told == {"n": 50, "n_features": 3, "data_norm": 2.0, "classes": "declared"}
    told = _fitted(neighbors="add_remove").privacy_.declared
    assert "n" not in told
    fewer = DPLogisticRegression(
        epsilon=1.0, delta=1e-5, data_norm=2.0, classes=[0, 1], neighbors="add_remove"
    ).fit(X[:37], Y[:37])
    assert str(fewer.privacy_) == str(_fitted(neighbors="add_remove").privacy_)
    told = _fitted(neighbors="add_remove", n_public=40).privacy_.declared
    assert told["n"] == 40


def test_classes_that_were_taken_from_the_data_are_said_to_be():
    with pytest.warns(PrivacyWarning, match="public"):
        assert _fitted(classes=None).privacy_.declared["classes"] == "taken from y"


def test_a_seed_is_shown_everywhere():
    receipt = _fitted(random_state=0).privacy_
    assert receipt.seeded and "FIXED" in str(receipt) and "FIXED" in receipt._repr_html_()
    open_ended = _fitted().privacy_
    assert not open_ended.seeded and "FIXED" not in str(open_ended)


def test_no_promise_is_said_loudly():
    with pytest.warns(PrivacyWarning, match="NOT private"):
        receipt = _fitted(epsilon=np.inf).privacy_
    assert (
        math.isinf(receipt.epsilon) and "NONE" in str(receipt) and "NONE" in receipt._repr_html_()
    )


def test_plain_form_survives_json_and_holds_the_script():
    receipt = _fitted(neighbors="add_remove").privacy_
    plain = json.loads(json.dumps(receipt.to_dict()))
    assert plain["epsilon"] == receipt.epsilon
    assert [step["count"] for step in plain["script"]] == [count for _, count in receipt.script]
    rebuilt = tuple(
        (getattr(events, step.pop("event"))(**step), count)
        for step in plain["script"]
        for count in [step.pop("count")]
    )
    assert rebuilt == receipt.script


def test_html_escapes_what_a_user_declares():
    receipt = _fitted(solver=SGD(steps=3)).privacy_
    object.__setattr__(receipt, "declared", {"<script>": "<b>"})
    assert "<script>" not in receipt._repr_html_() and "&lt;script&gt;" in receipt._repr_html_()


def test_printing_shows_every_line_and_verbose_prints(capsys):
    model = _fitted(verbose=1)
    printed = capsys.readouterr().out
    assert printed.strip() == str(model.privacy_)
    for what, value in model.privacy_.lines():
        assert what in printed and value in printed


def test_a_receipt_cannot_be_edited():
    with pytest.raises(AttributeError):
        _fitted().privacy_.epsilon = 0.1


def test_progress_counts_questions_and_shows_nothing_else(monkeypatch):
    import sys
    import types

    ticks = []

    class Bar:
        def __init__(self, total, desc, unit):
            ticks.append((total, desc))

        def update(self):
            ticks.append(1)

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))
    y = np.arange(50) % 2
    DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd", verbose=2).fit(X, y)
    assert ticks == [(200, "gd"), *[1] * 200]


def test_progress_without_tqdm_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tqdm", None)
    X, y = np.zeros((10, 2)), np.arange(10) % 2
    with pytest.raises(ImportError, match=r"skdp\[progress\]"):
        DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd", verbose=2).fit(X, y)


@pytest.mark.parametrize("solver", ["objective-perturbation", "output-perturbation"])
def test_receipt_says_which_convexity_was_used_and_why(solver):
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver=solver, C=0.01)
    note = model.quote(1000, 3).notes[0]
    assert "strong convexity of the sum of losses: lam = " in note
    assert "100 from the penalty" in note or "100 added" in note  # the user's own L2, 1/C, counts
    assert not DPLogisticRegression(data_norm=1.0, solver="gd").quote(1000, 3).notes
