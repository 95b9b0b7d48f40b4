"""Lower bounds on epsilon from many runs: a distinguisher is learnt on half of them, and judged on the other half.

Canaries: records that take one of two forms, each by a coin of its own, and may show which.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from sklearn.base import clone

from ._neighbours import Array, Data

__all__ = ["Canaries", "Evidence", "LowerBound", "audit", "linear_canaries", "released_by"]


def released_by(estimator: Any) -> Callable[[Data], Array]:
    """A function that fits a fresh clone on a data set and returns its coefficients, for `audit`.

    Parameters
    ----------
    estimator : estimator
        With ``random_state=None``: noise from a fixed seed would be the same in every run.

    Returns
    -------
    run : callable
        From (X, y) to a vector of coefficients and intercept.

    See Also
    --------
    audit : What it is for.
    fitted : The same for `replay`.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from skdp.audit import released_by, worst_case_pair
    >>> model = DPLogisticRegression(epsilon=1.0, delta=1e-2, data_norm=1.0, classes=[0, 1])
    >>> run = released_by(model)
    >>> first, second = worst_case_pair(n_features=2)
    >>> run(first).shape  # two coefficients and the intercept, drawn anew by each call
    (3,)
    >>> bool((run(first) == run(first)).any())
    False
    """
    if estimator.get_params().get("random_state") is not None:
        raise ValueError(
            "random_state must be None: a fixed seed draws the same noise in every run."
        )

    def run(data: Data) -> Array:
        fitted = clone(estimator).fit(*data)
        return np.concatenate([np.ravel(fitted.coef_), np.ravel(fitted.intercept_)])

    return run


@dataclass(frozen=True)
class LowerBound:
    """Lower bound on epsilon that an attack has shown; subclasses add the evidence.

    Parameters
    ----------
    epsilon : float
        Any smaller claim is false, at the stated confidence.
    delta : float
        The delta that was granted.
    confidence : float
        Probability with which the bound holds.
    """

    epsilon: float
    delta: float
    confidence: float

    def refutes(self, epsilon: float) -> bool:
        """Return True if a claim of this epsilon, at the same delta, is refuted.

        Parameters
        ----------
        epsilon : float
            The claim.

        Returns
        -------
        bool
            True where more was found than the claim allows.
        """
        return self.epsilon > epsilon


Statistic = Callable[[Array], Array]

THRESHOLDS = 400


@dataclass(frozen=True)
class Evidence(LowerBound):
    """Result of an attack: a lower bound on epsilon, and the counts behind it.

    Parameters
    ----------
    epsilon : float
        Lower bound on epsilon at ``delta``: any smaller claim is false, at the stated confidence.
    delta : float
        The delta that was granted.
    confidence : float
        Probability, over the runs, with which the bound holds.
    n_runs : int
        Runs on each of the two data sets; half of them taught the attack, half judged it.
    false_alarms : int
        Of the judging runs on the first data set, how many the attack took for the second.
    hits : int
        Of the judging runs on the second data set, how many it recognised.
    statistic : {"linear", "quadratic"}
        Which distinguisher was chosen.

    See Also
    --------
    audit : Run the attack.

    Examples
    --------
    >>> from skdp.audit import Evidence
    >>> found = Evidence(1.7, 1e-5, 0.999, n_runs=1000, false_alarms=2, hits=40, statistic="linear")
    >>> found.refutes(1.0), found.refutes(2.0)
    (True, False)
    """

    n_runs: int
    false_alarms: int
    hits: int
    statistic: str


def audit(
    run: Callable[[Any], ArrayLike],
    pair: tuple[Any, Any],
    delta: float,
    n_runs: int,
    confidence: float = 0.999,
) -> Evidence:
    """Lower bound on epsilon, by an attack that is learnt from half of the runs.

    The attack is whichever of a linear and a quadratic discriminant, with a threshold, does best on the first half. On
    the second half its error rates get exact binomial bounds (Clopper and Pearson 1934), and (epsilon, delta)-DP
    bounds both hits <= e^epsilon false alarms + delta and its mirror image.

    Parameters
    ----------
    run : callable
        Takes one of the two data sets, draws its own fresh randomness, and returns what is released as an array.
    pair : tuple
        Two neighbouring data sets, see `worst_case_pair`.
    delta : float
        The delta of the claim. A claim for one delta implies others; large ones (0.05 to 0.2) are easiest to refute.
    n_runs : int
        Runs on each data set. A bound beyond about ``log(n_runs / 16)`` is out of reach.
    confidence : float
        Probability with which the bound holds.

    Returns
    -------
    Evidence
        The bound, and what it rests on.

    See Also
    --------
    audit_one_run : One run instead of thousands.
    replay : Exact, for what is computed beside the noise.
    worst_case_pair : A pair to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import audit
    >>> rng = np.random.default_rng(0)
    >>> found = audit(lambda mean: mean + rng.normal(), (0.0, 2.0), delta=0.1, n_runs=4000)
    >>> found.refutes(1.0), found.refutes(3.0)  # a Gaussian with mu = 2 has epsilon 2.8 at delta 0.1
    (True, False)
    """
    if not 0.0 <= delta < 1.0 or not 0.0 < confidence < 1.0 or n_runs < 8:
        raise ValueError(
            f"delta={delta!r} and confidence={confidence!r} must lie between 0 and 1, and n_runs={n_runs!r} must be 8 "
            "or more."
        )
    worlds = [_outputs(run, data, n_runs) for data in pair]
    half = n_runs // 2
    teaching, judging = [world[:half] for world in worlds], [world[half:] for world in worlds]
    name, statistic, threshold = _learn(teaching[0], teaching[1], delta, confidence)
    alarms, hits = (int((statistic(world) > threshold).sum()) for world in judging)
    bound = _bound(alarms, hits, n_runs - half, delta, confidence)
    return Evidence(float(bound), delta, confidence, n_runs, alarms, hits, name)


def _outputs(run: Callable[[Any], ArrayLike], data: Any, n_runs: int) -> Array:
    return np.array([np.ravel(run(data)) for _ in range(n_runs)], dtype=np.float64)


def _learn(
    first: Array, second: Array, delta: float, confidence: float
) -> tuple[str, Statistic, float]:
    """The statistic and threshold that would give the best bound on the runs they were learnt from."""
    best: tuple[float, str, Any, float] = (-math.inf, "linear", None, 0.0)
    for name, statistic in (
        ("linear", _linear(first, second)),
        ("quadratic", _quadratic(first, second)),
    ):
        a, b = statistic(first), statistic(second)
        thresholds = np.quantile(np.concatenate([a, b]), np.linspace(0.0, 1.0, THRESHOLDS))
        alarms = len(a) - np.searchsorted(np.sort(a), thresholds, side="right")
        hits = len(b) - np.searchsorted(np.sort(b), thresholds, side="right")
        bounds = _bound(alarms, hits, len(a), delta, confidence)
        at = int(np.argmax(bounds))
        if bounds[at] > best[0]:
            best = (bounds[at], name, statistic, thresholds[at])
    return best[1:]


def _bound(alarms: ArrayLike, hits: ArrayLike, runs: int, delta: float, confidence: float) -> Array:
    """Largest epsilon that both inequalities refute, with the error rates at their bounds."""
    miss = (1.0 - confidence) / 2.0
    high = _upper(np.asarray(alarms), runs, miss)
    low = 1.0 - _upper(runs - np.asarray(hits), runs, miss)
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.log(np.maximum(low - delta, 0.0) / high)
        mirrored = np.log(np.maximum(1.0 - high - delta, 0.0) / (1.0 - low))
    return np.maximum(np.fmax(direct, mirrored), 0.0)


def _upper(successes: Array, runs: int, miss: float) -> Array:
    """Clopper and Pearson's upper bound of a probability."""
    inside = betaincinv(successes + 1.0, np.maximum(runs - successes, 1), 1.0 - miss)
    return np.where(successes >= runs, 1.0, inside)


