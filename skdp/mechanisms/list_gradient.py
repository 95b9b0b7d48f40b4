"""The clipped gradient of whole lists: what ranking asks where documents are private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import ListLoss
from ._bounds import refuse_shape
from ._by_list import sums_by_list
from ._kernels import in_pieces, row_norms
from ._listed import lists_of, scores_at, shares_of
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from ._scored import clipped_through, is_linear, refuse_scorer, rounding_of_lists
from ._scores import cap

__all__ = ["ListGradient", "refuse_loss"]


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
