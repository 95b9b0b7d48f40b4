"""Whole scores, from records to interval, against what is true of the population that the records are drawn from.

The model is public and fixed, every repetition draws records and noise anew. All 2,000 of them are for ``-m slow``;
``python tests/metrics/test_coverage_end_to_end.py`` prints the table of docs/evaluation.md.
"""

import sys
from functools import cache, partial

import numpy as np
import pytest
from laws.true_figures import true_figures
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdp.metrics import DPConfusionMatrix, DPGroupAccuracy, _score, dp_score

LEVEL, BOUNDS = 0.95, (-4.0, 6.0)
SIZES = [(1000, 0.5), (5000, 0.5), (5000, 2.0)]
NAMES = ["a", "b", "c"]


@cache
def population():
    """Records with noisy labels, numbers with heavy tails, and groups that the models serve differently."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 3))
    groups = rng.choice(NAMES, len(X), p=[0.5, 0.3, 0.2])
    scores = np.where(groups == "a", X[:, 0], X[:, 0] + X[:, 1])
    y = (scores + rng.logistic(scale=0.5, size=len(X)) > 0.8).astype(int)
    return X, y, scores + rng.standard_t(5, size=len(X)), groups


@cache
def models():
    """Both fitted on a few other records."""
    X, y, numbers, _ = population()
    return LogisticRegression().fit(X[:500], y[:500]), LinearRegression().fit(
        X[:500], numbers[:500]
    )


def _scored(scoring, X, y, numbers, groups, **given):
    classifier, regressor = models()
    if scoring == "r2":
        return dp_score(regressor, X, numbers, scoring="r2", y_bounds=BOUNDS, **given)
    return dp_score(classifier, X, y, scoring=scoring, **given)


def _by_group(of, X, y, numbers, groups, **given):
    return of(DPGroupAccuracy.from_estimator(models()[0], X, y, groups, names=NAMES, **given))


def _of_matrix(of, X, y, numbers, groups, **given):
    return of(DPConfusionMatrix.from_estimator(models()[0], X, y, **given))


def _right():
    X, y, _, groups = population()
    return models()[0].predict(X) == y, groups


def _gap():
    right, groups = _right()
    return right[groups == "a"].mean() - right[groups == "b"].mean()


def _clipped_log_loss(estimate):
    X, y, _, _ = population()
    least = np.exp(-estimate.privacy.declared["largest loss"])
    p = models()[0].predict_proba(X)[np.arange(len(y)), y]
    return float(-np.log(np.maximum(p, least)).mean())


def _clipped_r2():
    X, _, numbers, _ = population()
    return metrics.r2_score(numbers.clip(*BOUNDS), models()[1].predict(X).clip(*BOUNDS))


def _of_labels(figure):
    X, y, _, _ = population()
    return figure(y, models()[0].predict(X))


def _of_probabilities(figure):
    X, y, _, _ = population()
    return figure(y, models()[0].predict_proba(X)[:, 1])


# By name: from records to an estimate, and what is true.
FIGURES = {
    "balanced_accuracy": (_scored, partial(_of_labels, metrics.balanced_accuracy_score)),
    "roc_auc": (_scored, partial(_of_probabilities, metrics.roc_auc_score)),
    "log_loss": (_scored, None),
    "brier_score": (_scored, partial(_of_probabilities, metrics.brier_score_loss)),
    "r2": (_scored, _clipped_r2),
    "precision": (
        partial(_of_matrix, lambda told: told.precision(1)),
        partial(_of_labels, metrics.precision_score),
    ),
    "accuracy of a group": (
        partial(_by_group, lambda told: told.accuracy("b")),
        lambda: _right()[0][_right()[1] == "b"].mean(),
    ),
    "gap of two groups": (partial(_by_group, lambda told: told.gap("a", "b")), _gap),
}


def _told(truth):
    X, y, _, _ = population()
    return truth(y, models()[0].predict(X), models()[0].predict_proba(X)[:, 1])


FIGURES |= {
    name: (_scored, partial(_told, truth)) for name, truth in true_figures(_score.SCORINGS).items()
}


def coverage(figure, n, epsilon, runs, seed=1):
    """How often the interval holds, and its median width."""
    make, truth = FIGURES[figure]
    make = partial(make, figure) if make is _scored else make
    true = None if truth is None else truth()
    rng, held, widths = np.random.default_rng(seed), 0, []
    for _ in range(runs):
        chosen = rng.integers(500, 100_000, size=n)
        found = make(*(part[chosen] for part in population()), epsilon=epsilon)
        true = _clipped_log_loss(found) if true is None else true
        held += found.low <= true <= found.high
        widths.append(found.high - found.low)
    return held / runs, float(np.median(widths))


@pytest.mark.slow
@pytest.mark.parametrize("n, epsilon", SIZES)
@pytest.mark.parametrize("figure", FIGURES)
def test_intervals_hold_as_often_as_they_say(figure, n, epsilon):
    held, width = coverage(figure, n, epsilon, 2000)
    assert abs(held - LEVEL) <= 0.02 and width < 1.5, (held, width)


def _at_least(held, runs):
    """Whether so few repetitions speak against the level less two points, by four standard deviations."""
    return held >= LEVEL - 0.02 - 4.0 * np.sqrt(LEVEL * (1 - LEVEL) / runs)


@pytest.mark.parametrize("figure", FIGURES)
def test_a_hundred_intervals(figure):
    held, width = coverage(figure, 2000, 1.0, 100)
    assert _at_least(held, 100) and width < 0.7


FORGETFUL = {
    "noise of errors": lambda quotient, o, u, no, nu, s, level: quotient(o, u, 0.0, nu, s, level),
    "sampling": lambda quotient, o, u, no, nu, s, level: quotient(o, u, no, nu, 0.0, level),
}


@pytest.mark.parametrize(
    "what, n, epsilon", [("noise of errors", 2000, 0.5), ("sampling", 500, 50.0)]
)
def test_an_interval_of_r2_that_forgets_is_found_out(what, n, epsilon, monkeypatch):
    assert _at_least(coverage("r2", n, epsilon, 100)[0], 100)
    monkeypatch.setattr(_score, "quotient", partial(FORGETFUL[what], _score.quotient))
    assert not _at_least(coverage("r2", n, epsilon, 100)[0], 100)


def test_every_scoring_is_held_to_it():
    assert {*_score.SCORINGS, "r2"} <= set(FIGURES)


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for name in FIGURES:
        told = [coverage(name, n, epsilon, runs) for n, epsilon in SIZES]
        print(f"| {name} | " + " | ".join(f"{h:.1%}, {w:.3f}" for h, w in told) + " |", flush=True)
