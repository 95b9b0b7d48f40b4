"""Standard error that noise adds to a model, in the user's units: from public numbers, so it reveals no record."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from ..losses import Logistic
from ..solvers import Budget
from .plan import Plan

__all__ = ["expected_error"]


def expected_error(plan: Plan, budget: Budget) -> dict[str, Any]:
    """Return the standard errors that a receipt states; empty where public numbers do not give them.

    They hold for a table whose rows are alike in all directions. The squared error of a score is spread evenly over
    the d coefficients: each gets a d-th part, divided by the variance that its column has beside the others.

    Of a table whose rows are alike in all directions: a score is off by so much, and each of d coefficients, over the
    deviation that its column has beside the others, by the d-th part of its square.

    Parameters
    ----------
    plan : Plan
        What is run.
    budget : Budget
        Of its solver.
    """
    logistic = type(plan.task.loss) is Logistic
    if plan.base_rate is not None and not (logistic and plan.fits == 1):
        raise ValueError(
            f"base_rate={plan.base_rate!r} is for two labels and a logistic loss; leave it out here."
        )
    error_of = plan.solver.nominal_error
    if plan.fits > 1 or not plan.spec.private or error_of is None:
        return {}
    score = None
    # Numbers too large for a figure are no reason to refuse a fit.
    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):
        rate = 0.5 if plan.base_rate is None else float(plan.base_rate)
        score = error_of(plan.public, plan.task, budget, rate)
    if score is None or not math.isfinite(score):
        return {}
    unit = "log-odds" if logistic else "deviations of residuals"
    coefficient = score / math.sqrt(plan.public.width)
    told = {"score": score, "coefficient": coefficient, "unit": unit}
    return told if plan.base_rate is None else told | {"base_rate": float(plan.base_rate)}
