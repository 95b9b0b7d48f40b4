"""The gradient of BayesRank, of noise by how far labels can move it: what ranking asks where documents are public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import BayesRank, Lists
from ..privacy.events import Event
from ._bounds import refuse_shape
from ._by_list import sums_by_list
from ._documents import slack
from ._kernels import ROUNDINGS, UNIT, row_norms
from ._listed import lists_of, scores_at
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from ._scored import (
    is_linear,
    pulled_through,
    reach_through,
    refuse_scorer,
    rounding_of_labels,
)
from .list_gradient import refuse_loss

__all__ = ["LabelGradient"]


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
