"""Base class of the private networks: layers in public numbers, a solver for them, matrices on the user's scale."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from ..fitting import Plan, Sizes
from ..fitting.data import Array, rows_times, scores
from ..mechanisms import Public
from ..models import ACTIVATIONS, Perceptron
from ..penalties import L2Blocks, ScaledPenalty
from ..solvers import Task
from ._any_network import AnyNetwork

__all__ = ["Network"]

# The constant beside a row of norm at most 1, and beside what a layer hands on: as of linear models.
CONSTANT = 0.25
LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30


class Network(AnyNetwork):
    """Base of the networks of dense layers.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Units of each hidden layer.
    activation : {"relu", "tanh", "logistic", "identity"}, default="relu"
        What a hidden unit says of its score.
    alpha : float, default=1e-4
        Strength of the L2 penalty on all weights but those of constants: ``alpha/2 |w|^2`` beside the SUM of losses,
        as in scikit-learn.
    learning_rate_init : float, default=None
        Step of the solver, in the units of `skdp.models.Perceptron`; None: by the noise.

    Attributes
    ----------
    coefs_ : list of ndarray
        Private weights of each layer, for rows of norm up to ``data_norm``.
    intercepts_ : list of ndarray
        Private weights of the layers' constants.
    n_layers_, n_outputs_ : int
        Layers, those of the rows and of the scores included; scores of a row.
    """

    hidden_layer_sizes: int | Sequence[int] = (100,)
    activation: str = "relu"
    alpha: float = 1e-4
    coefs_: list[Array] = field(init=False)
    intercepts_: list[Array] = field(init=False)
    n_layers_: int = field(init=False)
    n_outputs_: int = field(init=False)

    _heard: ClassVar[float] = 1.0  # how steep scores begin in what hidden units say

    def _model(self) -> Perceptron:
        sizes: Any = self.hidden_layer_sizes
        hidden = (sizes,) if np.ndim(sizes) == 0 else tuple(sizes)
        return Perceptron(tuple(map(int, hidden)), self.activation, heard=self._heard)

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        """The sum of losses and the penalty on it, both over the heaviest weight; constants are free."""
        public = Public(
            sizes.n,
            sizes.n_features,
            CONSTANT,
            self.neighbors,
            target_bound=self._target_bound(sizes.outputs),
            model=self._model(),
        )
        penalty = ScaledPenalty(self._penalty(public, sizes), 1.0, False)
        shape = public.model.shape(public, sizes.outputs)
        return public, Task(
            self._loss(sizes.outputs), penalty, shape, tuple(self._ignored()), False
        )

    def _penalty(self, public: Public, sizes: Sizes) -> L2Blocks:
        """Return the penalty on weights of the user's rows: the layer's own, times the scale of the layer before."""
        model, strengths, counts = self._model(), [], []
        for shares, (rows, columns) in zip(
            self._shares(model, sizes.norm),
            model.shapes(public.width, sizes.outputs, True),
            strict=True,
        ):
            strengths += [float(self.alpha) * shares**2 / sizes.heaviest, 0.0]
            counts += [(rows - 1) * columns, columns]
        return L2Blocks(tuple(strengths), tuple(counts))

    def _shares(self, model: Perceptron, norm: float) -> list[float]:
        """Return the factor of each layer's weights on the user's scale, for rows of this norm."""
        return [1.0 / norm, *model.shares()]

    def _store(self, w: Array, plan: Plan) -> None:
        """Matrices on the user's scale: cutting what has been paid for is free, and all bounds are public."""
        model = self._model()
        matrices = model.matrices(np.clip(w, -LARGEST, LARGEST), plan.public.width, True)
        shares = self._shares(model, plan.data_norm)
        self.coefs_ = [m[:-1] * share for m, share in zip(matrices, shares, strict=True)]
        self.intercepts_ = [m[-1] * CONSTANT for m in matrices]
        self.n_iter_ = self._epochs(plan)
        self.n_layers_, self.n_outputs_ = len(matrices) + 1, matrices[-1].shape[1]

    def _keep_single(self) -> None:
        """Round what was fitted on single precision to it; nothing becomes infinite."""
        most = float(np.finfo(np.float32).max)
        for name in ("coefs_", "intercepts_"):
            rounded = [np.clip(a, -most, most).astype(np.float32) for a in getattr(self, name)]
            setattr(self, name, rounded)

    def _scores(self, X: ArrayLike) -> Array:
        """Return the scores of rows; rows beyond ``data_norm`` are scaled down as they are in a fit."""
        check_is_fitted(self)
        table: Any = self._rows(X)
        X = table if issparse(table) else np.ascontiguousarray(table)  # norms in one order of sums
        beyond = np.maximum(row_norms(X) / self._norm(), 1.0)
        first = scores(X, self.coefs_[0], self.intercepts_[0]) / beyond[:, None].astype(X.dtype)
        for matrix, constant in zip(self.coefs_[1:], self.intercepts_[1:], strict=True):
            said, _ = ACTIVATIONS[self.activation](first)
            first = rows_times(said, matrix) + constant
        return first
