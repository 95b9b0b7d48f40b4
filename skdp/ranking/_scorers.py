"""Scorers of documents: a linear model, or a network whose matrices are bounded and what its solvers need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from ..fitting.auto import is_auto
from ..fitting.data import Array, rows_times
from ..mechanisms import Public
from ..models import ACTIVATIONS, Linear, Model, Perceptron
from ..neural_network._defaults import step_of, usual
from ..penalties import L2, L2Blocks, NoPenalty, Penalty, ScaledPenalty, SpectralBalls
from ..privacy.spec import Spec
from ..solvers import Solver, Task, resolve
from ..solvers._rules import clip_rule

__all__ = ["penalty_of", "scored", "scorer", "shares_of", "solver_for"]


def scorer(sizes: int | Sequence[int], activation: str) -> Model:
    """A network of so many units in each hidden layer, or a line where there is none."""
    hidden = (sizes,) if isinstance(sizes, int | np.integer) else tuple(sizes)
    return Perceptron(tuple(map(int, hidden)), activation) if hidden else Linear()


def shares_of(model: Perceptron, data_norm: float) -> list[float]:
    """Return the factor of each layer's matrix on the user's scale."""
    return [1.0 / data_norm, *model.shares()]


def penalty_of(
    model: Model, public: Public, alpha: float, data_norm: float, bound: float | None
) -> ScaledPenalty:
    """Half the squared norm of the weights on the user's scale, and a bound on each matrix of a network.

    Parameters
    ----------
    model : Model
        The scorer.
    public : Public
        Facts that shapes follow from.
    alpha : float
        Strength.
    data_norm : float
        Bound that rows were divided by.
    bound : float or None
        Of the largest singular value, over that of weights to begin with, which is near ``sqrt(rows) + sqrt(columns)``
        for independent ones of variance 1.
    """
    if not isinstance(model, Perceptron):
        line: Penalty = L2(alpha) if alpha else NoPenalty()
        return ScaledPenalty(line, data_norm, False)
    shapes = model.shapes(public.width, 1, public.intercept > 0)
    strengths = tuple(alpha * share**2 for share in shares_of(model, data_norm))
    inner: Penalty = L2Blocks(strengths, tuple(rows * columns for rows, columns in shapes))
    if bound is not None:
        radii = tuple(bound * float(np.sqrt(rows) + np.sqrt(columns)) for rows, columns in shapes)
        inner = SpectralBalls(radii, tuple(shapes), strengths)
    return ScaledPenalty(inner, 1.0, False)


def solver_for(given: str | Solver, task: Task, public: Public, spec: Spec) -> Solver:
    """The solver of a network; where it says nothing of its steps, they are as long as noise and curvature allow."""
    solver = usual() if is_auto(given) else resolve(given)
    if not solver.for_any_model or solver.get_params().get("step_size") is not None:
        return solver
    clip = solver.get_params()["clip"] or clip_rule(task, public, math.inf, whole=False)
    return solver.with_params(step_size=step_of(solver, task, public, spec, clip))


def scored(X: Array, matrices: list[Array], activation: str, data_norm: float) -> Array:
    """Scores of documents; those beyond `data_norm` are scaled down, as they are in a fit."""
    X = X if issparse(X) else np.ascontiguousarray(X)  # norms in one order of sums
    long = np.maximum(row_norms(X) / data_norm, 1.0).astype(X.dtype)
    rows = X if (long == 1.0).all() else X / long[:, None]  # products of far ones would overflow
    found = rows_times(rows, matrices[0])
    for matrix in matrices[1:]:
        said: Any = ACTIVATIONS[activation](found)[0]
        found = rows_times(said, matrix)
    return np.asarray(found[:, 0])
