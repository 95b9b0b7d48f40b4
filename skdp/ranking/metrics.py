"""Metrics of a ranking: NDCG, average precision and reciprocal rank of all lists at once.

Three conventions hold for all. *Ties*: documents of equal scores share their places, so a figure is the expectation
over random orders of them, as in scikit-learn's `ndcg_score` (McSherry and Najork 2008, "Computing information
retrieval performance measures efficiently in the presence of tied scores"). *Lists without a relevant document* count
with `empty`, which is 0 unless you say otherwise, as in scikit-learn and LETOR; XGBoost and LightGBM count them as 1.
*Relevant* is what has a grade above 0.

All are computed in the clear: a figure of private records is as private as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ..entry import sizes_of
from ..fitting.data import Array, as_text, attempt

__all__ = ["average_precision", "ndcg", "reciprocal_rank"]

LARGEST_GRADE = 31  # of exponential gains, as in XGBoost


@dataclass(frozen=True)
class _Standing:
    """Documents list by list, best score first, and what is known of each one's place.

    Parameters
    ----------
    grades : ndarray of shape (n,)
        In that order.
    starts : ndarray of shape (n_lists,)
        Where lists begin.
    group : ndarray of shape (n,)
        Documents of equal scores in a list have one number, counted from 0.
    """

    grades: Array
    starts: Array
    group: Array

    @property
    def place(self) -> Array:
        """Places in the list, from 0."""
        return np.arange(len(self.grades)) - np.repeat(self.starts, self.sizes)

    @property
    def sizes(self) -> Array:
        """Documents of each list."""
        return np.diff(np.append(self.starts, len(self.grades)))

    def in_list(self, values: Array) -> Array:
        """Sum over each list."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def in_group(self, values: Array) -> Array:
        """Return for each document the sum of values over the documents with its score."""
        return np.asarray(np.bincount(self.group, values)[self.group])

    def before(self, values: Array) -> Array:
        """Return for each document the sum of values over the documents of its list with better scores."""
        running = np.cumsum(values) - values
        first = np.searchsorted(self.group, self.group)
        return np.asarray(running[first] - np.repeat(running[self.starts], self.sizes))


def _standing(y: Any, scores: Any, qid: Any, group: Any) -> _Standing:
    y, scores = _column(y, "y"), _column(scores, "scores")
    if len(y) != len(scores):
        raise ValueError("y and scores must have one number for each document.")
    if (y < 0).any():
        raise ValueError("y holds a negative grade; grades are 0 or more.")
    sizes = sizes_of(qid, group, len(y))
    of_list = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-scores, of_list))
    best = scores[order]
    fresh = np.append(False, (best[1:] != best[:-1]) | (of_list[1:] != of_list[:-1]))
    return _Standing(y[order], np.cumsum(sizes) - sizes, np.cumsum(fresh))


def _column(given: Any, name: str) -> Array:
    found, wrong = attempt(lambda: np.asarray(given, dtype=np.float64))
    if wrong is not None or found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise ValueError(
            f"{name} must be a 1D array of finite numbers, one for each document; give one document at least."
        )
    return np.asarray(found)


