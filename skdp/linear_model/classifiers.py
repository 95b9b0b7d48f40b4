"""Private linear classifiers with scikit-learn's interface."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..fitting import MANY, Corner, Plan
from ..fitting._parameters import Rule, loss_rule
from ..fitting.data import Array
from ..losses import LOSSES, Hinge, HuberisedHinge, Logistic, Loss, Multinomial
from ..mechanisms import Public
from ..privacy import Spec
from ..solvers import GD, Budget, Solver, Task, WhiteGD
from ._linear import LinearClassifier, keep_single
from ._logistic_intervals import WithLogisticIntervals
from ._rounding import OPEN, WithCorners

__all__ = ["DPLinearSVC", "DPLogisticRegression"]


class DPLogisticRegression(WithLogisticIntervals):
    """Logistic regression with (epsilon, delta)-differential privacy.

    Minimises ``C * sum(log(1 + exp(-y (x.w + b)))) + penalty(w)``, as scikit-learn does, by a
    solver that only ever sees private answers. The privacy statement of a fit is in ``privacy_``.

    Parameters
    ----------
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        With more than two classes: one fit of all, or one fit of each class against the rest, which share the budget.

    Attributes
    ----------
    coef_noise_std_ : ndarray of shape (1, n_features)
        About how far noise moved ``coef_``, in deviations: of the answers alone, so it costs nothing, and no promise
        rests on it. NaN where answers do not tell: of solvers that do not whiten, of more than two classes, and of
        persons or weighted rows.

    See Also
    --------
    DPLinearSVC : Support vectors, without probabilities.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(5000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=3.0, classes=[0, 1], random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    >>> bool(model.privacy_.epsilon <= 1.0)
    True

    How far noise will move it, before a record is read, where one label in twenty is known to be rare:

    >>> even, rare = model.quote(20_000, 5), model.quote(20_000, 5, base_rate=0.05)
    >>> bool(rare.standard_error["score"] > 2.0 * even.standard_error["score"])
    True
    """

    multi_class: str = "multinomial"
    coef_noise_std_: Array = field(init=False)

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        self.coef_noise_std_ = np.full(self.coef_.shape, math.nan)

    def _follow(
        self, answers: list[tuple[Any, Array]], plan: Plan, w: Array, budget: Budget
    ) -> None:
        """Deviations on the user's scale."""
        super()._follow(answers, plan, w, budget)
        if not answers or w.ndim > 1:
            return
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            spread = plan.solver.spread(answers, w, plan.public, plan.task, budget)
            if spread is not None:
                variances = np.diagonal(spread)[: plan.public.n_features]
                self.coef_noise_std_[0] = np.sqrt(variances) / plan.data_norm

    def _loss(self, outputs: int) -> Loss:
        return Logistic() if outputs == 1 else Multinomial(outputs)

    def _keep_single(self) -> None:
        keep_single(self)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of all classes; fits of each class against the rest give them up to their sum, as usual.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            second = Logistic().predict(scores)
            return np.column_stack([1.0 - second, second])
        if self.multi_class == "multinomial":
            return Multinomial(scores.shape[1]).predict(scores)
        each = Logistic().predict(scores)
        total = each.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, each / np.where(total > 0.0, total, 1.0), 1.0 / each.shape[1])

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.column_stack([Logistic().value(scores, -1.0), Logistic().value(scores, 1.0)])
        if self.multi_class == "multinomial":
            return scores - logsumexp(scores, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def _named(given: Any, name: str) -> bool:
    """Return True if a parameter is this name; instances may define equality as they like."""
    return isinstance(given, str) and given == name


class DPLinearSVC(WithCorners, LinearClassifier):
    """Linear support vector classifier with (epsilon, delta)-differential privacy, by default of a huberised hinge.

    The default ``loss`` of scikit-learn's `LinearSVC` is another, the squared hinge: with ``loss="squared_hinge"`` this
    one minimises the same, but for the intercept, which is free of the penalty here.

    Parameters
    ----------
    loss : {"huberised_hinge", "hinge", "squared_hinge"} or Loss, default="huberised_hinge"
        Loss of the margin: any of two classes in ``skdp.losses.LOSSES``, by name, or an instance. With
        ``solver="auto"`` the corner of "hinge" is rounded by the noise level: at most as "huberised_hinge" is, and
        without noise over 1e-9. Other solvers get the hinge itself, if they need no smoothness, and so do all of
        ``Hinge()``.
    h : float, default=0.5
        Half-width of the quadratic part of the huberised hinge.

    Examples
    --------
    >>> from skdp import DPLinearSVC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(5000, n_features=5, random_state=0)
    >>> model = DPLinearSVC(epsilon=1.0, delta=1e-6, data_norm=3.0, classes=[0, 1], random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    """

    loss: str | Loss = "huberised_hinge"
    h: float = 0.5
    _corner: ClassVar[Corner] = Corner(slope=10.0, widest=0.5, descent=0.5, loud=0.5)

    def _rules(self) -> dict[str, Rule]:
        return super()._rules() | {"loss": loss_rule()}

    def _open(self) -> bool:
        return _named(self.loss, "hinge") and _named(self.solver, "auto")

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        """Choose gradient descent where noise hides the corner: subgradients then do as well as those of a parabola."""
        found = super()._chosen(task, public, spec, alone)
        loud = isinstance(found, WhiteGD) or public.most_rows > MANY
        return GD() if self._open() and loud and spec.delta > 0.0 else found

    def _rounded(self, task: Task, solver: Solver, public: Public, spec: Spec) -> Task:
        if self._open() and isinstance(solver, GD):
            return replace(task, loss=Hinge())
        return super()._rounded(task, solver, public, spec)

    def _ignored(self) -> Iterator[str]:
        """Yield ignored parameters: those of the penalty, and the half-width of another loss."""
        yield from super()._ignored()
        if self.loss != "huberised_hinge" and self.h != 0.5:
            yield f"h={self.h} is only used when loss='huberised_hinge'."

    def _loss(self, outputs: int) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        if self._open():
            return HuberisedHinge(OPEN)
        kind = LOSSES[self.loss]
        return kind(self.h) if kind is HuberisedHinge else kind()
