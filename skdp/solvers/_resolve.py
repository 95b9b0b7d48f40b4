"""Solvers from names."""

from . import CLASS_SOLVERS, LIST_SOLVERS, SOLVERS
from ._ranges import plain
from ._solver import Solver, Task, refuse_unfit

__all__ = ["THEIRS", "resolve"]

# Names that scripts for scikit-learn give. None of these solvers has a private counterpart, so each means "auto".
THEIRS = frozenset(
    {
        "cholesky",
        "highs",
        "highs-ds",
        "highs-ipm",
        "interior-point",
        "lbfgs",
        "liblinear",
        "lsqr",
        "newton-cg",
        "newton-cholesky",
        "revised simplex",
        "sag",
        "saga",
        "sparse_cg",
        "svd",
    }
)


def resolve(solver: str | Solver, task: Task | None = None) -> Solver:
    """The solver that a name or an instance stands for, with Python's own numbers.

    Parameters
    ----------
    solver : str or Solver
        Name in `SOLVERS`, or an instance.
    task : Task or None
        What it is to minimise: refused where it cannot, or where a hyper-parameter is out of range.

    Returns
    -------
    Solver

    Examples
    --------
    >>> from skdp.solvers import resolve
    >>> resolve("gd").steps
    200
    """
    found = _known(solver)
    if task is not None:
        refuse_unfit(found, task)
    return found


def _known(solver: str | Solver) -> Solver:
    if isinstance(solver, Solver):
        return plain(solver)
    if isinstance(solver, str) and solver in ("auto", *THEIRS):
        raise ValueError(
            f"solver={solver!r} is chosen at fit; name a solver of skdp's to set its parameters."
        )
    for known in (LIST_SOLVERS, CLASS_SOLVERS, SOLVERS):
        if isinstance(solver, str) and solver in known:
            return known[solver]()
    raise ValueError(
        f"solver={solver!r} is not known; use one of {['auto', *sorted(SOLVERS)]} or an instance."
    )
