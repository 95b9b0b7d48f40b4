"""Rounding of losses with corners: the width is chosen once the solver is known."""

from dataclasses import replace
from typing import Any, ClassVar

from ..fitting import Corner, PrivateLearner, corner_width
from ..mechanisms import Public
from ..privacy import Spec
from ..solvers import Solver, Task

__all__ = ["OPEN", "WithCorners"]

OPEN = 1.0  # the width of a loss whose own follows from the noise: it is multiplied by that


class WithCorners(PrivateLearner):
    """Mixin of estimators with rounded corners; an estimator gives its loss the width OPEN where none was asked for."""

    _corner: ClassVar[Corner]

    def _open(self) -> bool:
        """Return True if no width was asked for."""
        given: Any = self
        return given.smoothing is None

    def _rounded(self, task: Task, solver: Solver, public: Public, spec: Spec) -> Task:
        task = super()._rounded(task, solver, public, spec)
        if not self._open():
            return task
        loss = task.loss.blunter(corner_width(solver, task, public, spec, self._corner))
        assert loss is not None, "every loss with a corner has a blunter one"
        return replace(task, loss=loss)
