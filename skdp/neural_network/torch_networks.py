"""Private networks that are modules of PyTorch."""

import copy
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from ..fitting import Plan, Sizes
from ..fitting._fields import attribute, parameter
from ..fitting.data import Array, is_count
from ..mechanisms import Public
from ..models import TorchModule
from ..models.torch_module import plain_module
from ..penalties import L2Blocks, ScaledPenalty
from ..privacy.spec import Spec
from ..solvers import Solver, Task
from ._any_network import (
    LARGEST,
    Architecture,
    NetworkClassifier,
    NetworkRegressor,
    planned_epochs,
    step_of_module,
)

__all__ = ["DPTorchClassifier", "DPTorchRegressor"]

AT_ONCE = 1024  # rows that are predicted together

MODULE = """module : torch.nn.Module, default=None
    The network with the weights to begin with, which are taken for public: they must not come of the records. It
    takes tensors of shape ``(1, *input_shape)`` and gives one score for two classes or a number, else one for each
    class. It is copied; weights that ask for no gradient stay as they are. What is not a function of one record, or
    cannot be shown to be, is refused: statistics of batches, draws (call ``module.eval()`` for dropout), lookups.
    None: one hidden layer of 100 units."""
INPUT_SHAPE = """input_shape : tuple of int, default=None
    Shape of a row as the module sees it, such as (1, 28, 28); None: as it is."""
ALPHA = """alpha : float, default=0.0
    Strength of the L2 penalty on trained weights of two dimensions or more: ``alpha/2 |w|^2`` beside the SUM of
    losses."""
LEARNING_RATE_INIT = """learning_rate_init : float, default=None
    Step of the solver in the module's weights, on the mean of clipped gradients; None: by the noise."""
MODULE_ = """module_ : torch.nn.Module
    A copy of the module with private weights, in double precision."""
WEIGHTS_ = """weights_ : ndarray of shape (n_weights_,)
    The same weights, one after the other."""
N_WEIGHTS_ = """n_weights_ : int
    Weights that were trained."""


def _is_shape(value: Any) -> bool:
    return value is None or (
        isinstance(value, tuple | list) and len(value) > 0 and all(map(is_count, value))
    )


SHAPES = (
    _is_shape,
    "must be a tuple of whole numbers that multiply to the columns, such as (1, 28, 28), or None for rows as they are",
)


