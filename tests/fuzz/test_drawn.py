"""Any public estimator on any table: a slice of what ``python -m fuzz.drawn`` runs for as long as one likes."""

import numpy as np
import pytest
from fuzz import drawn as module
from fuzz.drawn import ESTIMATORS, drawn, hold
from fuzz.law import Broken
from hypothesis import HealthCheck, Phase, given, settings

from skdp import DPRidge

QUICK = settings(
    max_examples=150,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_a_true_receipt_or_one_clear_sentence():
    found = []

    @QUICK
    @given(drawn())
    def one(case):
        found.append((case[0], hold(case)))

    one()
    models = sum(made for _, made in found)
    assert 30 <= models <= 120, "a slice that is all models, or all sentences, shows little"
    assert len({name for name, _ in found}) > 0.7 * len(ESTIMATORS)


class PaysTwice(DPRidge):
    def fit(self, X, y):
        super().fit(X, y)
        return super().fit(X, y)


class SaysTooMuch(DPRidge):
    def fit(self, X, y):
        raise ValueError(f"X holds {X[0, 0]!r}, which is wrong.")


class ForgetsToClear(DPRidge):
    def fit(self, X, y):
        self.seen_ = len(X)
        raise ValueError("X is of no use; give another.")


class WritesToTheTable(DPRidge):
    def fit(self, X, y):
        super().fit(X, y)
        X[0] = 0.0
        return self


class Overspends(DPRidge):
    def fit(self, X, y):
        super().fit(X, y)
        self.epsilon = 0.1
        return self


class Stumbles(DPRidge):
    def fit(self, X, y):
        return [1][7]


class PredictsNothing(DPRidge):
    def predict(self, X):
        return np.full(len(X), np.nan)


TWINS = {
    PaysTwice: "charged 2 times",
    SaysTooMuch: "a cell of X is shown",
    ForgetsToClear: "not as it was",
    WritesToTheTable: "written to",
    Overspends: "of \\(0.1",
    Stumbles: "IndexError",
    PredictsNothing: "what is not finite",
}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_the_law_sees_what_is_wrong(twin, monkeypatch):
    monkeypatch.setitem(module.ESTIMATORS, "DPRidge", twin)
    rng = np.random.default_rng(0)
    case = "DPRidge", {"y_bounds": (-3.0, 3.0), "data_norm": 2.0}, rng.normal(size=(50, 2))
    with pytest.raises(Broken, match=TWINS[twin]):
        hold((*case, rng.normal(size=50), {}))
