"""Questions about lists of documents.

* `ListGradient`: the clipped gradient of whole lists, which ranking asks where documents are private.
* `LabelGradient`: the gradient of BayesRank, with noise for how far labels can move it, where documents are public.
* `ListTargets`: all that ListNet with linear scores wants of labels, where documents are public.

Lists whose documents a network scores: gradients of lists, of which no document is left alone with its own.

What is added over a list is clipped as one vector, which may be far shorter than what its documents add one by one.
Beside its norm stands a small share of the sum of theirs: nothing that rounding may do is more (docs/proofs/).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import BayesRank, ListLoss, ListNet, Lists
from ..models import Linear, Perceptron
from ..privacy.events import Event
from ._bounds import cap, linear_rows, refuse_shape, refuse_unless_linear
from ._documents import LONGEST, Alike, slack, sums_by_list
from ._kernels import ROUNDINGS, UNIT, in_pieces, row_norms
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._public import Public
from ._records import Records

__all__ = ["LabelGradient", "ListGradient", "ListTargets", "refuse_loss"]


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


def lists_of(records: Records) -> Lists:
    """Lists that are not empty; where records are rows, each is a list of its own."""
    if records.units is None:
        return Lists(np.arange(len(records.rows) + 1))
    begins = records.units.begins
    if begins is not None:
        return Lists(np.append(np.flatnonzero(begins), len(begins)))
    return Lists.of(records.units.offsets)


def shares_of(records: Records, lists: Lists) -> Array | None:
    """Return the weight of each list in its unit; None where a list is a unit."""
    units = records.units
    if units is None or units.begins is None:
        return None
    return units.weights.take(lists.offsets[:-1])


def scores_at(w: Array, rows: Any) -> Array:
    """Scores of documents, in double precision, each made of its own row; those that overflow are not numbers."""
    return np.asarray(rows.dot(w), dtype=np.float64)


def refuse_loss(question: Any, kind: type) -> None:
    """Refuse what is not a loss of lists: others know nothing of what belongs together."""
    if not isinstance(question.loss, kind):
        raise NotSupported(
            f"{type(question).__name__} was given the loss {type(question.loss).__name__}; give a {kind.__name__}."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ListGradient(Additive):
    """Sum over lists of their gradients of the loss, each clipped to norm `clip`, plus Gaussian noise.

    Where a unit holds several lists, their clipped gradients are averaged.

    Parameters
    ----------
    at : ndarray
        Parameters of linear scores, or of a network's, at which the gradient is taken.
    loss : ListLoss
        Of ``skdp.losses.LIST_LOSSES``.
    clip : float
        Bound on the norm of one list's gradient.

    See Also
    --------
    LabelGradient : Where documents are public.
    Gradient : Of records that are rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import ListNet
    >>> from skdp.mechanisms import ListGradient, Public
    >>> public = Public(500, 2, 0.0, "replace_one", rows=100, lists="documents")
    >>> question = ListGradient(at=np.zeros(2), loss=ListNet(), clip=0.5, multiplier=4.0)
    >>> question.event(public)
    Gaussian(multiplier=2.0)
    """

    proof: ClassVar[str] = "list_gradient"
    of_lists: ClassVar[bool] = True
    covers_users: ClassVar[bool] = True
    at: Any
    loss: ListLoss
    clip: float

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",), bounds=("clip",), arrays=("at",))
        refuse_loss(self, ListLoss)

    def bound(self, public: Public) -> float:
        """The clip."""
        return self.clip

    def size(self, public: Public) -> int:
        """Return the number of parameters."""
        refuse_scorer(public)
        refuse_shape(self.at.shape, self.loss, public)
        return int(self.at.size)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of the sum; through a network, of each document's part, which may be much more."""
        if is_linear(public):
            return super().rounding(public)
        return rounding_of_lists(public, self.size(public), self.clip)

    def measure(self, records: Records) -> Array:
        """Sum of the clipped gradients."""
        if not len(records.rows):
            return np.zeros(self.at.shape)
        return records.sum(self._clipped)

    def _clipped(self, records: Records) -> Array:
        # A list whose pass overflows must neither warn nor spoil the sum: either would show that it is there.
        with np.errstate(all="ignore"):
            lists, y = lists_of(records), records.y.astype(float)
            shares = shares_of(records, lists)
            if not is_linear(records.public):
                given = records.model, records.rows, y, lists, shares
                return clipped_through(self.at, self.loss, self.clip, given)
            slopes = self.loss.slopes(scores_at(self.at, records.rows), y, lists)
            gradients = sums_by_list(slopes, records.rows.to_dense(), lists)
            norms = row_norms(gradients)
            beyond = ~np.isfinite(norms)
            gradients[beyond], norms[beyond] = 0.0, np.inf  # NaN would become a weight
            weights = cap(norms, self.clip)
            return in_pieces(gradients, weights if shares is None else weights * shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelGradient(Additive):
    """Sum over lists of their gradients of BayesRank with kept labels, each scaled by its documents alone, plus noise.

    With p the softmax of a list's scores, its gradient is ``-sum_i c_i v_i``, ``v_i = p_i (x_i - sum_l p_l x_l)``, for
    shares c of sum 1 that its labels give. Whatever they are, it is in the convex hull of these vectors. A list whose
    hull is too wide is scaled down as a whole, by a factor in which no label has a say.

    Parameters
    ----------
    at : ndarray
        Parameters of linear scores, or of a network's, at which the gradient is taken.
    loss : BayesRank
        Its labels are kept: of the highest grade, with equal shares.
    clip : float
        Bound on the norm of every ``v_i`` of a list; if `paired`, on their distances, where documents are public.
    paired : bool
        Whether distances are bounded, so that labels move the sum by one clip, not by two.

    See Also
    --------
    ListGradient : Clips by documents and labels, for any loss.
    Documents : Where distances come from.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import BayesRank
    >>> from skdp.mechanisms import Documents, LabelGradient, Public
    >>> shown = Documents.of(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [3], data_norm=2.0)
    >>> public = Public(1, 2, 0.0, "replace_one", rows=3, lists="labels", documents=shown)
    >>> question = LabelGradient(at=np.zeros(2), loss=BayesRank(), clip=0.2, paired=True, multiplier=4.0)
    >>> question.sensitivity(public), question.event(public)
    (0.2, Gaussian(multiplier=4.0))
    """

    proof: ClassVar[str] = "label_gradient"
    of_lists: ClassVar[bool] = True
    at: Any
    loss: BayesRank
    clip: float
    paired: bool = False

    def __post_init__(self) -> None:
        given: Any = {"scales": ("multiplier",), "bounds": ("clip",), "arrays": ("at",)}
        freeze_fields(self, **given, flags=("paired",))
        refuse_loss(self, BayesRank)
        if not self.loss.kept:
            raise NotSupported(
                "LabelGradient has a proof for BayesRank(kept=True) only; ask ListGradient."
            )

    def _by_pairs(self, public: Public) -> bool:
        return self.paired and public.documents is not None

    def bound(self, public: Public) -> float:
        """The clip: the v_i of a list sum to 0, so they are no longer than the widest of their distances."""
        return self.clip

    def size(self, public: Public) -> int:
        """Return the number of parameters."""
        refuse_scorer(public)
        if not is_linear(public) and public.lists != "labels":
            raise NotSupported(
                "LabelGradient through a network has a proof for public documents only; ask ListGradient."
            )
        refuse_shape(self.at.shape, self.loss, public)
        return int(self.at.size)

    def sensitivity(self, public: Public) -> float:
        """Return one clip where distances between labels of the same documents are bounded, else two bounds."""
        return self.clip if self._by_pairs(public) else super().sensitivity(public)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of a sum of documents, whose weights have an absolute sum of at most 1 in each list."""
        if not is_linear(public):
            return rounding_of_labels(public, self.clip)
        return (ROUNDINGS + 64.0) * UNIT * public.most * (public.row_bound + self.clip)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Return the event on a Poisson batch; refused for bounded distances, where it costs more."""
        if self._by_pairs(public):
            raise NotSupported("LabelGradient(paired=True) has no price on a batch; use False.")
        return super().sampled_event(public, rate)

    def measure(self, records: Records) -> Array:
        """Sum of the scaled gradients."""
        if not len(records.rows):
            return np.zeros(self.at.shape)
        shown = records.public.documents
        if not is_linear(records.public):
            return records.sum(self._through)
        if not self.paired or shown is None:
            return records.sum(self._by_norms)
        with np.errstate(all="ignore"):
            lists = lists_of(records)
            p = self._chances(scores_at(self.at, records.rows), lists)
            return np.asarray(records.rows.tdot(self._slopes(records, lists, p, shown.spans(p))))

    def _through(self, records: Records) -> Array:
        with np.errstate(all="ignore"):
            lists, model = lists_of(records), records.model
            scores, tape = model.forward(self.at, records.rows)
            p = self._chances(scores, lists)
            reach = reach_through(tape, model, lists, p, self._by_pairs(records.public))
            slopes = self._slopes(records, lists, p, reach)
            return pulled_through(self.at, model, records.rows, tape, slopes)

    def _chances(self, scores: Array, lists: Lists) -> Array:
        """Softmax of each list's scores; where a score overflows, no document has a chance."""
        p, _ = lists.softmax(scores)
        p[lists.spread(~np.isfinite(lists.total(p)))] = 0.0
        return p

    def _by_norms(self, records: Records) -> Array:
        with np.errstate(all="ignore"):
            lists, x = lists_of(records), records.rows.to_dense()
            p = self._chances(scores_at(self.at, records.rows), lists)
            x -= np.repeat(sums_by_list(p, x, lists), lists.sizes, axis=0)
            reach = lists.largest(p * row_norms(x)) + slack(records.rows.width, lists.sizes)
            return np.asarray(records.rows.tdot(self._slopes(records, lists, p, reach)))

    def _slopes(self, records: Records, lists: Lists, p: Array, reach: Array) -> Array:
        """Return the factors of the documents, from the reach of the hull of each list's vectors."""
        worth = self.loss.worth(records.y.astype(float), lists)
        worth -= lists.spread(lists.total(p * worth))
        worth *= -p * lists.spread(self.clip / np.maximum(reach, self.clip))
        return worth


@dataclass(frozen=True, eq=False, kw_only=True)
class ListTargets(Additive):
    """Sum over lists of the mean of their documents by gains, less their plain mean, plus Gaussian noise.

    A list adds ``sum_i P_i x_i - mean_i x_i`` with `ListNet`'s shares P. The rest of ListNet's loss is a function of
    documents and parameters, so this one answer is all that a minimiser of it needs.

    See Also
    --------
    Documents : Their diameter is what labels can move it by.
    LabelGradient : For a loss that is not linear in what labels say.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Documents, ListTargets, Public
    >>> shown = Documents.of(np.array([[1.0, 0.0], [0.0, 1.0]]), [2], data_norm=1.0)
    >>> public = Public(1, 2, 0.0, "replace_one", rows=2, lists="labels", documents=shown)
    >>> round(ListTargets(multiplier=3.0).sensitivity(public), 6)
    1.414214
    """

    proof: ClassVar[str] = "list_targets"
    of_lists: ClassVar[bool] = True

    def bound(self, public: Public) -> float:
        """The diameter of the widest list; of any list of bounded rows before documents are known."""
        refuse_unless_linear(public)
        if public.lists == "documents" or not public.replace_one:
            raise NotSupported(
                "ListTargets is proved for public documents and neighbors='replace_one' only; ask ListGradient."
            )
        return 2.0 * public.row_bound if public.documents is None else public.documents.diameter

    def size(self, public: Public) -> int:
        """Return the number of columns."""
        return public.width

    def sensitivity(self, public: Public) -> float:
        """Bound the distance of two documents of a list: labels choose a point in the hull of its documents."""
        return self.bound(public)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of a sum of documents, whose weights have an absolute sum of at most 2 in each list."""
        return (
            2.0 * (ROUNDINGS + 64.0) * UNIT * public.most * (public.row_bound + self.bound(public))
        )

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refuse: targets are bought once, of all lists."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The sum."""
        rows = linear_rows(records)
        if not len(rows):
            return np.zeros(rows.width)
        lists = lists_of(records)
        shares = ListNet().targets(records.y.astype(float), lists)
        return np.asarray(rows.tdot(shares - lists.spread(1.0 / lists.sizes)))
