"""Numbers to [-1, 1] by declared bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting.data import Array, affine_of
from ._blocks import INDICATOR, Block, NumberBlock, refuse_unless, root
from ._declaration import Numbers, undone
from ._transformer import ByDeclaration

__all__ = ["BoundsScaler"]


class BoundsScaler(ByDeclaration):
    """Scale numbers to [-1, 1] around the midpoint of public bounds; `fit` reads no record.

    What lies outside is clipped, what is no number is missing. Each row is mapped by itself, so neighbouring tables
    become neighbouring tables, at no price; and a row leaves with a norm of at most ``row_norm_``.

    Parameters
    ----------
    bounds : dict or (low, high)
        Of each column by name or place: ``{"age": (17, 90), "gain": (0, 1e6, "symlog")}``; scales are "linear", "log"
        and "symlog" (``sign(x) * log1p(|x|)``, for heavy tails). Or one pair for all columns. There is no default:
        bounds are known without looking, or bought (`DPBounds`).
    missing : float or "indicator", default=0.0
        Where in [-1, 1] a missing number goes. "indicator" puts it to 0 and adds a column that is 1 for it.

    See Also
    --------
    TableEncoder : Numbers and categories at once.
    RowNormClipper : Bounds rows, not columns.

    Examples
    --------
    >>> from skdp.preprocessing import BoundsScaler
    >>> scaler = BoundsScaler({0: (17, 90), 1: (0, 1e6, "symlog")})
    >>> print(scaler.reading())
    0  numbers from 17 to 90, linear
    1  numbers from 0 to 1e+06, symlog
    >>> X = scaler.fit_transform([[17, 0], [53.5, 999], [200, None]])
    >>> X.round(3).tolist()
    [[-1.0, -1.0], [0.0, -0.0], [1.0, 0.0]]
    """

    only: ClassVar[type] = Numbers

    bounds: Mapping[Any, Any] | tuple[Any, ...] | None = field(default=None, kw_only=False)
    missing: float | str = 0.0

    @property
    def row_norm_(self) -> float:
        """Root of the number of columns: each has an entry in [-1, 1], or a mark beside a 0."""
        given = self.bounds
        if isinstance(given, Mapping) or hasattr(self, "columns_"):
            return float(root(len(given if isinstance(given, Mapping) else self.columns_)))
        raise AttributeError("row_norm_ is known after fit, which counts the columns.")

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Numbers in their own units; what was clipped stays at its bound.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            As `transform` returns it.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            With NaN where an indicator marks a missing number.
        """
        check_is_fitted(self)
        given = np.asarray(X, dtype=np.float64)
        marked = self.missing == INDICATOR
        if given.ndim != 2 or given.shape[1] != len(self.columns_) * (1 + marked):
            raise ValueError("X must be a table with the columns that transform returns.")
        scaled = np.empty((len(given), self.n_features_in_))
        for at, column in enumerate(self.columns_):
            unit = given[:, at * (1 + marked)]
            if marked:
                unit = np.where(given[:, 2 * at + 1] > 0.5, np.nan, unit)
            scaled[:, column.place] = undone(unit, cast(Numbers, column.declared))
        return scaled

    def _affine(self) -> tuple[Array, Array]:
        """Return slope and shift of the map of each column, for numbers within their bounds."""
        declared = [cast(Numbers, column.declared) for column in self.columns_]
        if self.missing == INDICATOR or any(one.scale != "linear" for one in declared):
            raise NotSupported(
                "BoundsScaler has a scale that is not linear, or columns that mark missing numbers, so that a "
                "coefficient does not belong to one column alone."
            )
        return affine_of(np.array([[one.low, one.high] for one in declared]))

    def _declaration(self) -> Any:
        if self.bounds is None:
            raise ValueError(
                "BoundsScaler needs bounds that are known without looking at the data: pass "
                "bounds={'age': (17, 90)}, or (low, high) for all columns; or use DPBounds, which estimates them "
                "privately."
            )
        return self.bounds

    def _check(self) -> None:
        refuse_unless({"missing": self.missing})

    def _blocks(self) -> list[Block]:
        return [NumberBlock(cast(Numbers, c.declared), self.missing) for c in self.columns_]
