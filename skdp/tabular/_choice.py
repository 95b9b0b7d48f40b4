"""Choice of a model for a table, by public numbers: the line, curves, random features beside them, or a network.

Where these do not decide, a mixture: a linear model and a network, whose weights are paid for. The constants are those
of classifiers and least squares on real and generated tables (docs/tables.md). Where none of them decides, the additive
model stays.

Mixture of a linear model and a network behind the same encoder, for two labels.

The linear model is fitted first, the network after it, and then noisy counts of the labels by both scores say what each
of them counts for: three parts of one script, whatever the answers are (docs/proofs/mixture.md).
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..exceptions import NotSupported
from ..fitting import Plan
from ..fitting._calibration import Slope
from ..fitting._mixture import Mixed, ScoreGrid, SecondFit
from ..fitting.data import Array
from ..fitting.run import Fitted, Heard
from ..linear_model import DPLogisticRegression
from ..neural_network import DPMLPClassifier
from ..preprocessing._random_features import MOST, PER_FEATURE, choose_count
from ..solvers import Budget

__all__ = [
    "COUNTS_SHARE",
    "MODELS",
    "NETWORK_SHARE",
    "TASKS",
    "MixedLogistic",
    "ModelChoice",
    "choose_model",
    "tell_weights",
]


# Of the budget in mu squared, by labels of real and generated tables that no figure is reported of.
NETWORK_SHARE, COUNTS_SHARE = 0.72, 0.03


class MixedLogistic(DPLogisticRegression):
    """Logistic regression whose scores a network's are added to.

    Attributes
    ----------
    network_ : DPMLPClassifier
        The network, of the first columns alone.
    weights_ : Mixed
        What each score was multiplied by, and the shift: `coef_` and `network_` hold them already.
    """

    network_: Any = field(init=False)
    weights_: Mixed = field(init=False)

    def join(self, network: DPMLPClassifier, columns: int) -> None:
        """Set the network, and how many columns it sees, before anything is planned."""
        self.network_, network.n_features_in_ = network, columns

    def _plan(self, n: int | None, n_features: int, declared: dict[str, Any], *more: Any) -> Plan:
        plan = super()._plan(n, n_features, declared, *more)
        columns = self.network_.n_features_in_
        network = self.network_._plan(n, columns, {}, *more)
        fit = SecondFit(network, columns, NETWORK_SHARE)
        grid = ScoreGrid(fit, COUNTS_SHARE / (1.0 - NETWORK_SHARE))
        for stage in (fit, grid):
            stage.refuse(plan)
        return replace(plan, after=(fit, grid))

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        super()._keep(fitted, budget, heard)
        known, plan = fitted.known, fitted.plan
        assert isinstance(plan, Plan) and isinstance(plan.after[0], SecondFit)
        self.weights_ = mixed = known.mixed
        self._scale_scores(Slope(mixed.first, mixed.shift, 0.0))
        fit = replace(fitted, w=known.beside, plan=plan.after[0].plan)
        self.network_._keep(fit, budget, None)
        self.network_._scale_scores(Slope(mixed.second, 0.0, 0.0))
        self.network_.set_params(ledger=None, random_state=None)

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows: those of the linear model and of the network together.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for the second class.
        """
        seen = np.ascontiguousarray(np.asarray(X)[:, : self.network_.n_features_in_])
        found: Array = super().decision_function(X) + self.network_.decision_function(seen)
        return found

    def to_sklearn(self) -> Any:
        """Refuse: scikit-learn has no such model."""
        raise NotSupported("A mixture is no model of scikit-learn's; name another model.")


def tell_weights(mixed: Mixed) -> str:
    """Say what the paid counts have chosen."""
    linear, network = mixed[:2]
    chosen = "both" if linear and network else "the network" if network else "the linear model"
    return (
        f"the paid counts chose {chosen}: scores of the linear model are multiplied by {linear:.3g}, those of the "
        f"network by {network:.3g}"
    )


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
