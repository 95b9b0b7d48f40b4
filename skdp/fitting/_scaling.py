"""What a fit buys first where nothing is declared of its columns, and what that costs: one script with the solver's.

The octaves of all columns, then how long rows are once columns are mapped to [-1, 1] between the bounds. Both are
answers about maps of single records, so that what a record may do to the fit behind them is bounded whatever they say
(docs/proofs/bought_scales.md).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import ColumnCounts, Coordinates, Public, RowNorms, Statement, state
from ..privacy._gaussian import gaussian_mu
from ..privacy.events import merged
from ..privacy.spec import Spec
from ..solvers import Budget
from ..solvers._column_scales import counts_asked
from .plan import Plan, Scaling

__all__ = [
    "of_columns",
    "of_lengths",
    "questions_of",
    "refuse_unscaled",
    "scaling_for",
    "with_scaling",
]

_ONE = Coordinates(np.ones((1, 1)))
_BOUGHT = {
    "data_norm": ("columns", "a bound on the norm of a row"),
    "y_bounds": ("targets", "bounds"),
}
MOST = 2.0  # times the usual share
SEEN = 7.0  # deviations of the noise on a count beyond which records in one octave stand out


def scaling_for(spec: Spec, public: Public, usual: Scaling) -> Scaling:
    """What bounds and a norm are to cost, by public numbers.

    So much that an octave with half of the records is seen, from the usual share of the budget up to twice that: few
    records, or many columns, need more.

    Parameters
    ----------
    spec : Spec
        The promise.
    public : Public
        Sizes.
    usual : Scaling
        What is bought, and its usual shares.
    """
    if not spec.private or public.n is None or spec.delta == 0.0:
        return usual
    columns = public.n_features * usual.rows + usual.targets
    moved = math.sqrt(columns * public.sensitivity_factor)
    seen = 2.0 * SEEN * moved / (public.n * gaussian_mu(spec.epsilon, spec.delta))
    times = min(max(seen**2 / usual.columns, 1.0), MOST)
    return replace(usual, columns=times * usual.columns, norm=times * usual.norm)


def refuse_unscaled(plan: Plan, name: str = "data_norm") -> None:
    """Refuse, before anything is paid, what has no proof without a declared norm.

    Parameters
    ----------
    plan : Plan
        What would be run.
    name : str
        The parameter that is None.
    """
    wrong = None
    if plan.spec.private and plan.spec.delta == 0.0:
        wrong = "delta=0 has no price for their Gaussian noise"
    elif plan.public.lists is not None or plan.public.rows > 1 or plan.unit != "row":
        wrong = (
            "there is no proof for units of several rows, nor for the first row of each person's"
        )
    elif plan.solver.adaptive:
        wrong = f"solver={plan.solver.name!r} finds its prices as it goes"
    if wrong is not None:
        what, remedy = _BOUGHT[name]
        raise NotSupported(
            f"{name}=None buys bounds of the {what}, and {wrong}; declare {name}, {remedy} that you know without "
            "looking."
        )


def with_scaling(stated: Statement, plan: Plan, scaling: Scaling, budget: Budget) -> Statement:
    """What a run asks, where bounds and a norm are bought before what a solver states.

    Parameters
    ----------
    stated : Statement
        Of the solver.
    plan : Plan
        What would be run.
    scaling : Scaling
        Its own.
    budget : Budget
        The solver's.
    """
    public = of_columns(plan.public, scaling)
    counts, norms = questions_of(plan, scaling, budget)
    places, lengths = state([(counts, 1)], public), state([(norms, 1)], of_lengths(public))
    parts = (places, lengths, stated) if scaling.rows else (places, stated)
    pages = dict.fromkeys(["bought_scales", *(page for part in parts for page in part.proofs)])
    least = math.ceil(SEEN * counts.multiplier * counts.bound(public))
    note = _NOTES[scaling.rows, scaling.targets > 0] + (
        f" bought, for {scaling.share:.2g} of the budget in mu squared; one has no scale, so that a column is seen by "
        f"its sign alone and a target not at all, unless about {least} records share an octave"
    )
    script = merged([run for part in parts for run in part.script])
    return Statement(script, tuple(pages), (note, *stated.notes))


_NOTES = {
    (True, False): "nothing is declared of the columns: bounds of each and a norm of rows are",
    (
        True,
        True,
    ): "nothing is declared of columns and targets: bounds of each and a norm of rows are",
    (False, True): "nothing is declared of the target: its bounds are",
}


def of_columns(public: Public, scaling: Scaling) -> Public:
    """Facts about a table of places of cells, or of lengths of rows: rows alone, each of weight 1."""
    return Public(
        public.n,
        public.n_features * scaling.rows + scaling.targets,
        0.0,
        public.neighbors,
        target_bound=public.target_bound,
        rows=public.rows,
        lists=public.lists,
    )


def of_lengths(public: Public) -> Public:
    """The same of a table of one column."""
    return replace(public, n_features=1)


def questions_of(plan: Plan, scaling: Scaling, budget: Budget) -> tuple[ColumnCounts, RowNorms]:
    """Counts of octaves, and the sum of lengths of rows.

    A replaced record moves a gradient by two bounds, counts by sqrt(2), lengths by one: they need less noise.
    """
    public = of_columns(plan.public, scaling)
    factor = public.sensitivity_factor
    whole = budget.noise * math.sqrt(1.0 - scaling.share)
    counts = counts_asked(public, whole / math.sqrt(scaling.columns * factor))
    norms = whole / (math.sqrt(scaling.norm or 1.0) * factor)
    return counts, RowNorms(coordinates=_ONE, cap=1.0, multiplier=norms)
