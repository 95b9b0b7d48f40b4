"""Base class of the private models of raw tables: an encoder by declaration in front of an estimator of the package.

Nothing here asks a record: the encoder reads none to be made, and maps each row by itself. What is planned, asked and
stored is the inner estimator's own; the path of the fit is that of all estimators, so there is one script, one payment
and one receipt.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..entry import Facts, Given, Reader, Table
from ..exceptions import NotSupported
from ..fitting import Plan, PrivateEstimator, PrivateLearner
from ..fitting._fields import parameter
from ..fitting._parameters import (
    MAX_ROWS_PER_GROUP,
    MAX_SAMPLE_WEIGHT,
    Rule,
    is_count,
    one_of,
    refuse_wrong,
)
from ..fitting.data import Array, any_table
from ..fitting.run import Fitted, Heard
from ..preprocessing import DPSplineFeatures
from ..preprocessing._declaration import Numbers
from ..preprocessing._random_features import LEAST_NOISE, measure_strength
from ..preprocessing.table_encoder import refuse_undeclared
from ..privacy import Receipt
from ..privacy.spec import Spec
from ..solvers import Budget
from ._choice import MODELS, ModelChoice, choose_model

__all__ = ["TableEstimator"]

HIDDEN = (64,)  # units of a network
FEWEST = 3  # functions of a number where delta = 0 leaves no rule


class TableEstimator(PrivateEstimator):
    """Base of the private models of raw tables.

    Parameters
    ----------
    declaration : dict or (low, high)
        Public facts of each column by name or place, as of `skdp.preprocessing.TableEncoder`: ``[low, high]`` or
        ``[low, high, "symlog"]`` for numbers, the list of values for categories. There is no default.
    model : {"auto", "line", "curves", "random_features", "network", "mixture"}, default="auto"
        A linear model of the columns; of a few smooth functions of each number; of these and random features of four
        columns at a time; a network behind the curves; or, of two labels, both a linear model and a network, with
        weights that noisy counts of the labels choose. "auto" goes by public numbers alone, see docs/tables.md.
    unknown : {"value", "zero", "refuse"}, default="value"
        A category that is not declared is one more value; or says nothing; or is refused.
    missing : float or "indicator", default=0.0
        Place in [-1, 1] of a missing number; "indicator" adds a column that marks it.
    interactions : list of (column, column), default=()
        Declared columns whose products enter besides.

    Attributes
    ----------
    encoder_ : DPSplineFeatures
        Map from the table to rows of norm at most 1.
    model_ : estimator
        Private model of these rows.
    chosen_ : str
        Word of ``model`` that stands for it.
    """

    declaration: Mapping[Any, Any] | tuple[Any, ...] | None = field(default=None, kw_only=False)
    model: str = "auto"
    unknown: str = "value"
    missing: float | str = 0.0
    interactions: Sequence[Any] = ()
    max_rows_per_group: int | None = parameter(None, MAX_ROWS_PER_GROUP)
    max_sample_weight: float | None = parameter(None, MAX_SAMPLE_WEIGHT)
    encoder_: DPSplineFeatures = field(init=False)
    model_: Any = field(init=False)
    chosen_: str = field(init=False)
    _told: dict[str, Any] = field(init=False)
    _task: ClassVar[str]
    _models: ClassVar[tuple[str, ...]] = tuple(word for word in MODELS if word != "mixture")

    @abstractmethod
    def _kind(self, model: str) -> tuple[type[PrivateLearner], dict[str, Any]]:
        """Return the estimator behind the encoder, and parameters that its rows ask for."""

    def _rules(self) -> dict[str, Rule]:
        words = "auto", *self._models
        told = f"is not known; use one of {', '.join(map(repr, words))}"
        return super()._rules() | self._usual()._rules() | {"model": (one_of((), *words), told)}

    def _usual(self) -> PrivateLearner:
        """Return the estimator whose rules hold, before anything is known of a table."""
        network = isinstance(self.model, str) and self.model == "network"
        return self._inner("network" if network else "curves")

    def quote(
        self,
        n: int | None,
        n_features: int | None = None,
        n_classes: int | None = None,
        base_rate: float | None = None,
    ) -> Receipt:
        """Return the receipt of a fit on n records: the model that is chosen, its cost and its noise.

        Parameters
        ----------
        n : int
            Number of records, of persons with ``max_rows_per_group``; ignored under ``neighbors="add_remove"``, where
            it is private, and may be None there.
        n_features : int, default=None
            Number of columns of the table; None: those that are declared by name or place.
        n_classes : int, default=None
            Number of classes, of a classifier; None: those that were declared, or two.
        base_rate : float, default=None
            About the share of one of two labels, as of the linear estimators.

        Returns
        -------
        Receipt
            The statement that such a fit would carry; nothing is spent.
        """
        self._check_parameters()
        counts = {"n": n, "n_features": n_features}
        needed = [] if self.neighbors == "add_remove" else ["n"]
        needed += [] if isinstance(self.declaration, Mapping) else ["n_features"]
        refuse_wrong({k: value for k, value in counts.items() if value is not None or k in needed})
        twin = type(self)(**self.get_params(deep=False))
        encoder = twin._encoder("smooth")
        encoder.settle(*_names_of(self.declaration, n_features), 0)
        twin._choose(encoder, 0 if n is None else int(n))
        width = len(encoder.get_feature_names_out())
        return super(TableEstimator, twin).quote(n, width, n_classes, base_rate)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_undeclared(self.declaration, type(self).__name__)
        self._encoder("smooth").reading()
        self._usual()._check_parameters()

    def _encoder(self, basis: str, random_features: int = 0) -> DPSplineFeatures:
        """Return the encoder of these parameters."""
        return DPSplineFeatures(
            self.declaration,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbors=self.neighbors,
            n_public=None if self.n_public is None else int(self.n_public),
            unknown=self.unknown,
            missing=self.missing,
            interactions=self.interactions,
            basis=basis,
            size=None if self.delta else FEWEST,
            random_features=random_features,
        )

    def _inner(self, model: str) -> PrivateLearner:
        """Return the estimator behind the encoder, with those of these parameters that it has."""
        kind, own = self._kind(model)
        known = kind().get_params(deep=False)
        given = self.get_params(deep=False).items()
        shared = {name: value for name, value in given if name in known}
        return kind(**shared | own | {"data_norm": 1.0, "verbose": 0})

    def _cost(self, found: ModelChoice) -> str:
        """Say what the choice costs."""
        return "the choice costs nothing"

    def _mixes(self) -> bool:
        """Return True if a mixture is possible, as far as parameters tell."""
        return False

    def _choose(self, encoder: DPSplineFeatures, n: int) -> None:
        """Choose a model by public numbers, and make its encoder of one whose columns are settled.

        Parameters
        ----------
        encoder : DPSplineFeatures
            Of curves, settled.
        n : int
            Number of records, or of persons.
        """
        encoder._size(n)
        known = n if self.neighbors == "replace_one" else int(self.n_public or 0)
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        strength = min(measure_strength(known, spec), LEAST_NOISE * known)
        numeric = sum(isinstance(column.declared, Numbers) for column in encoder.columns_)
        columns, added = len(encoder._names()), (encoder.size_ - 1) * numeric
        found = choose_model(self._task, self.model, strength, columns, added, self._mixes())
        basis = "linear" if found.model == "line" else "smooth"
        encoder.set_params(basis=basis, random_features=found.random_features)
        encoder._size(n)
        self.encoder_, self.chosen_ = encoder, found.model
        self.model_ = self._inner(found.model)
        self._told = {"model": f"{found.model}, {found.why}; {self._cost(found)}"}
        if found.random_features:
            self._told["random_features"] = found.random_features

    def _close(self, given: Given) -> tuple[Table, Facts]:
        self._check_parameters()
        return super()._close(given.mapped(self, self._encoder("smooth"), self._choose))

    def _reader(self) -> Reader:
        return self.model_._reader()

    def _declare(self, facts: Facts) -> dict[str, Any]:
        return self.model_._declare(facts)

    def _complete(self, plan: Any, facts: Facts) -> Any:
        if facts.classes is not None:
            self.model_.classes_ = facts.classes
        return self.model_._complete(plan, facts)

    def _plan(self, n: int | None, n_features: int, declared: dict[str, Any], *more: Any) -> Plan:
        found: Plan = self.model_._plan(n, n_features, self._told | declared, *more)
        return found

    @property
    def _listens(self) -> Any:
        return self.model_._listens

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        self.model_._keep(fitted, budget, heard)
        self.model_.set_params(ledger=None, random_state=None)  # what is left is the model
        # The reader has seen encoded rows; a user gives tables.
        self.model_.n_features_in_ = self.n_features_in_
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_

    def _doubts(self) -> Iterator[str]:
        model = self.model_ if hasattr(self, "model_") else self._usual()
        return model._doubts()

    def _outputs(self, n_classes: int | None = None) -> int:
        return self.model_._outputs(n_classes)

    def _outputs_of(self, facts: Facts) -> int:
        return self.model_._outputs_of(facts)

    def _rows(self, X: Any) -> Array:
        """Rows as the inner model takes them."""
        check_is_fitted(self)
        rows: Array = self.encoder_.transform(any_table(self, X, reset=False))
        return rows

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit on a raw table, with differential privacy.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            A table with the declared columns; others are left out.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Labels, or numbers to predict; those beyond ``y_bounds`` are cut.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, at most ``max_sample_weight``.
        groups : array-like of shape (n_samples,), default=None
            Id of each row's person.

        Returns
        -------
        self
        """
        return self._fit(Given(X, y, sample_weight=sample_weight, groups=groups))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows whose label is predicted, or of the targets' variance that is explained.

        It is computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            A table with the declared columns.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Its labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of its rows.

        Returns
        -------
        float
        """
        rows = self._rows(X)
        return float(self.model_.score(rows, y, sample_weight))

    def shape_functions(self, points: int = 101) -> dict[str, tuple[Array, Array]]:
        """Return the curve of each number and the level of each category, as the fit has them; it costs nothing.

        They are what a column adds to the score of a classifier, or to the number that a regressor predicts, less the
        mean of what is shown. With random features or declared interactions there is more to a score than its columns'
        curves.

        Parameters
        ----------
        points : int, default=101
            Places on each number's scale, from bound to bound.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            Of each column the values, and what they add: of shape (n_values,), or (n_values, n_outputs) for several
            classes or targets.
        """
        check_is_fitted(self)
        if not hasattr(self.model_, "coef_"):
            raise NotSupported(
                f"model={self.chosen_!r} is no sum of curves; fit with model='random_features' or 'curves'."
            )
        refuse_wrong({"points": points}, {"points": (_is_several, "must be a whole number from 2")})
        coef, found = np.atleast_2d(self.model_.coef_).T, {}
        for column, shown, rows, place in self.encoder_.describe_columns(points):
            added = rows @ coef[place]
            added = added - added.mean(axis=0)
            found[str(column)] = shown, added[:, 0] if added.shape[1] == 1 else added
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


def _is_several(value: Any) -> bool:
    return is_count(value) and value > 1


def _names_of(declaration: Any, n_features: int | None) -> tuple[list[Any], bool]:
    """Names of a table's columns as far as a declaration tells them, and whether they are its own."""
    keys = [*declaration] if isinstance(declaration, Mapping) else []
    if keys and all(isinstance(key, str) for key in keys):
        return keys, True
    count = n_features or max([int(key) + 1 for key in keys if not isinstance(key, str)], default=1)
    return [f"x{j}" for j in range(count)], False
