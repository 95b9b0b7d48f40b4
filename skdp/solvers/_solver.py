"""Base classes of the solvers, the facts that they may know, and the refusal of tasks that they cannot do.

Solvers from names.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ..exceptions import NotSupported
from ..losses import Huber, ListLoss, Loss, Multinomial, Squared
from ..mechanisms import Count, Public
from ..mechanisms._mechanism import Mechanism
from ..penalties import L1Ball, ScaledPenalty
from . import CLASS_SOLVERS, LIST_SOLVERS, SOLVERS
from ._ranges import plain, refuse_out_of_range

__all__ = [
    "THEIRS",
    "Answering",
    "Array",
    "Asked",
    "Budget",
    "OracleLike",
    "Solver",
    "Task",
    "refuse_unfit",
    "resolve",
]


Array = np.ndarray[Any, Any]
Asked = Iterable[tuple[Mechanism, int]]  # questions in order, with how often in a row


class Answering(Protocol):
    """Takes questions and knows their prices."""

    @property
    def public(self) -> Public:
        """Public facts about the records."""

    def ask(self, question: Mechanism) -> Any:
        """The private answer, already paid for."""

    def share(self, question: Mechanism) -> float:
        """Return the share of an adaptive solver's whole allowance that the query takes."""


class OracleLike(Answering, Protocol):
    """Oracle as a solver sees it: public facts, prices and answers, never a record."""

    def affords(self, *questions: Mechanism) -> bool:
        """Return whether an adaptive solver's filter could pay for all of these."""


@dataclass(frozen=True)
class Task:
    """Minimisation task: a sum of losses over records plus a penalty.

    Parameters
    ----------
    loss : Loss
        Formula of scores and targets.
    penalty : ScaledPenalty
        Penalty on the solver's parameters, on the scale of the sum; the intercept is free in it.
    shape : tuple of int
        Shape of the parameters.
    ignored : tuple of str
        A sentence for each parameter of the face that has no effect beside the others.
    linear : bool
        Whether scores are linear in the parameters.
    start : ndarray or None
        Where a solver that goes by steps begins: public, or paid for; a column for each of several fits. None: where
        the model says.
    each : tuple of ScaledPenalty
        Of several fits, each one's own penalty where they differ: `penalty` is then one of these, by which a solver is
        chosen.
    by_residuals : bool
        Whether nobody said from which residual Huber's loss is a straight line: a solver that estimates a typical one
        chooses it by that, others take the loss as it is.
    """

    loss: Loss
    penalty: ScaledPenalty
    shape: tuple[int, ...]
    ignored: tuple[str, ...] = field(default=(), compare=False)
    linear: bool = True
    start: Array | None = field(default=None, compare=False)  # no price depends on it
    each: tuple[ScaledPenalty, ...] = ()
    by_residuals: bool = False

    def of_one(self, code: int) -> Task:
        """The task of one of several fits."""
        start = None if self.start is None else self.start[:, code]
        penalty = self.each[code] if self.each else self.penalty
        return replace(self, penalty=penalty, start=start, each=())

    @property
    def size(self) -> int:
        """Number of parameters."""
        return math.prod(self.shape)

    @property
    def curvature(self) -> float:
        """Bound on the second derivative of the loss, for solvers that need a smooth one."""
        bound = self.loss.curvature
        assert bound is not None, "a solver that asks for it states needs={'smooth_loss'}"
        return bound


@dataclass(frozen=True)
class Budget:
    """Budget of a solver.

    Parameters
    ----------
    epsilon, delta : float
        The promise, for rules that read it.
    noise : float
        Scripted solvers: the one free number, calibrated so that the script costs the promise. Every multiplier is a
        fixed multiple of it. 0 when epsilon is infinite.
    share : callable
        Adaptive solvers: which part of their filter's allowance a question takes; see `Oracle.share`.
    """

    epsilon: float
    delta: float
    noise: float = math.nan
    share: Callable[[Mechanism], float] | None = None

    @property
    def private(self) -> bool:
        """True if a guarantee is promised, that is, if epsilon is finite."""
        return math.isfinite(self.epsilon)


