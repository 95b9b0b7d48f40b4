"""A logistic model with few relevant features, to measure which ones a method finds."""

from typing import Literal, overload

import numpy as np
from scipy.special import expit

from ._fetch import Folder, fetch_mnist, locate
from ._table import Array, Matrix

__all__ = ["load_mnist", "make_sparse_classification"]


@overload
def load_mnist(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[False] = ...
) -> Matrix:
    """Load it as a matrix."""


@overload
def load_mnist(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_mnist(
    data_home: Folder = None, *, download: bool = False, return_X_y: bool = False
) -> Matrix | tuple[Array, Array]:
    """Load MNIST: which digit does a 28 by 28 image show?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``mnist/mnist.npz``; by default what SKDP_DATA names, else ``~/skdp_data``.
    download : bool, default=False
        Fetch the four files from their public mirror when it is missing.
    return_X_y : bool, default=False
        Return encoded rows (float32) and target instead of the matrix.

    Returns
    -------
    Matrix or (ndarray, ndarray)
        70,000 rows, 784 pixels of 0 to 255; ``split`` tells the 60,000 train rows from the
        10,000 test rows.

    See Also
    --------
    Matrix : What it returns.
    """
    with np.load(locate("mnist/mnist.npz", data_home, fetch_mnist if download else None)) as file:
        X = np.concatenate([file["X_train"], file["X_test"]]).reshape(-1, 784)
        y = np.concatenate([file["y_train"], file["y_test"]]).astype(int)
        split = np.repeat(["train", "test"], [len(file["y_train"]), len(file["y_test"])])
    digits = tuple("0123456789")
    data = Matrix("mnist", X, y, np.zeros(784), np.full(784, 255.0), digits, split=split)
    return (data.encode(np.float32), data.target) if return_X_y else data


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
