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
from ..fitting.data import Array, is_count
from ..mechanisms import Public
from ..models import TorchModule
from ..models.torch_module import plain_module
from ..penalties import L2Blocks, ScaledPenalty
from ..privacy.spec import Spec
from ..solvers import Solver, Task
from ._any_network import AnyNetwork, NetworkClassifier, NetworkRegressor
from ._defaults import step_of_module
from ._network import LARGEST

__all__ = ["DPTorchClassifier", "DPTorchRegressor"]

AT_ONCE = 1024  # rows that are predicted together


class TorchNetwork(AnyNetwork):
    """Base of the networks that are modules of PyTorch.

    Parameters
    ----------
    module : torch.nn.Module, default=None
        The network with the weights to begin with, which are taken for public: they must not come of the records. It
        takes tensors of shape ``(1, *input_shape)`` and gives one score for two classes or a number, else one for each
        class. It is copied; weights that ask for no gradient stay as they are. What is not a function of one record, or
        cannot be shown to be, is refused: statistics of batches, draws (call ``module.eval()`` for dropout), lookups.
        None: one hidden layer of 100 units.
    input_shape : tuple of int, default=None
        Shape of a row as the module sees it, such as (1, 28, 28); None: as it is.
    alpha : float, default=0.0
        Strength of the L2 penalty on trained weights of two dimensions or more: ``alpha/2 |w|^2`` beside the SUM of
        losses.
    learning_rate_init : float, default=None
        Step of the solver in the module's weights, on the mean of clipped gradients; None: by the noise.

    Attributes
    ----------
    module_ : torch.nn.Module
        A copy of the module with private weights, in double precision.
    weights_ : ndarray of shape (n_weights_,)
        The same weights, one after the other.
    n_weights_ : int
        Weights that were trained.
    """

    module: Any = None
    input_shape: tuple[int, ...] | None = None
    alpha: float = 0.0
    module_: Any = field(init=False)
    weights_: Array = field(init=False)
    n_weights_: int = field(init=False)
    _seen: tuple[Any, ...] = field(init=False)

    _extra: ClassVar[str | None] = "torch"

    def _rules(self) -> dict[str, Any]:
        return super()._rules() | {"input_shape": SHAPES}

    def _model(self, sizes: Sizes) -> TorchModule:
        module = self.module
        if module is None:
            module = plain_module(sizes.n_features, sizes.outputs)
        return TorchModule(module, self.input_shape, sizes.norm)

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        """The sum of losses and the penalty on it, both over the heaviest weight."""
        model = self._model(sizes)
        bound = self._target_bound(sizes.outputs)
        public = Public(
            sizes.n, sizes.n_features, 0.0, self.neighbors, target_bound=bound, model=model
        )
        strengths = [float(self.alpha) / sizes.heaviest * (len(s) > 1) for s in model.sizes]
        counts = tuple(int(np.prod(s)) for s in model.sizes)
        penalty = ScaledPenalty(L2Blocks(tuple(strengths), counts), 1.0, False)
        task = Task(
            self._loss(sizes.outputs), penalty, (model.size,), tuple(self._ignored()), False
        )
        return public, task

    def _plan(self, *given: Any) -> Plan:
        """Return the plan with the module on its receipt; a module that does not suit the rows is refused here."""
        plan = super()._plan(*given)
        model: Any = plan.public.model
        (weights,) = model.shape(plan.public, plan.task.loss.outputs)
        plan.declared.update(module=type(model.module).__name__, n_weights=weights)
        return plan

    def _step(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float:
        return step_of_module(solver, task, public, spec)

    def _store(self, w: Array, plan: Plan) -> None:
        """Weights in a copy of the module: cutting what has been paid for is free."""
        model: Any = plan.public.model
        self.n_iter_, self.n_weights_ = self._epochs(plan), model.size
        self._seen = model.input_shape, model.scale
        self.module_ = copy.deepcopy(model.module)
        self._keep_weights(np.clip(w, -LARGEST, LARGEST))

    def _keep_weights(self, w: Array) -> None:
        self.weights_ = w
        TorchModule.write(self.module_, w)

    def _keep_single(self) -> None:
        """Round what was fitted on single precision to it; nothing becomes infinite."""
        most = float(np.finfo(np.float32).max)
        self._keep_weights(np.clip(self.weights_, -most, most).astype(np.float32))

    def _scores(self, X: ArrayLike) -> Array:
        """Return the scores of rows; rows beyond ``data_norm`` are scaled down as they are in a fit."""
        check_is_fitted(self)
        table: Any = self._rows(X)
        table = table.tocsr() if issparse(table) else np.ascontiguousarray(table)
        model, found = TorchModule(self.module_, *self._seen), []
        beyond = np.maximum(row_norms(table) / self._norm(), 1.0) * self._norm()
        for start in range(0, table.shape[0], AT_ONCE):
            part: Any = table[start : start + AT_ONCE]
            rows = part.toarray() if issparse(part) else part
            rows = rows.astype(np.float64) / beyond[start : start + AT_ONCE, None]
            scores, _ = model.scores(model.start(None), rows)
            found.append(scores.reshape(len(rows), -1))
        return np.concatenate(found).astype(table.dtype)


class DPTorchClassifier(TorchNetwork, NetworkClassifier):
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


class DPTorchRegressor(TorchNetwork, NetworkRegressor):
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

    def _predicted(self, X: ArrayLike) -> Array:
        middle, half = self._scale()
        return super()._predicted(X) * half + middle


def _is_shape(value: Any) -> bool:
    return value is None or (
        isinstance(value, tuple | list) and len(value) > 0 and all(map(is_count, value))
    )


SHAPES = (
    _is_shape,
    "must be a tuple of whole numbers that multiply to the columns, such as (1, 28, 28), or None for rows as they are",
)
