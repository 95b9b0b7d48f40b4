"""Stages that estimate privately what was not declared, before a solver begins: one script with it.

Each asks the records through a view of its own. The answers decide how later stages see records, and no price
(docs/proofs/bought_scales.md, docs/proofs/class_weights.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..entry import Array, ClassCodes, ColumnPlaces, RowLengths, View
from ..exceptions import NotSupported
from ..mechanisms import CellCounts, ColumnCounts, Coordinates, Public, RowNorms, Statement, state
from ..privacy._gaussian import gaussian_mu
from ..privacy.spec import Spec
from ..solvers import Budget, OracleLike, Task
from ..solvers._column_scales import buy_bounds, counts_asked, norm_of
from ..solvers._whitening import opening

if TYPE_CHECKING:
    from .plan import Plan, Purchase

__all__ = [
    "HEAVIEST",
    "ClassCounts",
    "ColumnBounds",
    "Known",
    "Look",
    "RowNorm",
    "Stage",
    "of_whole_rows",
    "root_of",
    "scales_for",
]

Look = Callable[[View], OracleLike]

COLUMNS, NORM = (
    0.04,
    0.01,
)  # of the budget in mu squared: from two to twenty hundredths fits were about the same
MOST = 2.0  # times these shares
SEEN = 7.0  # deviations of the noise on a count beyond which records in one octave stand out
LONGEST = 1.25  # rows longer than so many mean ones are scaled down
LEAST = 1e-3  # of the longest possible row: a norm below it is not worth telling from it
HEAVIEST = 1e6  # that a class may weigh: one in a million records of a class each
HIDDEN = (
    2.0  # deviations of the noise on a count below which a class counts as one of so many records
)
_LARGEST = 1e30  # bound of a target, as where it is declared
_ONE = Coordinates(np.ones((1, 1)))


@dataclass(frozen=True, eq=False)
class Known:
    """Facts from earlier answers that later stages may use.

    Parameters
    ----------
    n : float
        Number of records: public, or a rough one that answers show.
    bounds, y_bounds : ndarray of shape (d, 2) and (t, 2), or None
        Bounds of the columns of rows, and of the targets.
    units : ndarray of shape (d,) or None
        Of columns of rows that are seen by octaves; 0 for others.
    longest : float
        Of a sparse table: a bound on nearly all lengths of rows, from their octaves.
    norm : float or None
        Bound on the norm of rows, whose columns lie on [-1, 1] where they have bounds.
    of_class : ndarray of shape (K,) or None
        Weight of a record of each class.
    w : ndarray or None
        The solver's parameters.
    slope : object
        Slope and shift that calibrate the scores, and the slope's deviation; None where they are not calibrated.
    beside : ndarray or None
        Parameters of a second model of the same records.
    mixed : object
        What the scores of both count for; None where there is one model.
    found : object
        What an estimator without a solver keeps.
    """

    n: float = math.nan
    bounds: Array | None = None
    y_bounds: Array | None = None
    units: Array | None = None
    longest: float = 1.0
    norm: float | None = None
    of_class: Array | None = None
    w: Array | None = None
    slope: Any = None
    beside: Array | None = None
    mixed: Any = None
    found: Any = None


class Stage(ABC):
    """Single purchase. Subclasses are frozen dataclasses of public numbers.

    Parameters
    ----------
    share : float
        Share of the budget that earlier stages leave, in mu squared.
    """

    share: float
    parameter: ClassVar[str]  # of an estimator: this stage buys what it did not declare

    @abstractmethod
    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State what is asked where a question of the whole budget has this noise; no answer may change a price."""

    @abstractmethod
    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and add the result to the known facts. `budget` is the solver's."""

    def views(self, plan: Plan | Purchase) -> tuple[View, ...]:
        """Return views that can be admitted, or refused, before anything is paid."""
        return ()

    def extremes(self) -> tuple[Task, ...]:
        """Return the extreme tasks that may follow from the answers: their prices must equal the plan's."""
        return ()

    def refusal(self, wrong: str) -> NotSupported:
        """Make the error for a stage without a proof, with what to declare in its place."""
        return NotSupported(f"{type(self).__name__} has no price: {wrong}.")

    def refuse(self, plan: Plan | Purchase) -> None:
        """Refuse, before anything is paid, a plan for which there is no proof."""
        if plan.spec.private and plan.spec.delta == 0.0:
            raise self.refusal("delta=0 has no price for their Gaussian noise")
        if plan.adaptive:
            raise self.refusal(f"solver={plan.name!r} finds its prices as it goes")


