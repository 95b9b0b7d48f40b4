"""Choice of a model for a table, by public numbers: the line, curves, random features beside them, or a network.

Where these do not decide, a mixture: a linear model and a network, whose weights are paid for. The constants are those
of classifiers and least squares on real and generated tables (docs/tables.md). Where none of them decides, the additive
model stays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..preprocessing._random_features import MOST, PER_FEATURE, choose_count

__all__ = ["MODELS", "TASKS", "ModelChoice", "choose_model"]

MODELS = ("line", "curves", "random_features", "network", "mixture")
TASKS = ("classification", "regression")
MIXTURE = 20_000.0  # records times mu from which on a mixture of two classes does
NETWORK = 100_000.0  # records times mu from which on a network of classes does better
PER_COLUMN = 50.0  # records times mu for a column that curves add, of least squares


class ModelChoice(NamedTuple):
    """Model of a table, the random features in front of it, and the reason in words."""

    model: str
    random_features: int
    why: str


def choose_model(
    task: str, wanted: str, strength: float, columns: int, added: int, mixes: bool = False
) -> ModelChoice:
    """Return the model that a user has named, or for "auto" the one that public numbers choose.

    Parameters
    ----------
    task : {"classification", "regression"}
        Of the estimator.
    wanted : str
        One of `MODELS`, or "auto".
    strength : float
        Records times the Gaussian parameter mu of the promise, mu at most 2; 0 where it is not public.
    columns : int
        Columns of curves.
    added : int
        How many of them a line does not have.
    mixes : bool
        Whether a mixture is possible: of two declared labels, at a price that is known.

    Returns
    -------
    ModelChoice
    """
    model, why = (
        (wanted, "as asked for")
        if wanted != "auto"
        else _by_rule(task, strength, added, mixes and columns < MOST)
    )
    least = {"random_features": 0.0, "network": NETWORK, "mixture": PER_FEATURE[task][1]}
    if strength >= least.get(model, math.inf):
        return ModelChoice(model, choose_count(task, strength, columns, pays=True), why)
    return ModelChoice(model, 0, why)


def _by_rule(task: str, strength: float, added: int, mixes: bool) -> tuple[str, str]:
    """The model and the reason, by public numbers alone."""
    known, least = f"n * mu = {strength:.0f}", PER_FEATURE[task][1]
    if strength <= 0.0:
        return "line" if task == "regression" else "curves", "n * mu is not public"
    if task == "classification" and strength >= NETWORK:
        return "network", f"{known}, of {NETWORK:.0f} that a network needs"
    if mixes and strength >= MIXTURE:
        return "mixture", f"{known}, of {MIXTURE:.0f} that a linear model and a network need"
    if strength >= least:
        return "random_features", f"{known}, of {least:.0f} that random features need"
    if task == "regression" and strength < PER_COLUMN * added:
        return "line", f"{known}, below {PER_COLUMN:.0f} for each of {added} columns of curves"
    needed, what = (MIXTURE, "a mixture needs") if mixes else (least, "random features need")
    return "curves", f"{known}, below {needed:.0f} that {what}"
