"""Transformers that pay for the second moment of rows of a declared norm.

`DPPCA` keeps the principal components that stand out of the noise, `DPWhitener` makes rows of about the same length in
all directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..entry import Facts, Rows
from ..fitting import Plan, Purchase, Stage
from ..fitting._fields import parameter
from ..fitting._parameters import RULES, Rule
from ..fitting.data import Array, rows_times
from ..fitting.stages import Known, Look
from ..mechanisms import Public, SecondMoment, Statement, state
from ..solvers import Budget
from ..solvers._solver import count_asked, record_count
from ._transformer import BoughtTransformer

__all__ = ["DPPCA", "DPWhitener"]


@dataclass(frozen=True, repr=False)
class RowMoment(Stage):
    """The second moment of the rows, and their number where it is private.

    Parameters
    ----------
    norm : float
        Declared bound of the rows.
    """

    norm: float
    share: float = 1.0

    def __repr__(self) -> str:
        return "RowMoment()"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the number, and the moment."""
        public, budget = plan.public, plan.budget(noise=noise)
        return state([*count_asked(public, budget), (SecondMoment(multiplier=noise), 1)], public)

    def views(self, plan: Plan | Purchase) -> tuple[Rows, ...]:
        """Return the rows."""
        return (Rows(plan.public, self.norm),)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Pay for the moment and the number of records, and keep what the transformer makes of them."""
        oracle = look(self.views(plan)[0])
        n = record_count(oracle, plan.budget(noise=noise))
        moment = oracle.ask(SecondMoment(multiplier=noise)) / n
        return replace(known, found=self.made_of(moment, error_of(plan.public, noise, n)))

    def made_of(self, moment: Array, error: float) -> Array:
        """Return what is made of a mean moment, whose noise nearly always has no eigenvalue larger than `error`."""
        raise NotImplementedError


def error_of(public: Public, noise: float, n: float) -> float:
    """The largest eigenvalue of the noise in a mean moment: entries off the diagonal have noise over sqrt(2)."""
    return float(noise * public.row_bound**2 * np.sqrt(2.0 * public.width) / n)


_LIES, _TOLD = RULES["data_norm"]
DECLARED_NORM: Rule = lambda value: value is not None and _LIES(value), _TOLD


class MomentTransformer(BoughtTransformer):
    """Base of the transformers that map rows by their private second moment.

    Parameters
    ----------
    data_norm : float, default=1.0
        Public bound on the norm of a row; rows beyond it are scaled down to it.

    Attributes
    ----------
    row_norm_ : float
        1: the norm of a row that leaves, for a private estimator's ``data_norm``.
    """

    data_norm: float = parameter(1.0, rule=DECLARED_NORM)
    _cells: ClassVar[str] = "numbers"

    @property
    def row_norm_(self) -> float:
        """Bound on the norm of transformed rows: 1, since each row is divided by the largest norm it may have."""
        return 1.0

    def _declare(self, facts: Facts) -> dict[str, Any]:
        return {"data_norm": float(self.data_norm)}

    def _inside(self, x: Array) -> Array:
        """Rows over ``data_norm``, those beyond it scaled down to it, as in the fit."""
        largest = np.maximum(np.abs(x).max(axis=1), float(self.data_norm) * 1e-30)[:, None]
        shares = x / largest
        norms = np.sqrt(np.einsum("ij,ij->i", shares, shares))[:, None]
        inside: Array = shares * np.minimum(
            largest / float(self.data_norm), 1.0 / np.maximum(norms, 1.0)
        )
        return inside

    def _within_one(self, rows: Array) -> Array:
        """Rows, those longer than 1 scaled down to it."""
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        slack = 1.0 + (rows.shape[1] + 8.0) * np.finfo(np.float64).eps
        cut: Array = rows / np.maximum(lengths * slack, 1.0)[:, None]
        return cut

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = False
        return tags


CONSTANT = (
    0.25  # column beside a row of norm at most 1, whose products with the others are the mean
)
POWER = 0.25  # half way to whitening, whose power is a half: short components hold less, and more of the noise
TYPICAL = 0.75  # of the typical norm, beyond which a row is scaled down: most rows are as long as the price allows


class Components(RowMoment):
    """The mean, components and their variances, those first that vary most, as rows of one array."""

    def made_of(self, moment: Array, error: float) -> Array:
        """Return the mean, the components and their variances.

        Components lie in the directions of the moment about zero whose eigenvalues noise alone would not reach; the
        largest direction is kept in any case.

        Only directions of the moment about zero whose eigenvalues noise alone would not reach are kept.
        """
        values, vectors = _above(moment[:-1, :-1], error)
        mean = (
            moment[:-1, -1] @ vectors / CONSTANT
        )  # where it is seen: elsewhere there is more noise than mean
        variances, turned = _above(np.diag(values) - np.outer(mean, mean), error)
        found = np.vstack([vectors @ mean, (vectors @ turned).T])
        return np.column_stack([found, np.append(0.0, variances)])


def _above(matrix: Array, least: float) -> tuple[Array, Array]:
    """Eigenvalues above the least one and their vectors, the largest first; the largest in any case."""
    values, vectors = np.linalg.eigh(matrix)
    count = max(1, int(np.count_nonzero(values > least)))
    return np.maximum(values[::-1][:count], 1e-12), vectors[:, ::-1][:, :count]


class DPPCA(MomentTransformer):
    """Buy mean and second moment of the rows, and keep their principal components as far as noise lets them be seen.

    Rows are centred, turned to the components whose variance is larger than noise alone would show, each divided by the
    fourth root of its variance, and scaled to norm 1 or less. Columns that say much the same (pixels, genes, words)
    become a few that do not: an estimator behind it has fewer weights to hide, and steps suit all of them.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Private mean of the rows over ``data_norm``.
    components_ : ndarray of shape (n_components_, n_features)
        Private directions, of norm 1, those first along which rows vary most.
    explained_variance_ : ndarray of shape (n_components_,)
        Private variances along them, of rows over ``data_norm``, noise included.
    n_components_ : int
        How many are seen: one at least.

    See Also
    --------
    DPWhitener : Keeps all directions, and columns as they are named.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPPCA
    >>> rng = np.random.default_rng(0)
    >>> X = 5.0 + rng.normal(size=(20_000, 2)) @ rng.normal(size=(2, 30))
    >>> model = DPPCA(epsilon=1.0, data_norm=40.0, random_state=0).fit(X)
    >>> model.n_components_, model.transform(X).shape
    (2, (20000, 2))
    """

    mean_: Array = field(init=False)
    components_: Array = field(init=False)
    explained_variance_: Array = field(init=False)
    n_components_: int = field(init=False)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the components: dppca0, dppca1 and so on.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"dppca{k}" for k in range(self.n_components_)], dtype=object)

    def _public(self, n: int | None, n_features: int) -> Public:
        return replace(super()._public(n, n_features), intercept=CONSTANT)

    def _stage(self) -> Stage:
        return Components(float(self.data_norm))

    def _store(self, w: Array) -> None:
        self.mean_, self.components_ = w[0, :-1], w[1:, :-1]
        self.explained_variance_, self.n_components_ = w[1:, -1], len(w) - 1

    def _mapped(self, x: Array) -> Array:
        stretch = self.explained_variance_**-POWER
        typical = np.sqrt(np.square(stretch) @ self.explained_variance_)
        rows = rows_times(self._inside(x) - self.mean_, self.components_.T * stretch)
        return self._within_one(rows / (TYPICAL * typical))


LEAST = 1e-3  # of the largest possible eigenvalue: shorter directions are not stretched further
LONGEST = 1.25  # typical norms of a whitened row, beyond which it is scaled down


class Whitening(RowMoment):
    """The symmetric matrix that whitens rows, with a floor below which noise would be stretched."""

    def made_of(self, moment: Array, error: float) -> Array:
        """Roots of what is longer than the floor."""
        values, vectors = np.linalg.eigh(moment)
        floor = 0.5 * error + LEAST
        return np.asarray((vectors / np.sqrt(np.maximum(values, 0.0) + floor)) @ vectors.T)


class DPWhitener(MomentTransformer):
    """Buy the second moment of the rows, and stretch them until no direction is longer than another.

    Correlated columns become columns that are not, and short ones as long as the others, as far as the noise lets the
    moment be seen. ``solver="auto"`` of a linear classifier does this by itself: as a step it serves other solvers and
    other estimators. Rows are not centred.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised.

    Attributes
    ----------
    whitening_ : ndarray of shape (n_features, n_features)
        The private matrix that rows are multiplied by; symmetric.

    See Also
    --------
    DPPCA : Centres rows, and leaves out the directions that noise hides.
    DPBounds : Bounds of columns where none are known, to put before it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPWhitener
    >>> shared = np.random.default_rng(0).normal(size=(20_000, 1))
    >>> X = np.hstack([shared, shared + 0.3 * np.random.default_rng(1).normal(size=(20_000, 1))]) / 5
    >>> rows = DPWhitener(epsilon=1.0, random_state=0).fit_transform(X)
    >>> bool(np.corrcoef(X.T)[0, 1] > 0.9 and abs(np.corrcoef(rows.T)[0, 1]) < 0.4)
    True
    """

    whitening_: Array = field(init=False)

    def _stage(self) -> Stage:
        return Whitening(float(self.data_norm))

    def _store(self, w: Array) -> None:
        self.whitening_ = w

    def _mapped(self, x: Array) -> Array:
        rows = rows_times(self._inside(x), self.whitening_)
        return self._within_one(rows / (LONGEST * math.sqrt(x.shape[1])))
