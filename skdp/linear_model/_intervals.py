"""Intervals for coefficients of least squares, from the noisy moments that a fit has paid for.

Privacy: post-processing. The estimates are those of the noisy moments as they were released: no eigenvalue is moved and
nothing is shrunk, since an interval around a shrunk estimate covers what it was shrunk to.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..exceptions import NotSupported
from ..fitting import Plan
from ..fitting.data import Array, as_text, frames_to_caller
from ..mechanisms import Public
from ..solvers import Budget

__all__ = [
    "COEF_STD_",
    "INTERVAL_ALPHA_",
    "NONE",
    "ROUGH",
    "conf_int",
    "keep_estimates",
    "quantile",
]

INTERVAL_ALPHA_ = """interval_alpha_ : float
    Strength of the penalty of which ``conf_int(of="ridge")`` speaks, as of `DPRidge`: a public number, which follows
    from the noise of the released moments alone. NaN where a solver releases none."""
COEF_STD_ = """coef_std_ : ndarray of shape (n_features,) or (n_targets, n_features)
    Standard errors, of sampling and of noise, of the estimates in the middle of `conf_int`: those of the released
    moments alone, without a penalty and without what `coef_` gains by the rest of the budget. NaN where a solver
    releases no moments, infinite where noise hides a direction."""

# Noise of the rows' moment over its shortest direction, from which intervals are said to be rough, and refused: in
# simulations nominal 95 % covered 94 to 98 % below the first, and 84 to 90 % beyond the second.
ROUGH, NONE = 0.5, 1.0
# Strength of a ridge over the longest that noise makes a direction: with it noise is half of the shortest, about.
STRONG = 3.0
OF = "least_squares", "ridge"
_LEAST = 1e-6  # variance of residuals, for targets in [-1, 1]


def quantile(level: float) -> float:
    """Return how many standard errors an interval reaches to either side; refuse what is not a level."""
    if not isinstance(level, float | np.floating) or not 0.0 < level < 1.0:
        raise ValueError(
            f"level={as_text(level)} must be a number between 0 and 1; the usual is 0.95."
        )
    return float(ndtri(0.5 + 0.5 * level))


@dataclass(frozen=True)
class Estimates:
    """Coefficients without known bias, and their standard errors.

    Parameters
    ----------
    w : ndarray of shape (d,)
        Coefficients of bounded rows.
    deviation : ndarray of shape (d,)
        Their standard errors: of sampling and of noise together.
    ratio : float
        Noise of the rows' moment over its shortest direction.
    """

    w: Array
    deviation: Array
    ratio: float


def estimates(
    moments: Array, noises: tuple[float, float, float], n: float | None, ridge: float = 0.0
) -> Estimates:
    """Least squares of noisy moments, less the second-order bias of an inverse, with their standard errors.

    With V the covariance of the noise of ``products - moment w``, A the moment and ``B = A + ridge``, that of w is
    B^-1 (s^2 A + V) B^-1; residuals are taken to have one variance s^2.

    Parameters
    ----------
    moments : ndarray of shape (d + 1, d + 1)
        As released, targets last.
    noises : tuple of float
        Standard deviations on the diagonal of the rows' part, on products with targets, on the squared target.
    n : float or None
        Number of records; None where nothing tells it.
    ridge : float
        Strength of a ridge.
    """
    moment, products, square = moments[:-1, :-1], moments[:-1, -1], float(moments[-1, -1])
    size, half = len(moment), 0.5 * noises[0] ** 2
    bent = moment + ridge * np.eye(size)
    least = float(np.linalg.eigvalsh(bent)[0])
    if n is None or n <= size or least <= 1e-12 * float(np.trace(bent)):
        nothing = np.full(size, math.inf)
        return Estimates(np.zeros(size), nothing, math.inf)
    inverse = np.linalg.inv(bent)
    w = inverse @ products
    left = square - 2.0 * float(products @ w) + float(w @ moment @ w)
    w = w - half * (inverse @ (float(np.trace(inverse)) * w + inverse @ w))
    noise = (noises[1] ** 2 + half * float(w @ w)) * np.eye(size) + half * np.outer(w, w)
    # What w follows of the noise makes residuals look smaller.
    left += 2.0 * float(np.sum(inverse * noise)) - float(
        np.sum((inverse @ moment @ inverse) * noise)
    )
    residual = max(left / (n - size), _LEAST)
    covariance = inverse @ (residual * moment + noise) @ inverse
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return Estimates(w, deviation, noises[0] * math.sqrt(2.0 * size) / least)


def conf_int(self: Any, level: float = 0.95, *, of: str = "least_squares") -> Array:
    """Confidence intervals of coefficients, for sampling and noise together, at no further cost.

    They are for least squares on records whose rows and targets are bounded as declared, and rest on residuals of equal
    variance. Each holds by itself. Where noise hides a direction of the rows, as it does in most tables of many or
    collinear columns, least squares without a penalty have none; those of a ridge regression have.

    Parameters
    ----------
    level : float, default=0.95
        Share of intervals, over samples and noise, that hold the coefficient.
    of : {"least_squares", "ridge"}, default="least_squares"
        Which coefficients: those without a penalty; or those of a ridge regression on as many records, which are
        shrunk: ``alpha`` is ``interval_alpha_``, of targets less the middle of ``y_bounds``, with a constant column of
        ``data_norm / 4`` that is penalised as the others are.

    Returns
    -------
    ndarray of shape (n_features, 2) or (n_targets, n_features, 2)
        Lower and upper ends.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 3))
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0 + rng.normal(size=5000)
    >>> model = DPLinearRegression(epsilon=2.0, y_bounds=(0.0, 20.0), data_norm=1.8, random_state=0).fit(X, y)
    >>> low, high = model.conf_int(0.99).T
    >>> bool(((low < [3, -2, 1]) & ([3, -2, 1] < high)).all())
    True
    """
    if not (isinstance(of, str) and of in OF):
        raise ValueError(f"of={as_text(of)} is not known; use one of {', '.join(map(repr, OF))}.")
    center, deviation, ratio = self._estimated[OF.index(of)]
    reach = quantile(level) * deviation
    _refuse_or_warn(ratio)
    return np.stack([center - reach, center + reach], axis=-1)


def keep_estimates(
    model: Any, answers: list[tuple[Any, Array]], plan: Plan, w: Array, budget: Budget
) -> None:
    """Keep estimates and their standard errors on the user's scale, from the moments that a fit released."""
    public = plan.public
    unknown = np.full(model.coef_.shape, math.nan)
    model.coef_std_, model.interval_alpha_ = unknown, math.nan
    model._estimated = ((unknown, unknown, math.nan),) * len(OF)
    if public.shares or not answers:
        return
    unit = np.reshape(model._scale()[1], (-1, 1)) / plan.data_norm
    strength = max(_strength(question, public) for question, _ in answers)

    def told(ridge: float) -> tuple[Array, Array, float]:
        found = [_of_one(moments, question, public, ridge) for question, moments in answers]
        center, deviation = (
            np.reshape([part[: public.n_features] for part in parts] * unit, model.coef_.shape)
            for parts in ([one.w for one in found], [one.deviation for one in found])
        )
        return center, deviation, max(one.ratio for one in found)

    model._estimated = told(0.0), told(strength)
    model.coef_std_ = model._estimated[0][1]
    model.interval_alpha_ = strength * plan.data_norm**2


