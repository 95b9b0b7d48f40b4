"""Checks that the tests of the solvers with a fixed script share."""

import warnings

import numpy as np
from solvers.comparing import model, problem

from skdp import PrivacyWarning
from skdp.mechanisms import Noise, Oracle, Public, Records
from skdp.privacy.ledger import Recorder
from skdp.solvers import Budget, Task

RELATIONS = ("replace_one", "add_remove")


def check_budget(solver, neighbors, epsilon=1.0, **given):
    """The script is calibrated to the promise: not above it, and not 1 % below."""
    receipt = model(solver, epsilon, neighbors=neighbors, **given).fit(*problem(500)).privacy_
    assert 0.99 * epsilon <= receipt.epsilon <= epsilon
    return receipt


def unnoised(solver, data, **given):
    """A fit at epsilon = inf."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model(solver, np.inf, **given).fit(*data)


def unrest(fitted, data, penalty, step=0.1):
    """How far a proximal gradient step on the mean objective moves the coefficients: 0 at a stationary point."""
    X, y = data
    signs = 2.0 * y - 1.0
    margins = signs * (X @ fitted.coef_[0] + fitted.intercept_[0])
    slopes = -signs / (1.0 + np.exp(margins)) / len(y)
    w = fitted.coef_[0]
    moved = penalty.prox(w - step * (X.T @ slopes), step / len(y)) - w
    return max(np.abs(moved).max() / step, abs(slopes.sum()))


class Tape:
    """An oracle over a few records that keeps what it is asked; ``solve`` runs a solver on it."""

    def __init__(self, penalty, loss, shape, rows=None, neighbors="replace_one", seed=0):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(60, shape[0] - 1)) / 3.0 if rows is None else rows
        self.records = _records(rows, shape, neighbors)
        self.task = Task(loss, penalty, shape)
        self.asked = []
        self._oracle = Oracle(self.records, Recorder(), Noise(seed))
        self.public = self._oracle.public

    def ask(self, question):
        """Answer, and keep the question."""
        self.asked.append(question)
        return self._oracle.ask(question)

    def solve(self, solver, noise=0.0):
        """The solver's parameters at one noise scale."""
        return solver.solve(self, self.task, Budget(1.0, 1e-6, noise=noise))


def _records(rows, shape, neighbors):
    """Labels in turn: codes of as many classes as there are columns of parameters, or -1 and +1."""
    codes = np.arange(len(rows)) % shape[1] if len(shape) > 1 else np.resize([-1, 1], len(rows))
    n = len(rows) if neighbors == "replace_one" else None
    public = Public(n, rows.shape[1], 0.25, neighbors, target_bound=float(np.abs(codes).max()))
    return Records.admit(rows, codes.astype(float), public, 1.0)
