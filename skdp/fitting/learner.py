"""Base classes of private estimators that minimise a loss: rows of bounded norm, and a solver."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .._messages import frames_to_caller
from ..entry import Array, Facts, affine_of, table, to_columns
from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import CLASS_SOLVERS, GD, LIST_SOLVERS, SOLVERS, Budget, Solver, Task, resolve
from .auto import Corner, choose_solver, corner_width, is_auto
from .estimator import PrivateEstimator
from .plan import Plan, Sizes
from .run import Fitted, Heard
from .stages import Known, of_whole_rows, root_of, scales_for
from .starting import ZeroStart

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["N_ITER_", "PrivateLearner"]


N_ITER_ = """n_iter_ : ndarray of shape (1,)
    Number of questions that the solver asked of the records: public, or a function of the answers that were paid
    for. Steps of its own between two questions do not count."""
_PREFIX = "solver__"  # of parameters of the solver among the estimator's own
HOLD_ALL = "auto", "shifted", "rdp"  # ledgers in which every common solver has a price


class PrivateLearner(PrivateEstimator):
    """Base of the private estimators that learn parameters of a model by a solver.

    Parameters
    ----------
    data_norm : float, default=None
        Public bound on the norm of a row; rows beyond it count as if scaled down to it. Declare it where you know one:
        that is free. None buys bounds of all columns, in any unit, and then a norm, for a twentieth of the budget in mu
        squared, or up to a tenth where records are few; columns are then seen on [-1, 1] between their bounds, and
        coefficients are of such columns. Of a sparse table a norm alone is bought, and columns stay as they are.
    solver : str or Solver, default="auto"
        Algorithm, by name or as an instance such as ``skdp.solvers.SGD(batch_size=200)``; "auto" chooses by the
        promise and by public sizes, see docs/choose_a_solver.md. Names of scikit-learn's solvers ("lbfgs") mean "auto",
        and warn.

    Attributes
    ----------
    bounds_ : ndarray of shape (n_features, 2)
        Where ``data_norm=None``: private bounds of the columns of a dense table; twice 0 where one is seen by its sign.
    octave_units_ : ndarray of shape (n_features,)
        Where ``data_norm=None``: of a column with a heavy tail, the unit up to which numbers count as they are, and
        beyond which each doubling counts as one unit more; 0 for others.
    data_norm_ : float
        Where ``data_norm=None``: the private norm to which longer rows are scaled down, of columns on [-1, 1] or, where
        the table is sparse, as they are.
    """

    data_norm: float | None = None
    solver: str | Solver = "auto"
    _begins: ClassVar[type[ZeroStart]] = ZeroStart
    _from_zero: ClassVar[bool] = False  # whether bought bounds of targets begin there
    bounds_: Array = field(init=False)
    octave_units_: Array = field(init=False)
    data_norm_: float = field(init=False)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``solver__name`` for those of the solver, also where it is given by name."""
        found: dict[str, Any] = super().get_params(deep)
        return found | _inner_parameters(self.solver) if deep else found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__name`` reaches into the solver, also where it is given by name."""
        inner = {key: params.pop(key) for key in list(params) if key.startswith(_PREFIX)}
        super().set_params(**params)
        if inner:
            self.solver = _with_inner(self.solver, inner)
        return self

    @abstractmethod
    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        """Return public facts of the records, and the task that is minimised over their scores.

        That is the objective over the most that a row weighs, so that no loss in it weighs more than 1.
        """

    def _model_facts(self, public: Public, task: Task) -> dict[str, Any]:
        """Return what the receipt is to call public of the model."""
        return {}

    @abstractmethod
    def _store(self, w: Array, plan: Plan) -> None:
        """Store the parameters on the user's scale."""

    def _follow(
        self, answers: list[tuple[Any, Array]], plan: Plan, w: Array, budget: Budget
    ) -> None:
        """Store what follows from logged answers, which costs nothing."""

    def _norm_before(self, n_features: int) -> float:
        """Return the bound of rows before anything is paid: declared, or one that holds for any answer."""
        return root_of(n_features) if self.data_norm is None else float(self.data_norm)

    def _sizes(self, *given: Any, y_bounds: Array | None = None) -> Sizes:
        """Return public sizes of the problem, with the unit of targets where they have one."""
        return Sizes(*given)

    def _start(self) -> ZeroStart:
        """Return where a fit begins."""
        return self._begins(self)

    def _units(self) -> tuple[Any, Any]:
        """Return what is added to an intercept, and the unit of scores, on the user's scale."""
        return 0.0, 1.0

    def _corner(self) -> Corner | None:
        """Return the widths by which a corner of the loss is rounded; None where it is not, or by a given width."""
        return None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _, task = self._stated(self._sizes(1, 1, 1, self._heaviest(), self._norm_before(1)))
        ignored = list(task.ignored)
        if is_auto(self.solver) and self.solver != "auto":
            ignored.insert(
                0,
                f"solver={self.solver!r} is one of scikit-learn's, and means 'auto' here: public sizes choose a "
                "private one.",
            )
        for told in ignored:
            warnings.warn(told, UserWarning, stacklevel=frames_to_caller())
        self._start().check()

    def _outputs_of(self, facts: Facts) -> int:
        self._start().refuse_other_classes(facts.classes)
        return super()._outputs_of(facts)

    def _complete(self, plan: Any, facts: Facts) -> Any:
        self._start().admit()
        if facts.sparse and isinstance(plan, Plan):
            plan = replace(plan, bought=of_whole_rows(plan.bought))
        return super()._complete(plan, facts)

    def _note_payer(self, payer: Ledger | None) -> None:
        self._start().note_payer(payer)

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        w, plan = fitted.w, fitted.plan
        assert w is not None and isinstance(plan, Plan), "a learner has a solver"
        if not np.isfinite(w).all():
            raise ValueError(
                f"solver={plan.solver.name!r} ended in parameters that are not finite, so the fit keeps no model, but "
                "its cost has been paid; use smaller steps."
            )
        self._keep_bought(plan, fitted.known)
        vars(self)["n_iter_"] = np.array([fitted.asked])
        self._store(np.asarray(w, dtype=np.float64), plan)
        if heard is not None:
            self._follow(heard.answers, plan, w, budget)

    def _one_by_one(self) -> bool:
        """Return True if several scores are fitted one by one."""
        return False

    def _columns(self, fits: int) -> int:
        """Return the number of columns of targets, where each of so many fits has one of its own."""
        return 1

    def _heaviest(self) -> float:
        """Return the bound on what a row weighs."""
        return 1.0 if self.max_sample_weight is None else float(self.max_sample_weight)

    def _weighted(self) -> bool:
        """Return True if rows have weights of their own."""
        return self.max_sample_weight is not None

    def _stated(self, sizes: Sizes) -> tuple[Public, Task]:
        """Return the estimator's problem, with the number of records where it is public or declared."""
        if self.neighbors != "replace_one":
            sizes = replace(sizes, n=None if self.n_public is None else int(self.n_public))
        public, task = self._problem(sizes)
        if self.max_rows_per_group is None and not sizes.weighted:
            return public, task
        rows = int(self.max_rows_per_group or 1)
        return replace(public, rows=rows, weighted=sizes.weighted), task

    def _planned(
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
        weighted: bool = False,
        solver: Solver | None = None,
    ) -> Plan:
        """Return the plan of a fit, or the one that stands for it until scales are estimated."""
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        data_norm = self._norm_before(n_features)
        outputs = self._outputs() if outputs is None else outputs
        fits = outputs if self._one_by_one() else 1
        weighted = weighted or self._weighted()
        sizes = self._sizes(n, n_features, outputs // fits, self._heaviest(), data_norm, weighted)
        public, task = self._stated(sizes)
        facts: dict[str, Any] = {} if public.n is None else {"n": public.n}
        facts |= {"n_features": n_features, "data_norm": data_norm, **declared}
        facts |= declared_of_rows(self, weighted) | self._model_facts(public, task)
        # Of several classes gradients tell more; of several targets they do not (test_several_targets.py).
        alone = self._any_theorem() and self._columns(fits) == fits
        chosen = self._chosen(task, public, spec, alone) if solver is None else solver
        task = self._rounded(task, chosen, public, spec)
        given = spec, task, chosen, public, data_norm, self.accountant, facts
        unit = "row" if self.max_rows_per_group is None else "person"
        plan = Plan(*given, fits=fits, unit=unit, targets=self._columns(fits))
        return self._start().begin(plan)

    def _any_theorem(self) -> bool:
        """Return True if mechanisms other than Gaussian ones have a price.

        They have one in a fit that pays for itself, or in a ledger that was given no accountant of its own choice.
        """
        payer = self._payer()
        known = payer is None or (payer.accountant in HOLD_ALL and payer.spec.delta > 0.0)
        return known and self.accountant in ("auto", "profile")

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        """Return the solver that a parameter names, or the one that suits public numbers."""
        if self._start().given and is_auto(self.solver):
            return GD()
        return resolve(choose_solver(self.solver, task, public, spec, alone))

    def _rounded(self, task: Task, solver: Solver, public: Public, spec: Spec) -> Task:
        """Return the task with corners of its loss as wide as suits the solver and public numbers."""
        corner = self._corner()
        if corner is None:
            return task
        loss = task.loss.blunter(corner_width(solver, task, public, spec, corner))
        assert loss is not None, "every loss with a corner has a blunter one"
        return replace(task, loss=loss)

    def _buys(self) -> tuple[str, ...]:
        """Return the parameters whose values are estimated privately."""
        return ("data_norm",) if self.data_norm is None else ()

    def _norm(self) -> float:
        """Return the bound on the norm of rows, declared or estimated privately."""
        return float(self.data_norm_ if self.data_norm is None else self.data_norm)

    def _plan(
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
        *more: Any,
    ) -> Plan:
        plan = self._planned(n, n_features, declared, outputs, *more)
        bought = self._buys()
        if not bought:
            return plan
        rows = "data_norm" in bought
        targets = plan.targets if "y_bounds" in bought else 0
        scales = scales_for(plan.spec, plan.public, rows, targets, self._from_zero)
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
        """Return the task once more is known of rows and weights: the penalty is on the user's scale."""
        outputs = self._outputs() if outputs is None else outputs
        norm = plan.data_norm if known.norm is None else known.norm
        heaviest = None if known.of_class is None else self._heaviest_of(known.of_class)
        heaviest = self._heaviest() if heaviest is None else heaviest
        public, scores = plan.public, outputs // plan.fits
        given = public.n, public.n_features, scores, heaviest, norm, public.weighted
        sizes = self._sizes(*given, y_bounds=known.y_bounds)
        stated = self._stated(sizes)[1]
        return replace(plan.task, penalty=stated.penalty, each=stated.each)

    def _heaviest_of(self, of_class: Array) -> float:
        """Return the bound on what a row weighs, where classes weigh so much."""
        raise NotImplementedError

    def _centred(self) -> bool:
        """Return True if the midpoint of bounds is subtracted from targets."""
        return True

    def _keep_bought(self, plan: Plan, known: Known) -> None:
        self._keep_scales(known, plan.data_norm)
        vars(self).pop("y_bounds_", None)
        if known.y_bounds is not None:
            self.y_bounds_ = known.y_bounds
            _warn_of_no_scale(known.y_bounds)

    def _keep_scales(self, known: Known, norm: float) -> None:
        """Keep private scales of columns in the place of those of an earlier fit."""
        for name in ("bounds_", "octave_units_", "data_norm_"):
            vars(self).pop(name, None)
        if known.bounds is not None and known.units is not None:
            self.bounds_, self.octave_units_ = known.bounds, known.units
        if known.norm is not None:
            self.data_norm_ = norm

    def _affine(self) -> tuple[Array, Array]:
        """Return slope and shift that map a number between privately estimated bounds to [-1, 1]."""
        return affine_of(self.bounds_, self.octave_units_)

    def _rows(self, X: ArrayLike) -> Array:
        """A checked table as the fit saw its own."""
        if "bounds_" not in vars(self):
            rows: Array = table(self, X, reset=False)
            return rows
        found = table(self, X, reset=False, sparse=False)
        return to_columns(found, self.bounds_, self.octave_units_)


def declared_of_rows(estimator: Any, weighted: bool = False) -> dict[str, Any]:
    """Return what an estimator declares of rows' owners and weights, for its receipt."""
    names = "max_rows_per_group", "max_sample_weight", "class_weight"
    declared = {name: getattr(estimator, name, None) for name in names}
    if weighted and declared["max_sample_weight"] is None:
        declared["max_sample_weight"] = 1.0
    return {name: value for name, value in declared.items() if value is not None}


def _warn_of_no_scale(bounds: Array) -> None:
    """Warn of a target whose scale is hidden by noise, as its privately estimated bounds show.

    Parameters
    ----------
    bounds : ndarray of shape (t, 2)
        Of each.
    """
    if (bounds[:, 0] == bounds[:, 1]).any():
        warnings.warn(
            "Noise hides the scale of a target, so the model predicts 0 for it: declare y_bounds, or use more "
            "records or a larger epsilon.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )


def _inner_parameters(solver: Any) -> dict[str, Any]:
    """Return the parameters of a named solver, prefixed; none for an instance, which lists its own.

    Parameters
    ----------
    solver : object
        Whatever the user gave.

    Returns
    -------
    dict
    """
    if not isinstance(solver, str) or solver not in {*SOLVERS, *LIST_SOLVERS, *CLASS_SOLVERS}:
        return {}
    return {_PREFIX + name: value for name, value in resolve(solver).get_params().items()}


def _with_inner(solver: str | Solver, given: dict[str, Any]) -> str | Solver:
    """The solver with these parameters; a name that they do not change stays one.

    Parameters
    ----------
    solver : str or Solver
        The estimator's.
    given : dict
        ``solver__name`` -> value.

    Returns
    -------
    str or Solver
    """
    known = resolve(solver)
    changed = known.with_params(**{name.removeprefix(_PREFIX): given[name] for name in given})
    return solver if changed == known else changed
