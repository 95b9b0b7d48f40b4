"""Decisions of a fit that are made before any data."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..entry import ListLabels, Rows, View
from ..mechanisms import Public
from ..privacy.events import Script, merged
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ..solvers import Budget, Solver, Task, resolve
from .stages import Known, Stage

__all__ = ["Plan", "Purchase", "Sizes"]


@dataclass(frozen=True)
class Sizes:
    """Public sizes of the problem that an estimator states.

    Parameters
    ----------
    n : int or None
        Number of records; None where it is private.
    n_features : int
        Number of columns.
    outputs : int
        Scores of a record.
    heaviest : float
        The most that a row weighs.
    norm : float
        Bound of rows: declared, or what stands for it until it is bought.
    weighted : bool
        Whether rows have weights of their own.
    unit : float or ndarray of shape (t,)
        Half of the range of targets, or of each of several: declared, or 1 until it is bought.
    """

    n: int | None
    n_features: int
    outputs: int = 1
    heaviest: float = 1.0
    norm: float = 1.0
    weighted: bool = False
    unit: Any = 1.0


@dataclass(frozen=True)
class Purchase:
    """Plan of a transformer, or of an estimator without a solver: a privacy guarantee, bought by stages alone.

    Parameters
    ----------
    spec : Spec
        The promise.
    bought : tuple of Stage
        What is bought, in order; the last one takes all that is left.
    public : Public
        Facts about the records.
    title : str
        What a receipt calls it.
    accountant : str
        Which theorem prices a script.
    declared : dict
        What the receipt is to call public.
    unit : str
        What is protected as one.
    """

    spec: Spec
    bought: tuple[Stage, ...]
    public: Public
    title: str
    accountant: str
    declared: dict[str, Any] = field(compare=False)
    unit: str = field(default="row", compare=False)

    fits: ClassVar[int] = 1
    adaptive: ClassVar[bool] = False
    earlier: ClassVar[Receipt | None] = None
    owed: ClassVar[Script] = ()

    @property
    def name(self) -> str:
        """Name in a ledger's report."""
        return self.title

    def budget(self, noise: float) -> Budget:
        """Return what stages may know of the promise."""
        return Budget(self.spec.epsilon, self.spec.delta, noise=noise)

    def noise_of(self, stage: int, budget: Budget) -> float:
        """Return the noise of a question that takes all that earlier stages have left."""
        left = math.prod(1.0 - bought.share for bought in self.bought[:stage])
        return budget.noise / math.sqrt(left)

    def first_views(self) -> Iterator[View]:
        """Yield what can be admitted before anything is paid."""
        for stage in self.bought:
            yield from stage.views(self)


