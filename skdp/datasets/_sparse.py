"""A logistic model with few relevant features, to measure which ones a method finds."""

import numpy as np
from scipy.special import expit

from ._encode import Array

__all__ = ["make_sparse_classification"]


def make_sparse_classification(
    n_samples: int = 40_000,
    n_features: int = 100,
    n_relevant: int = 20,
    *,
    correlation: float = 0.5,
    noise: float = 1.0,
    random_state: int | None = 0,
) -> tuple[Array, Array, Array]:
    """Generate correlated Gaussian features of which the first ``n_relevant`` matter.

    The defaults are the synthetic set of the stochastic ADMM paper, section 5.3: covariance
    ``0.5 ** |i - j|``, coefficients 0.5, 1, ..., 5, then their opposites, then zeros, and labels
    drawn from a logistic law whose score carries standard normal noise.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_relevant : int, default=20
        Number of non-zero coefficients; even.
    correlation : float, default=0.5
        Correlation of neighbouring features.
    noise : float, default=1.0
        Standard deviation of the noise added to the score.
    random_state : int or None, default=0
        Seed of the generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Unbounded: bound it before a private fit.
    y : ndarray of shape (n_samples,)
        0 or 1, balanced.
    support : ndarray of int of shape (n_relevant,)
        The relevant features.

    See Also
    --------
    make_census : Mixed columns with declared bounds.

    Examples
    --------
    >>> from skdp.datasets import make_sparse_classification
    >>> X, y, support = make_sparse_classification(n_samples=50)
    >>> X.shape, support[-1]
    ((50, 100), np.int64(19))
    """
    if n_relevant % 2 or not 0 < n_relevant <= n_features:
        raise ValueError(
            f"n_relevant must be even and between 2 and n_features={n_features}, got {n_relevant}."
        )
    if not abs(correlation) < 1:
        raise ValueError(f"correlation must lie strictly between -1 and 1, got {correlation}.")
    rng = np.random.default_rng(random_state)
    X = _autoregressive(rng.standard_normal((n_samples, n_features)), correlation)
    slopes = 0.5 * np.arange(1, n_relevant // 2 + 1)
    score = X[:, :n_relevant] @ np.concatenate([slopes, -slopes])
    score += noise * rng.standard_normal(n_samples)
    y = (rng.random(n_samples) < expit(score)).astype(np.int64)
    return X, y, np.arange(n_relevant)


def _autoregressive(innovations: Array, correlation: float) -> Array:
    """Rows with covariance ``correlation ** |i - j|``: an AR(1) started in its stationary law."""
    innovations[:, 1:] *= np.sqrt(1 - correlation**2)
    from scipy.signal import lfilter  # it takes long to load

    return lfilter([1.0], [1.0, -correlation], innovations, axis=1)
