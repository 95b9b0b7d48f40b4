"""Checks of scikit-learn that an estimator fails on purpose, and why."""

from __future__ import annotations

from typing import Any

__all__ = ["expected_failed_checks"]

_HEAVIEST = 4.0  # of the weights of scikit-learn's checks of equivalence
_ALL_ZERO = (
    "an error would reveal the weights, which are private: weights of 0 are fitted like any others"
)
_CLIPPED = (
    "a weight counts with max_sample_weight at most, which is 1 where none is declared, and the "
    "check has weights of 4"
)


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator fails on purpose, and why.

    Parameters
    ----------
    estimator : estimator
        One of skdp, at an epsilon where noise does not hide what the checks look for: 1e4 is enough for linear ones.

    Returns
    -------
    dict of str to str
        Names of checks, and the reason of each: ``expected_failed_checks`` of
        `sklearn.utils.estimator_checks.check_estimator`.

    See Also
    --------
    all_estimators : What may be checked.

    Examples
    --------
    >>> from skdp import DPRidge
    >>> from skdp.utils import expected_failed_checks
    >>> list(expected_failed_checks(DPRidge(max_sample_weight=5.0)))
    ['check_all_zero_sample_weights_error']
    """
    known = estimator.get_params(deep=False)
    if "max_sample_weight" not in known:
        return {}
    found = {"check_all_zero_sample_weights_error": _ALL_ZERO}
    bound = known["max_sample_weight"]
    if bound is None or bound < _HEAVIEST:
        for rows in ("dense", "sparse"):
            found[f"check_sample_weight_equivalence_on_{rows}_data"] = _CLIPPED
    return found