def root_of(n_features: int) -> float:
    """Return the largest norm of rows with columns in [-1, 1], whatever the answers are."""
    return math.sqrt(n_features) * (1.0 + 1e-15)


# --- Bounds of columns, and a norm of rows --------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnBounds(Stage):
    """Counts of octaves, from which bounds of columns follow: of rows, of targets, or of both.

    Parameters
    ----------
    share : float
        Of the budget.
    rows : bool
        Whether bounds of the columns of rows are bought.
    targets : int
        Columns of targets whose bounds are bought.
    told : float
        What a receipt is to say that these bounds and a norm of rows cost together.
    whole : bool
        Whether the lengths of rows, whose columns stay as they are, stand for these: of a sparse table.
    from_zero : bool
        Whether targets are counts: their lower bound is 0 then, whatever the answer.
    """

    share: float = COLUMNS
    rows: bool = True
    targets: int = 0
    told: float = COLUMNS + NORM
    whole: bool = False
    from_zero: bool = False

    @property
    def parameter(self) -> str:  # type: ignore[override]
        """The parameter that was not declared."""
        return "data_norm" if self.rows else "y_bounds"

    def refusal(self, wrong: str) -> NotSupported:
        """Say what to declare in its place."""
        what, remedy = _DECLARE[self.parameter]
        return NotSupported(
            f"{self.parameter}=None estimates bounds of the {what} privately, and {wrong}; declare {self.parameter}: "
            f"{remedy} that you know without looking at the data."
        )

    def refuse(self, plan: Plan | Purchase) -> None:
        """Refuse units of several rows besides."""
        public = plan.public
        if plan.spec.private and plan.spec.delta == 0.0:
            super().refuse(plan)
        if public.lists is not None or public.rows > 1 or plan.unit != "row":
            raise self.refusal(
                "there is no proof for units of several rows, nor for the first row of each person"
            )
        super().refuse(plan)

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question, at the plan's public sizes."""
        public, question = self._public(plan), self._question(plan, noise)
        stated = state([(question, 1)], public)
        least = math.ceil(SEEN * question.multiplier * question.bound(public))
        otherwise = (
            "rows are bounded by norm 1" if self.whole else "only the sign of a column is used"
        )
        note = _NOTES[self.rows + self.whole, self.targets > 0] + (
            f" estimated privately, for {self.told:.2g} of the budget in mu squared; bounds are found only where "
            f"about {least} values lie within a factor of two of each other: otherwise {otherwise}, "
            "and a target is predicted as 0"
        )
        return Statement(stated.script, ("bought_scales", *stated.proofs), (note,))

    def views(self, plan: Plan | Purchase) -> tuple[View, ...]:
        """Return the one view that it asks."""
        public = self._public(plan)
        given = public, norm_of(public.n_features)
        return (ColumnPlaces(*given, self.rows, self.targets > 0, self.whole),)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and post-process the answer."""
        found, units, n = buy_bounds(look(self.views(plan)[0]), self._question(plan, noise))
        width = len(found) - self.targets
        known = replace(known, n=n)
        if self.whole:
            known = replace(known, longest=float(found[0, 1]) or 1.0)
        elif self.rows:
            known = replace(known, bounds=found[:width], units=units[:width])
        if not self.targets:
            return known
        bounds = np.clip(found[width:], 0.0 if self.from_zero else -_LARGEST, _LARGEST)
        if self.from_zero:
            bounds[:, 0] = 0.0
        return replace(known, y_bounds=bounds)

    def _question(self, plan: Plan | Purchase, noise: float) -> ColumnCounts:
        """Counts of octaves: a replaced record moves a gradient by two bounds, and these by sqrt(2)."""
        public = self._public(plan)
        return counts_asked(public, noise / math.sqrt(self.share * public.sensitivity_factor))

    def _public(self, plan: Plan | Purchase) -> Public:
        columns = 1 if self.whole else plan.public.n_features
        return of_rows_alone(plan.public, columns * self.rows + self.targets)


@dataclass(frozen=True)
class RowNorm(Stage):
    """Sum of the lengths of rows whose columns lie within estimated bounds, from which a norm follows.

    Parameters
    ----------
    share : float
        Of what the bounds have left.
    whole : bool
        As of `ColumnBounds`.
    """

    share: float
    whole: bool = False

    parameter: ClassVar[str] = "data_norm"

    def refusal(self, wrong: str) -> NotSupported:
        """Say what to declare in its place."""
        return ColumnBounds().refusal(wrong)

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question, at the plan's public sizes."""
        stated = state([(self._question(plan, noise), 1)], of_rows_alone(plan.public, 1))
        return Statement(stated.script, stated.proofs, ())

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and post-process the answer."""
        public, question = of_rows_alone(plan.public, 1), self._question(plan, noise)
        if self.whole:
            root = known.longest
            lengths = RowLengths(public, np.array([[-root, root]]), 1.0, whole=True)
        else:
            assert known.bounds is not None
            root = root_of(plan.public.n_features)
            lengths = RowLengths(public, known.bounds, root, known.units)
        mean = float(look(lengths).ask(question)) / known.n
        error = question.multiplier / known.n
        longer = LONGEST * opening(plan.public, budget)
        norm = root * min(max(longer * mean, 2.0 * error, LEAST), 1.0)
        return replace(known, norm=min(max(norm, 1.0 / _LARGEST), _LARGEST))

    def _question(self, plan: Plan | Purchase, noise: float) -> RowNorms:
        """A sum of lengths: a replaced record moves a gradient by two bounds, and this by one."""
        factor = plan.public.sensitivity_factor
        return RowNorms(
            coordinates=_ONE, cap=1.0, multiplier=noise / (math.sqrt(self.share) * factor)
        )


_DECLARE = {
    "data_norm": ("columns", "a bound on the norm of a row"),
    "y_bounds": ("targets", "bounds"),
}
_NOTES = {
    (True, False): "the columns have no declared bounds: bounds of each and a norm of rows are",
    (
        True,
        True,
    ): "columns and targets have no declared bounds: bounds of each and a norm of rows are",
    (False, True): "the target has no declared bounds: they are",
    (2, False): "the rows have no declared norm: it is",
    (2, True): "rows have no declared norm, and targets no bounds: these are",
}


def of_whole_rows(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return the stages for a sparse table: a norm of its rows is bought, and bounds of columns are not.

    They ask for as many answers with noise of the same multipliers, so the price is that of a dense table.
    """
    return tuple(
        replace(one, whole=True)
        if isinstance(one, ColumnBounds | RowNorm) and one.parameter == "data_norm"
        else one
        for one in stages
    )


