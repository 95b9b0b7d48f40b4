"""What private estimators share that minimise something: rows of bounded norm, and a solver."""

from dataclasses import field, replace
from typing import Any

from numpy.typing import ArrayLike

from ..mechanisms import Public, Records
from ..solvers import Solver, Task
from ._scaling import refuse_unscaled, scaling_for
from ._tables import Array, table
from ._targets import warn_of_no_scale
from ._unscaled import Unscaled, affine_of, root_of, seen
from .estimator import PrivateEstimator
from .plan import Plan, Scaling

__all__ = ["PrivateLearner", "PrivatePredictor"]


class PrivateLearner(PrivateEstimator):
    """Base of the private estimators that learn parameters of a model by a solver.

    Parameters
    ----------
    data_norm : float, default=None
        Public bound on the norm of a row; rows beyond it count as if scaled down to it. Declare it where you know one:
        that is free. None buys bounds of all columns, in any unit, and then a norm, for a twentieth of the budget in mu
        squared, or up to a tenth where records are few; columns are then seen on [-1, 1] between their bounds, and
        coefficients are of such columns.
    solver : str or Solver, default="auto"
        Algorithm, by name or as an instance such as ``skdp.solvers.SGD(batch_size=200)``; "auto" chooses by the
        promise and by public sizes, see docs/choose_a_solver.md.

    Attributes
    ----------
    bounds_ : ndarray of shape (n_features, 2)
        Where ``data_norm=None``: private bounds of the columns; twice 0 where one is seen by its sign.
    data_norm_ : float
        Where ``data_norm=None``: the private norm to which longer rows are scaled down, of columns on [-1, 1].
    """

    data_norm: float | None = None
    solver: str | Solver = "auto"
    bounds_: Array = field(init=False)
    data_norm_: float = field(init=False)

    def _stand_ins(self, n_features: int) -> dict[str, Any]:
        """For each parameter whose meaning is bought, a value that holds whatever is bought."""
        return {} if self.data_norm is not None else {"data_norm": root_of(n_features)}

    def _norm(self) -> float:
        """Of rows, declared or bought."""
        return float(self.data_norm_ if self.data_norm is None else self.data_norm)

    def _stated(self, n: int | None, n_features: int, outputs: int) -> tuple[Public, Task]:
        if bought := self._stand_ins(n_features):
            return self._as_if(**bought)._stated(n, n_features, outputs)
        return super()._stated(n, n_features, outputs)

    def _plan(
        self, n: int | None, n_features: int, declared: dict[str, Any], outputs: int | None = None
    ) -> Plan:
        bought = self._stand_ins(n_features)
        if not bought:
            return super()._plan(n, n_features, declared, outputs)
        plan = self._as_if(**bought)._plan(n, n_features, declared, outputs)
        refuse_unscaled(plan, next(iter(bought)))
        told = {**plan.declared, **dict.fromkeys(bought, "none: bought")}
        usual = Scaling(targets=plan.targets if "y_bounds" in bought else 0)
        if "data_norm" not in bought:
            usual = replace(usual, norm=0.0)
        public = replace(plan.public, bought="data_norm" in bought)
        scaling = scaling_for(plan.spec, public, usual)
        return replace(plan, public=public, scaling=scaling, declared=told)

    def _admitted(
        self, plan: Plan, X: Array, targets: Array, owners: Any, weights: Array | None
    ) -> tuple[Plan, Records | Unscaled]:
        if plan.scaling is None:
            return super()._admitted(plan, X, targets, owners, weights)
        outputs = max(1, plan.declared.get("n_classes", 1) // plan.fits)

        def restated(norm: float) -> Task:
            given = plan.public.n, plan.public.n_features, outputs
            task = self._as_if(data_norm=norm)._stated(*given)[1]
            return replace(task, loss=plan.task.loss)  # with corners as they were priced

        return plan, Unscaled(X, targets, weights, plan, restated, self._onto_unit)

    def _onto_unit(self, targets: Array, bounds: Array) -> Array:
        """Targets as the loss wants them, by bounds that were bought of each."""
        raise NotImplementedError

    def _ended(self, plan: Plan, records: Any) -> Plan:
        for name in ("bounds_", "data_norm_", "y_bounds_"):  # of an earlier fit
            vars(self).pop(name, None)
        if not isinstance(records, Unscaled):
            return plan
        if self.data_norm is None:
            self.bounds_, self.data_norm_ = records.bounds, records.plan.data_norm
        if len(records.y_bounds):
            self.y_bounds_ = records.y_bounds
            warn_of_no_scale(records.y_bounds)
        return records.plan

    def _affine(self) -> tuple[Array, Array]:
        """What a number between bounds that were bought is multiplied by, and what is added."""
        return affine_of(self.bounds_)

    def _rows(self, X: ArrayLike) -> Array:
        """A checked table as the fit saw its own."""
        if "bounds_" not in vars(self):
            return table(self, X, reset=False)
        return seen(table(self, X, reset=False, sparse=False), self.bounds_)


class PrivatePredictor(PrivateLearner):
    """Base of those that predict a target of each row: rows may belong to persons, and weigh unlike.

    Parameters
    ----------
    max_rows_per_group : int, default=None
        Protects persons with several rows: the most rows of one that enter a fit, which then takes ``groups``. None
        where every row is a person's only one.
    max_sample_weight : float, default=None
        Public bound on what a row weighs; heavier ones count with it, and None stands for 1. Noise is made for a row of
        this weight, so weights far below it drown in noise: declare about the largest that you expect.
    """

    max_rows_per_group: int | None = None
    max_sample_weight: float | None = None
