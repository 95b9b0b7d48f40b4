"""What a solver says that it will ask is what it asks: prices are found from the one, and paid for the other."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.runs import plan_for, records_for, short
from laws.vaults import Admitted

from skdp import NotSupported
from skdp.fitting import prepare
from skdp.fitting._pricing import _run_on_nothing, rehearse
from skdp.mechanisms import Gradient, Noise, Oracle, price
from skdp.privacy.ledger import Recorder
from skdp.solvers import GD, SOLVERS
from skdp.solvers._ranges import range_of

SCRIPTED = sorted(name for name, solver in SOLVERS.items() if not solver.adaptive)
RELATIONS = ["replace_one", "add_remove"]
# Other values that change what is asked, wherever a solver has them.
OTHERS = [
    {},
    {"steps": 7, "epochs": 2, "rounds": 3, "generations": 4, "parties": 3, "clip": 0.3},
    {"rate": 0.3, "share": 0.3, "moment_share": 0.3, "norm_share": 0.1, "strength": 3.0},
    {"sampling": "without_replacement", "batch_size": 9, "stopping": "random"},
    {"sampling": "allocation", "batch_size": 9},
    {"variant": "paper", "intercept_share": 0.5, "cap": 0.3, "bound": 0.4, "step_size": 0.1},
]


def plans(name, relation, given):
    """The solver's plan with the values that it knows and takes, with and without a count that is public."""
    solver = short(name)
    taken = {k: v for k, v in given.items() if k in solver.get_params()}
    taken = {k: v for k, v in taken.items() if range_of(solver, k).holds(v)}
    for declared in {"replace_one": [{}], "add_remove": [{}, {"n_public": 50}]}[relation]:
        try:
            yield plan_for(solver.with_params(**taken), relation, **declared)
        except NotSupported:
            continue


def charged(plan, budget, seed):
    """What a run on real records is charged, whatever was said."""
    recorder = Recorder()
    oracle = Oracle(records_for(plan), recorder, Noise(seed))
    plan.solver.solve(oracle, plan.task, budget)
    return recorder.script, oracle


def assert_says_what_it_asks(plan, budget):
    """Stated and asked are one script; and the receipt of a quote names the pages of a run's."""
    stated = rehearse(plan, budget)
    for seed in range(2):
        script, oracle = charged(plan, budget, seed)
        assert stated.script == script, f"{plan.solver} says one thing and asks another"
        assert set(stated.proofs) == set(oracle.proofs)


@pytest.mark.parametrize("given", OTHERS, ids=lambda given: next(iter(given), "defaults"))
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", SCRIPTED)
def test_a_solver_asks_what_it_says(name, relation, given):
    for plan in plans(name, relation, given):
        for noise in (0.0, 0.37, 5.1):
            assert_says_what_it_asks(plan, replace(prepare(plan).budget, noise=noise))


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_statement_is_a_handful_of_questions_whatever_the_number_of_steps(name):
    """A thousand equal questions are one of them with a count, so a price takes no longer than a step."""
    for relation in RELATIONS:
        for plan in plans(name, relation, {}):
            asked = list(plan.solver.asks(plan.public, plan.task, prepare(plan).budget))
            rounds = getattr(plan.solver, "epochs", 1), getattr(plan.solver, "steps", 1) or 1
            kinds = len({type(question) for question, _ in asked})
            once = len(asked) <= 4
            in_turn = len(asked) <= 1 + kinds * max(rounds) and kinds > 1
            assert once or (name in ("svrg", "frank-wolfe") and in_turn)


@dataclass(frozen=True)
class Forgetful(GD):
    """States one gradient less than it asks."""

    def asks(self, public, task, budget):
        """All but the last."""
        *first, (question, count) = super().asks(public, task, budget)
        yield from first
        yield question, count - 1


@dataclass(frozen=True)
class Louder(GD):
    """States more noise than it asks for."""

    def asks(self, public, task, budget):
        """At twice the noise."""
        for question, count in super().asks(public, task, budget):
            yield replace(question, multiplier=2.0 * question.multiplier), count


@pytest.mark.parametrize("Twin", [Forgetful, Louder])
def test_a_solver_that_says_something_else_is_seen(Twin):
    plan = replace(plan_for(short("gd"), "replace_one"), solver=Twin(steps=5))
    with pytest.raises(AssertionError, match="says one thing"):
        assert_says_what_it_asks(plan, prepare(plan).budget)


@dataclass(frozen=True)
class Silent(GD):
    """States nothing, as a solver of one's own may: it is run on an empty vault instead."""

    def asks(self, public, task, budget):
        """Nothing."""
        return None


def test_a_solver_that_says_nothing_costs_the_same():
    plan = plan_for(GD(steps=5), "add_remove")
    silent = replace(plan, solver=Silent(steps=5))
    assert prepare(silent).statement.script == prepare(plan).statement.script
    assert (
        _run_on_nothing(silent, silent.task, prepare(plan).budget).script
        == prepare(plan).statement.script
    )
    quoted, run = (
        prepare(silent).quote(),
        prepare(silent).on(Admitted(records_for(silent)), Noise(0))[1],
    )
    assert quoted == run.__class__(**{**vars(run), "seeded": False, "date": quoted.date})


def test_neither_point_nor_clip_changes_a_price():
    plan = plan_for(short("gd"), "replace_one")
    prices = {
        price(Gradient(at=at, loss=plan.task.loss, clip=clip, multiplier=2.0), plan.public)
        for at, clip in ((np.zeros(plan.task.shape), 1.0), (np.full(plan.task.shape, 3.0), 1e-3))
    }
    assert len(prices) == 1
