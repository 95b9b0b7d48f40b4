"""What private estimators share that minimise something: rows of bounded norm, and a solver."""

from dataclasses import field, replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from ..entry import affine_of, to_columns
from ..solvers import Solver, Task
from ._tables import Array, table
from ._targets import warn_of_no_scale
from .estimator import PrivateEstimator
from .plan import Plan, Sizes
from .stages import Known, root_of, scales_for

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

    def _buys(self) -> tuple[str, ...]:
        """Return the parameters whose meaning is bought."""
        return ("data_norm",) if self.data_norm is None else ()

    def _norm_before(self, n_features: int) -> float:
        return root_of(n_features) if self.data_norm is None else float(self.data_norm)

    def _norm(self) -> float:
        """Of rows, declared or bought."""
        return float(self.data_norm_ if self.data_norm is None else self.data_norm)

    def _plan(
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
        *more: Any,
    ) -> Plan:
        plan = super()._plan(n, n_features, declared, outputs, *more)
        bought = self._buys()
        if not bought:
            return plan
        rows = "data_norm" in bought
        scales = scales_for(
            plan.spec, plan.public, rows, plan.targets if "y_bounds" in bought else 0
        )
        scales[0].refuse(plan)
        return replace(
            plan,
            public=replace(plan.public, bought=rows),
            bought=scales,
            restate=partial(self._restated, plan, outputs),
            centred=self._centred(),
            declared={**plan.declared, **dict.fromkeys(bought, "none: bought")},
        )

    def _restated(self, plan: Plan, outputs: int | None, known: Known) -> Task:
        """Return what is minimised once more is known of rows and weights: the penalty is on the user's scale."""
        outputs = self._outputs() if outputs is None else outputs
        norm = plan.data_norm if known.norm is None else known.norm
        heaviest = None if known.of_class is None else self._heaviest_of(known.of_class)
        heaviest = self._heaviest() if heaviest is None else heaviest
        public, scores = plan.public, outputs // plan.fits
        sizes = Sizes(public.n, public.n_features, scores, heaviest, norm, public.weighted)
        stated = self._stated(sizes)[1]
        return replace(plan.task, penalty=stated.penalty, each=stated.each)

    def _heaviest_of(self, of_class: Array) -> float:
        """Return the bound on what a row weighs, where classes weigh so much."""
        raise NotImplementedError

    def _centred(self) -> bool:
        """Whether the midpoint of bounds is taken from targets."""
        return True

    def _keep_bought(self, plan: Plan, known: Known) -> None:
        for name in ("bounds_", "data_norm_", "y_bounds_"):  # of an earlier fit
            vars(self).pop(name, None)
        if known.bounds is not None:
            self.bounds_, self.data_norm_ = known.bounds, plan.data_norm
        if known.y_bounds is not None:
            self.y_bounds_ = known.y_bounds
            warn_of_no_scale(known.y_bounds)

    def _affine(self) -> tuple[Array, Array]:
        """What a number between bounds that were bought is multiplied by, and what is added."""
        return affine_of(self.bounds_)

    def _rows(self, X: ArrayLike) -> Array:
        """A checked table as the fit saw its own."""
        if "bounds_" not in vars(self):
            return table(self, X, reset=False)
        return to_columns(table(self, X, reset=False, sparse=False), self.bounds_)


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