def _linear(first: Array, second: Array) -> Statistic:
    """Fisher's discriminant, after scaling each coordinate."""
    scale = np.maximum(np.vstack([first, second]).std(axis=0), 1e-300)
    spread = np.atleast_2d(
        np.cov(first / scale, rowvar=False) + np.cov(second / scale, rowvar=False)
    )
    move = (second.mean(axis=0) - first.mean(axis=0)) / scale
    ridge = 1e-9 * np.trace(spread) * np.eye(len(move))
    direction = np.linalg.lstsq(spread + ridge, move, rcond=None)[0] / scale
    return lambda outputs: outputs @ direction


def _quadratic(first: Array, second: Array) -> Statistic:
    """Logarithm of the ratio of two normal densities with means and covariances of their own."""
    scale = np.maximum(np.vstack([first, second]).std(axis=0), 1e-300)
    centres, roots = [], []
    for world in (first / scale, second / scale):
        spread = np.atleast_2d(np.cov(world, rowvar=False))
        spread = spread + (1e-9 * np.trace(spread) + 1e-300) * np.eye(len(spread))
        centres.append(world.mean(axis=0))
        roots.append(np.linalg.inv(np.linalg.cholesky(spread)))

    def ratio(outputs: Array) -> Array:
        distances = [
            np.square((outputs / scale - centre) @ root.T).sum(axis=1)
            for centre, root in zip(centres, roots)
        ]
        return distances[0] - distances[1]

    return ratio