def of_rows_alone(public: Public, columns: int) -> Public:
    """Public facts of a table of so many columns, made of a fit's rows: without an intercept, each of weight 1."""
    return Public(
        public.n,
        columns,
        0.0,
        public.neighbors,
        target_bound=public.target_bound,
        rows=public.rows,
        lists=public.lists,
    )


def scales_for(
    spec: Spec, public: Public, rows: bool, targets: int, from_zero: bool = False
) -> tuple[Stage, ...]:
    """Choose the share of the budget for bounds and a norm, by public numbers.

    So much that an octave with half of the records is seen, from the usual share of the budget up to twice that: few
    records, or many columns, need more.

    Parameters
    ----------
    spec : Spec
        The promise.
    public : Public
        Sizes.
    rows : bool
        Whether bounds of the columns of rows are bought, and a norm.
    targets : int
        Columns of targets whose bounds are bought.
    from_zero : bool
        As of `ColumnBounds`.
    """
    times = 1.0
    if spec.private and public.n is not None and spec.delta > 0.0:
        columns = public.n_features * rows + targets
        moved = math.sqrt(columns * public.sensitivity_factor)
        seen = 2.0 * SEEN * moved / (public.n * gaussian_mu(spec.epsilon, spec.delta))
        times = min(max(seen**2 / COLUMNS, 1.0), MOST)
    share, norm = times * COLUMNS, times * NORM * rows
    bounds = ColumnBounds(share, rows, targets, share + norm, from_zero=from_zero)
    return (bounds, RowNorm(norm / (1.0 - share))) if rows else (bounds,)


