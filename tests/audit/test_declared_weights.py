"""Declared weights are over public numbers: a heaviest record that comes changes no other record's weight.

Over the heaviest weight that occurs in the data, every other record would weigh less beside it.
"""

import inspect
from unittest.mock import patch

import numpy as np
import pytest
from estimators.checked import SMALL, STAND_INS
from laws.vaults import RELATIONS
from sklearn.base import clone, is_classifier

from skdp.audit import Neighbours, replay
from skdp.audit._replay import Watched
from skdp.entry import Labels, _intake, _units
from skdp.fitting import estimator as _estimator
from skdp.fitting import program as _program
from skdp.solvers import GD
from skdp.utils import all_estimators

N, HEAVY = 40, 8.0
CLASSES = {0: 1.0, 1: HEAVY}
ROWS = np.random.default_rng(0).uniform(0.1, 0.4, (N + 1, 3))
LIGHT = ROWS[:N]
ROWS[N] = 0.45  # what is heavy where rows say what they weigh


def weights_of(X):
    """Of each row by itself alone."""
    return np.where(X[:, 0] > 0.42, HEAVY, 1.0)


def pairs(relation, target, heavy):
    """Light records of one target, at which no gradient is 0; and these where the heaviest takes a place, or comes."""
    keep = N - (relation == "replace_one")
    X, y = np.vstack([LIGHT[:keep], ROWS[N:]]), np.append(np.full(keep, target), heavy)
    first, second = (LIGHT, np.full(N, target)), (X, y)
    place = len(y) - 1
    yield Neighbours("the heaviest comes", first, second, place)
    yield Neighbours("the heaviest goes", second, first, place)


def run_of(model, weighed):
    """A run that hands rows' own weights on."""
    given = (lambda X: {"sample_weight": weights_of(X)}) if weighed else (lambda X: {})

    def run(table, noise):
        copy = clone(model)
        with (
            patch.object(_estimator, "Noise", lambda seed=None: noise),
            patch.object(_program, "Oracle", Watched),
        ):
            copy.fit(*table, **given(table[0]))
        return vars(copy)

    return run


def estimators(parameter):
    """Every public estimator with such a parameter, under every relation that it knows."""
    for name, Estimator in all_estimators():
        known = inspect.signature(Estimator).parameters
        if parameter not in known or "estimator" in known or name in STAND_INS:
            continue
        if (
            "declaration" in known
        ):  # its fit is that of an estimator below, with no solver to choose
            continue
        given = {key: value for key, value in SMALL.items() if key in known}
        given |= {"epsilon": 1.0, "delta": 1e-5, "data_norm": 1.0}
        given |= {"y_bounds": (0.0, 1.0)} if "y_bounds" in known else {}
        given |= {"n_public": N} if "n_public" in known else {}
        if (
            "DPMLP" not in name
        ):  # sums of two steps: an exact minimiser has no claim for each call of the noise
            given |= {"solver": GD(steps=2)} if "solver" in known else {}
        if is_classifier(Estimator()):
            given["classes"] = [0, 1]
        if parameter == "class_weight":
            given["class_weight"] = CLASSES
        else:
            given["max_sample_weight"] = HEAVY
        for relation in RELATIONS:
            yield pytest.param(Estimator(**given, neighbors=relation), id=f"{name}, {relation}")


def found_in(model, weighed):
    """All findings, and how far sums moved in units of their claims."""
    targets = (0 if is_classifier(model) else 0.75), (0 if is_classifier(model) and weighed else 1)
    replays = [
        replay(run_of(model, weighed), pair, seed)
        for seed, pair in enumerate(pairs(model.neighbors, *targets))
    ]
    return [what for one in replays for what in one.findings], max(one.moved for one in replays)


@pytest.mark.parametrize("model", [*estimators("class_weight")])
def test_classes_weigh_what_was_declared(model):
    findings, moved = found_in(model, weighed=False)
    assert findings == [] and moved <= 1.0


@pytest.mark.parametrize("model", [*estimators("max_sample_weight")])
def test_rows_weigh_what_was_declared(model):
    findings, moved = found_in(model, weighed=True)
    assert findings == [] and moved <= 1.0


def over_the_heaviest_that_occurs(honest):
    """Planted: weights of classes over the heaviest of them in y."""

    def weights(self, places, classes, sample_weight):
        found = honest(self, places, classes, sample_weight)
        return found / found.max()

    return weights


def over_their_largest(honest):
    """Planted: weights of rows over their largest, times nothing declared."""

    def shares(estimator, sample_weight, n):
        found = honest(estimator, sample_weight, n)
        return None if found is None else found / found.max()

    return shares


@pytest.mark.parametrize("model", [*estimators("class_weight")])
def test_classes_over_the_heaviest_that_occurs_are_found(model):
    with patch.object(Labels, "weights", over_the_heaviest_that_occurs(Labels.weights)):
        findings, moved = found_in(model, weighed=False)
    assert any("of its claim" in what for what in findings) and moved > 1.0


@pytest.mark.parametrize("model", [*estimators("max_sample_weight")])
def test_rows_over_their_largest_are_found(model):
    with patch.object(_intake, "shares_of_bound", over_their_largest(_units.shares_of_bound)):
        findings, moved = found_in(model, weighed=True)
    assert any("of its claim" in what for what in findings) and moved > 1.0
