"""A price is found once for equal plans: what is looked up is what would be found, and nobody else's."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest
from laws.runs import plan_for, short

from skdp import NotSupported
from skdp.fitting import Plan
from skdp.fitting._calibration import LINEAR, ScoreBins
from skdp.fitting._pricing import _priced, _remembered, priced
from skdp.fitting.stages import ClassCounts, ColumnBounds
from skdp.losses import HuberisedHinge
from skdp.penalties import L2, NoPenalty, ScaledPenalty
from skdp.privacy import Spec
from skdp.solvers import GD, SOLVERS, WhiteGD

SCRIPTED = plan_for(GD(steps=5), "add_remove", n_public=50)
# Another value for each part that a price may depend on.
OTHERS = {
    "spec": replace(SCRIPTED.spec, epsilon=2.0),
    "task": replace(SCRIPTED.task, loss=HuberisedHinge(h=0.3)),
    "solver": GD(steps=6),
    "public": replace(SCRIPTED.public, n=None),
    "data_norm": 7.0,
    "accountant": "rdp",
    "fits": 3,
    "bought": (ColumnBounds(),),
    "after": (ScoreBins(2, LINEAR),),
    "targets": 2,
}


def same(one, other):
    """Noise, where a number, and statement."""
    return np.array_equal(one[0], other[0], equal_nan=True) and one[1] == other[1]


def assert_nothing_is_mixed_up(plan, others):
    """Each of the changed plans is told its own price after the plan's."""
    _remembered.cache_clear()
    priced(plan)
    for name, value in others.items():
        changed = replace(plan, **{name: value})
        assert same(priced(changed), _priced(changed, None)), f"{name} is not told apart"


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_what_is_looked_up_is_what_would_be_found(name, relation):
    try:
        plan = plan_for(short(name), relation)
    except NotSupported as refusal:
        pytest.skip(str(refusal))
    _remembered.cache_clear()
    first, again = priced(plan), priced(replace(plan, declared={"other": "words"}))
    assert _remembered.cache_info().hits == 1
    assert same(first, again) and same(first, _priced(plan, None))


def test_plans_that_differ_in_anything_are_told_apart():
    assert_nothing_is_mixed_up(SCRIPTED, OTHERS)


def test_each_part_of_a_plan_counts():
    compared = {name for name, part in Plan.__dataclass_fields__.items() if part.compare}
    assert compared == set(OTHERS)
    for name, value in OTHERS.items():
        assert replace(SCRIPTED, **{name: value}) != SCRIPTED


@dataclass(frozen=True)
class Careless(Plan):
    """Forgets who prices it, which is how a lookup goes wrong."""

    accountant: str = field(compare=False)


def test_each_stage_counts():
    counts = ClassCounts(2, SCRIPTED.task)
    bought = [(), (ColumnBounds(),), (counts,), (counts, ColumnBounds()), (ColumnBounds(0.06),)]
    plans = [replace(SCRIPTED, bought=stages) for stages in bought]
    assert len(set(plans)) == len(plans)
    for stages in bought[1:]:
        assert_nothing_is_mixed_up(SCRIPTED, {"bought": stages})


def test_a_part_that_is_forgotten_is_seen():
    careless = Careless(**{name: getattr(SCRIPTED, name) for name in Plan.__dataclass_fields__})
    with pytest.raises(AssertionError, match="accountant is not told apart"):
        assert_nothing_is_mixed_up(careless, OTHERS)


def test_a_ledgers_order_is_a_part_of_an_adaptive_price():
    plan = plan_for(short("blgd"), "replace_one")
    plan = replace(plan, spec=Spec(1.0, 1e-6))
    _remembered.cache_clear()
    alone, shared = priced(plan), priced(plan, 30)
    assert not same(alone, shared) and same(shared, _priced(plan, 30))


@dataclass(frozen=True)
class Moody(GD):
    """Of the caller's own: asks something else each time."""

    asked: ClassVar[list] = []

    def asks(self, public, task, budget):
        """One gradient more each time."""
        self.asked.append(budget)
        return super().asks(public, task, budget)


@dataclass(frozen=True)
class Own(L2):
    """A penalty of the caller's own."""


@pytest.mark.parametrize(
    "part",
    [
        {"solver": Moody(steps=5)},
        {"task": replace(SCRIPTED.task, penalty=ScaledPenalty(Own(2.0)))},
        {"solver": WhiteGD(), "task": replace(SCRIPTED.task, penalty=ScaledPenalty(NoPenalty()))},
    ],
    ids=["solver of one's own", "penalty of one's own", "registered"],
)
def test_only_what_is_registered_is_looked_up(part):
    plan = replace(SCRIPTED, **part)
    _remembered.cache_clear()
    first, again = priced(plan), priced(plan)
    assert same(first, again)
    assert _remembered.cache_info().currsize == (1 if type(plan.solver) is WhiteGD else 0)


def test_a_solver_of_ones_own_is_asked_each_time():
    plan = replace(SCRIPTED, solver=Moody(steps=5))
    priced(plan)
    before = len(Moody.asked)
    priced(plan)
    assert len(Moody.asked) > before > 0
