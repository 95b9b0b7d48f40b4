"""Solvers that get at data, keep state or draw their own noise: replay, walls and the oracle must reject them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from laws.runs import check_replay, plan_for, records_for, run
from walls.checks import WALLS

from skdp import NotSupported, OffScript
from skdp.losses import Logistic
from skdp.mechanisms import Gradient
from skdp.solvers import GD, Solver

N = 60


def _gradient(w, budget, **given):
    return Gradient(
        **{"at": w, "loss": Logistic(), "clip": 1.0, "multiplier": budget.noise, **given}
    )


@dataclass(frozen=True)
class Sound(Solver):
    """One noisy gradient step; the twins below differ from it in one thing each."""

    name: ClassVar[str] = "sound"

    def solve(self, oracle, task, budget):
        w = np.zeros(task.shape)
        return w - 0.1 * oracle.ask(_gradient(w, budget)) / N


@dataclass(frozen=True)
class ReachesBehindTheOracle(Sound):
    """Takes the vault out of the oracle by its mangled name."""

    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        inner = getattr(oracle, "_oracle", oracle)
        vault = getattr(inner, "_Oracle__records", None)
        if vault is None or not len(vault):
            return w
        return w + vault.rows.tdot(vault.y) / N


CAPTURED = []


@dataclass(frozen=True)
class HoldsDataInAClosure(Sound):
    """Was handed the data on the side, by whoever made it."""

    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        # Not while it is rehearsed, when answers are zero.
        return w + CAPTURED.pop() if CAPTURED and np.any(w) else w


@dataclass(frozen=True)
class DrawsItsOwnNoise(Sound):
    """A second generator: noise that nobody priced."""

    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        return w + np.random.default_rng().normal(size=task.shape)


@dataclass(frozen=True)
class KeepsState(Sound):
    """Starts from where the last fit ended, so that an unpaid earlier answer leaves again."""

    memory: ClassVar[list] = []

    def solve(self, oracle, task, budget):
        self.memory.append(super().solve(oracle, task, budget))
        return np.sum(self.memory, axis=0)


def _plan(solver):
    return plan_for(solver, "replace_one", n=N)


@pytest.mark.parametrize(
    "broken", [ReachesBehindTheOracle, HoldsDataInAClosure, DrawsItsOwnNoise, KeepsState]
)
def test_replay_rejects(broken):
    records = records_for(_plan(Sound()), N)
    check_replay(_plan(Sound()), records)
    plan = _plan(broken())
    CAPTURED[:] = [records.rows.tdot(records.y)]
    with pytest.raises(AssertionError, match="no function of the answers"):
        check_replay(plan, records)


class Thief(Logistic):
    """A loss that keeps the scores and labels which it is shown."""

    seen: ClassVar[list] = []

    def dz(self, z, y):
        self.seen.append((z.copy(), y.copy()))
        return super().dz(z, y)


@dataclass(frozen=True)
class StealsThroughTheLoss(Sound):
    """Asks with a loss object of its own."""

    def solve(self, oracle, task, budget):
        w = np.zeros(task.shape)
        answer = oracle.ask(_gradient(w, budget, loss=Thief()))
        return w - answer / N + sum(float(z.sum()) for z, _ in Thief.seen)


def test_the_oracle_refuses_a_loss_of_the_solvers_own():
    run(_plan(Sound()), records_for(_plan(Sound()), N))
    with pytest.raises(NotSupported, match="Thief is not registered"):
        _plan(StealsThroughTheLoss())
    assert not Thief.seen


@dataclass(frozen=True)
class AsksForLessNoise(Sound):
    """Shows the rehearsal one script and follows another."""

    rehearsed: ClassVar[list] = []

    def solve(self, oracle, task, budget):
        w = np.zeros(task.shape)
        probe = oracle.ask(_gradient(w, budget))
        blank = not np.any(probe)
        return w - oracle.ask(
            _gradient(w, budget, multiplier=budget.noise * (1 if blank else 0.01))
        )


@dataclass(frozen=True)
class AsksOnceMore(Sound):
    """Stops by what it sees: the number of questions depends on the answers."""

    def solve(self, oracle, task, budget):
        w = np.zeros(task.shape)
        while True:
            answer = oracle.ask(_gradient(w, budget))
            w = w - answer / N
            if not np.any(answer):
                return w


@pytest.mark.parametrize("broken", [AsksForLessNoise, AsksOnceMore])
def test_the_script_rejects(broken):
    with pytest.raises(OffScript):
        run(_plan(broken()), records_for(_plan(Sound()), N))


SOURCES = {
    "records": [
        "def solve(self, oracle, task, budget):\n    return oracle._Oracle__records.rows\n",
        "def solve(self, oracle, task, budget):\n    return getattr(oracle, '_Oracle__records')\n",
        "def solve(self, oracle, task, budget):\n    import gc\n    return gc.get_objects()\n",
        "def solve(self, oracle, task, budget):\n    return oracle.ask(q).measure(1)\n",
    ],
    "randomness": [
        "import numpy as np\nw = np.random.default_rng().normal(size=3)\n",
        "from os import urandom\n",
    ],
    "imports": ["from ..mechanisms import Noise\n", "from ..mechanisms._records import Records\n"],
}


@pytest.mark.parametrize("wall, source", [(w, s) for w, some in SOURCES.items() for s in some])
def test_walls_reject(wall, source):
    assert list(WALLS[wall](source, "solvers/broken.py"))


def test_the_sound_solver_is_no_worse_than_a_registered_one():
    plan = _plan(GD(steps=5))
    w, answers = check_replay(plan, records_for(plan, N))
    assert len(answers) == 5 and np.isfinite(w).all()