def _strength(question: Any, public: Public) -> float:
    """Return the strength of a ridge beside which noise hides no direction: a public number."""
    return STRONG * float(question.noises(public)[0]) * math.sqrt(2.0 * public.width)


def _of_one(moments: Array, question: Any, public: Public, ridge: float) -> Estimates:
    """Return the estimates of one target, from the moments that were released of it."""
    n: float | None = public.n
    if public.intercept and not public.replace_one:
        n = moments[-2, -2] / public.intercept**2
    return estimates(moments, question.noises(public), n, ridge)


def _refuse_or_warn(ratio: float) -> None:
    if math.isnan(ratio):
        raise NotSupported(
            "conf_int needs joint moments of rows with equal weights, and this fit has released none; use "
            "solver='two-phase' without weights and groups."
        )
    if ratio > NONE:
        raise NotSupported(
            "Noise hides a direction of the rows, so no interval would have its nominal coverage; use more records, "
            "fewer or less collinear columns, a larger epsilon, or solver=TwoPhase(moment_share=0.9), or ask for those "
            "of a ridge regression: conf_int(of='ridge')."
        )
    if ratio > ROUGH:
        warnings.warn(
            "Noise is more than half of the shortest direction of the rows: intervals are rough; see "
            "TwoPhase(moment_share=0.9).",
            UserWarning,
            stacklevel=frames_to_caller(),
        )
