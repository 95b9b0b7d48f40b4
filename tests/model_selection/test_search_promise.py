"""A search promises what its estimator does, or what it says itself, and never one of two."""

import pytest

from skdp import DPLogisticRegression, make_pipeline
from skdp.model_selection import DPGridSearchCV
from skdp.model_selection._searches import PrivateSearch
from skdp.preprocessing import DPBounds
from skdp.privacy import Ledger
from skdp.utils import all_estimators

GRID = {"C": [0.1, 1.0]}
SEARCHES = [kind for _, kind in all_estimators() if issubclass(kind, PrivateSearch)]
PROMISES = [(0.5, 1e-8), (1.0, 1e-6), (3.0, 1e-9)]


def model(**given):
    return DPLogisticRegression(data_norm=1.0, classes=[0, 1], **given)


def over(kind, estimator, **given):
    """A search over both settings."""
    given |= {"n_iter": 2} if "n_iter" in kind._get_param_names() else {}
    return kind(estimator, GRID, **given)


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_a_search_promises_what_its_estimator_does(kind, strategy, epsilon, delta):
    search = over(kind, model(epsilon=epsilon, delta=delta), strategy=strategy, max_runs=3)
    quote = search.quote(2000, 3)
    assert 0.99 * epsilon < quote.epsilon <= epsilon and quote.delta == delta
    told = search.set_params(estimator=model(), epsilon=epsilon, delta=delta).quote(2000, 3)
    assert told.script == quote.script and told.epsilon == quote.epsilon


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize(
    ("name", "own", "search"),
    [("epsilon", 0.5, 1.0), ("epsilon", 2.0, 1.0), ("delta", 1e-8, 1e-6), ("delta", 1e-5, 1e-7)],
)
def test_two_promises_that_differ_are_refused_before_anything_is_paid(kind, name, own, search):
    ledger = Ledger(9.0, 1e-4)
    asked = over(kind, model(**{name: own}), **{name: search}, ledger=ledger)
    with pytest.raises(ValueError) as refusal:
        asked.fit([[0.1], [0.2]], [0, 1])
    told = str(refusal.value)
    assert f"{name}={search!r} of the search differs from {name}={own!r} of its estimator" in told
    assert "write one of them" in told and len(ledger) == 0


def test_two_that_agree_are_one():
    given = {"epsilon": 0.5, "delta": 1e-8}
    assert DPGridSearchCV(model(**given), GRID, **given).quote(2000, 3).delta == 1e-8


def test_a_pipeline_promises_the_sum_of_its_steps():
    steps = DPBounds(epsilon=0.2, delta=1e-7), model(epsilon=0.7, delta=2e-7)
    pipe = make_pipeline(steps[0], steps[1].set_params(data_norm=1.0))
    grid = {"dplogisticregression__C": [0.1, 1.0]}
    quote = DPGridSearchCV(pipe, grid).quote(3000, 3)
    assert 0.99 * 0.9 < quote.epsilon <= 0.9 and quote.delta == pytest.approx(3e-7)
    same = (
        DPGridSearchCV(pipe, grid, epsilon=0.9).quote(3000, 3).script
    )  # 0.2 + 0.7 is a little less
    assert [(type(event), count) for event, count in same] == [
        (type(e), k) for e, k in quote.script
    ]
    assert [repr(e)[:20] for e, _ in same] == [repr(e)[:20] for e, _ in quote.script]
    with pytest.raises(ValueError, match="the sum over its steps"):
        DPGridSearchCV(pipe, grid, epsilon=0.7).quote(3000, 3)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("written", [(), (0,), (1,), (0, 1)], ids=str)
def test_no_step_that_says_something_is_overruled(name, written):
    """Whichever steps of a pipeline write a promise, another one is refused; where none does, the search's holds."""
    own, other = {"epsilon": (0.3, 0.5), "delta": (1e-7, 1e-8)}[name]
    steps = [
        made(**({name: own} if place in written else {}))
        for place, made in enumerate((DPBounds, model))
    ]
    whole = sum(getattr(step, name) for step in steps)
    pipe, grid = make_pipeline(*steps), {"dplogisticregression__C": [0.1, 1.0]}
    assert getattr(DPGridSearchCV(pipe, grid, **{name: whole})._promised(), name) == whole
    if not written:
        assert getattr(DPGridSearchCV(pipe, grid, **{name: other})._promised(), name) == other
        return
    for wrong in (other, 2 * whole, whole / 2):
        with pytest.raises(ValueError, match=f"{name}=.* of the search differs"):
            DPGridSearchCV(pipe, grid, **{name: wrong}).quote(3000, 3)


@pytest.mark.parametrize("given", [{"epsilon": "1"}, {"epsilon": -1.0}, {"delta": 2.0}])
def test_a_promise_that_is_none_is_refused(given):
    with pytest.raises(ValueError, match="must be"):
        DPGridSearchCV(model(), GRID, **given).quote(2000, 3)