def _told(values: Array, relevant: Array, empty: float, average: bool) -> Any:
    values = np.where(relevant > 0, values, float(empty))
    return float(values.mean()) if average else values


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    k: int | None = None,
    gains: str = "exponential",
    empty: float = 0.0,
    average: bool = True,
) -> Any:
    """Normalised discounted cumulative gain of the first k places.

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades, 0 or more.
    scores : array-like of shape (n,)
        What documents are ranked by, best first.
    qid : array-like of shape (n,)
        The id of each document's query; those of a query stand together.
    group : array-like of shape (n_lists,)
        Documents of each list, in the place of ids.
    k : int, default=None
        Places that count; None for all.
    gains : {"exponential", "linear"}, default="exponential"
        What a grade is worth: 2^y - 1, or y, which is scikit-learn's.
    empty : float, default=0.0
        Figure of a list without a relevant document.
    average : bool, default=True
        Whether to return the mean over lists.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Between 0 and 1.

    See Also
    --------
    average_precision : Of relevant or not.

    Examples
    --------
    >>> from skdp.ranking.metrics import ndcg
    >>> ndcg([0, 2, 1, 0, 1], [0.1, 0.9, 0.4, 0.8, 0.2], qid=[7, 7, 7, 9, 9], k=1)
    0.5
    """
    if gains not in ("exponential", "linear"):
        raise ValueError(f"gains={as_text(gains)} is not known; use 'exponential' or 'linear'.")
    if k is not None and not (isinstance(k, int | np.integer) and k >= 1):
        raise ValueError(f"k={as_text(k)} must be a whole number of 1 or more, or None for all.")
    lists = _standing(y, scores, qid, group)
    if gains == "exponential" and lists.grades.max() > LARGEST_GRADE:
        raise ValueError(f"y holds a grade above {LARGEST_GRADE}; use gains='linear'.")
    gain = np.exp2(lists.grades) - 1.0 if gains == "exponential" else lists.grades
    discount = np.where(lists.place < (k or np.inf), 1.0 / np.log2(lists.place + 2.0), 0.0)
    shared = lists.in_group(discount) / lists.in_group(np.ones(len(gain)))
    ideal = gain[np.lexsort((-gain, np.repeat(np.arange(len(lists.starts)), lists.sizes)))]
    most = lists.in_list(ideal * discount)
    found = lists.in_list(gain * shared) / np.where(most > 0, most, 1.0)
    return _told(found, most, empty, average)


def average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    empty: float = 0.0,
    average: bool = True,
) -> Any:
    """Average precision: the mean over relevant documents of the share of relevant ones down to their place.

    Parameters
    ----------
    y, scores, qid, group : array-like
        As in `ndcg`.
    empty, average : object
        As in `ndcg`.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The mean over lists is known as MAP.

    See Also
    --------
    ndcg : Of grades.
    reciprocal_rank : Of the first relevant document.

    Examples
    --------
    >>> from skdp.ranking.metrics import average_precision
    >>> round(average_precision([1, 0, 1, 1, 0], [5, 4, 3, 2, 1], group=[5]), 3)
    0.806
    """
    lists = _standing(y, scores, qid, group)
    relevant = (lists.grades > 0).astype(np.float64)
    tied, hits = lists.in_group(np.ones(len(relevant))), lists.in_group(relevant)
    above = lists.before(np.ones(len(relevant)))
    # Where a relevant document of a tie stands there, each other of the tie's is before it with equal chance.
    within = (lists.place - above) * (hits - 1.0) / np.maximum(tied - 1.0, 1.0)
    precision = (lists.before(relevant) + within + 1.0) / (lists.place + 1.0)
    total = lists.in_list(relevant)
    found = lists.in_list(hits / tied * precision) / np.maximum(total, 1.0)
    return _told(found, total, empty, average)


def reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    empty: float = 0.0,
    average: bool = True,
) -> Any:
    """Compute one over the place of the first relevant document.

    Parameters
    ----------
    y, scores, qid, group : array-like
        As in `ndcg`.
    empty, average : object
        As in `ndcg`.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Reciprocal ranks; their mean over lists is known as MRR.

    See Also
    --------
    average_precision : Of all relevant documents.

    Examples
    --------
    >>> from skdp.ranking.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 1, 1, 0], [5, 4, 3, 3], group=[3, 1])
    0.25
    """
    lists = _standing(y, scores, qid, group)
    relevant = (lists.grades > 0).astype(np.float64)
    tied, hits = lists.in_group(np.ones(len(relevant))), lists.in_group(relevant)
    within = lists.place - lists.before(np.ones(len(relevant)))
    # The first of the tie's relevant ones is there if the others of them fill places behind it.
    behind = tied - 1.0 - within
    possible = (hits > 0) & (behind >= hits - 1.0) & (lists.before(relevant) == 0)
    chance = np.exp(
        _log_choose(np.maximum(behind, hits - 1.0), hits - 1.0) - _log_choose(tied, hits)
    )
    found = lists.in_list(np.where(possible, chance / (lists.place + 1.0), 0.0))
    return _told(found, lists.in_list(relevant), empty, average)


def _log_choose(n: Array, k: Array) -> Array:
    k = np.maximum(k, 0.0)
    n = np.maximum(n, k)
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
