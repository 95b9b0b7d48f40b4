"""Mixture of a linear model and a network behind the same encoder, for two labels.

The linear model is fitted first, the network after it, and then noisy counts of the labels by both scores say what each
of them counts for: three parts of one script, whatever the answers are (docs/proofs/mixture.md).
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

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
from ..solvers import Budget

__all__ = ["COUNTS_SHARE", "NETWORK_SHARE", "MixedLogistic", "tell_weights"]

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
