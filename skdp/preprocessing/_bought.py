"""What transformers that pay share: one vault of places, one script, one receipt; `transform` is free."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..fitting import Plan, PrivateEstimator
from ..fitting.data import SeedSource, any_table, is_frame
from ..losses import Squared
from ..mechanisms import Public
from ..mechanisms._octaves import places_of
from ..penalties import NoPenalty, ScaledPenalty
from ..privacy import Ledger
from ..privacy.spec import Spec
from ..solvers import Task
from ._cells import Array
from ._column_scales import ColumnScales, norm_of
from ._columns import Column, cells_of
from ._declaration import Numbers

__all__ = ["BoughtScales"]

ANY = Numbers(-math.inf, math.inf)  # a column of which nothing is declared


class BoughtScales(TransformerMixin, PrivateEstimator):
    """Base of the transformers whose `fit` buys bounds of all columns, with no range declared."""

    bounds_: Array
    moments: ClassVar[bool] = False

    def __init__(
        self,
        epsilon: float = 0.1,
        delta: float = 1e-6,
        *,
        neighbors: str = "replace_one",
        n_public: float | None = None,
        accountant: str = "auto",
        ledger: Ledger | None = None,
        random_state: int | SeedSource | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.n_public = n_public
        self.accountant = accountant
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Buy the scales of the columns.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Numbers in any unit; what is no number is missing.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def transform(self, X: Any) -> Array:
        """Rows of norm at most 1, by the scales that were bought: a map of each row by itself, which costs nothing.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            A missing number becomes 0.
        """
        check_is_fitted(self)
        return self._mapped(self._numbers(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns, which are those that came in.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names, where fit saw none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", None)
        given = own if input_features is None else list(input_features)
        given = [f"x{j}" for j in range(self.n_features_in_)] if given is None else given
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}."
            )
        if own is not None and list(own) != list(given):
            raise ValueError("input_features is not equal to feature_names_in_.")
        return np.asarray(given, dtype=object)

    @property
    def row_norm_(self) -> float:
        """Each row is divided by what it may have."""
        return 1.0

    def _mapped(self, x: Array) -> Array:
        """Numbers to rows of norm at most 1."""
        raise NotImplementedError

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        """All cells as doubles, NaN where they are no numbers."""
        table = any_table(self, X, reset=reset)
        if not is_frame(table) and table.dtype.kind in "biuf":
            return np.asarray(table, dtype=np.float64)
        columns = [Column(j, f"x{j}", ANY) for j in range(self.n_features_in_)]
        return np.column_stack([cells_of(table, column) for column in columns])

    def _encode(self, X: Any, y: Any) -> tuple[Array, Array, dict[str, Any], dict[str, Any]]:
        places = places_of(self._numbers(X, reset=True))
        return places, np.zeros(len(places)), {"bins": "octaves of the doubles"}, {}

    def _problem(
        self, n: int | None, n_features: int, outputs: int = 1, heaviest: float = 1.0
    ) -> tuple[Public, Task]:
        # Nothing is minimised: loss and penalty are there for the form.
        nothing = Task(Squared(), ScaledPenalty(NoPenalty(), 1.0, False), (n_features, 4))
        return Public(n, n_features, 0.0, self.neighbors), nothing

    def _plan(
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
    ) -> Plan:
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        public, task = self._stated(n, n_features, 1)
        facts: dict[str, Any] = {} if public.n is None else {"n": public.n}
        facts |= {"n_features": n_features, **declared}
        solver = ColumnScales(moments=self.moments)
        return Plan(spec, task, solver, public, norm_of(n_features), self.accountant, facts)

    def _store(self, w: Array, plan: Plan) -> None:
        self.bounds_ = np.asarray(w[:, :2])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        return tags
