"""The estimator that a solver fits in: a classifier, or a regressor of the same 0 and 1 where it knows no margins."""

from skdp import DPRidge
from skdp.solvers import SOLVERS

OF_CLASSES = {"classes", "C", "penalty", "loss", "h"}


def of_residuals(solver):
    """Whether a solver, or one of that name, minimises losses of residuals and no others."""
    solver = SOLVERS.get(solver, solver) if isinstance(solver, str) else solver
    return "least_squares" in getattr(solver, "needs", ())


def face_for(solver, Estimator, **given):
    """The classifier with these parameters, or the regressor that they amount to."""
    if not of_residuals(solver):
        return Estimator(solver=solver, **given)
    kept = {name: value for name, value in given.items() if name not in OF_CLASSES}
    bounds = (-1.0, 1.0) if given.get("classes") == [-1, 1] else (0.0, 1.0)
    return DPRidge(solver=solver, alpha=1.0 / given.get("C", 1.0), y_bounds=bounds, **kept)