# What a solver may require of loss and penalty: who fails it is told so in these words.
TRAITS: dict[str, Callable[[Task], bool]] = {
    "bounded_slope": lambda task: task.loss.slope is not None,
    "smooth_loss": lambda task: task.loss.curvature is not None,
    "several_classes": lambda task: isinstance(task.loss, Multinomial),
    "one_output": lambda task: len(task.shape) == 1,
    "convex_penalty": lambda task: task.penalty.convex,
    "smooth_penalty": lambda task: task.penalty.smooth,
    "least_squares": lambda task: type(task.loss) in (Squared, Huber),
    "l1_ball": lambda task: isinstance(task.penalty.penalty, L1Ball),
    "lists": lambda task: isinstance(task.loss, ListLoss),
}
WORDS = {
    "bounded_slope": "a loss with bounded slope",
    "smooth_loss": "a smooth loss",
    "several_classes": "three classes or more that are fitted at once (multi_class='multinomial')",
    "one_output": "one score per record (two classes, one target, or multi_class='ovr')",
    "convex_penalty": "a convex penalty",
    "smooth_penalty": "a smooth penalty",
    "least_squares": "the squared or Huber's loss of a regression",
    "l1_ball": "penalty=L1Ball(radius)",
    "lists": "a loss for lists of documents, as in DPRanker",
}


