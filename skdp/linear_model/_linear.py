"""What all private linear estimators share: parameters to a plan, a plan to coefficients."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitting import Plan, PrivateEstimator, choose_solver
from ..fitting.data import table
from ..mechanisms import Public
from ..penalties import ScaledPenalty, make
from ..privacy.spec import Spec
from ..solvers import Task

__all__ = ["PrivateLinearModel"]

# The constant column that carries the intercept, beside rows of norm at most 1. A column of 1 would cost 41 % more
# noise everywhere; a quarter costs 3 %.
INTERCEPT_SIZE = 0.25
LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30


class PrivateLinearModel(PrivateEstimator):
    """Base of the private linear estimators: a loss of scores, and coefficients on the user's scale."""

    def decision_function(self, X):
        """Scores of rows: ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for the second class.
        """
        check_is_fitted(self)
        X = table(self, X, reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def _loss(self):
        raise NotImplementedError

    def _check_parameters(self):
        super()._check_parameters()
        self._penalty(1.0)

    def _penalty(self, weight):
        """The user's penalty on the sum of losses; the flat part of SCAD and MCP is placed per record."""
        return make(self.penalty, 1.0 / float(self.C), self.l1_ratio, weight=weight)

    def _plan(self, n, n_features, declared):
        """All that is decided before any data, from parameters that have been checked."""
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        data_norm = float(self.data_norm)
        public = Public(
            n=self._public_count(n),
            n_features=n_features,
            intercept=INTERCEPT_SIZE if self.fit_intercept else 0.0,
            neighbors=spec.neighbors,
        )
        # Where n is private, penalties are on the scale of the sum.
        penalty = self._penalty(float(public.n or 1))
        scaled = ScaledPenalty(penalty, data_norm, bool(self.fit_intercept))
        task = Task(self._loss(), scaled, (public.width,))
        facts = {"n": public.n, "n_features": n_features, "data_norm": data_norm, **declared}
        if public.n is None:
            del facts["n"]
        alone = self.ledger is None and self.accountant in ("auto", "profile")
        solver = choose_solver(self.solver, task, public, spec, alone)
        return Plan(spec, task, solver, public, data_norm, self.accountant, facts)

    def _store(self, w, plan):
        """Coefficients on the user's scale: cutting what has been paid for is free, and data_norm is public."""
        w = np.clip(w, -LARGEST, LARGEST)
        self.coef_ = (w[: plan.public.n_features] / plan.data_norm)[None, :]
        self.intercept_ = np.array([w[-1] * plan.public.intercept if self.fit_intercept else 0.0])
