"""The two functions that a practitioner of any library looks for."""

from __future__ import annotations

from .accountants import calibrate, epsilon
from .events import PoissonGaussian, Script
from .spec import Spec, check_delta, check_neighbors

__all__ = ["epsilon_spent", "noise_multiplier"]


def noise_multiplier(
    epsilon: float,
    delta: float,
    *,
    steps: int = 1,
    sample_rate: float = 1.0,
    neighbors: str = "replace_one",
) -> float:
    """Least noise that keeps a run of noisy sums within (epsilon, delta).

    Parameters
    ----------
    epsilon, delta : float
        The promise.
    steps : int
        How many sums are released.
    sample_rate : float
        Probability with which each record enters each sum (Poisson sampling).
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation; replacing a record moves a sum by up to 2 C, so it needs more noise.

    Returns
    -------
    float
        Standard deviation of the noise on the sum, over the bound C of one record's contribution
        (under both relations), never too small.

    See Also
    --------
    epsilon_spent : Its inverse.
    calibrate : The same for any script.

    Examples
    --------
    >>> from skdp.privacy import epsilon_spent, noise_multiplier
    >>> z = noise_multiplier(1.0, 1e-6, steps=100, neighbors="add_remove")
    >>> round(z, 2), epsilon_spent(z, 1e-6, steps=100, neighbors="add_remove") <= 1.0
    (42.25, True)
    """
    _check(steps, sample_rate)
    spec = Spec(epsilon, delta, neighbors)
    return calibrate(lambda scale: _script(scale, steps, sample_rate), spec)[0]


def epsilon_spent(
    noise_multiplier: float,
    delta: float,
    *,
    steps: int = 1,
    sample_rate: float = 1.0,
    neighbors: str = "replace_one",
) -> float:
    """Epsilon of a run of noisy sums at delta: the inverse of `noise_multiplier`.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise on the sum, over the bound C of one record's contribution.
    delta : float
        In [0, 1).
    steps, sample_rate, neighbors : object
        As in `noise_multiplier`.

    Returns
    -------
    float
        Never below the true cost.

    See Also
    --------
    noise_multiplier : Its inverse.
    epsilon : The same for any script.

    Examples
    --------
    >>> from skdp.privacy import epsilon_spent
    >>> all_records = epsilon_spent(2.0, 1e-6, steps=10, neighbors="add_remove")
    >>> batches = epsilon_spent(2.0, 1e-6, steps=10, sample_rate=0.01, neighbors="add_remove")
    >>> round(all_records, 2), batches < 0.1 * all_records
    (8.31, True)
    """
    _check(steps, sample_rate)
    script = _script(noise_multiplier, steps, sample_rate)
    return epsilon(script, check_delta(delta), check_neighbors(neighbors))


def _script(multiplier: float, steps: int, sample_rate: float) -> Script:
    return ((PoissonGaussian(multiplier, sample_rate), int(steps)),)


def _check(steps: int, sample_rate: float) -> None:
    if isinstance(steps, bool) or int(steps) != steps or steps < 1:
        raise ValueError(f"steps={steps!r} must be a whole number, 1 or more.")
    if not 0 < sample_rate <= 1:
        raise ValueError(f"sample_rate={sample_rate!r} must lie in (0, 1]; use 1 for all records.")