@dataclass(frozen=True, eq=False)
class Canaries:
    """A data set with canaries in it, and the coins that decided their form.

    Parameters
    ----------
    data : tuple (X, y)
        What is fitted.
    rows : ndarray of shape (m, n_features)
        Rows of the canaries.
    coins : ndarray of shape (m,) of bool
        True for the form that pulls the coefficients along the row. Only the judge may look at them.
    neighbors : {"replace_one", "add_remove"}
        The relation in which turning a coin gives a neighbour.

    See Also
    --------
    linear_canaries : Makes them.
    audit_one_run : Judges by them.

    Examples
    --------
    >>> from skdp.audit import linear_canaries
    >>> canaries = linear_canaries(4, seed=0)
    >>> (canaries.scores([3.0, -1.0, 2.0, -2.0]) > 0).tolist()  # guesses of the coins
    [True, False, True, False]
    """

    data: Data
    rows: Array
    coins: Array
    neighbors: str

    def scores(self, coefficients: ArrayLike) -> Array:
        """Margin of each canary for the form that pulls along its row.

        Parameters
        ----------
        coefficients : ndarray
            What was released, the features' coefficients first.

        Returns
        -------
        ndarray of shape (m,)
            Larger where the coin was more likely True.
        """
        return self.rows @ np.ravel(coefficients)[: self.rows.shape[1]]


def linear_canaries(
    n_canaries: int,
    *,
    data_norm: float = 1.0,
    neighbors: str = "replace_one",
    beside: tuple[ArrayLike, ArrayLike] | None = None,
    directions: str = "own",
    classes: tuple[Any, Any] = (0, 1),
    seed: int | None = None,
) -> Canaries:
    """Make canaries for linear models: rows at the bound, in directions that no other record uses.

    Under ``replace_one`` the coin is the label, so that both forms are there and n is fixed. Under ``add_remove`` a
    canary has the second label and is there or not; declare ``n_public``, or let the fit buy the count.

    Parameters
    ----------
    n_canaries : int
        m. The more, the tighter the bound; 1000 or more for epsilon near 1.
    data_norm : float
        Norm of the rows: the bound that the estimator declares.
    neighbors : {"replace_one", "add_remove"}
        The relation that is audited.
    beside : tuple (X, y) or None
        Other records, which stay as they are; labels from `classes`.
    directions : {"own", "random"}
        A new column for each canary, along which no other record lies, or random directions in the columns of
        `beside`: no wider table, but canaries that get in each other's way as their number nears the columns'.
    classes : tuple of two labels
        Labels.
    seed : int or None
        Of coins and directions; None for fresh ones. Nobody who could change the fit may know it.

    Returns
    -------
    Canaries
        What to fit, and what to judge the guesses by.

    See Also
    --------
    audit_one_run : What they are for.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import linear_canaries
    >>> canaries = linear_canaries(3, data_norm=2.0, seed=0)
    >>> X, y = canaries.data
    >>> X.tolist()
    [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    >>> bool(np.all(y == canaries.coins))  # under replace_one the coin is the label
    True
    """
    if neighbors not in ("replace_one", "add_remove"):
        raise ValueError(
            f"neighbors={neighbors!r} is not known; use 'replace_one' or 'add_remove'."
        )
    rng = np.random.default_rng(seed)
    X, rows = _scaled(n_canaries, beside, directions, rng)
    rows = data_norm * rows
    coins = rng.random(n_canaries) < 0.5
    labels = np.asarray(classes)
    own = labels[coins.astype(int)]
    if neighbors == "add_remove":
        rows_there, own = rows[coins], own[coins]
    else:
        rows_there = rows
    y = own if beside is None else np.concatenate([own, beside[1]])
    return Canaries((np.vstack([rows_there, X]), y), rows, coins, neighbors)


def _scaled(
    n_canaries: int,
    beside: tuple[ArrayLike, ArrayLike] | None,
    directions: str,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """The other records' rows, widened where needed, and rows of norm 1 for the canaries."""
    X = np.zeros((0, 0)) if beside is None else np.asarray(beside[0], dtype=np.float64)
    if directions == "own":
        X = np.hstack([np.zeros((len(X), n_canaries)), X])
        return X, np.eye(n_canaries, X.shape[1])
    if directions != "random" or not X.shape[1]:
        raise ValueError(
            f"directions={directions!r} must be 'own', or 'random' among the columns of `beside`."
        )
    rows = rng.normal(size=(n_canaries, X.shape[1]))
    return X, rows / np.linalg.norm(rows, axis=1)[:, None]
