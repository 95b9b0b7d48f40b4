"""Private multi-layer perceptrons: layers in public numbers, matrices on the user's scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from ..fitting import Plan, Sizes
from ..fitting._calibration import CALIBRATE, NETWORK, Expected, Slope
from ..fitting._fields import attribute, parameter
from ..fitting.data import Array, rows_times, scores
from ..mechanisms import Public
from ..models import ACTIVATIONS, Perceptron
from ..penalties import L2Blocks, ScaledPenalty
from ..privacy.spec import Spec
from ..solvers import Solver, Task
from ._any_network import (
    LARGEST,
    Architecture,
    NetworkClassifier,
    NetworkRegressor,
    clip_of_squares,
    planned_epochs,
)

__all__ = ["DPMLPClassifier", "DPMLPRegressor"]

# The constant beside a row of norm at most 1, and beside what a layer hands on: as of linear models.
CONSTANT = 0.25

HIDDEN_LAYER_SIZES = """hidden_layer_sizes : int or sequence of int, default=(100,)
    Units of each hidden layer."""
ACTIVATION = """activation : {"relu", "tanh", "logistic", "identity"}, default="relu"
    What a hidden unit says of its score."""
ALPHA = """alpha : float, default=1e-4
    Strength of the L2 penalty on all weights but those of constants: ``alpha/2 |w|^2`` beside the SUM of losses,
    as in scikit-learn."""
LEARNING_RATE_INIT = """learning_rate_init : float, default=None
    Step of the solver, in the units of `skdp.models.Perceptron`; None: by the noise."""
COEFS_ = """coefs_ : list of ndarray
    Private weights of each layer, for rows of norm up to ``data_norm``."""
INTERCEPTS_ = """intercepts_ : list of ndarray
    Private weights of the layers' constants."""
N_LAYERS_ = """n_layers_, n_outputs_ : int
    Layers, those of the rows and of the scores included; scores of a row."""


