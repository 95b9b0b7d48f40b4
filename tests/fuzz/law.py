"""The law of a fit: a finite model with a receipt not above the target, or one sentence before anything is spent."""

from __future__ import annotations

import linecache
import math
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.exceptions import DataConversionWarning

import skdp
from skdp import BudgetExceeded, NotSupported, PrivacyWarning
from skdp.privacy.events import tally

from .watch import Endless, limited, watched

__all__ = ["ROUNDS", "SECONDS", "Broken", "Outcome", "check", "outcome"]

SENTENCES = (ValueError, TypeError, NotSupported, BudgetExceeded)
WARNINGS = (PrivacyWarning, DataConversionWarning, UserWarning)  # the last: what is ignored
OURS = (*skdp.__path__, str(Path(__file__).parents[1]))  # solvers of the tests are users' own
SECONDS = 60.0  # of processor time for one fit
ROUNDS = 500  # of one inner minimiser
LONGEST = 700  # characters of a sentence


class Broken(AssertionError):
    """A fit that is neither."""


@dataclass
class Outcome:
    """What became of a fit.

    Parameters
    ----------
    refused : str or None
        The sentence; None where a model came out.
    seconds : float
        Of processor time.
    rounds : int
        Most rounds of one inner minimiser.
    """

    refused: str | None
    seconds: float
    rounds: int


def check(case, neighbour=False):
    """Hold one fit to the law, and with ``neighbour`` also the one where a record has changed.

    Parameters
    ----------
    case : Case
        The fit.
    neighbour : bool
        Whether an accepted fit's neighbour and quote are held against it; of a refused one they always are.

    Returns
    -------
    Outcome
    """
    try:
        found = outcome(case)
        if neighbour or found.refused is not None:
            _alike(found, outcome(case.neighbour()), "its neighbour")
            _alike(found, _quoted(case), "its quote")
    except Broken as error:
        raise Broken(f"{error} [{case}]") from error
    return found


def outcome(case):
    """One fit, held to the law by itself."""
    ledger, start = case.ledger(), time.process_time()
    with watched() as seen:
        result, error = _tried(lambda: case.fit(ledger))
    if error is not None:
        _unspent(seen, ledger, error)
        _sentence(error, case)
    else:
        _model(case, *result)
        _paid(case, result[1], seen, ledger)
    if seen.most_rounds > ROUNDS:
        raise Broken(f"an inner minimiser took {seen.most_rounds} rounds")
    told = None if error is None else str(error)
    return Outcome(told, time.process_time() - start, seen.most_rounds)


def _tried(call):
    """What a call returned and raised, in bounded time and without a word beside."""
    result, error = None, None
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with limited(SECONDS):
                result = call()
        except (Exception, Endless) as raised:
            error = raised
    _quiet(said)
    return result, error


def _quoted(case):
    """What public numbers alone say of the fit; a ledger may still refuse it."""
    if case.allowance:
        return None
    error = _tried(case.quote)[1]
    if error is not None:
        _sentence(error, case)
    return Outcome(None if error is None else str(error), 0.0, 0)


def _alike(found, other, whose):
    if other is not None and found.refused != other.refused:
        raise Broken(
            f"{found.refused or 'a model'!r}, but of {whose} {other.refused or 'a model'!r}"
        )


def _quiet(said):
    for warning in said:
        if warning.category not in WARNINGS:
            raise Broken(f"a warning: {warning.category.__name__}: {warning.message}")


def _sentence(error, case):
    """One line of our own, and no cell in it or in what hangs on it."""
    if type(error) not in SENTENCES:
        raise Broken(f"{type(error).__name__}: {error}") from error
    text = str(error)
    if not text or "\n" in text or len(text) > LONGEST or not text.endswith((".", ")")):
        raise Broken(f"no sentence: {text!r}") from error
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno).strip()
    if not last.filename.startswith(OURS) or not line.startswith("raise"):
        raise Broken(
            f"nobody meant to raise: {text!r} from {last.filename}:{last.lineno}"
        ) from error
    whole = "".join(traceback.format_exception(error))
    if any(cell in whole for cell in _cells(case.X)):
        raise Broken("a cell of X is shown") from error


def _cells(X):
    """Some cells as they would be printed, where they have digits enough to be told from others."""
    printed = {repr(float(cell)).partition("e")[0] for cell in X.ravel()[:200]}
    return {digits[:12] for digits in printed if len(digits) > 12}


def _unspent(seen, ledger, error):
    if seen.charged or seen.read_unpaid or (ledger is not None and ledger.scripts):
        raise Broken(
            f"refused when {len(seen.charged)} answers were paid: {type(error).__name__}: {error}"
        ) from error


def _model(case, w, receipt):
    if not np.isfinite(w).all():
        raise Broken("parameters that are not finite")
    target, delta = case.given["epsilon"], case.given["delta"]
    if not receipt.epsilon <= target or receipt.delta != delta:
        raise Broken(
            f"a receipt of ({receipt.epsilon!r}, {receipt.delta!r}) for ({target!r}, {delta!r})"
        )
    if receipt.neighbors != case.relation:
        raise Broken("a receipt of another relation")
    if math.isfinite(target) and not receipt.script:
        raise Broken("a model that nothing was paid for")


def _paid(case, receipt, seen, ledger):
    """What was charged is what the receipt says, and nothing was read before the first charge."""
    if seen.read_unpaid:
        raise Broken(f"rows were read by {seen.read_unpaid[0]} before anything was paid")
    if tally(tuple((event, 1) for event in seen.charged)) != tally(receipt.script):
        raise Broken("the receipt's script is not what was charged")
    if ledger is not None and (len(ledger.scripts) != 1 or not ledger.spent <= ledger.epsilon):
        raise Broken("the ledger was not charged once")
