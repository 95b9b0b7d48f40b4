"""PrivGene (Zhang, Xiao, Yang, Zhang and Winslett 2013): a genetic search guided by the exponential mechanism.

Privacy: post-processing of noisy selections from a script that is fixed beforehand. Nothing is divided by n, which may
be private. A baseline: it compares losses and never sees a gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import BestCandidate, Public
from ..penalties import ScaledPenalty
from ._ranges import count, positive, share_of_itself
from ._rules import nearest
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["PrivGene"]

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True)
class PrivGene(Solver):
    """Genetic search: two noisily selected parents a generation, crossed and mutated in one coordinate each.

    A solver draws nothing at random, so that its result is a function of its answers: the offspring's coordinate goes
    through all of them in turn, either way, and cuts between parents are spread by the golden ratio.

    Parameters
    ----------
    generations : int
        Number of generations.
    mutation : float
        First mutation, as a coefficient of a row of norm 1.
    decay : float
        Factor of the mutation from a generation to the next.
    cap : float or None
        Bound on how far one record's losses range over the offspring, in units of the largest distance between two of
        them; None: half of the loss's slope, or all of it without noise.
    """

    name: ClassVar[str] = "privgene"

    generations: int = count(20)
    mutation: float = positive(4.0)
    decay: float = share_of_itself(0.85)
    cap: float | None = positive(None)

    @property
    def _selections(self) -> int:
        """The last generation needs no second parent."""
        return 2 * self.generations - 1

    def _epsilon(self, budget: Budget) -> float:
        noise = budget.noise * math.sqrt(self._selections)
        return math.inf if noise == 0.0 else 1.0 / noise

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """The selections: their price depends on no candidate."""
        alone = nearest(task.penalty, np.zeros(task.shape))[None]
        question = BestCandidate(
            candidates=alone,
            offsets=np.array([task.penalty.value(alone[0])]),
            loss=task.loss,
            cap=1.0,
            epsilon=self._epsilon(budget),
        )
        yield question, self._selections

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the first parent of the last generation."""
        epsilon = self._epsilon(budget)
        slope = (task.loss.slope or 1.0) * oracle.public.row_bound
        steepness = self.cap or slope * (0.5 if budget.private else 1.0)
        first = second = nearest(task.penalty, np.zeros(task.shape))
        size = self.mutation
        for left in reversed(range(self.generations)):
            offspring = _offspring(task.penalty, first, second, size)
            question = BestCandidate(
                candidates=offspring,
                offsets=np.array([task.penalty.value(w) for w in offspring]),
                loss=task.loss,
                cap=min(max(steepness * _diameter(offspring), 1e-30), 1e100),
                epsilon=epsilon,
            )
            first = offspring[oracle.ask(question)]
            second = offspring[oracle.ask(question)] if left else first
            size *= self.decay
        return first


def _offspring(penalty: ScaledPenalty, first: Array, second: Array, size: float) -> Array:
    """The first parent, and for each coordinate two crossings, one mutated up and one down."""
    d = first.size
    born = [first]
    for k in range(2 * d):
        cut = int(d * ((k * _GOLDEN) % 1.0))
        child = np.concatenate([first.flat[:cut], second.flat[cut:]])
        child[k // 2] += size if k % 2 else -size
        born.append(nearest(penalty, child.reshape(first.shape)))
    return np.stack(born)


def _diameter(points: Array) -> float:
    """Return a bound on the largest distance between two points: twice the largest to the first."""
    away = (points - points[0]).reshape(len(points), -1)
    return 2.0 * float(np.linalg.norm(away, axis=1).max())