@dataclass(frozen=True)
class DenseLayers(Architecture):
    """Dense layers, each with a constant beside what it is handed.

    Parameters
    ----------
    heard : float
        How steep scores begin in what hidden units say.
    """

    heard: float = 1.0

    def model(self, net: Any) -> Perceptron:
        """Return the layers of a network."""
        sizes = net.hidden_layer_sizes
        hidden = (sizes,) if np.ndim(sizes) == 0 else tuple(sizes)
        return Perceptron(tuple(map(int, hidden)), net.activation, heard=self.heard)

    def problem(self, net: Any, sizes: Sizes) -> tuple[Public, Task]:
        """Return the sum of losses and the penalty on it; constants are free."""
        public = Public(
            sizes.n,
            sizes.n_features,
            CONSTANT,
            net.neighbors,
            target_bound=max(1.0, sizes.outputs - 1.0),  # of codes of classes
            model=self.model(net),
        )
        penalty = ScaledPenalty(self._penalty(net, public, sizes), 1.0, False)
        shape = public.model.shape(public, sizes.outputs)
        loss = net._loss(sizes.outputs)
        return public, Task(loss, penalty, shape, tuple(net._ignored()), False)

    def clip(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float | None:
        """Return a shorter clip for squares; losses of classes have slopes of their own."""
        return clip_of_squares(solver, task, public, spec)

    def _penalty(self, net: Any, public: Public, sizes: Sizes) -> L2Blocks:
        """Return the penalty on weights of the user's rows: the layer's own, times the scale of the layer before.

        Squared residuals of targets in [-1, 1] are smaller than the user's by the squared unit.
        """
        model, strengths, counts = self.model(net), [], []
        unit = float(sizes.unit)
        heaviest = sizes.heaviest * unit**2
        for shares, (rows, columns) in zip(
            self._shares(net, sizes.norm, unit),
            model.shapes(public.width, sizes.outputs, True),
            strict=True,
        ):
            strengths += [float(net.alpha) * shares**2 / heaviest, 0.0]
            counts += [(rows - 1) * columns, columns]
        return L2Blocks(tuple(strengths), tuple(counts))

    def _shares(self, net: Any, norm: float, unit: float) -> list[float]:
        """Return the factor of each layer's weights on the user's scale, for this norm of rows and unit of scores."""
        *inner, last = [1.0 / norm, *self.model(net).shares()]
        return [*inner, last * unit]

    def store(self, net: Any, w: Array, plan: Plan) -> None:
        """Store matrices; the last layer's constant holds the middle of the targets."""
        matrices = self.model(net).matrices(np.clip(w, -LARGEST, LARGEST), plan.public.width, True)
        shift, unit = net._units()
        shares = self._shares(net, plan.data_norm, unit)
        net.coefs_ = [m[:-1] * share for m, share in zip(matrices, shares, strict=True)]
        net.intercepts_ = [m[-1] * CONSTANT for m in matrices]
        net.intercepts_[-1] = net.intercepts_[-1] * unit + shift
        net.n_iter_ = planned_epochs(plan)
        net.n_layers_, net.n_outputs_ = len(matrices) + 1, matrices[-1].shape[1]

    def keep_single(self, net: Any) -> None:
        """Round matrices and constants."""
        most = float(np.finfo(np.float32).max)
        for name in ("coefs_", "intercepts_"):
            rounded = [np.clip(a, -most, most).astype(np.float32) for a in getattr(net, name)]
            setattr(net, name, rounded)

    def scores(self, net: Any, X: ArrayLike) -> Array:
        """Return what the last layer says of rows."""
        check_is_fitted(net)
        table: Any = net._rows(X)
        X = table if issparse(table) else np.ascontiguousarray(table)  # norms in one order of sums
        beyond = np.maximum(row_norms(X) / net._norm(), 1.0)
        first = scores(X, net.coefs_[0], net.intercepts_[0]) / beyond[:, None].astype(X.dtype)
        for matrix, constant in zip(net.coefs_[1:], net.intercepts_[1:], strict=True):
            said, _ = ACTIVATIONS[net.activation](first)
            first = rows_times(said, matrix) + constant
        return first


class DPMLPClassifier(NetworkClassifier):
    """Network of dense layers for classes, with (epsilon, delta)-differential privacy.

    Minimises the sum of log-losses of a softmax over the last layer's scores, or of one score for two classes, plus
    ``alpha/2 |w|^2``, by clipped gradients of batches with noise: what records contribute is bounded one by one, and no
    gradient of a single record is built.

    See Also
    --------
    DPMLPRegressor : For numbers.
    skdp.DPLogisticRegression : Without hidden layers: fewer parameters, and far more accurate for few records.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.neural_network import DPMLPClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(20000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0  # no line tells them apart
    >>> model = DPMLPClassifier(
    ...     epsilon=2.0, delta=1e-6, hidden_layer_sizes=20, data_norm=1.5, classes=[False, True], random_state=0
    ... )
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    learning_rate_init: float | None = parameter(None, LEARNING_RATE_INIT)
    hidden_layer_sizes: int | Sequence[int] = parameter((100,), HIDDEN_LAYER_SIZES)
    activation: str = parameter("relu", ACTIVATION)
    alpha: float = parameter(1e-4, ALPHA)
    coefs_: list[Array] = attribute(COEFS_)
    intercepts_: list[Array] = attribute(INTERCEPTS_)
    n_layers_: int = attribute(N_LAYERS_)
    n_outputs_: int = attribute(N_LAYERS_)
    calibrate: bool | str = parameter("auto", CALIBRATE)
    _slopes: ClassVar[Expected] = NETWORK
    # Hidden units learn sooner beside the noise; scores of classes may be large.
    _made_of: ClassVar[DenseLayers] = DenseLayers(heard=3.0)

    def _scale_scores(self, slope: Slope) -> None:
        self.coefs_[-1] = slope.factor * self.coefs_[-1]
        self.intercepts_[-1] = slope.factor * self.intercepts_[-1] + slope.shift


class DPMLPRegressor(NetworkRegressor):
    """Network of dense layers for a number, with (epsilon, delta)-differential privacy.

    Minimises the sum of halves of squared residuals plus ``alpha/2 |w|^2``, as scikit-learn does.

    See Also
    --------
    DPMLPClassifier : For classes.
    skdp.DPRidge : Without hidden layers.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.neural_network import DPMLPRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(20000, 2))
    >>> y = np.abs(X[:, 0]) + X[:, 1] ** 2
    >>> model = DPMLPRegressor(
    ...     epsilon=4.0, delta=1e-6, hidden_layer_sizes=20, data_norm=1.5, y_bounds=(0.0, 2.0), random_state=0
    ... )
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    """

    learning_rate_init: float | None = parameter(None, LEARNING_RATE_INIT)
    hidden_layer_sizes: int | Sequence[int] = parameter((100,), HIDDEN_LAYER_SIZES)
    activation: str = parameter("relu", ACTIVATION)
    alpha: float = parameter(1e-4, ALPHA)
    coefs_: list[Array] = attribute(COEFS_)
    intercepts_: list[Array] = attribute(INTERCEPTS_)
    n_layers_: int = attribute(N_LAYERS_)
    n_outputs_: int = attribute(N_LAYERS_)
    _made_of: ClassVar[DenseLayers] = DenseLayers()
