"""All that ListNet with linear scores wants of labels, where documents are public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import ListNet
from ..privacy.events import Event
from ._bounds import linear_rows, refuse_unless_linear
from ._kernels import ROUNDINGS, UNIT
from ._listed import lists_of
from ._mechanism import Additive, Array, Mechanism
from ._public import Public
from ._records import Records

__all__ = ["ListTargets"]


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
        """Refused: it is bought once, of all lists."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The sum."""
        rows = linear_rows(records)
        if not len(rows):
            return np.zeros(rows.width)
        lists = lists_of(records)
        shares = ListNet().targets(records.y.astype(float), lists)
        return np.asarray(rows.tdot(shares - lists.spread(1.0 / lists.sizes)))