@dataclass(frozen=True)
class Plan:
    """Plan of a fit: privacy guarantee, task, solver, and public facts.

    Parameters
    ----------
    spec : Spec
        The promise.
    task : Task
        What is minimised.
    solver : Solver
        Algorithm, by an instance or by its name, which is refused here where it does not suit the task.
    public : Public
        Facts that the solver may know.
    data_norm : float
        Declared bound on the norm of a row: rows are scaled by it, and those beyond it shrunk.
    accountant : str
        Which theorem prices a script; "auto" for the tightest valid one.
    declared : dict
        What the receipt is to call public.
    fits : int
        Equal fits that share the promise: one, one for each class against the rest, or one for each target.
    unit : str
        What is protected as one.
    bought : tuple of Stage
        What is bought before the solver begins, in order.
    after : tuple of Stage
        What is bought once the solver has ended, in order.
    restate : callable or None
        From what is known after a stage to what is minimised then; None where nothing is bought.
    centred : bool
        Whether the midpoint of bounds is taken from targets.
    targets : int
        Columns of targets, each with a fit of its own; 1 where there is one, or codes of classes.
    base_rate : float or None
        Share of one of two labels, where a user has said it to a quote. It enters no fit and no price.
    earlier : Receipt or None
        Of the fit at whose coefficients this one begins, which its own receipt goes on from.
    owed : tuple of (Event, int)
        What of that a ledger that pays for this fit has not been charged for.
    """

    spec: Spec
    task: Task
    solver: Solver
    public: Public
    data_norm: float
    accountant: str
    declared: dict[str, Any] = field(compare=False)  # words on the receipt, of no weight
    fits: int = 1
    unit: str = field(default="row", compare=False)
    bought: tuple[Stage, ...] = ()
    after: tuple[Stage, ...] = ()
    restate: Callable[[Known], Task] | None = field(default=None, compare=False)
    centred: bool = field(default=True, compare=False)
    targets: int = 1
    base_rate: float | None = field(default=None, compare=False)
    earlier: Receipt | None = field(default=None, compare=False)
    owed: Script = field(default=(), compare=False)

    def __post_init__(self) -> None:
        assert len(self.task.each) in (0, self.fits), "a penalty of each fit, or one of all"
        for task, _ in self.tasks():
            object.__setattr__(self, "solver", resolve(self.solver, task))

    @property
    def hashable(self) -> bool:
        """Return True if the plan can be a key of a cache: not with arrays among its parameters."""
        try:
            hash(self)
        except TypeError:
            return False
        return True

    def tasks(self) -> list[tuple[Task, int]]:
        """Return the tasks of the fits, in order, each with the number of fits in a row that minimise it."""
        if self.fits == 1:
            return [(self.task, 1)]
        if not self.task.each:
            return [(self.task.of_one(0), self.fits)]
        return [(self.task.of_one(code), 1) for code in range(self.fits)]

    def script(self, of_each: list[Script]) -> Script:
        """Return the script of all fits, from the script of each of `tasks`."""
        if self.fits == 1:
            return of_each[0]
        counted = zip(of_each, self.tasks(), strict=True)
        return merged(run for script, (_, fits) in counted for run in script * fits)

    @property
    def admits(self) -> Public:
        """Return the public facts of the vault, which keeps class codes where fits tell one class from the rest."""
        coded = self.fits > 1 and self.targets == 1
        return replace(self.public, target_bound=self.fits - 1.0) if coded else self.public

    @property
    def title(self) -> str:
        """Name of the solver on a receipt, with its parameters."""
        return repr(self.solver)

    @property
    def name(self) -> str:
        """Name in a ledger's report."""
        return self.solver.name

    @property
    def adaptive(self) -> bool:
        """True if answers decide prices."""
        return self.solver.adaptive

    def left(self, stage: int = 0) -> float:
        """Return the share of the remaining budget that the stages from this one on leave, in mu squared."""
        return math.prod(1.0 - bought.share for bought in (*self.bought, *self.after)[stage:])

    def noise_of(self, stage: int, budget: Budget) -> float:
        """Return the noise of a question that takes all that earlier stages have left, from the solver's budget."""
        return budget.noise * math.sqrt(self.left(stage))

    def view(self, known: Known) -> View:
        """Return how the solver sees the records."""
        public, of_class = self.admits, known.of_class
        if public.documents is not None:
            return ListLabels(public)
        return Rows(
            public,
            self.data_norm,
            self.targets > 1,
            bounds=known.bounds,
            units=known.units,
            y_bounds=known.y_bounds,
            centred=self.centred,
            of_class=None if of_class is None else of_class / of_class.max(),
        )

    def first_views(self) -> Iterator[View]:
        """Yield what can be admitted before anything is paid."""
        for stage in self.bought:
            yield from stage.views(self)
        bought = {stage.parameter for stage in self.bought}
        if "data_norm" not in bought:
            unknown = np.zeros((1, 2)) if "y_bounds" in bought else None
            yield self.view(Known(y_bounds=unknown))

    def budget(self, **given: Any) -> Budget:
        """Return the solver's view of the promise; each of several fits has a part of it."""
        if "noise" in given:
            given["noise"] /= math.sqrt(self.left())
        return Budget(self.spec.epsilon / self.fits, self.spec.delta / self.fits, **given)
