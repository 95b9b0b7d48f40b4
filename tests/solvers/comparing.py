"""Problems and checks that the tests of the comparing solvers share."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from skdp import DPLogisticRegression, PrivacyWarning
from skdp.losses import Logistic
from skdp.mechanisms import PoissonBatch, Public
from skdp.penalties import ScaledPenalty, make
from skdp.privacy import Spec
from skdp.privacy.ledger import Filter
from skdp.solvers import Task


def problem(n=600, d=5, seed=0):
    """Rows of norm at most 1, and labels that a linear score mostly explains."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None] * (1 + 1e-12)
    return X, (X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0.1).astype(int)


def model(solver, epsilon=1.0, **given):
    """A logistic regression with this solver and declared bounds."""
    given = {"delta": 1e-6, "data_norm": 1.0, "classes": [0, 1], "random_state": 0, **given}
    return DPLogisticRegression(epsilon=epsilon, solver=solver, **given)


def distance_to_optimum(solver, C, n=600):
    """Largest difference of a coefficient from scikit-learn's, without noise."""
    X, y = problem(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        fitted = model(solver, np.inf, C=C).fit(X, y)
    reference = LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(X, y)
    apart = np.abs(fitted.coef_ - reference.coef_).max()
    return max(apart, abs(fitted.intercept_ - reference.intercept_)[0])


def check_filter(solver, neighbors, epsilon=1.0):
    """The statement is the promise, the filter is not overdrawn, and most of it was used."""
    X, y = problem(3000)
    fitted = model(solver, epsilon, neighbors=neighbors).fit(X, y)
    receipt = fitted.privacy_
    assert receipt.epsilon == epsilon and receipt.delta == 1e-6
    assert receipt.unspent is not None and receipt.unspent >= 0.0
    assert receipt.script and np.isfinite(fitted.coef_).all()
    return fitted


def check_determined_by_seed(solver):
    """One seed one result, another seed another."""
    X, y = problem(800)
    first, again, other = (model(solver, random_state=s).fit(X, y).coef_ for s in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def quality(solver, epsilon, n=20_000, d=8, **given):
    """Share of labels that are right, on the rows that were fitted."""
    X, y = problem(n, d)
    return model(solver, epsilon, **given).fit(X, y).score(X, y)


def task(strength=1.0):
    """Logistic regression on two features and an intercept."""
    return Task(Logistic(), ScaledPenalty(make("l2", strength), 1.0, True), (3,))


class Answering:
    """Stands for an oracle: pays by a filter, and answers comparisons of k points as it is told."""

    def __init__(self, answers, kind, epsilon=1.0, limit=10_000):
        self.public = Public(n=1000, n_features=2, intercept=0.25, neighbors="replace_one")
        self.filter = Filter(Spec(epsilon, 1e-6), kind)
        self.answers, self.asked, self.limit = answers, [], limit

    def affords(self, *questions):
        """Whether the filter does."""
        return self.filter.affords(*(q.event(self.public) for q in questions))

    def share(self, question):
        """What the filter says."""
        return self.filter.share(question.event(self.public))

    def ask(self, question):
        """Ones for a gradient, the scripted choice for a comparison."""
        self.filter.charge(question.event(self.public))
        self.asked.append(question)
        assert len(self.asked) < self.limit
        inner = question.question if isinstance(question, PoissonBatch) else question
        if hasattr(inner, "candidates"):
            return self.answers(len(inner.candidates))
        return np.ones_like(inner.at)
