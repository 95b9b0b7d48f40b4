"""Base class of the private regressors: numbers within declared bounds in, numbers out."""

from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import r2_score

from .._messages import as_text
from ..entry import (
    Array,
    Facts,
    Given,
    Numbers,
    attempt,
    middle_and_half,
    read_targets,
)
from ..exceptions import NotSupported
from ._bases import RegressorMixin
from ._fields import attribute, parameter
from ._parameters import (
    MAX_ROWS_PER_GROUP,
    MAX_SAMPLE_WEIGHT,
    RULES,
    Rule,
    are_bounds,
    are_bounds_or_several,
)
from .learner import PrivateLearner
from .plan import Plan, Sizes

__all__ = ["ALPHA_OF_SEVERAL", "BOUNDS_OF_SEVERAL_OR_NONE", "PrivateRegressor"]

NARROW = 1e-30  # half of a range, below which penalties would leave the doubles

Y_BOUNDS = """y_bounds : pair of float, default=None
    Public bounds on the target, ``(low, high)``; targets beyond are cut to them. Declare them where you know them: that
    is free. None buys bounds, in any unit, for a twentieth of the budget in mu squared at most."""
Y_BOUNDS_ = """y_bounds_ : ndarray of shape (n_targets, 2)
    Where ``y_bounds=None``: private bounds of the targets; twice 0 where one has no scale: it is predicted as 0."""


def _one_or_several(name: str) -> Rule:
    """The rule of a number, where a list of them may stand for several targets."""
    lies, told = RULES[name]

    def are(value: Any) -> bool:
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
            return len(value) > 0 and all(map(lies, value))
        return lies(value)

    return are, f"{told}; a list of such numbers for several targets"


_TOLD = f"{RULES['y_bounds'][1]}; a list of such pairs for several targets"
ALPHA_OF_SEVERAL = _one_or_several("alpha")
BOUNDS_OR_NONE: Rule = (
    lambda value: value is None or are_bounds(value),
    f"{RULES['y_bounds'][1]}; None estimates bounds privately",
)
BOUNDS_OF_SEVERAL_OR_NONE: Rule = (
    lambda value: value is None or are_bounds_or_several(value),
    f"{_TOLD}; None estimates bounds privately",
)


class PrivateRegressor(RegressorMixin, PrivateLearner):
    """Base of the private regressors: it knows bounds of targets, and nothing of losses.

    Targets enter a fit on the scale of their bounds, which become -1 and 1; those beyond are cut to them. A face says
    in `_several` whether it predicts several targets.

    Parameters
    ----------
    clip_predictions : bool, default=True
        Whether predictions are cut to ``y_bounds``, which costs no privacy.
    """

    fit_intercept = True  # not a parameter of every regressor

    y_bounds: ArrayLike | None = parameter(None, Y_BOUNDS, BOUNDS_OR_NONE)
    clip_predictions: bool = True
    max_rows_per_group: int | None = parameter(None, MAX_ROWS_PER_GROUP)
    max_sample_weight: float | None = parameter(None, MAX_SAMPLE_WEIGHT)
    _several: ClassVar[bool] = False
    y_bounds_: Array = attribute(Y_BOUNDS_)
    _column: bool = field(init=False)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit with differential privacy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; those of norm beyond ``data_norm`` count as if scaled down to it.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers to predict, several of a record where the estimator says so; those beyond ``y_bounds`` are cut.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row's loss weighs; those beyond ``max_sample_weight``, or 1 where that is None, count with it, and
            what is negative or no number counts as 0. A weight is part of its record.
        groups : array-like of shape (n_samples,), default=None
            The id of each row's person, of whom the first ``max_rows_per_group`` rows enter.

        Returns
        -------
        self
        """
        return self._fit(Given(X, y, sample_weight=sample_weight, groups=groups))

    def predict(self, X: ArrayLike) -> Array:
        """Predicted numbers.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Within ``y_bounds`` unless ``clip_predictions`` is False.
        """
        found = self._predicted(X)
        if not self.clip_predictions:
            return found
        low, high = self._bounds().T
        return np.clip(found, low, high, out=found)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of the targets' variance that is explained; computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 1.
        """
        predicted = self.predict(X)
        y = read_targets(self, y, len(predicted), self._several)
        found, kind = attempt(lambda: r2_score(y, predicted, sample_weight=sample_weight))
        if kind is not None:
            raise kind(
                "A score needs a number for each record in y, and in sample_weight None or one finite number for each."
            )
        return found

    def _predicted(self, X: ArrayLike) -> Array:
        """Predicted numbers, wherever they lie: a fresh array."""
        raise NotImplementedError

    def _bounds(self) -> Array:
        """Return the bounds of the target, or of each target: declared, or estimated privately."""
        bought = self.y_bounds is None
        found = np.asarray(self.y_bounds_ if bought else self.y_bounds, dtype=np.float64)
        return found[0] if len(found) == 1 else found

    def _scale(self) -> tuple[Any, Any]:
        """Return the target that becomes 0, and the distance that becomes 1; the former is 0 without an intercept."""
        return middle_and_half(self._bounds(), self.fit_intercept)

    def _in_halves(self, name: str) -> float:
        """Return a parameter in units of the target over half of its range, which the loss and its price rest on."""
        given = float(getattr(self, name))
        if self.y_bounds is None:
            raise NotSupported(
                f"{name}={as_text(given)} is in units of the target, whose scale y_bounds=None estimates privately; "
                f"declare y_bounds, or leave {name} out."
            )
        return given / float(self._scale()[1])

    def _sizes(self, *given: Any, y_bounds: Array | None = None) -> Sizes:
        sizes = super()._sizes(*given)
        if self.y_bounds is not None:
            return replace(sizes, unit=self._scale()[1])
        if y_bounds is None:
            return sizes
        bounds = y_bounds[0] if len(y_bounds) == 1 else y_bounds
        half = middle_and_half(bounds, self._centred())[1]
        return replace(sizes, unit=np.clip(half, NARROW, 1.0 / NARROW))  # as declared ones may be

    def _buys(self) -> tuple[str, ...]:
        return (*super()._buys(), "y_bounds") if self.y_bounds is None else super()._buys()

    def _centred(self) -> bool:
        return bool(self.fit_intercept)

    def _outputs(self, n_classes: int | None = None) -> int:
        return 1 if self.y_bounds is None else len(np.atleast_2d(np.asarray(self.y_bounds)))

    def _outputs_of(self, facts: Facts) -> int:
        return facts.targets

    def _one_by_one(self) -> bool:
        return True

    def _columns(self, fits: int) -> int:
        return fits

    def _reader(self) -> Numbers:
        bounds = None if self.y_bounds is None else self._bounds()
        return Numbers(bounds, bool(self.fit_intercept), self._several, self.max_sample_weight)

    def _declare(self, facts: Facts) -> dict[str, Any]:
        bounds = {} if self.y_bounds is None else {"y_bounds": self._bounds().tolist()}
        return bounds | ({"n_targets": facts.targets} if facts.targets > 1 else {})

    def _complete(self, plan: Plan, facts: Facts) -> Plan:
        self._column = facts.column
        found: Plan = super()._complete(plan, facts)
        return found
