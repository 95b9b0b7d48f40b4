"""Whatever finite parameters a solver hands back, finite coefficients are stored; and no others ever are."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdp import DPLogisticRegression
from skdp.linear_model import _linear
from skdp.linear_model._linear import LinearClassifier
from skdp.privacy import Ledger
from skdp.solvers import GD
from skdp.utils import all_estimators

LINES = [kind for _, kind in all_estimators("classifier") if issubclass(kind, LinearClassifier)]
MOST, LEAST = np.finfo(float).max, 5e-324
ENDS = [0.0, LEAST, 1e-300, 1e-30, 1.0, 1e30, 1e99, 1e100, 1e101, 1e278, 1e300, MOST]
BOUNDS = [1e-30, 3e-7, 1.0, 1e30]
X = np.array([[0.5, 0.25], [-0.5, 0.125], [0.25, -0.75], [0.1, 0.3]])
Y = np.array([1, 0, 1, 0])


@dataclass(frozen=True)
class Ends(GD):
    """Asks as gradient descent does, and then hands back what it was told to."""

    at: tuple = (0.0, 0.0, 0.0)
    single: bool = False

    def solve(self, oracle, task, budget):
        super().solve(oracle, task, budget)
        return np.array(self.at, dtype=np.float32 if self.single else float)


def model(at, Estimator=DPLogisticRegression, single=False, **given):
    declared = {"epsilon": 1.0, "data_norm": 1.0, "classes": [0, 1], "random_state": 0}
    return Estimator(**{**declared, "solver": Ends(steps=1, at=at, single=single), **given})


def faults(Estimator=DPLogisticRegression):
    """Parameters and bounds at which what is stored is not the quotient, or not finite."""
    for end, sign, bound in product(ENDS, (1.0, -1.0), BOUNDS):
        at = (sign * end, -sign * end, sign * end)
        with np.errstate(all="ignore"):
            fitted = model(at, Estimator, data_norm=bound).fit(X * bound, Y)
        stored = [*fitted.coef_[0].tolist(), *fitted.intercept_.tolist()]
        if not np.isfinite(stored).all():
            yield at, bound, stored
        elif end <= 1e100:  # the nearest doubles of exact quotients
            wanted = [float(Fraction(v) / Fraction(bound)) for v in at[:2]]
            if stored != [*wanted, at[2] * _linear.INTERCEPT_SIZE]:
                yield at, bound, stored


@pytest.mark.parametrize("Estimator", LINES)
def test_finite_parameters_are_stored_as_finite_coefficients(Estimator):
    assert list(faults(Estimator)) == []


def test_parameters_of_single_precision_are_no_exception():
    fitted = model((3e38, -3e38, 1.0), single=True, data_norm=1e-30).fit(X, Y)
    assert np.isfinite(fitted.coef_).all()


def test_the_law_sees_a_quotient_that_overflows(monkeypatch):
    monkeypatch.setattr(_linear, "LARGEST", np.inf)
    found = list(faults())
    assert {bound for _, bound, _ in found} == {1e-30, 3e-7}


def test_the_law_sees_coefficients_that_are_cut_too_short(monkeypatch):
    monkeypatch.setattr(_linear, "LARGEST", 1e99)
    assert {abs(at[0]) for at, _, _ in faults()} == {1e100}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(3))
def test_parameters_that_are_not_finite_are_never_stored(bad, place):
    ledger = Ledger(3.0, 1e-5)
    fitted = model((1.0, 2.0, 3.0), ledger=ledger, random_state=None).fit(X, Y)
    before = dict(vars(fitted))
    at = [1.0, 2.0, 3.0]
    at[place] = bad
    before["solver"] = fitted.solver = Ends(steps=1, at=tuple(at))
    with pytest.raises(ValueError, match=r"^solver='gd' ended in parameters .* smaller steps\.$"):
        fitted.fit(X, Y)
    assert vars(fitted) == before and len(ledger.scripts) == 2, "what was asked stays paid"
