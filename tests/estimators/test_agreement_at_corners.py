"""Losses with corners tend to the linear programme's fit as epsilon grows: rounding fades with the noise.

Quantiles are held against scikit-learn's own programme. Its support vectors stop far from their optimum where C is
large, so exact fits of these are found by their conditions: which records lie at a corner and which coefficients are 0
is read off the fit that is tested, coefficients and multipliers follow from one linear system, and a wrong guess gives
multipliers that no corner has. Families are those of test_agreement.py.
"""

import warnings
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from estimators.test_agreement import TABLES
from estimators.test_agreement_everywhere import EPSILONS, fitted, numbers
from scipy.optimize import linprog
from sklearn.linear_model import QuantileRegressor
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from skdp import DPLinearSVC, DPLinearSVR, DPQuantileRegressor

STRENGTHS = (0.01, 1.0, 100.0)
TAU, MARGIN = 0.7071, 0.05  # no table has a whole number of records below such a quantile
NAMES = ("quantile", "quantile, L1", "support vectors", "hinge", "hinge, L1", "hinge, both")
AT, ZERO = 5e-9, 1e-7  # of a corner, and of 0: records and coefficients that lie there
SHARES = {"hinge": 0.0, "hinge, L1": 1.0, "hinge, both": 0.5, "support vectors": 0.0}


def table(name, where):
    X, y = numbers(where)
    return (X, 2.0 * TABLES[where][1] - 1.0) if name.startswith("hinge") else (X, y)


@cache
def theirs(name, where, strength, intercept):
    """Scikit-learn's programme."""
    X, y = table(name, where)
    alpha = 1e-3 / strength if name == "quantile, L1" else 0.0
    return QuantileRegressor(quantile=TAU, alpha=alpha, fit_intercept=intercept).fit(X, y)


def ours(name, strength, intercept):
    given = {"fit_intercept": intercept}
    if name.startswith("quantile"):
        alpha = 1e-3 / strength if name == "quantile, L1" else 0.0
        return DPQuantileRegressor(quantile=TAU, alpha=alpha, y_bounds=(-1.0, 1.0), **given)
    if name == "support vectors":
        return DPLinearSVR(margin=MARGIN, C=strength, y_bounds=(-1.0, 1.0), **given)
    share = SHARES[name] or None
    return DPLinearSVC(loss="hinge", C=strength, l1_ratio=share, classes=[-1.0, 1.0], **given)


def pieces(name, z, y):
    """Where each record's next corner lies, on which side of it the record does, and slopes to the left and right."""
    if name == "support vectors":
        side = np.sign(z - y)
        corner = y + MARGIN * side
        outward = side > 0
        return corner, np.where(outward, 0.0, -1.0), np.where(outward, 1.0, 0.0)
    return y, np.where(y > 0, -1.0, 0.0), np.where(y > 0, 0.0, 1.0)  # y is 1 or -1: 1/y is y


def least_violation(A, rest, held, ends):
    """By how much some gradient must be beyond what holds it, whatever slopes records at a corner have."""
    ones = np.ones((len(A), 1))
    found = linprog(
        np.append(np.zeros(A.shape[1]), 1.0),
        A_ub=np.block([[A, -ones], [-A, -ones]]),
        b_ub=np.concatenate([held - rest, held + rest]),
        bounds=[*map(tuple, ends), (0.0, None)],
    )
    return found.x[-1]


