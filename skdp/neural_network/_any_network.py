"""Base classes of the private networks, and what a network is made of: layers, or a module.

Default solver and step of a network: by the privacy guarantee and by public sizes, never by data.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..exceptions import NotSupported
from ..fitting import Plan, PrivateClassifier, PrivateRegressor, Sizes
from ..fitting._fields import attribute, parameter
from ..fitting.auto import is_auto
from ..fitting.data import Array
from ..losses import Huber, Logistic, Loss, Multinomial, Squared
from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import BLSGD, SGD, Adam, Solver, Task, resolve
from ..solvers._rules import clip_rule

__all__ = [
    "LARGEST",
    "Architecture",
    "NetworkClassifier",
    "NetworkRegressor",
    "clip_of_squares",
    "planned_epochs",
    "step_of",
    "step_of_module",
    "usual",
]


# Where the noise is low: of the steps that did best on generated tables, over the loss's curvature; and how far the
# noise of all steps may carry the score of a record, of which half is averaged. Where slopes are bounded a step that is
# too long for the steepest directions does no harm, and the others learn sooner.
UNBOUNDED = 8.0, 1.0
BOUNDED = 32.0, 1.5
TYPICAL = 1e5  # records where their number is private
LEAST_OF_ADAM = 0.005  # a step in one weight, where weights begin with variance 1
# Of generated images and tables at epsilon 0.5 to 8: what neither lost much by.
OF_MODULES = (
    0.17  # layers of PyTorch begin with weights of variance near 1 over the units before, not 1
)
ROUNDS = 240  # of a line search, where 60 suit lines
CLIPPED = (
    0.2  # of the usual clip of squares, on columns of real tables that no figure is reported of
)
SEARCHED = 4.0  # a line search may begin beyond


def usual(name: str = "auto") -> Solver:
    """Return the solver that a name stands for; "auto" takes few large batches.

    At equal epsilon these bring less noise, and less work, than many small ones. A line search is given as many rounds
    as make about as many epochs.

    Parameters
    ----------
    name : str
        Of a solver, or "auto".

    Returns
    -------
    Solver
    """
    if is_auto(name):
        return SGD(rate=0.05, steps=400)
    solver = resolve(name)
    return solver.with_params(splits=ROUNDS) if isinstance(solver, BLSGD) else solver


def step_of(solver: Solver, task: Task, public: Public, spec: Spec, clip: float = 1.0) -> float:
    """A step for weights that begin with variance 1, of which scores and their gradients are about 1 long.

    Parameters
    ----------
    solver : Solver
        One for networks.
    task : Task
        Its loss.
    public : Public
        Its number of records.
    spec : Spec
        The promise, of which the noise is guessed, without a calibration.
    clip : float
        Bound on a record's gradient, or what it is near.

    Returns
    -------
    float
    """
    steps, noise = _noise(solver, public, spec)
    noise *= clip
    longest, carried = UNBOUNDED if task.loss.slope is None else BOUNDED
    longest /= task.loss.curvature or 1.0
    step = min(longest, carried / max(noise * math.sqrt(steps), 1e-30))
    if isinstance(solver, Adam):
        return max(LEAST_OF_ADAM, step * math.sqrt(solver.floor) * noise)
    return SEARCHED * step if isinstance(solver, BLSGD) else step


def clip_of_squares(solver: Solver, task: Task, public: Public, spec: Spec) -> float | None:
    """A clip for squares of targets in [-1, 1], shorter than the usual one; None where that suits.

    What a network is to learn lies mostly within a fifth of the range around the middle, where gradients are as short:
    with the usual clip, noise of many weights moves scores further than that. Where noise would allow a longer step
    than the curvature does, the clip is longer by as much.
    """
    if task.loss.slope is not None:
        return None
    steps, noise = _noise(solver, public, spec)
    longest, carried = UNBOUNDED
    room = carried / max(longest * noise * math.sqrt(steps), 1e-30)
    share = CLIPPED * max(room, 1.0)
    if share >= 1.0:
        return None
    return share * clip_rule(task, public, noise * math.sqrt(task.size / steps), False)


def _noise(solver: Solver, public: Public, spec: Spec) -> tuple[float, float]:
    """Steps, and about the noise of one coordinate of each mean gradient of clip 1."""
    steps = float(solver.get_params()["splits" if isinstance(solver, BLSGD) else "steps"])
    noise = math.sqrt(2.0 * steps * math.log(1.25 / max(spec.delta, 1e-15)))
    return steps, noise / (spec.epsilon * (public.n or TYPICAL))


def step_of_module(solver: Solver, task: Task, public: Public, spec: Spec) -> float:
    """A step for a module whose layers begin as PyTorch's do: their gradients are longer, and steps along them shorter.

    Parameters
    ----------
    solver, task, public, spec : object
        As of `step_of`.

    Returns
    -------
    float
    """
    step = step_of(solver, task, public, spec)
    return step if isinstance(solver, Adam) else OF_MODULES * step


LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30

SOLVER = """solver : {"auto", "sgd", "adam", "blsgd", "blsgd-ac"} or Solver, default="auto"
    Algorithm, by name or as an instance; "auto" is `sgd` in steps that noise and curvature allow. No other one has
    a proof for networks."""
BATCH_SIZE = """batch_size : int, default=None
    Expected records in a batch, which is drawn record by record. None: those of the solver's own `rate`. It needs
    ``n_public`` under "add_remove"."""
MAX_ITER = """max_iter : int, default=None
    Epochs: passes over as many records as there are. It is no limit; all are made. None: the solver's own `steps`."""
