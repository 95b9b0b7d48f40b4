"""Whether a hyper-parameter does anything: other values of its type, and what a fit makes of them."""

import re
import warnings
from dataclasses import fields, replace
from functools import cache

import numpy as np
from laws.faces import face_for

from skdp import DPLogisticRegression, NotSupported, PrivacyWarning
from skdp.penalties import L1Ball
from skdp.solvers import SOLVERS

# The law is not about how many; of few candidates none may pass, which is when some hyper-parameters act.
SHORT = {"steps": 30, "epochs": 4, "max_rounds": 60, "candidates": 3}
# From loud noise to none: some hyper-parameters act in one of them only.
EPSILONS = (1.0, 10.0, 300.0, np.inf)

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (80, 3))
Y = (X @ [2.0, -1.0, 0.5] + 0.3 + 0.3 * rng.logistic(size=80) > 0).astype(int)


def cases():
    """(solver, hyper-parameter) of all that are registered, as they are now."""
    return [(name, field.name) for name in sorted(SOLVERS) for field in fields(SOLVERS[name])]


def base(name):
    """The default with fewer rounds, and fewer candidates."""
    solver = SOLVERS[name]()
    known = solver.get_params()
    return solver.with_params(**{k: v for k, v in SHORT.items() if known.get(k)})


def others(solver, name):
    """Other values of the type of the one that stands; a range or a refusal takes care of the rest."""
    value = getattr(solver, name)
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return words(solver, name)
    if isinstance(value, tuple):
        return [(*value[:k], 0.5 * value[k], *value[k + 1 :]) for k in range(len(value))]
    if value is None:
        return [1, 10, 0.5, 3.0, 0.02]
    return [1, value + 1, 2 * value] if isinstance(value, int) else [0.5 * value, 1.5 * value, 0.1]


def words(solver, name):
    """The other names that the refusal of a nonsensical one offers."""
    try:
        estimator(replace(solver, **{name: "nonsense"}), 1.0).quote(len(X), X.shape[1])
    except ValueError as refusal:
        # The refused value stands first, after the sign, and the solver's name may stand before it.
        told = str(refusal).split("'nonsense'", 1)[1]
        return sorted(set(re.findall(r"'([\w-]+)'", told)) - {getattr(solver, name)})
    return ["nonsense"]  # taken as it is: it had better do something


def estimator(solver, epsilon):
    """On the first penalty that the solver takes, with a fixed seed."""
    return face_for(
        solver,
        DPLogisticRegression,
        epsilon=epsilon,
        delta=1e-5,
        penalty=L1Ball(3.0) if "l1_ball" in solver.needs else "l2",
        data_norm=2.0,
        classes=[0, 1],
        random_state=0,
    )


@cache
def outcome(solver, epsilon):
    """Script and coefficients of a fit, or None where the hyper-parameters are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            fitted = estimator(solver, epsilon).fit(X, Y)
        except (NotSupported, ValueError):
            return None
    return (
        repr(fitted.privacy_.script),
        fitted.coef_.tobytes(),
        np.asarray(fitted.intercept_).tobytes(),
    )


def does_something(solver, changed):
    """Whether a change is refused, or changes script or result, at some noise."""
    return any(
        outcome(changed, e) is None or outcome(changed, e) != outcome(solver, e) for e in EPSILONS
    )


def ignored(name, parameter):
    """Values of the hyper-parameter that change nothing and are not refused: all that count, or none.

    Another word, or the other of yes and no, must each do something. Of numbers one is enough: a limit of 60 rounds is
    no other than one of 30 where noise ends the run before.
    """
    solver = base(name)
    assert None not in [outcome(solver, e) for e in EPSILONS], f"{name} is refused as it is"
    tried = others(solver, parameter)
    silent = [v for v in tried if not does_something(solver, replace(solver, **{parameter: v}))]
    each = isinstance(getattr(solver, parameter), bool | str)
    return silent if each or not _some_taken(solver, parameter, tried, silent) else []


def _some_taken(solver, parameter, tried, silent):
    """Whether a value that is not refused does something."""
    changed = [replace(solver, **{parameter: v}) for v in tried if v not in silent]
    return any(
        outcome(other, e) not in (None, outcome(solver, e)) for other in changed for e in EPSILONS
    )
