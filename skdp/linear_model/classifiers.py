"""Private linear classifiers with scikit-learn's interface."""

import math
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..exceptions import NotSupported
from ..fitting import MANY, OPEN, Corner, Plan
from ..fitting._calibration import CALIBRATE, Slope
from ..fitting._fields import parameter
from ..fitting._parameters import loss_rule
from ..fitting.auto import is_auto
from ..fitting.data import Array, frames_to_caller
from ..losses import LOSSES, Hinge, HuberisedHinge, Logistic, Loss, Multinomial
from ..mechanisms import Public
from ..privacy import Spec
from ..solvers import GD, Budget, Solver, Task, WhiteGD
from ._intervals import NONE, ROUGH, quantile
from ._linear import LinearClassifier, keep_single

__all__ = ["DPLinearSVC", "DPLogisticRegression"]

# What is given back over the standard error, from which intervals are rough, and refused (docs/intervals.md).
_MUCH, _MOST = 2.0, 3.0
CORNER = Corner(slope=10.0, widest=0.5, descent=0.5, loud=0.5)  # of "hinge"


class DPLogisticRegression(LinearClassifier):
    """Logistic regression with (epsilon, delta)-differential privacy.

    Minimises ``C * sum(log(1 + exp(-y (x.w + b)))) + penalty(w)``, as scikit-learn does, by a
    solver that only ever sees private answers. The privacy statement of a fit is in ``privacy_``. Where it is worth its
    price, scores are then calibrated: ``coef_`` is multiplied by a slope, see ``calibrate``.

    Parameters
    ----------
    multi_class : {"multinomial", "ovr", "auto"}, default="multinomial"
        With more than two classes: one fit of all, or one fit of each class against the rest, which share the budget.
        "auto" is "multinomial".

    Attributes
    ----------
    coef_std_ : ndarray of shape (1, n_features)
        Standard errors, of sampling and of noise, of the estimates in the middle of `conf_int`: of a logistic model
        without a penalty. NaN where slopes are clipped, and where answers do not tell.
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
    calibrate: bool | str = parameter("auto", CALIBRATE)
    coef_std_: Array = field(init=False)
    coef_noise_std_: Array = field(init=False)
    _estimated: tuple[Any, ...] = field(init=False)

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        self.coef_std_ = np.full(self.coef_.shape, math.nan)
        self._estimated = self.coef_std_, math.nan, math.nan
        self.coef_noise_std_ = np.full(self.coef_.shape, math.nan)

    def _follow(
        self, answers: list[tuple[Any, Array]], plan: Plan, w: Array, budget: Budget
    ) -> None:
        """Keep estimates, their standard errors and deviations by noise, on the user's scale."""
        if not answers or w.ndim > 1:
            return
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            found = plan.solver.unshrunk(answers, w, plan.public, plan.task, budget)
            if found is not None:
                kept = slice(plan.public.n_features)
                self.coef_std_ = found.deviation[None, kept] / plan.data_norm
                back = np.max(np.abs(found.given_back[kept]) / found.deviation[kept])
                self._estimated = found.w[None, kept] / plan.data_norm, found.ratio, float(back)
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            spread = plan.solver.spread(answers, w, plan.public, plan.task, budget)
            if spread is not None:
                variances = np.diagonal(spread)[: plan.public.n_features]
                self.coef_noise_std_[0] = np.sqrt(variances) / plan.data_norm

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence intervals of coefficients, for sampling and noise together, at no further cost.

        They are for the logistic model of records whose rows are bounded as declared, without a penalty, and rest on
        its log-odds being linear. Slopes of losses may not be clipped: ``solver=WhiteObjective(clip=1.0)``. Each holds
        by itself.

        Parameters
        ----------
        level : float, default=0.95
            Share of intervals, over samples and noise, that hold the coefficient.

        Returns
        -------
        ndarray of shape (1, n_features, 2)
            Lower and upper ends.

        Examples
        --------
        >>> import numpy as np
        >>> from skdp import DPLogisticRegression
        >>> from skdp.solvers import WhiteObjective
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, (20_000, 3))
        >>> y = rng.logistic(size=20_000) < X @ [2.0, -1.0, 0.5]
        >>> given = {"data_norm": 1.8, "classes": [False, True], "random_state": 0}
        >>> model = DPLogisticRegression(epsilon=2.0, solver=WhiteObjective(clip=1.0), **given).fit(X, y)
        >>> low, high = model.conf_int(0.99)[0].T
        >>> bool(((low < [2, -1, 0.5]) & ([2, -1, 0.5] < high)).all())
        True
        """
        reach = quantile(level) * self.coef_std_
        center, ratio, back = self._estimated
        _refuse_or_warn(ratio, back)
        return np.stack([center - reach, center + reach], axis=-1)

    def _scale_scores(self, slope: Slope) -> None:
        self.coef_ = slope.factor * self.coef_
        moved = slope.factor * self.coef_noise_std_
        self.coef_noise_std_ = np.hypot(moved, slope.spread * self.coef_)
        self.intercept_ = slope.factor * self.intercept_ + slope.shift

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
        if not self._one_by_one():
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
        if not self._one_by_one():
            return scores - logsumexp(scores, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def _refuse_or_warn(ratio: float, back: float) -> None:
    if math.isnan(ratio):
        raise NotSupported(
            "conf_int needs two classes, rows of equal weight, and an objective of unclipped losses in whitened "
            "coordinates; use solver=WhiteObjective(clip=1.0)."
        )
    if ratio > NONE or not back <= _MOST:
        hidden = (
            "Noise hides a direction of the rows"
            if ratio > NONE
            else "Privacy and the penalty shrink a coefficient by more than three standard errors"
        )
        raise NotSupported(
            f"{hidden}, so no interval would have its nominal coverage; use more records, fewer or less collinear "
            "columns, a larger epsilon, or a weaker penalty."
        )
    if ratio > ROUGH or back > _MUCH:
        warnings.warn(
            "Noise is more than half of the shortest direction of the rows, or a coefficient is shrunk by more than "
            "two standard errors: intervals are rough.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )


def _named(given: Any, name: str) -> bool:
    """Return True if a parameter is this name; instances may define equality as they like."""
    return isinstance(given, str) and given == name


class DPLinearSVC(LinearClassifier):
    """Linear support vector classifier with (epsilon, delta)-differential privacy; its default loss differs.

    It is a huberised hinge, and that of scikit-learn's `LinearSVC` is the squared hinge. With ``loss="squared_hinge"``
    this one minimises the same, but for the intercept, which is free of the penalty here.

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

    loss: str | Loss = parameter("huberised_hinge", rule=loss_rule())
    h: float = 0.5

    def _corner(self) -> Corner | None:
        return CORNER if self._open() else None

    def _open(self) -> bool:
        """Return True if the corner is rounded by the noise level."""
        return _named(self.loss, "hinge") and is_auto(self.solver)

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