N_ITER_ = """n_iter_ : int
    Epochs that were planned: a public number."""


class Architecture(ABC):
    """Layers, or a module, that a network is made of: it states the task, and keeps the weights on the user's scale.

    All methods take the estimator, whose parameters they read and whose attributes they set.
    """

    @abstractmethod
    def problem(self, net: Any, sizes: Sizes) -> tuple[Public, Task]:
        """Return public facts of the records, and the task: both over the heaviest weight."""

    @abstractmethod
    def store(self, net: Any, w: Array, plan: Plan) -> None:
        """Store the weights on the user's scale: cutting what has been paid for is free, and all bounds are public."""

    @abstractmethod
    def keep_single(self, net: Any) -> None:
        """Round what was fitted on single precision to it; nothing becomes infinite."""

    @abstractmethod
    def scores(self, net: Any, X: ArrayLike) -> Array:
        """Return the scores of rows, one column for each; rows beyond ``data_norm`` are scaled down as in a fit."""

    def step(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float:
        """Return the step size that is used where the user gives none."""
        return step_of(solver, task, public, spec)

    def clip(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float | None:
        """Return the clip that is used where the user names a solver; None for the solver's own."""
        return None

    def facts(self, public: Public, task: Task) -> dict[str, Any]:
        """Return what the receipt is to call public of the model."""
        return {}


def _state(self: Any, sizes: Sizes) -> tuple[Public, Task]:
    """Return the problem of the network, whose solver must have a proof for any model."""
    solver = None if is_auto(self.solver) else resolve(self.solver)
    if solver is not None and not solver.for_any_model:
        raise NotSupported(
            f"solver={solver.name!r} has no proof for networks; use 'sgd', 'adam' or 'blsgd', or solver='auto'."
        )
    return self._made_of.problem(self, sizes)


def _choose_solver(self: Any, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
    """Return the solver with the network's batches, epochs and steps; an instance is returned as it is."""
    if isinstance(self.solver, Solver):
        return resolve(self.solver)
    solver = usual(self.solver)
    if self.batch_size is not None:
        solver = solver.with_params(rate=_rate(self.batch_size, public.n))
    if self.max_iter is not None:
        steps = max(1, round(int(self.max_iter) / solver.get_params()["rate"]))
        name = "splits" if isinstance(solver, BLSGD) else "steps"
        solver = solver.with_params(**{name: steps})
    step = self.learning_rate_init
    step = self._made_of.step(solver, task, public, spec) if step is None else float(step)
    clip = self._made_of.clip(solver, task, public, spec)
    return solver.with_params(step_size=step, **({} if clip is None else {"clip": clip}))


def _model_facts(self: Any, public: Public, task: Task) -> dict[str, Any]:
    return self._made_of.facts(public, task)


def _store(self: Any, w: Array, plan: Plan) -> None:
    self._made_of.store(self, w, plan)


def _keep_single(self: Any) -> None:
    self._made_of.keep_single(self)


def _ignored(self: Any) -> Iterator[str]:
    """Yield a sentence for each parameter that an instance of a solver has of its own."""
    if isinstance(self.solver, Solver):
        for name in ("batch_size", "max_iter", "learning_rate_init"):
            if getattr(self, name) is not None:
                yield (
                    f"{name}={getattr(self, name)} has no effect where solver is an instance; set it there, or "
                    f"name the solver: solver={self.solver.name!r}."
                )


def _rate(batch_size: int, n: int | None) -> float:
    """Return the probability of a record to enter a batch of the wanted size."""
    if n is None:
        raise NotSupported(
            f"batch_size={batch_size} becomes a rate only if n is known; declare a rough n in n_public, or "
            "set solver__rate."
        )
    return min(1.0, int(batch_size) / n)


def planned_epochs(plan: Plan) -> int:
    """Return the number of epochs that a plan makes."""
    of_solver = plan.solver.get_params()
    steps = of_solver["splits" if isinstance(plan.solver, BLSGD) else "steps"]
    return max(1, round(steps * of_solver["rate"]))


class NetworkClassifier(PrivateClassifier):
    """Base of the networks for classes: one score for two of them, one for each of more."""

    multi_class = "multinomial"

    solver: str | Solver = parameter("auto", SOLVER)
    batch_size: int | None = parameter(None, BATCH_SIZE)
    max_iter: int | None = parameter(None, MAX_ITER)
    learning_rate_init: float | None = None
    n_iter_: int = attribute(N_ITER_)
    _made_of: ClassVar[Architecture]
    _problem, _chosen, _model_facts, _ignored = _state, _choose_solver, _model_facts, _ignored
    _store, _keep_single = _store, _keep_single

    def _loss(self, outputs: int) -> Loss:
        return Logistic() if outputs == 1 else Multinomial(outputs)

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows, as the last layer gives them.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Positive for the second of two classes; with more classes, one column for each.
        """
        scores = self._made_of.scores(self, X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of all classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return Multinomial(scores.shape[1]).predict(scores)
        second = Logistic().predict(scores)
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return scores - logsumexp(scores, axis=1, keepdims=True)
        return -np.column_stack([Logistic().value(scores, -1.0), Logistic().value(scores, 1.0)])


class NetworkRegressor(PrivateRegressor):
    """Base of the networks for a number.

    Parameters
    ----------
    huber_threshold : float, default=None
        Residual from which the loss is a straight line, in units of the target; None: squares everywhere.
    """

    solver: str | Solver = parameter("auto", SOLVER)
    batch_size: int | None = parameter(None, BATCH_SIZE)
    max_iter: int | None = parameter(None, MAX_ITER)
    learning_rate_init: float | None = None
    huber_threshold: float | None = None
    n_iter_: int = attribute(N_ITER_)
    _made_of: ClassVar[Architecture]
    _problem, _chosen, _model_facts, _ignored = _state, _choose_solver, _model_facts, _ignored
    _store, _keep_single = _store, _keep_single

    def _loss(self, outputs: int) -> Loss:
        """Return the loss of targets in [-1, 1]."""
        if self.huber_threshold is None:
            return Squared()
        return Huber(self._in_halves("huber_threshold"))

    def _units(self) -> tuple[Any, Any]:
        return self._scale()

    def _predicted(self, X: ArrayLike) -> Array:
        return self._made_of.scores(self, X)[:, 0].astype(np.float64)
