"""Accuracy of a private fit, tried on generated data with the declared columns before real data are read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import clone

from .datasets._table import cells_as_declared, labels_by_chance
from .fitting import PrivateClassifier
from .inspection._drawing import COLOURS, axes
from .linear_model import DPLogisticRegression
from .preprocessing import TableEncoder
from .privacy._arithmetic import round_up
from .privacy.ledger import paid

__all__ = ["Simulation", "simulate"]

HELD = 10_000  # generated rows on which accuracy is measured


@dataclass(frozen=True, eq=False)
class Simulation:
    """Accuracy by epsilon on generated data; printed, it is a table.

    Parameters
    ----------
    n : int
        Records of each fit.
    epsilons : tuple of float
        Promises.
    accuracy : ndarray of shape (n_epsilons, n_repeats)
        Of each fit, on generated records that it has not seen.
    best : float
        Of the score that the labels were drawn by: no fit can do better.

    See Also
    --------
    simulate : Makes one.
    """

    n: int
    epsilons: tuple[float, ...]
    accuracy: np.ndarray[Any, Any]
    best: float

    def __str__(self) -> str:
        lines = [f"accuracy of fits on {self.n} generated records; at best {self.best:.3f}"]
        for epsilon, found in zip(self.epsilons, self.accuracy, strict=True):
            lines.append(
                f"epsilon {round_up(epsilon):<8} {found.mean():.3f} +- {found.std(ddof=1):.3f}"
            )
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy by epsilon with its spread.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where; None for new ones.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax)
        mean, spread = self.accuracy.mean(axis=1), self.accuracy.std(axis=1, ddof=1)
        ax.errorbar(self.epsilons, mean, yerr=spread, marker="o", capsize=3, color=COLOURS[0])
        ax.axhline(self.best, linestyle="--", color=COLOURS[-1], label="at best")
        ax.set(xscale="log", xlabel="epsilon", ylabel=f"accuracy, n = {self.n}")
        ax.legend()
        return ax


def simulate(
    declaration: Mapping[Any, Any] | str | PathLike[str],
    n: int,
    epsilons: Sequence[float] = (0.1, 0.3, 1.0, 3.0),
    *,
    target: str | None = None,
    estimator: Any = None,
    repeats: int = 5,
    signal: float = 2.0,
    random_state: int = 0,
) -> Simulation:
    """Fit on generated data with the declared columns, at several epsilons.

    Numbers are drawn evenly between their bounds, values evenly among those declared, and labels by a random linear
    score of them. Real columns are correlated and their ends are empty, so that real accuracy differs: what carries
    over is from which epsilon on noise no longer decides.

    Parameters
    ----------
    declaration : dict or path
        As `skdp.preprocessing.TableEncoder.from_declaration` takes it.
    n : int
        Records that a fit would see.
    epsilons : sequence of float, default=(0.1, 0.3, 1.0, 3.0)
        Promises to try.
    target : str, default=None
        A declared column that is to be predicted, and left out of the rows.
    estimator : private classifier, default=None
        What would be fitted; None for `DPLogisticRegression`. Its epsilon, classes and data_norm are set here.
    repeats : int, default=5
        Fits at each epsilon, each on a table of its own; 2 or more.
    signal : float, default=2.0
        Deviation of the log-odds: how much the columns say of the label.
    random_state : int, default=0
        Of the draws, and of the noise: nothing here is anybody's.

    Returns
    -------
    Simulation

    See Also
    --------
    skdp.DPLogisticRegression : Its `quote` says what one fit would cost.

    Examples
    --------
    >>> import skdp
    >>> found = skdp.simulate({"age": [17, 90], "sex": ["f", "m"]}, 2000, [0.01, 2.0], repeats=3)
    >>> bool(found.accuracy[0].mean() < found.accuracy[1].mean() < found.best + 0.02)
    True
    """
    model = DPLogisticRegression() if estimator is None else estimator
    if not isinstance(model, PrivateClassifier):
        raise ValueError(f"estimator={type(model).__name__} must be a private classifier of skdp.")
    if not isinstance(repeats, int) or repeats < 2:
        raise ValueError(f"repeats={repeats!r} must be a whole number of 2 or more, for a spread.")
    encoder = TableEncoder.from_declaration(declaration, target=target)
    declared: dict[Any, Any] = dict(encoder._declaration())
    columns = [encoder._read(name, given) for name, given in declared.items()]
    by_place = TableEncoder(dict(enumerate(declared.values())))
    accuracy = np.empty((len(epsilons), repeats))
    best = np.empty(repeats)
    for k in range(repeats):
        cells = cells_as_declared(columns, n + HELD, (random_state, k))
        rows = by_place.fit_transform(cells)
        y, known = labels_by_chance(rows, n, signal, (random_state, k, 1))
        best[k] = (known[n:] == y[n:]).mean()
        for i, epsilon in enumerate(epsilons):
            given = {"epsilon": epsilon, "classes": [0, 1], "data_norm": 1.0, "ledger": None}
            fit = clone(model).set_params(**given, random_state=random_state + k)
            with paid(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                accuracy[i, k] = fit.fit(rows[:n], y[:n]).score(rows[n:], y[n:])
    return Simulation(n, tuple(map(float, epsilons)), accuracy, float(best.mean()))