class Solver(ABC):
    """An algorithm that sees only an oracle. Subclasses are frozen dataclasses of public hyper-parameters.

    ``solve`` is a function of the oracle's answers: it is post-processing, so it needs no privacy review.
    """

    name: ClassVar[str]
    adaptive: ClassVar[bool] = False
    filter: ClassVar[str] = "zcdp"
    needs: ClassVar[frozenset[str]] = frozenset()
    takes_lists: ClassVar[bool] = False
    """Whether all that it asks of records can be asked of lists of documents."""
    for_any_model: ClassVar[bool] = False
    """Whether it begins where the model says, and asks what has a proof for models that are not linear."""
    tells: ClassVar[tuple[type[Mechanism], ...]] = ()
    """Kinds of questions whose answers `spread` is made of."""
    takes_start: ClassVar[bool] = False
    """Whether it begins where a task says."""
    nominal_error: ClassVar[Callable[..., float | None] | None] = None
    """From public facts, a task, a budget and the share of one of two labels to about how far noise will move the
    score of a typical row: in the score's own unit, or in deviations of residuals for least squares. None, of it or
    from it, where nothing tells."""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # of the subclass

    @abstractmethod
    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return parameters of shape ``task.shape``.

        Parameters
        ----------
        oracle : Oracle
            Answers registered questions, already paid for.
        task : Task
            Loss, penalty and shape.
        budget : Budget
            What may be spent.
        """

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked | None:
        """Return the queries that `solve` will ask: its price is found from them, without a run.

        Parameters
        ----------
        public : Public
            What may be known of the records.
        task : Task
            Loss, penalty and shape.
        budget : Budget
            What may be spent; a script is asked for at several noise levels.

        Returns
        -------
        iterable of (Mechanism, int) or None
            Questions in order, with how often in a row. Prices depend on noise, rates and shapes alone, so one point
            stands for all; what public numbers make impossible is refused here. None: `solve` is run on an empty vault
            to see, which costs as many steps as a fit.
        """
        return None

    def spread(
        self,
        heard: Sequence[tuple[Mechanism, Any]],
        w: Array,
        public: Public,
        task: Task,
        budget: Budget,
    ) -> Array | None:
        """Covariance that noise gives the parameters, of its answers alone.

        Parameters
        ----------
        heard : sequence of (Mechanism, answer)
            Questions and answers of the run.
        w : ndarray
            What `solve` returned.
        public, task, budget : object
            As there.

        Returns
        -------
        ndarray or None
            None where the answers do not tell.
        """
        return None

    def unshrunk(
        self,
        heard: Sequence[tuple[Mechanism, Any]],
        w: Array,
        public: Public,
        task: Task,
        budget: Budget,
    ) -> Any:
        """Parameters without what shrinks them, and their standard errors, of the same; None where nothing tells."""
        return None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Hyper-parameters by name, as scikit-learn asks for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def with_params(self, **params: Any) -> Self:
        """Return a copy of the solver with some hyper-parameters changed."""
        unknown = sorted(set(params) - set(self.get_params()))
        if unknown:
            raise ValueError(
                f"solver {self.name!r} has no parameter {unknown[0]!r}; it has {sorted(self.get_params())}."
            )
        return replace(self, **params)


def refuse_unfit(solver: Solver, task: Task) -> None:
    """Refuse, in one sentence, hyper-parameters out of range and a task that lacks what the solver needs."""
    refuse_out_of_range(solver)
    if isinstance(task.loss, ListLoss) and not solver.takes_lists:
        raise NotSupported(
            f"solver={solver.name!r} has no proof for lists of documents; use 'gd', 'sgd', 'adam' or 'one-shot'."
        )
    if not task.linear and not solver.for_any_model:
        raise NotSupported(
            f"solver={solver.name!r} needs scores that are linear in the parameters, and a network's are not; use "
            "'sgd', 'adam' or 'blsgd'."
        )
    if task.start is not None and not solver.takes_start:
        raise NotSupported(
            f"solver={solver.name!r} takes no starting point, so coef_init, intercept_init and warm_start have no "
            "effect; leave them out, or use 'gd', 'sgd' or 'adam'."
        )
    missing = sorted(need for need in solver.needs if not TRAITS[need](task))
    if missing:
        lacking = " and ".join(WORDS[need] for need in missing)
        given = (
            f"loss {type(task.loss).__name__} with penalty {type(task.penalty.penalty).__name__}"
        )
        raise NotSupported(
            f"solver={solver.name!r} needs {lacking}, but was given {given}; use 'gd', 'sgd' or 'ssadmm', or "
            "change the loss or the penalty."
        )
    # Says what shape it needs, before anything is bought.
    task.penalty.prox(np.zeros(task.shape), min(0.5 * task.penalty.largest_step, 1.0))


COUNT_SHARE = 0.01  # of the budget that a private number of records takes


def _count(budget: Budget, share: float) -> Count:
    return Count(multiplier=budget.noise / math.sqrt(share))


def count_asked(public: Public, budget: Budget, share: float = COUNT_SHARE) -> Asked:
    """Return the query of `record_count`, as `Solver.asks` states it."""
    return () if public.n is not None else ((_count(budget, share), 1),)


def record_count(oracle: OracleLike, budget: Budget, share: float = COUNT_SHARE) -> float:
    """The public number of records, or a noisy one that takes about ``share`` of the budget.

    Never smaller than 1, so that it may divide.
    """
    if oracle.public.n is not None:
        return float(oracle.public.n)
    return max(1.0, float(oracle.ask(_count(budget, share))))


# Names that scripts for scikit-learn give. None of these solvers has a private counterpart, so each means "auto".
THEIRS = frozenset(
    {
        "cholesky",
        "highs",
        "highs-ds",
        "highs-ipm",
        "interior-point",
        "lbfgs",
        "liblinear",
        "lsqr",
        "newton-cg",
        "newton-cholesky",
        "revised simplex",
        "sag",
        "saga",
        "sparse_cg",
        "svd",
    }
)


def resolve(solver: str | Solver, task: Task | None = None) -> Solver:
    """The solver that a name or an instance stands for, with Python's own numbers.

    Parameters
    ----------
    solver : str or Solver
        Name in `SOLVERS`, or an instance.
    task : Task or None
        What it is to minimise: refused where it cannot, or where a hyper-parameter is out of range.

    Returns
    -------
    Solver

    Examples
    --------
    >>> from skdp.solvers import resolve
    >>> resolve("gd").steps
    200
    """
    found = _known(solver)
    if task is not None:
        refuse_unfit(found, task)
    return found


def _known(solver: str | Solver) -> Solver:
    if isinstance(solver, Solver):
        return plain(solver)
    if isinstance(solver, str) and solver in ("auto", *THEIRS):
        raise ValueError(
            f"solver={solver!r} is chosen at fit; name a solver of skdp's to set its parameters."
        )
    for known in (LIST_SOLVERS, CLASS_SOLVERS, SOLVERS):
        if isinstance(solver, str) and solver in known:
            return known[solver]()
    raise ValueError(
        f"solver={solver!r} is not known; use one of {['auto', *sorted(SOLVERS)]} or an instance."
    )
