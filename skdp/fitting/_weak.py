"""Warnings, before anything is paid, of promises that protect nobody and of noise that drowns a model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from scipy.special import ndtr, ndtri

from ..exceptions import PrivacyWarning
from ..privacy import Spec
from ..privacy._gaussian import gaussian_mu
from ..privacy.ledger import in_scope
from ._warning import frames_to_caller

__all__ = ["caught", "warn_of_doubts", "warn_of_noise", "warn_of_promise"]

FALSE_ALARMS = 0.05
CAUGHT = 0.99  # of the people in the data, at so many false alarms: then nobody is protected
DROWNED = (
    1.0  # log-odds, or deviations of residuals: noise on a score that is as large as what it tells
)


def caught(spec: Spec) -> float:
    """How many of the people in the data the best attack finds that is wrong about 5 of 100 people outside.

    At delta > 0 of one Gaussian release of that promise, which is what nearly every fit is about; at delta = 0 the most
    that any release may allow.

    Parameters
    ----------
    spec : Spec
        A promise.

    Returns
    -------
    float
        A share.
    """
    if not spec.private:
        return 1.0
    if spec.delta == 0.0:
        loss = math.exp(-spec.epsilon)
        return min(1.0 - loss * (1.0 - FALSE_ALARMS), FALSE_ALARMS / max(loss, FALSE_ALARMS))
    return float(ndtr(gaussian_mu(spec.epsilon, spec.delta) + ndtri(FALSE_ALARMS)))


def warn_of_promise(spec: Spec, n: int | None) -> None:
    """Warn of a promise that protects nobody.

    Parameters
    ----------
    spec : Spec
        The promise.
    n : int or None
        Records, or persons, as far as their number is public.
    """
    if _part_of_a_whole():
        return
    if not spec.private:
        _warn("epsilon=inf adds no noise: the result is NOT private; use it for debugging only.")
        return
    if caught(spec) >= CAUGHT:
        _warn(
            f"epsilon={spec.epsilon:g} protects hardly anybody: an attacker who is wrong about 5 of 100 people outside "
            "the data may find 99 of 100 people in it; 1 is usual, and above 10 little is left."
        )
    if n is not None and spec.delta * n >= 1.0:
        _warn(
            f"delta={spec.delta:g} is not below 1/n={1.0 / n:.2g}: it allows a fit to publish a record now and then; "
            f"choose delta={min(1e-6, n**-1.5):.0e} or less."
        )


def warn_of_doubts(doubts: Iterable[str]) -> None:
    """Warn of what an estimator doubts of its parameters.

    Parameters
    ----------
    doubts : iterable of str
        Sentences.
    """
    if not _part_of_a_whole():
        for told in doubts:
            _warn(told)


def warn_of_noise(error: Mapping[str, Any]) -> None:
    """Warn where noise will move scores so far that little of the model is left.

    Parameters
    ----------
    error : mapping
        A receipt's ``standard_error``, which a quote tells at no cost; empty where public numbers do not tell.
    """
    if error.get("score", 0.0) >= DROWNED and not _part_of_a_whole():
        _warn(
            f"Noise drowns this model: it moves a score by about {error['score']:.2g} {error['unit']}, see quote(); "
            "use more records, fewer columns, tighter bounds or a larger epsilon."
        )


def _part_of_a_whole() -> bool:
    """Whether the release was paid for with others: which ones a search makes is a secret that a warning would tell."""
    scope = in_scope()
    return scope is not None and scope.ledger is None


def _warn(told: str) -> None:
    warnings.warn(told, PrivacyWarning, stacklevel=frames_to_caller())
