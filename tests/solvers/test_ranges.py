"""Hyper-parameters outside their range are refused by name and value, before anything is priced."""

import math
from dataclasses import fields

import pytest

from skdp import DPLogisticRegression
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
    solver = SOLVERS[name](**{parameter: value})
    with pytest.raises(ValueError, match=rf"{parameter}={value!r}; it must be"):
        DPLogisticRegression(data_norm=1.0, solver=solver).quote(100, 2)


@pytest.mark.parametrize(
    ("name", "parameter"), [("gd", "steps"), ("sgd", "rate"), ("agd", "splits")]
)
def test_zero_where_something_is_divided_by_it(name, parameter):
    with pytest.raises(ValueError, match=f"{parameter}=0; it must be"):
        DPLogisticRegression(data_norm=1.0, solver=SOLVERS[name](**{parameter: 0})).quote(100, 2)
