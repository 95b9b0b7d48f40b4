"""Hyper-parameters outside their range are refused by name and value, before anything is priced."""

import math
from dataclasses import fields

import pytest

from skdp import DPLogisticRegression
from skdp.privacy import Ledger
from skdp.solvers import SOLVERS
from skdp.solvers._ranges import RANGES, refuse_out_of_range

CASES = [
    (name, field.name)
    for name, Solver in sorted(SOLVERS.items())
    for field in fields(Solver)
    if field.name in RANGES
]


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_defaults_lie_in_range(name):
    assert refuse_out_of_range(SOLVERS[name]()) is None


@pytest.mark.parametrize(("name", "parameter"), CASES)
@pytest.mark.parametrize("value", [-3, math.nan, "many", True])
def test_outside_is_refused_with_value(name, parameter, value):
    if parameter == "averaging" and value is True:
        value = 1  # a number is not an answer to yes or no
    solver = SOLVERS[name](**{parameter: value})
    with pytest.raises(ValueError, match=rf"{parameter}={value!r}; it must be"):
        DPLogisticRegression(data_norm=1.0, solver=solver).quote(100, 2)


OUTSIDE = [
    ("agd", "growth", 0),
    ("agd", "selection_share", 1.0),
    ("blgd", "candidates", 2000),
    ("blgd", "decrease", math.nan),
    ("blsgd-ac", "clip_decay", 1.0),
    ("adam", "memory", (0.9,)),
    ("adam", "memory", (1, 0.9)),
    ("adam", "floor", 0.0),
    ("adam", "clip", 1e200),
    ("frank-wolfe", "intercept_share", 1.5),
    ("frank-wolfe", "reach", 0),
    ("privgene", "mutation", 0),
    ("svrg", "share", "a"),
    ("gd", "step_size", math.inf),
    ("ssadmm", "rho", math.inf),
    ("sgd", "averaging", "no"),
    ("gd", "steps", 3.0),
]


@pytest.mark.parametrize(("name", "parameter", "value"), OUTSIDE)
def test_what_would_break_in_the_middle_of_a_run_is_refused_before_it_is_paid(
    name, parameter, value
):
    ledger = Ledger(3.0, 1e-5)
    solver = SOLVERS[name](**{parameter: value})
    model = DPLogisticRegression(data_norm=1.0, solver=solver, ledger=ledger, classes=[0, 1])
    with pytest.raises(ValueError, match="it must be"):
        model.fit([[0.1], [0.2]], [0, 1])
    assert ledger.spent == 0.0


@pytest.mark.parametrize(
    ("name", "parameter"), [("gd", "steps"), ("sgd", "rate"), ("agd", "splits")]
)
def test_zero_where_something_is_divided_by_it(name, parameter):
    with pytest.raises(ValueError, match=f"{parameter}=0; it must be"):
        DPLogisticRegression(data_norm=1.0, solver=SOLVERS[name](**{parameter: 0})).quote(100, 2)
