"""Gaussian naive Bayes: a normal density for each class and column.

One stage asks for counts, sums and squares of classes; densities follow of its answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from ..entry import Rows, View
from ..exceptions import NotSupported
from ..fitting import Plan, PrivateClassifier, PrivateEstimator, Purchase, Sizes, Stage
from ..fitting._fields import parameter
from ..fitting._parameters import Rule, _between
from ..fitting.data import Array, attempt
from ..fitting.learner import declared_of_rows
from ..fitting.run import Fitted, Heard
from ..fitting.stages import Known, Look, root_of, scales_for
from ..mechanisms import ClassSums, Public, Statement, state
from ..privacy.spec import Spec
from ..solvers import Budget, Task

__all__ = ["DPGaussianNB"]


# Weights of counts and squares that are free under replace-one (docs/proofs/class_sums.md): where cells are bounded,
# and where norms are.
IN_BOX = math.sqrt(0.25), math.sqrt(0.75)
IN_BALL = math.sqrt(0.75), 0.5
ABOVE = 1.0 + 1e-12  # so that a norm, and not the cap of the cells, is what bounds a row
LEAST = (
    2.0  # deviations of the noise on a count below which a class counts as one of so many records
)
DOUBT = 30.0  # weight of the noise on the variance of a class, in variances of all classes
RELATIVE = 1e-6  # least variance where there is noise, over the largest


@dataclass(frozen=True, eq=False)
class Moments:
    """Noisy counts, sums and sums of squares of classes, and the deviation of the noise on each.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Number of records.
    sums, squares : ndarray of shape (n_classes, n_features)
        Sums of columns and of their squares.
    noise : (float, float, float)
        Deviation of the noise on an entry of each.
    n : float or None
        Number of records, where that is public and none weighs less than another.
    most : float
        Largest absolute number in a column.
    """

    counts: Array
    sums: Array
    squares: Array
    noise: tuple[float, float, float]
    n: float | None
    most: float = math.inf


@dataclass(frozen=True, eq=False, repr=False)
class ClassMoments(Stage):
    """Counts, sums and squares of the rows of each class, in one question.

    Parameters
    ----------
    classes : int
        How many there are.
    norm : float
        Declared bound on the norm of a row; where bounds are declared or bought, of columns on [-1, 1].
    bounds : ndarray of shape (n_features, 2) or None
        Declared bounds of the columns.
    bought : bool
        Whether bounds and a norm come from earlier stages.
    share : float
        Of what these have left: all.
    """

    classes: int
    norm: float = math.inf
    bounds: Array | None = field(default=None, repr=False)
    bought: bool = False
    share: float = 1.0

    parameter: ClassVar[str] = "classes"

    def __repr__(self) -> str:
        return f"ClassMoments(classes={self.classes})"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question; bought bounds and norms change nothing of its price."""
        return state([(self._question(plan, noise, self._norm(plan, Known())), 1)], plan.public)

    def views(self, plan: Plan | Purchase) -> tuple[View, ...]:
        """Return how rows are seen, where that rests on no answer."""
        return () if self.bought else (self._view(plan, Known()),)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and put the answer on the scale of the columns."""
        norm, public = self._norm(plan, known), plan.public
        question = self._question(plan, noise, norm)
        answer = np.asarray(look(self._view(plan, known)).ask(question))
        counts, sums, squares = question.split(answer)
        deviation = question.multiplier * question.bound(public)
        of_squares = deviation * question.cap / question.squares
        levels = deviation / question.counts, norm * deviation, norm**2 * of_squares
        n = None if public.n is None or public.shares else float(public.n)
        given = counts, norm * sums, norm**2 * squares
        return replace(known, found=Moments(*given, levels, n, norm * question.cap))

    def _norm(self, plan: Plan | Purchase, known: Known) -> float:
        """Return the bound of a row; that of a box where nothing shorter is known."""
        if not self.bought and self.bounds is None:
            return self.norm
        norm = self.norm if known.norm is None else known.norm
        return min(norm, root_of(plan.public.n_features))

    def _question(self, plan: Plan | Purchase, noise: float, norm: float) -> ClassSums:
        """Ask for sums that take all that is left: noise is of a gradient, which a record moves by so many bounds."""
        public = plan.public
        root = root_of(public.n_features)
        boxed = self.bounds is not None and norm == root
        counts, squares = IN_BOX if boxed else IN_BALL
        cap = 1.0 / root if boxed else self._cap(norm, root)
        given: dict[str, Any] = {"classes": self.classes, "counts": counts, "squares": squares}
        one = ClassSums(cap=cap, multiplier=1.0, **given)
        moved = one.sensitivity(public) / (public.sensitivity_factor * one.bound(public))
        return ClassSums(cap=cap, multiplier=noise * moved / math.sqrt(self.share), **given)

    def _cap(self, norm: float, root: float) -> float:
        """Bound a cell of a row by its norm and, where columns lie on [-1, 1], by that."""
        if not self.bought and self.bounds is None:
            return 1.0
        return min(max(1.0 / norm, ABOVE / root), 1.0)

    def _view(self, plan: Plan | Purchase, known: Known) -> Rows:
        norm = self._norm(plan, known)
        if self.bought:
            return Rows(plan.public, norm, bounds=known.bounds, units=known.units)
        return Rows(plan.public, norm, bounds=self.bounds)


@dataclass(frozen=True, eq=False)
class Gaussians:
    """A normal density for each class and column.

    Parameters
    ----------
    mean, variance : ndarray of shape (n_classes, n_features)
        Of the densities.
    share : ndarray of shape (n_classes,)
        Of the records.
    total : ndarray of shape (n_features,)
        Variances of the columns, of all classes together.
    """

    mean: Array
    variance: Array
    share: Array
    total: Array

    @classmethod
    def of(cls, moments: Moments) -> Gaussians:
        """Fit the densities, and shrink what noise hides.

        Without noise these are plain means and variances. With noise a mean is its expectation given the answer where
        class means of a column are normal around the common one; the variance of a class is a geometric mean of its own
        and that of all classes, by the noise on it; and what is left unknown of a mean is added to the variance.

        Parameters
        ----------
        moments : Moments
            The answers.
        """
        of_count, of_sum, of_square = moments.noise
        least = LEAST * of_count if of_count else np.finfo(float).tiny
        counts = np.maximum(moments.counts, least)
        share = counts / counts.sum()
        n = max(moments.counts.sum(), least) if moments.n is None else moments.n
        counts, columns = n * share[:, None], share[:, None]
        mean, middle = moments.sums / counts, moments.sums.sum(axis=0) / n
        total = moments.squares.sum(axis=0) / n - middle**2
        square = moments.squares / counts
        if not of_sum:
            return cls(mean, np.maximum(square - mean**2, 0.0), share, total)
        unsure = (of_sum / counts) ** 2
        between = np.maximum((columns * ((mean - middle) ** 2 - unsure)).sum(axis=0), 0.0)
        kept = between / (between + unsure)
        pooled = _pooled(total - between, of_square * math.sqrt(len(counts)) / n)
        own = square - mean**2 + unsure
        doubt = (of_square / counts) ** 2 + 4.0 * mean**2 * unsure
        own = np.maximum(own, np.sqrt(doubt))
        variance = pooled * (own / pooled) ** (1.0 / (1.0 + DOUBT * doubt / pooled**2))
        shrunk = np.clip(middle + kept * (mean - middle), -moments.most, moments.most)
        return cls(shrunk, variance + kept * unsure, share, total)


def _pooled(found: Array, noise: float) -> Array:
    """Variances of columns, drawn to their mean by the noise on them, and no smaller than that."""
    spread = max(float(found.var()) - noise**2, 0.0)
    drawn = found.mean() + spread / (spread + noise**2) * (found - found.mean())
    return np.maximum(drawn, max(noise, RELATIVE * float(np.abs(found).max())))


LARGEST = 1e30  # of a bound
CELLS = 1 << 16  # that are compared with a density together: they stay in the cache


def _are_priors(value: Any) -> bool:
    found, wrong = attempt(lambda: np.asarray(value, dtype=np.float64))
    return (
        wrong is None
        and found.ndim == 1
        and bool((found >= 0.0).all())
        and abs(float(found.sum()) - 1.0) <= 1e-8
    )


def _are_limits(value: Any) -> bool:
    found, wrong = attempt(lambda: [np.asarray(end, dtype=np.float64) for end in value])
    if wrong is not None or len(found) != 2 or any(end.ndim > 1 or not end.size for end in found):
        return False
    low, high = found
    alike = not low.ndim or not high.ndim or low.shape == high.shape
    return bool(
        alike and (np.abs(low) <= LARGEST).all() and (np.abs(high) <= LARGEST).all()
    ) and bool((low < high).all())


_PRIORS: Rule = (
    lambda value: value is None or _are_priors(value),
    "must be a list of one probability for each class, with a sum of 1, or None to take them from noisy counts",
)
_BOUNDS: Rule = (
    lambda value: value is None or _are_limits(value),
    "must be (low, high) with low < high, each a number of size up to 1e30 or one for each column: declare bounds "
    "that you know without looking at the data (cells beyond them are cut), or None",
)
_SMALL: Rule = (
    _between(0.0, LARGEST),
    "must be 0 or a number of at most 1e30: the portion of the largest variance that is added to variances",
)


class DPGaussianNB(PrivateClassifier):
    """Gaussian naive Bayes with (epsilon, delta)-differential privacy.

    One noisy release of the count, the sum and the sum of squares of each class, whose price does not depend on the
    number of classes. Without noise means, variances and priors are those of scikit-learn's ``GaussianNB``. With noise
    they are shrunk as far as it hides them: means to the common mean, variances of classes to that of all classes.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None takes them from noisy counts.
    var_smoothing : float, default=1e-9
        Portion of the largest variance of all columns that is added to variances.
    bounds : (low, high), default=None
        Public bounds of the columns, each a number or one number for each column; cells beyond them are cut. Columns
        are then seen on [-1, 1]. Where neither bounds nor ``data_norm`` is declared, both are estimated privately.
    data_norm : float, default=None
        Public bound on the norm of a row, where ``bounds`` are declared of its columns on [-1, 1]; rows beyond it are
        scaled down to it. Declare it for rows whose norm is far below the root of the number of columns, such as those
        of an encoder.

    Attributes
    ----------
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Private means and variances; where bounds are estimated, of columns on [-1, 1] between ``bounds_``.
    class_prior_ : ndarray of shape (n_classes,)
        Probabilities of the classes.
    class_count_ : ndarray of shape (n_classes,)
        Noisy counts of the classes; those below 0 are 0.
    epsilon_ : float
        What was added to variances by ``var_smoothing``. The privacy loss is in ``privacy_``.

    See Also
    --------
    skdp.DPLogisticRegression : Without the assumption that columns are independent in each class.

    Examples
    --------
    >>> from skdp import DPGaussianNB
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DPGaussianNB(epsilon=2.0, bounds=(0, 16), classes=list(range(10)), random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    >>> len(model.privacy_.script)
    1
    """

    priors: ArrayLike | None = parameter(None, rule=_PRIORS)
    var_smoothing: float = parameter(1e-9, rule=_SMALL)
    bounds: tuple[ArrayLike, ArrayLike] | None = parameter(None, rule=_BOUNDS)
    theta_: Array = field(init=False)
    var_: Array = field(init=False)
    class_prior_: Array = field(init=False)
    class_count_: Array = field(init=False)
    epsilon_: float = field(init=False)

    # A sum has neither a solver nor weights of classes, which its priors are.
    solver: ClassVar[None] = None  # type: ignore[assignment,misc]
    class_weight: ClassVar[None] = None  # type: ignore[assignment,misc]
    multi_class: ClassVar[str] = "multinomial"  # type: ignore[misc]

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows: joint log densities, or their difference where there are two classes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second of two classes; with more classes, one column for each.
        """
        joint = self.predict_joint_log_proba(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict_joint_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the joint density of each row with each class: ``log P(y) + log P(x | y)``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        check_is_fitted(self)
        rows: Any = self._rows(X)
        found = np.empty((rows.shape[0], len(self.theta_)))
        size = max(CELLS // max(rows.shape[1], 1), 1)
        for first in range(0, len(found), size):
            part = slice(first, first + size)
            block = rows[part].toarray() if issparse(rows) else rows[part]
            found[part] = self._joint(np.ascontiguousarray(block, dtype=np.float64))
        return found

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`, without an underflow.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        joint = self.predict_joint_log_proba(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of all classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def _joint(self, rows: Array) -> Array:
        """Log densities, row by row to the last bit."""
        with np.errstate(all="ignore"):
            given = np.log(self.class_prior_) - 0.5 * np.log(2.0 * np.pi * self.var_).sum(axis=1)
            found = np.empty((len(rows), len(given)))
            for k, deviation in enumerate(np.sqrt(self.var_)):
                far = (rows - self.theta_[k]) / deviation
                found[:, k] = given[k] - 0.5 * np.einsum("ij,ij->i", far, far)
            most = 0.25 * float(np.finfo(np.float64).max)  # so that differences are finite, too
            return np.clip(np.nan_to_num(found, nan=-most), -most, most)

    def _check_parameters(self) -> None:
        PrivateEstimator._check_parameters(self)
        if self.classes is not None:
            self._shares(len(self._declared()))

    def _shares(self, classes: int) -> Array | None:
        """Return the declared priors of so many classes."""
        if self.priors is None:
            return None
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != classes:
            raise ValueError(
                f"priors holds {len(priors)} numbers for {classes} classes; give one for each class."
            )
        return priors

    def _limits(self, n_features: int) -> Array | None:
        """Return the declared bounds of each column."""
        if self.bounds is None:
            return None
        pairs = [np.asarray(end, dtype=np.float64) for end in self.bounds]
        if any(end.ndim and len(end) != n_features for end in pairs):
            raise ValueError(
                f"bounds holds one number for each of {max(map(np.size, pairs))} columns, but X has {n_features}."
            )
        return np.column_stack([np.broadcast_to(end, n_features) for end in pairs])

    def _plan(  # type: ignore[override]
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
        *more: Any,
    ) -> Purchase:
        weighted = bool(more and more[0])
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        if spec.private and spec.delta == 0.0:
            raise NotSupported(
                "DPGaussianNB with delta=0 has no price for its Gaussian noise; choose delta well below 1/n, for "
                "example 1e-6."
            )
        classes = max(2, self._outputs() if outputs is None else outputs)
        self._shares(classes)
        public = self._facts(n, n_features, classes, weighted or self._weighted())
        moments = self._moments(classes, n_features)
        facts: dict[str, Any] = {} if public.n is None else {"n": public.n}
        facts |= {"n_features": n_features, **declared, **self._told()}
        facts |= declared_of_rows(self, public.weighted)
        stages: tuple[Stage, ...] = (moments,)
        if moments.bought:
            stages = (*scales_for(spec, public, True, 0), moments)
        unit = "row" if self.max_rows_per_group is None else "person"
        given = spec, stages, public, repr(moments), self.accountant, facts
        plan = Purchase(*given, unit)
        stages[0].refuse(plan)
        return plan

    def _facts(self, n: int | None, n_features: int, classes: int, weighted: bool) -> Public:
        if self.neighbors != "replace_one":
            n = None if self.n_public is None else int(self.n_public)
        return Public(
            n,
            n_features,
            0.0,
            self.neighbors,
            target_bound=max(1.0, classes - 1.0),
            rows=int(self.max_rows_per_group or 1),
            weighted=weighted,
        )

    def _moments(self, classes: int, n_features: int) -> ClassMoments:
        norm = math.inf if self.data_norm is None else float(self.data_norm)
        bounds = self._limits(n_features)
        return ClassMoments(classes, norm, bounds, bounds is None and self.data_norm is None)

    def _told(self) -> dict[str, Any]:
        """Return what is public of the columns, as a receipt says it."""
        declared = {} if self.data_norm is None else {"data_norm": float(self.data_norm)}
        if self.bounds is not None:
            return {"bounds": "declared", **declared}
        return declared or {"data_norm": "none: bought"}

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        known, moments = fitted.known, fitted.known.found
        assert isinstance(fitted.plan, Purchase)
        found, limits = Gaussians.of(moments), self._limits(fitted.plan.public.n_features)
        mean, variance, total = found.mean, found.variance, found.total
        self._keep_scales(known, float(known.norm or 0.0))
        if limits is not None:
            low, high = limits.T / 2.0
            mean, variance = low + high + (high - low) * mean, (high - low) ** 2 * variance
            total = (high - low) ** 2 * total
        self.epsilon_ = float(self.var_smoothing) * max(float(total.max()), 0.0)
        self.theta_, self.var_ = mean, np.maximum(variance + self.epsilon_, 1e-300)
        priors = self._shares(len(mean))
        self.class_prior_ = found.share if priors is None else priors
        self.class_count_ = np.maximum(moments.counts, 0.0) * self._heaviest()

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        raise NotSupported(
            "DPGaussianNB minimises nothing; its parameters are those of class sums."
        )

    def _store(self, w: Array, plan: Plan) -> None:
        raise NotSupported("DPGaussianNB has no solver; its parameters are those of class sums.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.bounds is None  # a 0 is mapped to another number by them
        return tags
