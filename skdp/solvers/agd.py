"""DP-AGD (Lee and Kifer 2018): noisy gradients, a noisy choice among step sizes, precision bought where it is needed.

Privacy: post-processing of clipped gradients and of noisy selections whose prices depend on earlier answers, under a
zCDP filter. It is asked before anything is begun that could not be finished; only the last committed iterate leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import BestCandidate, Public
from ..mechanisms._mechanism import Mechanism
from ._descent import Descent, PriceList, descend, first_round
from ._ranges import (
    clip_bound,
    count,
    decay_factor,
    decay_of_steps,
    flag,
    nonnegative,
    one_of,
    positive,
    share_of_budget,
)
from ._rules import longest_prox
from ._solver import Answering, Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["AGD"]

_LONGEST_MOVE = 2.0  # of a unit direction, as in the source


@dataclass(frozen=True)
class AGD(Solver):
    """Gradient descent with adaptive step sizes and an adaptive price per gradient.

    A round buys a noisy gradient, then the noisily best of several step sizes, none among them. If none wins, the
    gradient is too noisy: more of it is bought and averaged in by precision, and later rounds start from the precision
    that was reached. The ladder of step sizes follows the ones that were chosen.

    Parameters
    ----------
    splits : int
        Rounds that the allowance would last if no gradient had to be bought again.
    selection_share : float
        Part of a round's price that goes to the choice of the step size.
    growth : float
        Part of itself by which the precision of a rejected gradient is raised.
    momentum : float
        Weight of earlier directions in a direction, in [0, 1); they are dropped when no step wins.
    candidates : int
        Step sizes to choose from.
    backtrack : float
        Each step size over the one before, of a geometric ladder.
    ladder : {"geometric", "even"}
        How step sizes are spaced; the source spaces 20 evenly from 0 to the largest.
    unit_direction : bool
        Divide directions by their length, as in the source: step sizes are then the lengths of moves, and the largest
        is 2 by default.
    prior : float
        Handicap of a step size, per halving or doubling of the default and in units of the selection's own noise: where
        the budget is too small for the comparison to say anything, the default decides.
    refresh : int
        Committed steps after which the ladder moves; 10 in the source.
    slack : float
        Where it then starts, over the largest of these steps; 1.1 in the source.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level. A record's
        losses range over no more than this times the longest step.
    objective_clip : float or None
        Bound on the range of one record's losses, where that is less; None: none.
    step_size : float or None
        Largest step on the mean objective; None: by curvature and noise.
    radius : float
        How far the noise may carry the iterate at the largest step, for the default ladder.
    max_rounds : int
        Limit where nothing else ends the loop.
    """

    name: ClassVar[str] = "agd"
    adaptive: ClassVar[bool] = True
    filter: ClassVar[str] = "zcdp"

    splits: int = count(60)
    selection_share: float = share_of_budget(0.2)
    growth: float = positive(0.5)
    momentum: float = decay_factor(0.5)
    candidates: int = count(5, 60)
    backtrack: float = decay_of_steps(0.5)
    ladder: str = one_of("geometric", "even")
    unit_direction: bool = flag(False)
    prior: float = nonnegative(1.0)
    refresh: int = count(5)
    slack: float = positive(2.0)
    clip: float | None = clip_bound()
    objective_clip: float | None = clip_bound()
    step_size: float | None = positive(None)
    radius: float = positive(32.0)
    max_rounds: int = count(500)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, and one round: what later ones ask depends on answers."""
        return first_round(_Selection(self, PriceList(public, budget), task))

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last committed iterate."""
        return descend(_Selection(self, oracle, task), self.max_rounds)


class _Selection(Descent):
    """Chooses by the exponential mechanism, staying among the choices."""

    def __init__(self, solver: AGD, oracle: Answering, task: Task) -> None:
        super().__init__(solver, oracle, task)
        self.epsilon = self.allowance.range(solver.selection_share / solver.splits)
        self.default = 0.5 * self.top

    def given_step(self) -> float | None:
        """The user's step; the length of a move may be any, see `unit`."""
        if self.solver.unit_direction:
            return self.solver.step_size or _LONGEST_MOVE
        return super().given_step()

    def ladder(self) -> Array:
        """Step sizes to compare, longest first."""
        count = self.solver.candidates
        even = self.solver.ladder == "even"
        return self.top * np.arange(count, 0, -1) / count if even else super().ladder()

    def unit(self, direction: Array) -> float:
        """The length of a direction, or more where the penalty has no prox for so long a step."""
        if not self.solver.unit_direction:
            return 1.0
        shortest = self.top / longest_prox(self.task, self.n)
        return max(float(np.linalg.norm(direction)), shortest, 1e-30)

    def comparison(self, w: Array, points: Array, steps: Array) -> Mechanism:
        cap = float(self.reach(w, points).max())
        # The scale of the Gumbel noise is the spread over epsilon.
        unit = self.oracle.public.sensitivity_factor * cap / self.epsilon
        handicaps = np.concatenate([[1.0], np.abs(np.log2(steps / self.default))])
        points = np.concatenate([w[None], points])
        penalties = np.array([self.task.penalty.value(point) for point in points])
        return BestCandidate(
            epsilon=self.epsilon,
            candidates=points,
            offsets=penalties + self.solver.prior * unit * handicaps,
            loss=self.task.loss,
            cap=cap,
        )

    def index_of(self, index: int) -> int | None:
        return index - 1 if index > 0 else None
