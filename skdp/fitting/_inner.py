"""Parameters of the solver as the estimator's own: ``solver__steps``, also where the solver is given by name."""

from typing import Any

from ..solvers import LIST_SOLVERS, SOLVERS, Solver, resolve

__all__ = ["inner_parameters", "with_inner"]

_PREFIX = "solver__"


def inner_parameters(solver: Any) -> dict[str, Any]:
    """Return the parameters of a named solver, prefixed; none for an instance, which lists its own.

    Parameters
    ----------
    solver : object
        Whatever the user gave.

    Returns
    -------
    dict
    """
    if not isinstance(solver, str) or solver not in {*SOLVERS, *LIST_SOLVERS}:
        return {}
    return {_PREFIX + name: value for name, value in resolve(solver).get_params().items()}


def with_inner(solver: str | Solver, given: dict[str, Any]) -> str | Solver:
    """The solver with these parameters; a name that they do not change stays one.

    Parameters
    ----------
    solver : str or Solver
        The estimator's.
    given : dict
        ``solver__name`` -> value.

    Returns
    -------
    str or Solver
    """
    known = resolve(solver)
    changed = known.with_params(**{name.removeprefix(_PREFIX): given[name] for name in given})
    return solver if changed == known else changed
