"""What private networks share: layers in public numbers, a solver for them, and matrices on the user's scale."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting import Plan, PrivateLearner
from ..fitting.data import Array, scores
from ..losses import Loss
from ..mechanisms import Public
from ..models import ACTIVATIONS, Perceptron
from ..penalties import L2Blocks, ScaledPenalty
from ..privacy.spec import Spec
from ..solvers import BLSGD, Solver, Task, resolve
from ._defaults import step_of, usual

__all__ = ["Network"]

# The constant beside a row of norm at most 1, and beside what a layer hands on: as of linear models.
CONSTANT = 0.25
LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30


class Network(PrivateLearner):
    """Base of the private networks.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Units of each hidden layer.
    activation : {"relu", "tanh", "logistic", "identity"}, default="relu"
        What a hidden unit says of its score.
    solver : {"auto", "sgd", "adam", "blsgd", "blsgd-ac"} or Solver, default="auto"
        Algorithm, by name or as an instance; "auto" is `sgd` in steps that noise and curvature allow. No other one has
        a proof for networks.
    alpha : float, default=1e-4
        Strength of the L2 penalty on all weights but those of constants: ``alpha/2 |w|^2`` beside the SUM of losses,
        as in scikit-learn.
    batch_size : int, default=None
        Expected records in a batch, which is drawn record by record. None: those of the solver's own `rate`. It needs
        ``n_public`` under "add_remove".
    max_iter : int, default=None
        Epochs: passes over as many records as there are. It is no limit; all are made. None: the solver's own `steps`.
    learning_rate_init : float, default=None
        Step of the solver, in the units of `skdp.models.Perceptron`; None: by the noise.

    Attributes
    ----------
    coefs_ : list of ndarray
        Private weights of each layer, for rows of norm up to ``data_norm``.
    intercepts_ : list of ndarray
        Private weights of the layers' constants.
    n_iter_ : int
        Epochs that were planned: a public number.
    n_layers_, n_outputs_ : int
        Layers, those of the rows and of the scores included; scores of a row.
    """

    hidden_layer_sizes: int | Sequence[int] = (100,)
    activation: str = "relu"
    alpha: float = 1e-4
    batch_size: int | None = None
    max_iter: int | None = None
    learning_rate_init: float | None = None
    coefs_: list[Array] = field(init=False)
    intercepts_: list[Array] = field(init=False)
    n_iter_: int = field(init=False)
    n_layers_: int = field(init=False)
    n_outputs_: int = field(init=False)

    _heard: ClassVar[float] = 1.0  # how steep scores begin in what hidden units say

    @abstractmethod
    def _loss(self, outputs: int) -> Loss:
        """Of a record's scores."""

    def _target_bound(self, outputs: int) -> float:
        """Of what targets are turned into."""
        return 1.0

    def _model(self) -> Perceptron:
        sizes: Any = self.hidden_layer_sizes
        hidden = (sizes,) if np.ndim(sizes) == 0 else tuple(sizes)
        return Perceptron(tuple(map(int, hidden)), self.activation, heard=self._heard)

    def _ignored(self) -> Iterator[str]:
        """A sentence for each parameter that an instance of a solver has of its own."""
        if isinstance(self.solver, Solver):
            for name in ("batch_size", "max_iter", "learning_rate_init"):
                if getattr(self, name) is not None:
                    yield (
                        f"{name}={getattr(self, name)} has no effect beside an instance of a solver; set it "
                        f"there, or name the solver: solver={self.solver.name!r}."
                    )

    def _problem(
        self, n: int | None, n_features: int, outputs: int = 1, heaviest: float = 1.0
    ) -> tuple[Public, Task]:
        """The sum of losses and the penalty on it, both over the heaviest weight; constants are free."""
        public = Public(
            n,
            n_features,
            CONSTANT,
            self.neighbors,
            target_bound=self._target_bound(outputs),
            model=self._model(),
        )
        penalty = ScaledPenalty(self._penalty(public, outputs, heaviest), 1.0, False)
        shape = public.model.shape(public, outputs)
        return public, Task(self._loss(outputs), penalty, shape, tuple(self._ignored()), False)

    def _penalty(self, public: Public, outputs: int, heaviest: float) -> L2Blocks:
        """On weights of the user's rows: a layer's own are those times what the layer before hands on."""
        model, strengths, sizes = self._model(), [], []
        for shares, (rows, columns) in zip(
            self._shares(model, self._norm()),
            model.shapes(public.width, outputs, True),
            strict=True,
        ):
            strengths += [float(self.alpha) * shares**2 / heaviest, 0.0]
            sizes += [(rows - 1) * columns, columns]
        return L2Blocks(tuple(strengths), tuple(sizes))

    def _shares(self, model: Perceptron, norm: float) -> list[float]:
        """What weights of each layer are multiplied by on the user's scale, for rows of this norm."""
        return [1.0 / norm, *model.shares()]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        solver = self.solver
        name = solver if isinstance(solver, str) else solver.name
        if name != "auto" and not resolve(solver).for_any_model:
            raise NotSupported(
                f"solver={name!r} has no proof for networks; use 'sgd', 'adam' or 'blsgd', or solver='auto'."
            )

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        """The solver with what the face says of batches, epochs and steps; an instance as it is."""
        if isinstance(self.solver, Solver):
            return resolve(self.solver)
        solver = usual() if self.solver == "auto" else resolve(self.solver)
        if self.batch_size is not None:
            solver = solver.with_params(rate=self._rate(public.n))
        if self.max_iter is not None:
            steps = max(1, round(int(self.max_iter) / solver.get_params()["rate"]))
            name = "splits" if isinstance(solver, BLSGD) else "steps"
            solver = solver.with_params(**{name: steps})
        step = self.learning_rate_init
        step = step_of(solver, task, public, spec) if step is None else float(step)
        return solver.with_params(step_size=step)

    def _rate(self, n: int | None) -> float:
        """Probability of a record to enter a batch of the wanted size."""
        if n is None:
            raise NotSupported(
                f"batch_size={self.batch_size} is a rate only if n is known; declare a rough one in n_public, or give "
                "solver__rate."
            )
        return min(1.0, int(cast(int, self.batch_size)) / n)

    def _store(self, w: Array, plan: Plan) -> None:
        """Matrices on the user's scale: cutting what has been paid for is free, and all bounds are public."""
        model = self._model()
        matrices = model.matrices(np.clip(w, -LARGEST, LARGEST), plan.public.width, True)
        shares = self._shares(model, plan.data_norm)
        self.coefs_ = [m[:-1] * share for m, share in zip(matrices, shares, strict=True)]
        self.intercepts_ = [m[-1] * CONSTANT for m in matrices]
        of_solver = plan.solver.get_params()
        steps = of_solver["splits" if isinstance(plan.solver, BLSGD) else "steps"]
        self.n_iter_ = max(1, round(steps * of_solver["rate"]))
        self.n_layers_, self.n_outputs_ = len(matrices) + 1, matrices[-1].shape[1]

    def _keep_single(self) -> None:
        """Round what was fitted on single precision to it; nothing becomes infinite."""
        most = float(np.finfo(np.float32).max)
        for name in ("coefs_", "intercepts_"):
            rounded = [np.clip(a, -most, most).astype(np.float32) for a in getattr(self, name)]
            setattr(self, name, rounded)

    def _scores(self, X: ArrayLike) -> Array:
        """Of rows, of which those beyond ``data_norm`` are scaled down as they are in a fit."""
        check_is_fitted(self)
        X = self._rows(X)
        beyond = np.maximum(row_norms(X) / self._norm(), 1.0)
        first = scores(X, self.coefs_[0], self.intercepts_[0]) / beyond[:, None].astype(X.dtype)
        for matrix, constant in zip(self.coefs_[1:], self.intercepts_[1:], strict=True):
            said, _ = ACTIVATIONS[self.activation](first)
            first = said @ matrix + constant
        return first
