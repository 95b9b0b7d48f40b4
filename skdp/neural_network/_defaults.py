"""Default solver and step of a network: by the privacy guarantee and by public sizes, never by data."""

import math

from ..fitting.auto import is_auto
from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import BLSGD, SGD, Adam, Solver, Task, resolve
from ..solvers._rules import clip_rule

__all__ = ["clip_of_squares", "step_of", "step_of_module", "usual"]

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
