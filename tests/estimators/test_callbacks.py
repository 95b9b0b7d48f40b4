"""scikit-learn's callbacks: told of each question when it is paid and when it is over, and of nothing else."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skdp import DPLogisticRegression, DPRidge, NotSupported
from skdp.mechanisms import Oracle
from skdp.preprocessing import DPStandardScaler

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (300, 3))
Y = (X[:, 0] > 0).astype(int)
MODEL = DPLogisticRegression(
    epsilon=1.0, data_norm=1.8, classes=[0, 1], random_state=0, solver="gd"
)


class Writes:
    """Writes down what it is told."""

    def __init__(self):
        self.log, self.seen = [], []

    def setup(self, estimator, context):
        self.log.append(("setup", context.max_subtasks))

    def on_fit_task_begin(self, estimator, context):
        self.log.append(("begin", context.task_name))
        self.seen.append(sorted(vars(estimator)))

    def on_fit_task_end(self, estimator, context):
        self.log.append(("end", context.task_name))
        return True  # wants to stop, which nobody heeds

    def teardown(self, estimator, context):
        self.log.append(("teardown", context.max_subtasks))


def told(model, *data):
    """What a callback writes down of a fit."""
    writes = Writes()
    model.set_callbacks(writes).fit(*data)
    return writes


@pytest.mark.parametrize("solver", ["gd", "auto", "white-gd", "objective-perturbation"])
def test_each_question_begins_and_ends_once(solver):
    model = clone(MODEL).set_params(solver=solver)
    log = told(model, X, Y).log
    count = sum(n for _, n in model.privacy_.script)
    assert log[0] == ("setup", count) and log[-1] == ("teardown", count)
    assert log[1] == ("begin", "fit") and log[-2] == ("end", "fit")
    inner = log[2:-2]
    assert [what for what, _ in inner] == ["begin", "end"] * count
    names = [type(event).__name__ for event, n in model.privacy_.script for _ in range(n)]
    assert [name for what, name in inner if what == "end"] == names


def test_a_question_is_not_over_before_it_is_answered(monkeypatch):
    """The bar is not full while the last and longest question is worked on."""
    log, ask = [], Oracle.ask

    def asking(oracle, question):
        answer = ask(oracle, question)
        log.append("answered")
        return answer

    class Follows(Writes):
        def on_fit_task_end(self, estimator, context):
            log.append("over")

    monkeypatch.setattr(Oracle, "ask", asking)
    clone(MODEL).set_params(solver="white-gd").set_callbacks(Follows()).fit(X, Y)
    assert log[:4] == ["answered", "over", "answered", "over"] and log[-2:] == ["over", "over"]
    assert log.count("answered") == log.count("over") - 1


def test_no_number_of_questions_is_told_where_answers_decide():
    log = told(clone(MODEL).set_params(solver="agd"), X, Y).log
    assert log[0] == ("setup", None) and log.count(("end", "fit")) == 1


def test_callbacks_change_nothing_and_see_no_record_and_no_answer():
    plain = clone(MODEL).fit(X, Y)
    model = clone(MODEL)
    seen = told(model, X, Y).seen
    np.testing.assert_array_equal(plain.coef_, model.coef_)
    assert plain.privacy_.script == model.privacy_.script
    assert not {"coef_", "intercept_", "privacy_", "classes_"} & {
        name for one in seen for name in one
    }
    left = {*vars(model)} - {*vars(plain)}
    assert left == {"_skl_callbacks"}


def test_what_is_told_is_the_same_for_neighbours():
    other = X.copy()
    other[0] = 1e300
    assert told(clone(MODEL), X, Y).log == told(clone(MODEL), other, Y).log


def test_a_callback_that_would_look_is_refused():
    class Looks(Writes):
        def on_fit_task_end(self, estimator, context, *, X=None):
            pass

    with pytest.raises(NotSupported, match="Looks asks for X during a fit"):
        clone(MODEL).set_callbacks(Looks())
    with pytest.raises(NotSupported, match="asks for"):
        from sklearn.callback import ScoringMonitor

        monitor = ScoringMonitor(scoring="accuracy")
        clone(MODEL).set_callbacks(monitor)
    with pytest.raises(TypeError):
        clone(MODEL).set_callbacks(3)


def test_a_fit_that_fails_tears_down_and_leaves_nothing():
    class Fails(Writes):
        def on_fit_task_begin(self, estimator, context):
            super().on_fit_task_begin(estimator, context)
            if context.task_name != "fit":
                raise RuntimeError("full")

    writes, model = Fails(), clone(MODEL)
    before = {*vars(model)}
    with pytest.raises(RuntimeError, match="full"):
        model.set_callbacks(writes).fit(X, Y)
    assert writes.log[-1][0] == "teardown"
    assert {*vars(model)} - before == {"_skl_callbacks"}


def test_steps_that_pay_tell_of_their_own():
    first, last = Writes(), Writes()
    scaler = DPStandardScaler(epsilon=1.0, random_state=0).set_callbacks(first)
    ridge = DPRidge(epsilon=1.0, data_norm=2.0, y_bounds=(-1.0, 1.0), random_state=0).set_callbacks(
        last
    )
    make_pipeline(scaler, ridge).fit(X, X[:, 0])
    assert first.log[0] == ("setup", 2) and last.log[0][0] == "setup"


def test_both_bars_are_full_in_the_end(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, total, **given):
            self.total, self.at = total, 0
            bars.append(self)

        def update(self):
            self.at += 1

    tqdm = pytest.importorskip("tqdm")
    monkeypatch.setattr(tqdm, "tqdm", Bar)
    log = told(clone(MODEL).set_params(verbose=2), X, Y).log
    assert bars[0].at == bars[0].total == log[0][1] == 200
