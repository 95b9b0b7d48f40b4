"""Fits with one thing wrong each: the law of fuzzing must see it."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from fuzz import law
from fuzz.cases import Estimated
from fuzz.law import Broken, check, outcome

from skdp import DPLogisticRegression
from skdp.fitting import run
from skdp.mechanisms import Records, _minimise, minimiser
from skdp.solvers import GD, OutputPerturbation


def case(solver=GD, relation="replace_one", allowance=(3.0, 1e-5), **given):
    """An ordinary fit with a solver of one's own."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, (40, 3))
    parameters = {
        **{"estimator": DPLogisticRegression, "epsilon": 1.0, "delta": 1e-5, "data_norm": 1.0},
        **{"classes": [0, 1], "neighbors": relation},
    }
    y = (X[:, 0] > 0).astype(int)
    steps = {"steps": 5} if issubclass(solver, GD) else {}
    return Estimated(0, X, y, "float64", (0, 1), parameters | given, (solver, steps), allowance)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("solver", [GD, OutputPerturbation])
@pytest.mark.parametrize("allowance", [None, (3.0, 1e-5)])
def test_sound_fits_pass(solver, relation, allowance):
    assert check(case(solver, relation, allowance), neighbour=True).refused is None
    assert "C=" in check(case(solver, relation, allowance, C=-1.0)).refused


@dataclass(frozen=True)
class ReturnsNaN(GD):
    def solve(self, oracle, task, budget):
        return super().solve(oracle, task, budget) * np.nan


@dataclass(frozen=True)
class RaisesAfterSpending(GD):
    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        if w.any():  # nothing that the price shows
            raise ValueError("the fit has thought better of it.")
        return w


@dataclass(frozen=True)
class OverflowsInTheMiddle(GD):
    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        return w + (float(10**400) if w.any() else 0.0)


@dataclass(frozen=True)
class TakesAnotherErrorForASentence(GD):
    def solve(self, oracle, task, budget):
        return [][0]


@dataclass(frozen=True)
class SaysWhatPythonSays(GD):
    def asks(self, public, task, budget):
        return float("many")


@dataclass(frozen=True)
class SpeaksInTwoLines(GD):
    def asks(self, public, task, budget):
        raise ValueError("no.\nAnd that is that.")


@dataclass(frozen=True)
class RefusesWhatItHasPriced(GD):
    def solve(self, oracle, task, budget):
        raise ValueError("such a penalty has no solver.")


@dataclass(frozen=True)
class AsksMoreThanItSaid(GD):
    def asks(self, public, task, budget):
        return GD(steps=self.steps - 1).asks(public, task, budget)


@dataclass(frozen=True)
class Warns(GD):
    def solve(self, oracle, task, budget):
        warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
        return super().solve(oracle, task, budget)


@dataclass(frozen=True)
class NeverEnds(GD):
    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        while w.any():
            w = w + 0.0
        return w


@dataclass(frozen=True)
class AsksWithoutPaying(GD):
    def solve(self, oracle, task, budget):
        oracle._Oracle__records.rows.tdot(np.zeros(len(oracle._Oracle__records)))
        return super().solve(oracle, task, budget)


BROKEN = [
    (ReturnsNaN, "5 answers were paid: ValueError: .* not finite"),
    (RaisesAfterSpending, "5 answers were paid: ValueError: the fit has"),
    (OverflowsInTheMiddle, "OverflowError"),
    (TakesAnotherErrorForASentence, "IndexError"),
    (SaysWhatPythonSays, "no sentence"),
    (SpeaksInTwoLines, "no sentence"),
    (RefusesWhatItHasPriced, "0 answers were paid"),
    (AsksMoreThanItSaid, "0 answers were paid: OffScript"),
    (Warns, "a warning: RuntimeWarning"),
    (NeverEnds, "Endless"),
    (AsksWithoutPaying, "before anything was paid"),
]


@pytest.mark.parametrize(("solver", "seen"), BROKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_broken_solvers_are_seen(solver, seen, monkeypatch):
    monkeypatch.setattr(law, "SECONDS", 0.5)
    with pytest.raises(Broken, match=seen):
        check(case(solver))


def test_a_receipt_above_the_target_is_seen(monkeypatch):
    receipt = run.Run._told

    def dearer(*args):
        found = receipt(*args)
        return replace(found, epsilon=found.epsilon * 1.01)

    monkeypatch.setattr(run.Run, "_told", dearer)
    with pytest.raises(Broken, match="a receipt of"):
        check(case())


def test_a_receipt_that_leaves_an_answer_out_is_seen(monkeypatch):
    receipt = run.Run._told

    def shorter(*args):
        found = receipt(*args)
        return replace(found, script=((found.script[0][0], 1),))

    monkeypatch.setattr(run.Run, "_told", shorter)
    with pytest.raises(Broken, match="not what was charged"):
        check(case())


HANGING = [
    (lambda X: np.abs(X).max() < 0.6, "its neighbour"),
    (lambda X: np.median(np.abs(X)) < 0.6, "its quote"),  # one record is not enough to mend it
]


@pytest.mark.parametrize(("unwelcome", "whose"), HANGING)
def test_a_refusal_that_hangs_on_records_is_seen(monkeypatch, unwelcome, whose):
    admit = Records.admit

    def looking(X, y, *rest, **more):
        if unwelcome(X):
            raise ValueError("such records are not welcome.")
        return admit(X, y, *rest, **more)

    monkeypatch.setattr(Records, "admit", staticmethod(looking))
    with pytest.raises(Broken, match=f"but of {whose} 'a model'"):
        check(case(allowance=None))


def test_a_minimiser_that_gives_up_is_seen(monkeypatch):
    def tired(objective, limits, tolerance, penalty=None):
        for _ in range(3):
            objective.curvature(np.zeros_like(objective.linear), np.zeros(len(objective.rows)), 0.1)
        raise FloatingPointError("no step lowers the objective")

    monkeypatch.setattr(minimiser, "minimise", tired)
    with pytest.raises(Broken, match="FloatingPointError"):
        check(case(OutputPerturbation))


@pytest.mark.parametrize(("rounds", "seen"), [(law.ROUNDS, r"50\d rounds"), (None, "Endless")])
def test_a_minimiser_that_takes_its_time_is_seen(monkeypatch, rounds, seen):
    """Which ends after too many rounds, or never."""

    def slow(objective, limits, tolerance, penalty=None):
        w, k = np.zeros_like(objective.linear), 0
        while rounds is None or k < rounds:
            objective.curvature(w, objective.rows.dot(w), 0.1)
            k += 1
        return _minimise.minimise(objective, limits, tolerance, penalty)

    monkeypatch.setattr(minimiser, "minimise", slow)
    monkeypatch.setattr(law, "SECONDS", 3.0 if rounds else 0.5)
    with pytest.raises(Broken, match=seen):
        check(case(OutputPerturbation))


def test_nothing_is_left_behind():
    """The spies are gone after a fit, also after one that was stopped."""
    before = vars(run)["with_progress_bar"], vars(Records)["admit"]
    outcome(case())
    with pytest.raises(Broken):
        outcome(case(ReturnsNaN))
    assert (vars(run)["with_progress_bar"], vars(Records)["admit"]) == before
