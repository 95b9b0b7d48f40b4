"""All that is decided before any data."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

from ..mechanisms import Public
from ..privacy.events import Script, merged
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ..solvers import Budget, Solver, Task, resolve

__all__ = ["Balance", "Plan", "Scaling"]


@dataclass(frozen=True)
class Scaling:
    """What of the budget, in mu squared, is spent on columns of which nothing is declared.

    Five hundredths in all: from two to twenty of them, fits on tables of three kinds were about the same.

    Parameters
    ----------
    columns : float
        On their bounds.
    norm : float
        On a norm of rows; 0 where one was declared.
    targets : int
        Columns of targets whose bounds are bought, too.
    """

    columns: float = 0.04
    norm: float = 0.01
    targets: int = 0

    @property
    def share(self) -> float:
        """Of both."""
        return self.columns + self.norm

    @property
    def rows(self) -> bool:
        """Whether bounds of the columns of rows are bought."""
        return self.norm > 0.0


@dataclass(frozen=True)
class Balance:
    """What of the budget, in mu squared, is spent on counts of classes that decide what these weigh.

    Parameters
    ----------
    classes : int
        How many there are.
    lightest : Task
        What is minimised where one class is the heaviest possible: its penalty is the least beside a loss. No price may
        differ from that of a task of equal classes.
    share : float
        Of the budget; what else is bought shares the rest.
    """

    classes: int
    lightest: Task
    share: float = 0.02


@dataclass(frozen=True)
class Plan:
    """What is promised, what is minimised, how, and what is public.

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
    scaling : Scaling or None
        What is bought before the solver begins, where `data_norm` or bounds of targets were not declared.
    balance : Balance or None
        What is bought before that, where weights of classes follow from their counts.
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
    scaling: Scaling | None = None
    balance: Balance | None = None
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
        """Whether it can be looked up: not with arrays among its parameters."""
        try:
            hash(self)
        except TypeError:
            return False
        return True

    def tasks(self) -> list[tuple[Task, int]]:
        """What fits minimise, in order, with how many in a row minimise the same."""
        if self.fits == 1:
            return [(self.task, 1)]
        if not self.task.each:
            return [(self.task.of_one(0), self.fits)]
        return [(self.task.of_one(code), 1) for code in range(self.fits)]

    def script(self, of_each: list[Script]) -> Script:
        """What all fits ask, where those of each of `tasks` ask this."""
        if self.fits == 1:
            return of_each[0]
        counted = zip(of_each, self.tasks(), strict=True)
        return merged(run for script, (_, fits) in counted for run in script * fits)

    @property
    def admits(self) -> Public:
        """Public facts of the vault: it keeps the codes of classes that are told from the rest one by one."""
        coded = self.fits > 1 and self.targets == 1
        return replace(self.public, target_bound=self.fits - 1.0) if coded else self.public

    @property
    def left(self) -> float:
        """What of the budget, in mu squared, is left for the solver."""
        bought = (part.share for part in (self.scaling, self.balance) if part is not None)
        return math.prod(1.0 - share for share in bought)

    def budget(self, **given: Any) -> Budget:
        """The solver's view of the promise; each of several fits has a part of it."""
        if "noise" in given:
            given["noise"] /= math.sqrt(self.left)
        return Budget(self.spec.epsilon / self.fits, self.spec.delta / self.fits, **given)
