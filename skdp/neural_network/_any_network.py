"""Base classes of all private networks: batches, epochs and steps of solvers that suit any model; losses of scores."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..exceptions import NotSupported
from ..fitting import Plan, PrivateClassifier, PrivateLearner, PrivateRegressor
from ..fitting.data import Array
from ..losses import Huber, Logistic, Loss, Multinomial, Squared
from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import BLSGD, Solver, Task, resolve
from ._defaults import step_of, usual

__all__ = ["AnyNetwork", "NetworkClassifier", "NetworkRegressor"]


class AnyNetwork(PrivateLearner):
    """Base of the private networks, whatever they are made of.

    Parameters
    ----------
    solver : {"auto", "sgd", "adam", "blsgd", "blsgd-ac"} or Solver, default="auto"
        Algorithm, by name or as an instance; "auto" is `sgd` in steps that noise and curvature allow. No other one has
        a proof for networks.
    batch_size : int, default=None
        Expected records in a batch, which is drawn record by record. None: those of the solver's own `rate`. It needs
        ``n_public`` under "add_remove".
    max_iter : int, default=None
        Epochs: passes over as many records as there are. It is no limit; all are made. None: the solver's own `steps`.

    Attributes
    ----------
    n_iter_ : int
        Epochs that were planned: a public number.
    """

    batch_size: int | None = None
    max_iter: int | None = None
    learning_rate_init: float | None = None
    n_iter_: int = field(init=False)

    @abstractmethod
    def _loss(self, outputs: int) -> Loss:
        """Return the loss of a record's scores."""

    @abstractmethod
    def _scores(self, X: ArrayLike) -> Array:
        """Return the scores of rows, one column for each score."""

    def _target_bound(self, outputs: int) -> float:
        """Return the bound on what targets are turned into."""
        return 1.0

    def _ignored(self) -> Iterator[str]:
        """A sentence for each parameter that an instance of a solver has of its own."""
        if isinstance(self.solver, Solver):
            for name in ("batch_size", "max_iter", "learning_rate_init"):
                if getattr(self, name) is not None:
                    yield (
                        f"{name}={getattr(self, name)} has no effect where solver is an instance; set it there, or "
                        f"name the solver: solver={self.solver.name!r}."
                    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        solver = self.solver
        name = solver if isinstance(solver, str) else solver.name
        if name != "auto" and not resolve(solver).for_any_model:
            raise NotSupported(
                f"solver={name!r} has no proof for networks; use 'sgd', 'adam' or 'blsgd', or solver='auto'."
            )

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        """Return the solver with the estimator's batches, epochs and steps; an instance is returned as it is."""
        if isinstance(self.solver, Solver):
            return resolve(self.solver)
        solver = usual(self.solver)
        if self.batch_size is not None:
            solver = solver.with_params(rate=self._rate(public.n))
        if self.max_iter is not None:
            steps = max(1, round(int(self.max_iter) / solver.get_params()["rate"]))
            name = "splits" if isinstance(solver, BLSGD) else "steps"
            solver = solver.with_params(**{name: steps})
        step = self.learning_rate_init
        step = self._step(solver, task, public, spec) if step is None else float(step)
        clip = self._clip(solver, task, public, spec)
        return solver.with_params(step_size=step, **({} if clip is None else {"clip": clip}))

    def _clip(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float | None:
        """Return the clip that is used where the user names a solver; None for the solver's own."""
        return None

    def _step(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float:
        """Return the step size that is used where the user gives none."""
        return step_of(solver, task, public, spec)

    def _rate(self, n: int | None) -> float:
        """Probability of a record to enter a batch of the wanted size."""
        if n is None:
            raise NotSupported(
                f"batch_size={self.batch_size} becomes a rate only if n is known; declare a rough n in n_public, or "
                "set solver__rate."
            )
        return min(1.0, int(cast(int, self.batch_size)) / n)

    def _epochs(self, plan: Plan) -> int:
        """Return the number of epochs that a plan makes."""
        of_solver = plan.solver.get_params()
        steps = of_solver["splits" if isinstance(plan.solver, BLSGD) else "steps"]
        return max(1, round(steps * of_solver["rate"]))


class NetworkClassifier(AnyNetwork, PrivateClassifier):
    """Base of the networks for classes: one score for two of them, one for each of more."""

    multi_class = "multinomial"

    def _loss(self, outputs: int) -> Loss:
        return Logistic() if outputs == 1 else Multinomial(outputs)

    def _target_bound(self, outputs: int) -> float:
        """Return the largest code of a class."""
        return max(1.0, outputs - 1.0)

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows, as the last layer gives them.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Positive for the second of two classes; with more classes, one column for each.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of all classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return Multinomial(scores.shape[1]).predict(scores)
        second = Logistic().predict(scores)
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return scores - logsumexp(scores, axis=1, keepdims=True)
        return -np.column_stack([Logistic().value(scores, -1.0), Logistic().value(scores, 1.0)])


class NetworkRegressor(AnyNetwork, PrivateRegressor):
    """Base of the networks for a number.

    Parameters
    ----------
    huber_threshold : float, default=None
        Residual from which the loss is a straight line, in units of the target; None: squares everywhere.
    """

    huber_threshold: float | None = None

    def _loss(self, outputs: int) -> Loss:
        """Return the loss of targets in [-1, 1]."""
        if self.huber_threshold is None:
            return Squared()
        return Huber(float(self.huber_threshold) / self._scale()[1])

    def _predicted(self, X: ArrayLike) -> Array:
        return self._scores(X)[:, 0].astype(np.float64)
