"""Lists whose documents a network scores: gradients of lists, of which no document is left alone with its own.

What is added over a list is clipped as one vector, which may be far shorter than what its documents add one by one.
Beside its norm stands a small share of the sum of theirs: nothing that rounding may do is more (docs/proofs/).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..losses import ListLoss, Lists
from ..models import Linear, Perceptron
from ._bounds import cap
from ._documents import LONGEST, Alike
from ._kernels import ROUNDINGS, UNIT
from ._public import Public

__all__ = [
    "clipped_through",
    "is_linear",
    "pulled_through",
    "reach_through",
    "refuse_scorer",
    "rounding_of_labels",
    "rounding_of_lists",
]

Array = np.ndarray[Any, Any]

STEADY = 2.0**-10  # of the sum of documents' norms, beside the norm of the sum
LEAST = 2.0**-6  # of the longest gradient of a document, under which no span of its list counts


def is_linear(public: Public) -> bool:
    """Return whether scores are linear in the parameters."""
    return type(public.model) is Linear


def refuse_scorer(public: Public) -> None:
    """Refuse a model of which no proof says how gradients of lists are bounded."""
    if type(public.model) not in (Linear, Perceptron):
        raise NotSupported(
            f"{type(public.model).__name__} has no proof for lists of documents; use Linear or Perceptron."
        )


# --------------------------------------------------------------------------------- whole lists


def rounding_of_lists(public: Public, size: int, clip: float) -> float:
    """Bound the distance of the computed sum from the exact sum of the lists' contributions."""
    off = (ROUNDINGS + 64.0 + public.rows + size) / STEADY
    return off * UNIT * public.most * clip


def clipped_through(
    at: Array, loss: ListLoss, clip: float, given: tuple[Any, Any, Array, Lists, Array | None]
) -> Array:
    """Sum over lists of their gradients through the model, each clipped, times the lists' shares.

    Parameters
    ----------
    at : ndarray
        Parameters of the model.
    loss : ListLoss
        Of scores and grades.
    clip : float
        Bound on the norm of a list's gradient.
    given : tuple
        Model, rows, grades, lists and shares, or None where all are whole.
    """
    total, weights = _weighted(at, loss, clip, given)
    if not np.isfinite(np.vdot(total, total)):
        total, _ = _weighted(at, loss, clip, _without(given, weights > 0.0))
    return total


def _weighted(
    at: Array, loss: ListLoss, clip: float, given: tuple[Any, Any, Array, Lists, Array | None]
) -> tuple[Array, Array]:
    """The sum, and the weight of each list."""
    model, rows, y, lists, shares = given
    scores, tape = model.forward(at, rows)
    slopes = loss.slopes(scores, y, lists)
    reach = lists.total(model.norms(tape, slopes)) * STEADY
    reach += model.norms_of_sums(tape, slopes, lists.offsets)
    reach[~np.isfinite(reach)] = np.inf  # NaN would become a weight
    weights = cap(reach, clip)
    if shares is not None:
        weights *= shares
    return model.pullback(tape, slopes, lists.spread(weights)), weights


def _without(
    given: tuple[Any, Any, Array, Lists, Array | None], kept: Array
) -> tuple[Any, Any, Array, Lists, Array | None]:
    """Drop the lists whose pass overflowed: they would add NaN, even times 0."""
    model, rows, y, lists, shares = given
    index = np.flatnonzero(lists.spread(kept))
    left = Lists(np.append(0, np.cumsum(lists.sizes[kept])))
    return model, rows.take(index), y.take(index), left, None if shares is None else shares[kept]


# ------------------------------------------------------------------- labels of public documents


def rounding_of_labels(public: Public, clip: float) -> float:
    """Bound the rounding of the sum where labels choose from gradients of documents."""
    model: Any = public.model
    terms = sum(map(sum, model.shapes(public.width, 1, public.intercept > 0)))
    length = min(public.rows, LONGEST)
    off = (ROUNDINGS + 64.0) / LEAST + 128.0 * (terms + length + 16.0) / LEAST**2
    return off * UNIT * public.most * clip


def reach_through(tape: Any, model: Any, lists: Lists, p: Array, paired: bool) -> Array:
    """Bound the norms, or distances, of the ``p_i (J_i - sum_l p_l J_l)`` of each list, J gradients of scores.

    Parameters
    ----------
    tape : object
        Of the model's pass over the documents.
    model : Perceptron
        The scorer.
    lists : Lists
        Which document is in which list.
    p : ndarray
        Probabilities of documents in their lists.
    paired : bool
        Whether distances are wanted.

    Returns
    -------
    ndarray of shape (n_lists,)
        At least a share `LEAST` of the longest J, infinite where something overflowed.
    """
    ones = np.ones(len(p))
    longest = lists.largest(model.norms(tape, ones))
    found = (16.0 if paired else 4.0) * np.square(longest * lists.largest(p))
    for length in np.unique(lists.sizes[lists.sizes <= LONGEST]):
        chosen = np.flatnonzero(lists.sizes == length)
        documents = lists.offsets[chosen][:, None] + np.arange(length)
        alike = Alike(chosen, documents, model.grams(tape, ones, documents))
        found[chosen] = alike.diameters(p) if paired else alike.lengths(p)
    reach = np.sqrt(np.maximum(found, 0.0) + np.square(LEAST * longest))
    reach[~np.isfinite(reach)] = np.inf
    return np.asarray(reach)


def pulled_through(at: Array, model: Any, rows: Any, tape: Any, weights: Array) -> Array:
    """Sum over documents of weight times gradient of the score; documents whose pass overflowed have none."""
    total: Array = model.pullback(tape, np.ones(len(weights)), weights)
    if np.isfinite(np.vdot(total, total)):
        return total
    kept = np.flatnonzero(weights)
    _, tape = model.forward(at, rows.take(kept))
    again: Array = model.pullback(tape, np.ones(len(kept)), weights[kept])
    return again