def by_conditions(name, X, y, w, strength, intercept):
    """The minimiser of the losses as they are, with corners that nobody rounded, near w."""
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    share, size = SHARES[name], X.shape[1]
    l1, l2 = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    l1[:size], l2[:size] = share / strength, (1.0 - share) / strength
    w = np.where((l1 > 0.0) & (np.abs(w) < ZERO), 0.0, w)
    corner, left, right = pieces(name, Z @ w, y)
    at = np.abs(Z @ w - corner) < AT
    free = np.flatnonzero((w != 0.0) | (l1 == 0.0))
    slopes = np.where(Z @ w < corner, left, right)
    A = Z[np.ix_(at, free)]
    n, k = A.shape[1], len(A)
    system = np.block([[np.diag(l2[free]), A.T], [A, np.zeros((k, k))]])
    fixed = Z[~at].T @ slopes[~at]
    wanted = np.concatenate([-(fixed + l1 * np.sign(w))[free], corner[at]])
    solution = np.linalg.lstsq(system, wanted, rcond=None)[0]
    best = np.zeros_like(w)
    best[free] = solution[:n]
    most = np.abs(wanted).max(initial=0.0)
    assert (np.abs(system @ solution - wanted) <= 1e-8 * (1.0 + most)).all()
    held = np.where(best != 0.0, 0.0, l1)  # how far a gradient may be from 0
    rest = fixed + l2 * best + l1 * np.sign(best)
    assert least_violation(Z[at].T, rest, held, np.c_[left, right][at]) <= 1e-7 * (1.0 + most)
    now = pieces(name, Z @ best, y)[0]
    assert ((Z @ best - now)[~at] * (Z @ w - corner)[~at] > 0.0).all()
    assert (np.sign(best) * l1 == np.sign(w) * l1).all()
    return best


def distance(found, best):
    return np.linalg.norm(found - best) / max(np.linalg.norm(best), 1e-3)


@cache
def exact(name, where, strength, intercept):
    """What is tended to."""
    X, y = table(name, where)
    if name.startswith("quantile"):
        model = theirs(name, where, strength, intercept)
        return np.append(model.coef_, model.intercept_)[: X.shape[1] + intercept]
    found = coefficients(name, where, strength, intercept, np.inf, 0)
    return by_conditions(name, X, y, found, strength, intercept)


def coefficients(name, where, strength, intercept, epsilon, seed):
    X, y = table(name, where)
    found = fitted(ours(name, strength, intercept), X, y, epsilon, seed)
    return found[: X.shape[1] + intercept]


def apart(name, where, strength, intercept, epsilon=np.inf, seed=0):
    found = coefficients(name, where, strength, intercept, epsilon, seed)
    return distance(found, exact(name, where, strength, intercept))


@pytest.mark.parametrize("name", NAMES)
def test_without_noise_it_is_the_vertex_of_one_table(name):
    assert apart(name, "few", 1.0, True) <= 1e-6


@pytest.mark.slow
def test_without_noise_it_is_the_vertex_of_all():
    keys = [*product(NAMES, TABLES, STRENGTHS, (True, False))]
    found = {key: apart(*key) for key in keys}
    assert np.median(list(found.values())) <= 1e-6
    assert not {key: far for key, far in found.items() if far > 1e-4}


@pytest.mark.slow
@pytest.mark.parametrize("where", TABLES)
@pytest.mark.parametrize("name", NAMES)
def test_it_comes_nearer_at_each_step_of_epsilon(name, where):
    far = [
        np.median(
            [
                apart(name, where, 1.0, intercept, epsilon, seed)
                for intercept in (True, False)
                for seed in range(3)
            ]
        )
        for epsilon in EPSILONS
    ]
    assert all(later < earlier for earlier, later in pairwise(far)), far


def objective(name, X, y, w, C):
    z = X @ w[: X.shape[1]] + (w[-1] if len(w) > X.shape[1] else 0.0)
    loss = np.abs(z - y) - MARGIN if name == "support vectors" else 1.0 - y * z
    return C * np.maximum(loss, 0.0).sum() + 0.5 * w[: X.shape[1]] @ w[: X.shape[1]]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["support vectors", "hinge"])
def test_scikit_learns_support_vectors_are_no_better(name, intercept):
    """Its linear ones penalise the intercept; those with a linear kernel do not."""
    X, y = table(name, "few")
    given = {"C": 1.0, "tol": 1e-8}
    if name == "hinge":
        other = SVC(kernel="linear", **given) if intercept else LinearSVC(loss="hinge", **given)
    else:
        given["epsilon"] = MARGIN
        other = SVR(kernel="linear", **given) if intercept else LinearSVR(**given)
    if not intercept:
        other.set_params(fit_intercept=False, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.fit(X, y)
    best = exact(name, "few", 1.0, intercept)
    their = np.append(other.coef_, other.intercept_)[: len(best)]
    assert objective(name, X, y, best, 1.0) <= objective(name, X, y, their, 1.0) * (1.0 + 1e-12)
    assert distance(their, best) <= 1e-3
