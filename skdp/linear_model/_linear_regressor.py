"""Base class of the private linear regressors: rows and targets are bounded, coefficients on the user's scale."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..entry import Facts
from ..exceptions import NotSupported
from ..fitting import Plan, PrivateRegressor, Sizes
from ..fitting._fields import attribute, parameter
from ..fitting._parameters import RULES, Rule
from ..fitting.data import Array, as_text, scores
from ..fitting.learner import N_ITER_
from ..fitting.starting import COEF_INIT, INTERCEPT_INIT, WARM_START, Start
from ..losses import Loss, Squared
from ..mechanisms import Public
from ..penalties import L1, L2, ElasticNet, NonNegative, NoPenalty, Penalty, make_scaled
from ..solvers import Task
from ._linear import INTERCEPT_SIZE, LARGEST, keep_single, to_sklearn

__all__ = [
    "POSITIVE",
    "Y_BOUNDS_OF_SEVERAL",
    "LinearRegressor",
    "OtherEpsilon",
    "column_square",
    "penalties_of_targets",
    "public_count",
]

POSITIVE = """positive : bool, default=False
    Whether no coefficient but the intercept may be negative. It costs nothing: what noisy moments say is brought to
    such coefficients."""
Y_BOUNDS_OF_SEVERAL = """y_bounds : pair of float, or list of them, default=None
    Public bounds on the target, ``(low, high)``, or on each of several; targets beyond are cut to them. Declare
    them where you know them: that is free. None buys bounds, in any unit, for a twentieth of the budget in mu
    squared at most."""


def column_square(sizes: Sizes) -> float:
    """Return the mean square of a column, where rows are as long as they may be and their columns alike."""
    return sizes.norm**2 / max(sizes.n_features, 1)


class LinearRegressor(PrivateRegressor):
    """Base class of the private linear regressors; each one names its loss of scaled targets, and its penalty.

    Those that predict several targets of a record, the columns of ``y``, make a fit for each, all within one budget.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to add a constant column, which the bound covers.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Private coefficients.
    intercept_ : float, or ndarray of shape (n_targets,)
        Private intercept.
    """

    fit_intercept: bool = True
    coef_init: ArrayLike | None = parameter(None, COEF_INIT)
    intercept_init: ArrayLike | None = parameter(None, INTERCEPT_INIT)
    warm_start: bool = parameter(False, WARM_START)
    _begins: ClassVar[type[Start]] = Start
    coef_: Array = field(init=False)
    intercept_: Any = field(init=False)
    n_iter_: Array = attribute(N_ITER_)
    to_sklearn = to_sklearn
    _one_column: ClassVar[tuple[int, ...]] = (-1,)  # shape of `coef_` where y is a table of one

    def _loss(self) -> Loss:
        """Return the loss of targets in [-1, 1]."""
        return Squared()

    @abstractmethod
    def _penalties(self, sizes: Sizes) -> Sequence[Penalty]:
        """Return the penalty of each target, or a single one for all, on coefficients of the user's rows.

        That is for half squared residuals of targets in [-1, 1].
        """

    def _by_residuals(self) -> bool:
        """Return True if nobody said from which residual Huber's loss is a straight line."""
        return False

    def _strengths(self) -> int:
        """Return the number of targets for which penalties are given: 1 for all."""
        return int(np.size(getattr(self, "alpha", 1.0)))

    def _outputs(self, n_classes: int | None = None) -> int:
        return max(super()._outputs(n_classes), self._strengths())

    def _stated(self, sizes: Sizes) -> tuple[Public, Task]:
        bounds = super()._outputs()
        if bounds > 1:
            self._refuse_unlike(bounds)
        return super()._stated(sizes)

    def _outputs_of(self, facts: Facts) -> int:
        outputs = super()._outputs_of(facts)
        self._refuse_unlike(outputs)
        return outputs

    def _refuse_unlike(self, targets: int) -> None:
        """Refuse a number of penalties that differs from the number of targets, in scikit-learn's words."""
        if self._strengths() not in (1, targets):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {self._strengths()} != {targets}; give "
                "one alpha, or one for each target."
            )

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        """The sum of losses and the user's penalty on it, both over the heaviest weight; the intercept is free."""
        intercept = INTERCEPT_SIZE if self.fit_intercept else 0.0
        public = Public(sizes.n, sizes.n_features, intercept, self.neighbors)
        scale = sizes.norm, bool(self.fit_intercept)
        each = [make_scaled(one, *scale, over=sizes.heaviest) for one in self._penalties(sizes)]
        hardest = min(each, key=lambda penalty: penalty.smooth)
        several = tuple(each) if any(one != each[0] for one in each) else ()
        # Only an intercept's moment tells how much weighted rows weigh in all, which a mean of residuals is over.
        told = self._by_residuals() and bool(self.fit_intercept)
        task = Task(self._loss(), hardest, (public.width,), each=several, by_residuals=told)
        return public, task

    def _units(self) -> tuple[Any, Any]:
        return self._scale()

    def _store(self, w: Array, plan: Plan) -> None:
        """Coefficients on the user's scale: cutting what has been paid for is free, and all bounds are public."""
        shift, unit = self._units()
        w = np.clip(w, -LARGEST, LARGEST) * unit
        self.coef_ = np.ascontiguousarray(w[: plan.public.n_features].T / plan.data_norm)
        if isinstance(plan.task.penalty.penalty, NonNegative):  # noise at the end of a fit
            self.coef_ = np.maximum(self.coef_, 0.0)
        self.intercept_ = shift + w[-1] * plan.public.intercept if self.fit_intercept else 0.0
        if self._column and w.ndim == 1:
            self.coef_ = self.coef_.reshape(self._one_column)
            self.intercept_ = np.atleast_1d(self.intercept_)

    def _keep_single(self) -> None:
        keep_single(self)

    def _predicted(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return scores(self._rows(X), self.coef_.T, self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._several:
            tags.target_tags.multi_output = True
            tags.target_tags.single_output = True
        return tags


def public_count(model: Any, n: int | None) -> float:
    """Return the number of records, which alpha is relative to; weights count with a mean of 1."""
    if n is None:
        raise NotSupported(
            f"alpha={as_text(model.alpha)} of {type(model).__name__} is divided by the number of records, which is "
            "private under neighbors='add_remove'; declare a rough number in n_public."
        )
    return float(n)


def penalties_of_targets(
    absolute: ArrayLike, squared: ArrayLike, positive: bool
) -> Sequence[Penalty]:
    """Return the penalty of each target by the strengths of absolute values and of half of the squares.

    Parameters
    ----------
    absolute, squared : float or array-like of shape (n_targets,)
        Strengths; a single one for all targets.
    positive : bool
        Whether no coefficient but the intercept may be negative.
    """
    pairs = np.broadcast_arrays(np.atleast_1d(absolute), np.atleast_1d(squared))
    return [_penalty(float(a), float(s), positive) for a, s in zip(*pairs)]


def _penalty(absolute: float, squared: float, positive: bool) -> Penalty:
    whole = absolute + squared
    share = absolute / whole if whole else 0.0
    if positive:
        return NonNegative(whole, share)
    if not whole:
        return NoPenalty()
    if absolute and squared:
        return ElasticNet(whole, share)
    return L1(whole) if absolute else L2(whole)


class OtherEpsilon(NamedTuple):
    """Parameter that scikit-learn's namesake of a regressor calls epsilon, which is the privacy budget here.

    Parameters
    ----------
    namesake : str
        The estimator of scikit-learn's.
    name : str
        What its epsilon is called here.
    low, high : float
        Usual range of scikit-learn's epsilon, in which a privacy budget seldom lies.
    """

    namesake: str
    name: str
    low: float
    high: float

    @property
    def clash(self) -> str:
        """Return a sentence that tells both from each other."""
        return f"epsilon is the privacy budget here, and {self.name} is what {self.namesake} calls epsilon"

    def rule(self, parameter: str) -> Rule:
        """Return the rule of a parameter that is missed, or wrong, where a script's import alone was changed."""
        lies, told = RULES[parameter]
        return lies, f"{told}; {self.clash}"

    def doubts(self, model: Any) -> Iterator[str]:
        """Warn if epsilon lies in the range of the other number, and the other number was not given."""
        given = model.epsilon
        if getattr(model, self.name) is None and self.low < given < self.high:
            yield f"epsilon={given:g} of {type(model).__name__}: {self.clash}; write {self.name}=... beside it."
