"""No hyper-parameter of a registered solver is silently ignored: it changes the script or the result, or is refused."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from laws.hyper_parameters import base, cases, ignored, others

from skdp.mechanisms import Gradient
from skdp.solvers import GD, SOLVERS

# (solver, hyper-parameter) -> why it does nothing.
EXCEPTIONS = {}


@pytest.mark.parametrize(("name", "parameter"), cases())
def test_it_does_something(name, parameter):
    assert bool(ignored(name, parameter)) == ((name, parameter) in EXCEPTIONS)


@pytest.mark.parametrize(("name", "parameter"), cases())
def test_it_has_another_value(name, parameter):
    assert others(base(name), parameter), "the law above tried nothing"


def test_words_are_those_that_the_refusal_offers():
    assert others(base("sgd"), "sampling") == ["allocation", "without_replacement"]
    assert others(base("sgd"), "schedule") == ["epoch", "sqrt"]


@dataclass(frozen=True)
class Forgets(GD):
    """Gradient descent with hyper-parameters that are written down and never read."""

    name: ClassVar[str] = "toy"

    warmth: float = 0.3
    colour: str = "red"
    hot: bool = False
    tries: int | None = None


@dataclass(frozen=True)
class ForgetsSteps(Forgets):
    """Reads its steps and takes ten."""

    def solve(self, oracle, task, budget):
        w = np.zeros(task.shape)
        for _ in range(10):
            w = w - 0.01 * oracle.ask(
                Gradient(at=w, loss=task.loss, clip=1.0, multiplier=4.0 * budget.noise)
            )
        return w

    def asks(self, public, task, budget):
        """As it solves."""
        return None


@pytest.mark.parametrize("parameter", ["warmth", "colour", "hot", "tries"])
def test_a_toy_that_ignores_one_is_caught(monkeypatch, parameter):
    monkeypatch.setitem(SOLVERS, "toy", Forgets)
    assert ("toy", parameter) in cases()
    assert ignored("toy", parameter)
    assert not ignored("toy", "steps") and not ignored("toy", "momentum")


@pytest.mark.parametrize("parameter", ["steps", "momentum", "clip"])
def test_a_toy_that_ignores_what_its_parent_read_is_caught(monkeypatch, parameter):
    monkeypatch.setitem(SOLVERS, "toy", ForgetsSteps)
    assert ignored("toy", parameter)
