"""How many fits are coming, where scikit-learn says so: what a ledger cannot pay for is refused before the first.

scikit-learn turns what a fit raises into a score of nan and goes on, so a search that runs out on the way would spend
the budget and end with the first candidate, or with no model. It clones the estimator in its own process before it
fits it anywhere, and what is raised there is raised to the user.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any
from weakref import WeakSet

from sklearn.model_selection import GridSearchCV, ParameterGrid, RandomizedSearchCV, check_cv

from ..privacy import Ledger
from ..privacy._gaussian import gaussian_mu
from ..privacy.events import Gaussian, PureDP, Script

__all__ = ["refuse_if_too_many"]

Fits = Counter[float]  # how many of each epsilon

_ASKED: WeakSet[Any] = WeakSet()  # calls that were looked at, by their object that runs jobs
_ROOMS = {
    ("sklearn.model_selection._search", "evaluate_candidates"),
    ("sklearn.model_selection._validation", "cross_validate"),
    ("sklearn.model_selection._validation", "cross_val_predict"),
}


def refuse_if_too_many(estimator: Any, payer: Callable[[], Ledger | None]) -> None:
    """Refuse the first clone of a search or a cross-validation whose fits the ledger cannot hold.

    Parameters
    ----------
    estimator : estimator
        That is being cloned.
    payer : callable
        Finds who pays for its fits.
    """
    frame = _outermost()
    said = {} if frame is None else dict(frame.f_locals)
    jobs = said.get("parallel")
    if jobs is None or jobs in _ASKED:
        return
    _ASKED.add(jobs)
    ledger = payer()
    if ledger is None or not ledger.spec.private:
        return
    fits = _fits_of(said, float(estimator.epsilon))
    if fits is not None:
        scripts = [(_script(e, float(estimator.delta)), count) for e, count in fits.items()]
        ledger.announce(scripts)


def _outermost() -> FrameType | None:
    """The outermost call of a search or a cross-validation around this one."""
    found, frame = None, sys._getframe(1)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) in _ROOMS:
            found = frame
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _fits_of(said: Mapping[str, Any], epsilon: float) -> Fits | None:
    """What such a call is going to fit; None where it does not say."""
    try:
        if "candidate_params" in said:
            search, splits = said["self"], int(said["n_splits"])
            return _of_search(search, said["candidate_params"], splits, epsilon)
        splits = _splits(said["cv"], said)
        return _times(_of_estimator(said["estimator"], said, epsilon), splits)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _of_search(
    search: Any, candidates: Sequence[Mapping[str, Any]], splits: int, epsilon: float
) -> Fits:
    """Each candidate in each split, and the refit of one, the least costly."""
    inner = [_epsilon_in(candidate, epsilon) for candidate in candidates]
    return _times(Counter(inner), splits) + Counter([min(inner)] if search.refit else [])


def _of_estimator(estimator: Any, said: Mapping[str, Any], epsilon: float) -> Fits:
    """A search inside a cross-validation, or one fit."""
    if isinstance(estimator, GridSearchCV):
        candidates: list[Any] = list(ParameterGrid(estimator.param_grid))
    elif isinstance(estimator, RandomizedSearchCV):
        candidates = [{}] * int(estimator.n_iter)
    else:
        return Counter([epsilon])
    return _of_search(estimator, candidates, _splits(check_cv(estimator.cv), said), epsilon)


def _splits(cv: Any, said: Mapping[str, Any]) -> int:
    return int(cv.get_n_splits(said["X"], said["y"], said.get("groups")))


def _times(fits: Fits, count: int) -> Fits:
    return Counter({epsilon: count * times for epsilon, times in fits.items()})


def _epsilon_in(candidate: Mapping[str, Any], epsilon: float) -> float:
    """The candidate's own epsilon, where it has one."""
    own = [float(value) for name, value in candidate.items() if name.split("__")[-1] == "epsilon"]
    return own[0] if own else epsilon


def _script(epsilon: float, delta: float) -> Script:
    """The least that a fit of this promise costs a ledger."""
    if delta == 0.0:
        return ((PureDP(epsilon), 1),)
    return ((Gaussian(1.0 / gaussian_mu(epsilon, delta)), 1),)