class ModuleWeights(Architecture):
    """Weights of a module of PyTorch."""

    def problem(self, net: Any, sizes: Sizes) -> tuple[Public, Task]:
        """Return the sum of losses and the penalty on it."""
        module = net.module
        if module is None:
            module = plain_module(sizes.n_features, sizes.outputs)
        model = TorchModule(module, net.input_shape, sizes.norm)
        bound = max(1.0, sizes.outputs - 1.0)  # of codes of classes
        public = Public(
            sizes.n, sizes.n_features, 0.0, net.neighbors, target_bound=bound, model=model
        )
        strengths = [float(net.alpha) / sizes.heaviest * (len(s) > 1) for s in model.sizes]
        counts = tuple(int(np.prod(s)) for s in model.sizes)
        penalty = ScaledPenalty(L2Blocks(tuple(strengths), counts), 1.0, False)
        loss = net._loss(sizes.outputs)
        return public, Task(loss, penalty, (model.size,), tuple(net._ignored()), False)

    def facts(self, public: Public, task: Task) -> dict[str, Any]:
        """Return what the module is; one that does not suit the rows is refused here."""
        model: Any = public.model
        (weights,) = model.shape(public, task.loss.outputs)
        return {"module": type(model.module).__name__, "n_weights": weights}

    def step(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float:
        """Return the step size that suits a module's weights."""
        return step_of_module(solver, task, public, spec)

    def store(self, net: Any, w: Array, plan: Plan) -> None:
        """Store weights in a copy of the module."""
        model: Any = plan.public.model
        net.n_iter_, net.n_weights_ = planned_epochs(plan), model.size
        net._seen = model.input_shape, model.scale
        net.module_ = copy.deepcopy(model.module)
        self._keep(net, np.clip(w, -LARGEST, LARGEST))

    def keep_single(self, net: Any) -> None:
        """Round the weights."""
        most = float(np.finfo(np.float32).max)
        self._keep(net, np.clip(net.weights_, -most, most).astype(np.float32))

    def _keep(self, net: Any, w: Array) -> None:
        net.weights_ = w
        TorchModule.write(net.module_, w)

    def scores(self, net: Any, X: ArrayLike) -> Array:
        """Return what the module says of rows."""
        check_is_fitted(net)
        table: Any = net._rows(X)
        table = table.tocsr() if issparse(table) else np.ascontiguousarray(table)
        model, found = TorchModule(net.module_, *net._seen), []
        beyond = np.maximum(row_norms(table) / net._norm(), 1.0) * net._norm()
        for start in range(0, table.shape[0], AT_ONCE):
            part: Any = table[start : start + AT_ONCE]
            rows = part.toarray() if issparse(part) else part
            rows = rows.astype(np.float64) / beyond[start : start + AT_ONCE, None]
            scores, _ = model.scores(model.start(None), rows)
            found.append(scores.reshape(len(rows), -1))
        return np.concatenate(found).astype(table.dtype)


class DPTorchClassifier(NetworkClassifier):
    """A module of PyTorch as a classifier, with (epsilon, delta)-differential privacy.

    Minimises the sum of log-losses of a softmax over the module's scores, or of one score for two classes, plus
    ``alpha/2 |w|^2``, by clipped gradients of batches with noise. It needs the extra ``skdp[torch]``.

    See Also
    --------
    DPTorchRegressor : For numbers.
    DPMLPClassifier : Dense layers, many times faster.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from skdp.neural_network import DPTorchClassifier
    >>> windows = torch.nn.Conv2d(1, 8, 5), torch.nn.Tanh(), torch.nn.MaxPool2d(4)  # doctest: +SKIP
    >>> net = torch.nn.Sequential(*windows, torch.nn.Flatten(), torch.nn.Linear(288, 10))  # doctest: +SKIP
    >>> given = {"module": net, "input_shape": (1, 28, 28)}  # doctest: +SKIP
    >>> model = DPTorchClassifier(epsilon=2.0, delta=1e-5, data_norm=28.0, classes=range(10), **given)  # doctest: +SKIP
    >>> model.quote(60_000, 784).epsilon  # doctest: +SKIP
    2.0
    """

    learning_rate_init: float | None = parameter(None, LEARNING_RATE_INIT)
    module: Any = parameter(None, MODULE)
    input_shape: tuple[int, ...] | None = parameter(None, INPUT_SHAPE, SHAPES)
    alpha: float = parameter(0.0, ALPHA)
    module_: Any = attribute(MODULE_)
    weights_: Array = attribute(WEIGHTS_)
    n_weights_: int = attribute(N_WEIGHTS_)
    _seen: tuple[Any, ...] = field(init=False)

    _extra: ClassVar[str | None] = "torch"
    _made_of: ClassVar[ModuleWeights] = ModuleWeights()


class DPTorchRegressor(NetworkRegressor):
    """A module of PyTorch as a regressor, with (epsilon, delta)-differential privacy.

    Minimises the sum of halves of squared residuals plus ``alpha/2 |w|^2``. The module's score is on the scale of
    ``y_bounds``: -1 is the lower one and 1 the upper one. It needs the extra ``skdp[torch]``.

    See Also
    --------
    DPTorchClassifier : For classes.
    DPMLPRegressor : Dense layers, many times faster.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from skdp.neural_network import DPTorchRegressor
    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))  # doctest: +SKIP
    >>> model = DPTorchRegressor(epsilon=4.0, module=net, data_norm=1.5, y_bounds=(0.0, 2.0))  # doctest: +SKIP
    >>> model.quote(20_000, 2).epsilon  # doctest: +SKIP
    4.0
    """

    learning_rate_init: float | None = parameter(None, LEARNING_RATE_INIT)
    module: Any = parameter(None, MODULE)
    input_shape: tuple[int, ...] | None = parameter(None, INPUT_SHAPE, SHAPES)
    alpha: float = parameter(0.0, ALPHA)
    module_: Any = attribute(MODULE_)
    weights_: Array = attribute(WEIGHTS_)
    n_weights_: int = attribute(N_WEIGHTS_)
    _seen: tuple[Any, ...] = field(init=False)

    _extra: ClassVar[str | None] = "torch"
    _made_of: ClassVar[ModuleWeights] = ModuleWeights()

    def _predicted(self, X: ArrayLike) -> Array:
        shift, unit = self._units()
        return super()._predicted(X) * unit + shift
