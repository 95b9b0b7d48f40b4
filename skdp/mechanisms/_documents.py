"""Documents that are public: the lists of a vault of which only labels are private, and how far apart they are.

Sums over lists, each made of its own list alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..losses import Lists
from ._engine import engine_of
from ._kernels import UNIT, row_norms
from ._shared_memory import copy_if_shared
from ._units import Units

__all__ = ["LONGEST", "Alike", "Documents", "slack", "sums_by_list"]


Array = np.ndarray[Any, Any]


def sums_by_list(weights: Array, x: Array, lists: Lists) -> Array:
    """Sum of weight times row over each list, one row after the other: no other list's numbers come near it."""
    columns = np.arange(len(weights))
    return np.asarray(csr_array((weights, columns, lists.offsets), (len(lists), len(weights))) @ x)


LONGEST = (
    512  # documents of a list whose pairs are all looked at; for longer ones two bounds are added
)


@dataclass(frozen=True, eq=False, repr=False)
class Alike:
    """Lists of one length: their numbers, their documents, and products of these, taken from their list's middle."""

    lists: Array
    documents: Array
    gram: Array

    def diameters(self, weights: Array) -> Array:
        """Longest distance in each list between two of the vectors ``weights_i (x_i - sum_l p_l x_l)``, squared."""
        return _widest(self.products(weights))

    def lengths(self, weights: Array) -> Array:
        """Longest of these vectors in each list, squared."""
        return np.asarray(np.einsum("mii->mi", self.products(weights)).max(axis=1))

    def products(self, weights: Array) -> Array:
        """Return the inner products of these vectors with each other."""
        w = weights[self.documents]
        a = (self.gram @ w[:, :, None])[:, :, 0]
        b = np.einsum("mi,mi->m", a, w)
        inner = self.gram - a[:, :, None]
        inner -= a[:, None, :]
        inner += b[:, None, None]
        inner *= w[:, :, None]
        inner *= w[:, None, :]
        return np.asarray(inner)


def _widest(products: Array) -> Array:
    """Largest squared distance of two vectors of each list, of which these are the products; written over."""
    own = np.einsum("mii->mi", products).copy()
    products *= -2.0
    products += own[:, :, None]
    products += own[:, None, :]
    return np.asarray(products.max(axis=(1, 2)))


def slack(width: int, length: Any) -> Any:
    """Bound the rounding error of sums of products of centred rows of norm at most 1."""
    return 256.0 * (width + length + 16.0) * UNIT


@dataclass(frozen=True, eq=False, repr=False)
class Documents:
    """Lists of documents that anybody may know: what is private of them is how they were judged.

    Parameters
    ----------
    rows : Table
        Bounded documents, list after list, without a constant column.
    lists : Lists
        Which document is in which list.

    Attributes
    ----------
    diameter : float
        Bound on the distance of two documents of one list.

    See Also
    --------
    ListTargets : One sum over judgements, of noise by the diameter.
    LabelGradient : A gradient of noise by how far labels can move it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Documents
    >>> shown = Documents.of(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), [2, 1], data_norm=1.0)
    >>> len(shown), round(shown.diameter, 6)
    (2, 1.414214)
    """

    rows: Any
    lists: Lists
    diameter: float
    _alike: tuple[Alike, ...]
    _long: Array

    __hash__ = None  # type: ignore[assignment]  # a plan that holds them is not kept for a later fit

    @classmethod
    @np.errstate(all="ignore")
    def of(cls, X: Any, sizes: Any, data_norm: float) -> Documents:
        """Bound the documents of lists of these sizes, and measure how far apart they are."""
        X = copy_if_shared(X)
        rows = engine_of(X).bounded(X, data_norm, 0.0)
        if not np.isfinite(rows.norms).all() or not data_norm > 0.0:
            raise ValueError("documents must be finite, and data_norm above 0; clip them first.")
        lists = Lists(np.append(0, np.cumsum(np.asarray(sizes, dtype=np.intp))))
        lengths = np.unique(lists.sizes)
        alike = tuple(_alike(rows, lists, int(n)) for n in lengths if n <= LONGEST)
        long = np.flatnonzero(lists.sizes > LONGEST)
        found = cls(rows, lists, 0.0, alike, long)
        widest = [
            np.sqrt(_widest(a.gram.copy()).max() + 4.0 * slack(rows.width, LONGEST)) for a in alike
        ]
        widest += [2.0 * rows.norms.max(initial=0.0)] * bool(len(long))
        object.__setattr__(found, "diameter", float(max(widest, default=1.0)))
        return found

    def __len__(self) -> int:
        return len(self.lists)

    def alike(self) -> Array:
        """Equal shares of all documents of a list."""
        return self.lists.spread(1.0 / self.lists.sizes)

    @cached_property
    def middle(self) -> Array:
        """Sum of all lists' plain means."""
        return np.asarray(self.rows.tdot(self.alike()))

    @cached_property
    def typical(self) -> float:
        """Median over the lists of their longest vector of `spans`, with equal probabilities; always above 0."""
        p, reach = self.alike(), []
        for part in self.units.aligned(self.rows.chunks(0)):
            rows, units = self.units.take(part)
            x, lists = self.rows.take(rows).to_dense(), Lists(units.offsets)
            x -= np.repeat(sums_by_list(p[rows], x, lists), lists.sizes, axis=0)
            reach.append(lists.largest(p[rows] * row_norms(x)))
        return max(float(np.median(np.concatenate(reach))), 1e-29)

    def scatter(self, p: Array) -> Array:
        """Sum over lists of the covariance of their documents under these probabilities."""
        total = np.zeros((self.rows.width, self.rows.width))
        for part in self.units.aligned(self.rows.chunks(0)):
            rows, units = self.units.take(part)
            x, lists = self.rows.take(rows).to_dense(), Lists(units.offsets)
            x -= np.repeat(sums_by_list(p[rows], x, lists), lists.sizes, axis=0)
            total += (x * p[rows][:, None]).T @ x
        return total

    @property
    def units(self) -> Units:
        """Units of the rows: the lists that they belong to."""
        return Units.of(self.lists.sizes)

    def widest_span(self, w: Array) -> float:
        """The largest of `spans` at these parameters of linear scores; more than nothing, so that it may be a clip."""
        p, _ = self.lists.softmax(self.rows.dot(w))
        return max(float(self.spans(p).max(initial=0.0)), 1e-30)

    def spans(self, p: Array) -> Array:
        """Bound for each list the distance of two of its ``v_i = p_i (x_i - sum_l p_l x_l)``, roundings included.

        Parameters
        ----------
        p : ndarray
            Probabilities of the documents in their lists.
        """
        top = self.lists.largest(p)
        found = np.zeros(len(self))
        for alike in self._alike:
            found[alike.lists] = alike.diameters(p)
        found[self._long] = 16.0 * np.square(top[self._long])  # no v_i is longer than 2 p_i
        off = slack(self.rows.width, self.lists.sizes)
        return np.sqrt(np.maximum(found, 0.0) + 16.0 * off * np.square(top)) + off


def _alike(rows: Any, lists: Lists, length: int) -> Alike:
    chosen = np.flatnonzero(lists.sizes == length)
    documents = lists.offsets[chosen][:, None] + np.arange(length)
    x = rows.take(documents.ravel()).to_dense().reshape(len(chosen), length, -1)
    x -= x.mean(axis=1, keepdims=True)
    return Alike(chosen, documents, x @ x.transpose(0, 2, 1))