# --- Counts of classes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassCounts(Stage):
    """Noisy counts of classes, from which the weight of a record of each class follows.

    Parameters
    ----------
    share : float
        Of the budget.
    classes : int
        How many there are.
    lightest : Task
        What is minimised where one class is the heaviest possible: its penalty is the least beside a loss.
    """

    classes: int
    lightest: Task
    share: float = 0.02

    parameter: ClassVar[str] = "class_weight"

    def extremes(self) -> tuple[Task, ...]:
        """Return the task of the heaviest class."""
        return (self.lightest,)

    def refusal(self, wrong: str) -> NotSupported:
        """Say what to declare in its place."""
        return NotSupported(
            f"class_weight='balanced' estimates the counts of the classes privately, and {wrong}; declare weights from "
            "public counts, {label: n / (n_classes * m)} for a label of about m records, or use solver='auto'."
        )

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question, at the plan's public sizes."""
        question = self._question(plan, noise)
        counts = state([(question, 1)], self._public(plan))
        note = (
            f"the weights of {self.classes} classes follow from noisy counts, for {self.share:.2g} of the budget in "
            f"mu squared; a class of fewer than about {math.ceil(HIDDEN * question.multiplier)} records counts as one "
            "of so many"
        )
        return Statement(counts.script, ("class_weights", *counts.proofs), (note, *counts.notes))

    def views(self, plan: Plan | Purchase) -> tuple[View, ...]:
        """Return the one view that it asks."""
        return (ClassCodes(self._public(plan)),)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and post-process the answer."""
        asked = self._question(plan, noise)
        counts = look(self.views(plan)[0]).ask(asked)
        return replace(known, of_class=weights_of(counts, asked.multiplier))

    def _question(self, plan: Plan | Purchase, noise: float) -> CellCounts:
        """Counts of classes: a replaced record moves a gradient by two bounds, and these by sqrt(2)."""
        moved = math.sqrt(self.share * plan.public.sensitivity_factor)
        return CellCounts(cells=self.classes, multiplier=noise / math.sqrt(plan.fits) / moved)

    def _public(self, plan: Plan | Purchase) -> Public:
        public = plan.public
        return Public(
            public.n,
            1,
            0.0,
            public.neighbors,
            target_bound=self.classes - 1.0,
            rows=public.rows,
            weighted=public.weighted,
        )


def weights_of(counts: Any, noise: float) -> Array:
    """Weigh classes as scikit-learn's "balanced" does: records over classes and over the class's own.

    Parameters
    ----------
    counts : ndarray of shape (K,)
        Noisy ones.
    noise : float
        Their deviation.
    """
    known = np.maximum(counts, max(HIDDEN * noise, 1e-300))
    total = known.sum()
    return np.asarray(np.minimum(total / (len(known) * known), HEAVIEST))
