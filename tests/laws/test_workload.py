"""Defaults that are quick on 20 columns are quick on 1,000: as many questions, and as many passes over the rows.

Counts, not times: a solver whose work grows with the columns is named here, with how far it may and why.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from laws.workload import Work, work_of

from skdp.mechanisms import BestCandidate, Gradient
from skdp.solvers import GD, SOLVERS, Solver

FEW, MANY = 20, 1000

_MOMENT = "one second moment, a product for each column"
_HESSIAN = "a second moment, a product for each column, in each of a few Newton steps"
# Solver -> (times as many products on 1,000 columns as on 20, at most, and why); 50 is as many columns.
GROWS = {
    "admm-objp": (50, _HESSIAN),
    "amp": (50, _HESSIAN),
    "newton": (20, _MOMENT),
    "objective-perturbation": (50, _HESSIAN),
    "output-perturbation": (50, _HESSIAN),
    "privgene": (50, "two offspring a column in each generation"),
    "two-phase": (50, _HESSIAN),
    "white-gd": (12, _MOMENT),
    "white-objective": (50, _HESSIAN),
}
# How many rounds they take is decided by answers, which are public; noise is louder in more coordinates.
ADAPTIVE = {name for name in SOLVERS if SOLVERS[name].adaptive}
SLOW = {"privgene", "white-objective"}


def check_growth(few, many, factor=None):
    """The same work, or where a factor is named, more, and no more than that."""
    assert few.questions and few.products, "nothing was counted"
    if factor is None:
        assert many == few, f"{few} on {FEW} columns, {many} on {MANY}"
        return
    assert many.questions <= few.questions, f"{few} on {FEW} columns, {many} on {MANY}"
    assert many.products <= factor * few.products, f"{few} on {FEW} columns, {many} on {MANY}"
    assert many != few, "the exception is not needed any more"


def works(name, patch):
    """Of the default on few columns and on many."""
    return [work_of(SOLVERS[name](), columns, patch) for columns in (FEW, MANY)]


def registered():
    """All solvers; those that take long on many columns, whatever the law says of them, apart."""
    return [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in sorted(SOLVERS)]


@pytest.mark.parametrize("name", registered())
def test_work_is_the_same_on_many_columns(name, monkeypatch):
    factor, _ = GROWS.get(name, (1 if name in ADAPTIVE else None, ""))
    check_growth(*works(name, monkeypatch), factor)


def test_counts_are_those_of_a_count_by_hand(monkeypatch):
    # A gradient is one product with the parameters and one with the slopes.
    assert work_of(GD(steps=7), 5, monkeypatch) == Work(7, 14)
    assert work_of(TriesEach(), 5, monkeypatch) == Work(1, 13)  # 2 x 5 + 2 for the intercept, and 0


@dataclass(frozen=True)
class AsksPerColumn(Solver):
    """A gradient for each column."""

    name: ClassVar[str] = "toy"

    def solve(self, oracle, task, budget):
        w, scale = np.zeros(task.shape), budget.noise * task.size**0.5
        for k in range(task.size):
            g = oracle.ask(Gradient(at=w, loss=task.loss, clip=1.0, multiplier=scale))
            w[k] -= g[k] / oracle.public.n
        return w


@dataclass(frozen=True)
class TriesEach(Solver):
    """One question, with two candidates for each column."""

    name: ClassVar[str] = "toy"

    def solve(self, oracle, task, budget):
        unit = np.eye(task.size)
        points = np.concatenate([unit, -unit, np.zeros((1, task.size))])
        epsilon = np.inf if budget.noise == 0 else 1.0 / budget.noise
        return points[
            oracle.ask(BestCandidate(candidates=points, loss=task.loss, cap=1.0, epsilon=epsilon))
        ]


@pytest.mark.parametrize("twin", [AsksPerColumn, TriesEach])
def test_a_toy_whose_work_grows_with_the_columns_is_caught(monkeypatch, twin):
    monkeypatch.setitem(SOLVERS, "toy", twin)
    few, many = (work_of(SOLVERS["toy"](), columns, monkeypatch) for columns in (5, 50))
    with pytest.raises(AssertionError, match="columns"):
        check_growth(few, many)
    with pytest.raises(AssertionError, match="columns"):
        check_growth(few, many, 2)


def test_an_exception_that_is_not_needed_any_more_is_caught():
    check_growth(Work(1, 10), Work(1, 30), 3)
    for many, said in ((Work(1, 31), "columns"), (Work(2, 20), "columns"), (Work(1, 10), "needed")):
        with pytest.raises(AssertionError, match=said):
            check_growth(Work(1, 10), many, 3)
    with pytest.raises(AssertionError, match="nothing was counted"):
        check_growth(Work(1, 0), Work(1, 0))
