"""Warnings, before anything is paid, of guarantees that protect nobody and of noise that drowns a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from .._messages import frames_to_caller
from ..exceptions import PrivacyWarning
from ..privacy import Spec
from ..privacy._arithmetic import round_up
from ..privacy._risk import PROTECTS_NOBODY, share_caught
from ..privacy.ledger import in_scope

__all__ = ["warn_of_doubts", "warn_of_noise", "warn_of_promise"]

DROWNED = (
    1.0  # log-odds, or deviations of residuals: noise on a score that is as large as what it tells
)


def warn_of_promise(spec: Spec, n: int | None) -> None:
    """Warn of a privacy guarantee that protects nobody.

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
    if share_caught(spec) >= PROTECTS_NOBODY:
        _warn(
            f"epsilon={round_up(spec.epsilon)} protects hardly anybody: an attacker who is wrong about 5 of 100 people "
            "outside the data may find 99 of 100 people in it; 1 is usual, and above 10 little is left."
        )
    if n is not None and spec.delta * n >= 1.0:
        _warn(
            f"delta={round_up(spec.delta)} is not below 1/n={1.0 / n:.2g}: it allows a fit to publish a record now and "
            f"then; choose delta={min(1e-6, n**-1.5):.0e} or less."
        )


def warn_of_doubts(doubts: Iterable[str]) -> None:
    """Warn of parameters that an estimator finds doubtful.

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
            f"Noise drowns this model: it moves a score by about {error['score']:.2g} {error['unit']}; see quote(). "
            "Use more records, fewer columns, tighter bounds or a larger epsilon."
        )


def _part_of_a_whole() -> bool:
    """Return True if the release was paid for together with others.

    Which releases a search makes is then secret, and a warning would reveal it.
    """
    scope = in_scope()
    return scope is not None and scope.ledger is None


def _warn(told: str) -> None:
    warnings.warn(told, PrivacyWarning, stacklevel=frames_to_caller())
