"""Declared columns to smooth functions of them: a private additive model in one step."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..fitting._parameters import refuse_wrong
from ..fitting.data import as_text
from ..privacy._gaussian import gaussian_mu
from ..privacy.spec import Spec
from ._blocks import Block, NumberBlock
from ._columns import Column, refuse_word
from ._declaration import Numbers
from ._splines import HatsBlock, SmoothBlock
from .table_encoder import TableEncoder

__all__ = ["DPSplineFeatures"]

BASES = ("smooth", "hats", "linear")
HATS = (9, 5, 3)  # knots that are tried, most first; then the line
PER_COLUMN, PER_RANK = (
    50,
    800,
)  # records times mu for a column of hats, for a dimension of the smooth curve
LEAST, MOST = 3, 13  # dimensions


class DPSplineFeatures(TableEncoder):
    """Encode a table as `TableEncoder` does, with each number as a few functions of it; it reads no record.

    A linear estimator behind it is an additive model: a curve for each number, a level for each category, a surface for
    each pair. The functions are public, so they cost nothing; how many pay is decided by public numbers, of records and
    of the promise of the estimator that follows. Rows leave with a norm of at most 1, by theorem.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss of the estimator that follows; nothing is spent here.
    delta : float, default=1e-6
        Probability of exceeding it.
    basis : {"smooth", "hats", "linear"}, default="smooth"
        A spectral curve on the sphere, the smoothest functions first; hat functions at uniform knots; or the number.
    size : int, default=None
        Functions of a number. None: for "smooth" ``n * mu / 800``, from 3 to 13; for "hats" the most of 9, 5, 3 and the
        line that adds at most ``n * mu / 50`` columns, with mu the Gaussian parameter of the promise.
    neighbors : {"replace_one", "add_remove"}, default="replace_one"
        Under "add_remove" the number of records is private, and only ``n_public`` counts.
    n_public : int, default=None
        A rough number of records that you know without looking.

    Attributes
    ----------
    size_ : int
        Functions of a number; 1 is the line.

    See Also
    --------
    TableEncoder : One number for a number.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPSplineFeatures
    >>> features = DPSplineFeatures({0: [0, 10]}).fit(np.zeros((50_000, 1)))
    >>> features.size_
    13
    >>> features.get_feature_names_out()[:2].tolist()
    ['x0~1', 'x0~2']
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    basis: str = "smooth"
    size: int | None = None
    neighbors: str = "replace_one"
    n_public: int | None = None
    size_: int = field(init=False)

    def _settled(self, names: list[Any], named: bool) -> list[Column]:
        self.size_ = LEAST  # until the columns are known
        return super()._settled(names, named)

    def _size(self, rows: int) -> None:
        n = rows if self.neighbors == "replace_one" else self.n_public
        numeric = sum(isinstance(column.declared, Numbers) for column in self.columns_)
        self.size_ = self.size or self._rule(n or 0, numeric)

    def _rule(self, n: float, numeric: int) -> int:
        """Return the number of functions of a column that are worth their noise, by public numbers."""
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        strength = n * gaussian_mu(self.epsilon, self.delta) if spec.private else float("inf")
        if self.basis == "hats":
            paying = (k for k in HATS if strength >= PER_COLUMN * (k - 1) * numeric)
            return next(paying, 1)
        return int(np.clip(np.rint(min(strength, 1e9) / PER_RANK), LEAST, MOST))

    def _check(self) -> None:
        super()._check()
        refuse_word("basis", self.basis, BASES)
        promise = "epsilon", "delta", "neighbors", "n_public"
        refuse_wrong({name: getattr(self, name) for name in promise})
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if self.size is not None and not (whole and 1 <= self.size <= 100):
            raise ValueError(
                f"size={as_text(self.size)} must be None, or a whole number from 1 to 100."
            )
        if self.basis == "smooth" and (self.size or 0) > MOST:
            raise ValueError(
                f"size={self.size} must be at most {MOST} for basis='smooth'; use 'hats'."
            )
        if Spec(self.epsilon, self.delta, self.neighbors).delta == 0.0 and self.size is None:
            raise NotSupported("delta=0 has no Gaussian parameter to choose size by; give size=.")

    def _curve(self, declared: Numbers) -> Block:
        if self.basis == "linear" or self.size_ == 1:
            return NumberBlock(declared, self.missing)
        kind = HatsBlock if self.basis == "hats" else SmoothBlock
        return kind(declared, int(self.size_), self.missing)
