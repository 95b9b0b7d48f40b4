"""Hyper-parameters outside their range are refused by name and value, before anything is priced."""

import math
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import pytest
from laws.faces import face_for

from skdp import DPLogisticRegression, NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import Oracle, Public, Records, Silence
from skdp.penalties import L2, ScaledPenalty
from skdp.privacy import Filter, Ledger, Spec
from skdp.solvers import SOLVERS, Task, resolve
from skdp.solvers._ranges import range_of, refuse_out_of_range

CASES = [(name, field.name) for name, Solver in sorted(SOLVERS.items()) for field in fields(Solver)]


def without_range(Solver):
    """Hyper-parameters that would be let through whatever they are."""
    return [field.name for field in fields(Solver) if range_of(Solver, field.name) is None]


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_hyper_parameter_has_a_range(name):
    assert not without_range(SOLVERS[name])


def test_a_hyper_parameter_without_a_range_is_seen():
    @dataclass(frozen=True)
    class Careless(SOLVERS["gd"]):
        stepsize: float = 1.0

    assert without_range(Careless) == ["stepsize"]


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_defaults_lie_in_range(name):
    assert refuse_out_of_range(SOLVERS[name]()) is None


@pytest.mark.parametrize(("name", "parameter"), CASES)
@pytest.mark.parametrize("value", [-3, math.nan, "many", True])
def test_outside_is_refused_with_value(name, parameter, value):
    if parameter in ("averaging", "unit_direction") and value is True:
        value = 1  # a number is not an answer to yes or no
    solver = SOLVERS[name](**{parameter: value})
    with pytest.raises(ValueError, match=rf"{parameter}={value!r}; it must be"):
        face_for(solver, DPLogisticRegression, data_norm=1.0).quote(100, 2)


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


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("gd", "steps", 10**400),
        ("psgd", "epochs", 10**8),
        ("dp-admm", "parties", 10**5),
        ("admm-objp", "radius", 10**400),
        ("blgd", "decrease", -(10**400)),
        ("gd", "step_size", 1e-160),
        ("output-perturbation", "strength", 1e-300),
        ("blsgd", "decrease", 1e287),
        ("sgd", "rate", 5e-324),
        ("svrg", "share", 1e-320),
        ("blgd", "search_noise", "odd"),
        ("adam", "memory", (0.9, 1.0 - 1e-16)),
        ("gd", "clip", "x" * 1000),
    ],
)
def test_what_no_double_carries_is_refused_in_one_short_sentence(name, parameter, value):
    with pytest.raises(NotSupported, match=f"{parameter}=.*; it must be ") as refusal:
        DPLogisticRegression(
            data_norm=1.0, solver=SOLVERS[name](**{parameter: value}), neighbors="replace_one"
        ).quote(100, 2)
    assert len(str(refusal.value)) < 200 and refusal.value.__context__ is None


@pytest.mark.parametrize(
    "number", [np.float32(0.5), Fraction(1, 2), np.float64(0.5), np.float16(0.5)]
)
def test_numbers_of_all_kinds_are_pythons_own_in_a_fit(number):
    # np.float32(0.5) * 1e100 overflowed with a warning, and a fraction times an array is an array of objects.
    solver = SOLVERS["gd"](clip=number, steps=np.int16(300), step_size=number)
    known = resolve(solver)
    assert [type(known.clip), type(known.steps), type(known.step_size)] == [float, int, float]
    assert known == SOLVERS["gd"](clip=0.5, steps=300, step_size=0.5) and solver.clip is number
    assert resolve(known) is known
    same = [DPLogisticRegression(data_norm=1.0, solver=s).quote(100, 2) for s in (solver, known)]
    assert same[0] == same[1]


def test_a_step_beyond_the_prox_is_refused_where_n_is_public_and_shortened_where_it_is_bought():
    X, y = np.linspace(-1.0, 1.0, 40)[:, None], [0, 1] * 20
    given = {"data_norm": 1.0, "penalty": "mcp", "classes": [0, 1], "neighbors": "add_remove"}
    for name in ("agd", "blgd", "blsgd", "blsgd-ac"):
        solver = SOLVERS[name](step_size=1e10, max_rounds=3)
        with pytest.raises(ValueError, match="has a prox for steps between"):
            DPLogisticRegression(solver=solver, n_public=40, **given).quote(None, 1)
        fitted = DPLogisticRegression(solver=solver, **given).fit(X, y)
        assert np.isfinite(fitted.coef_).all()


def test_where_rows_are_tiny_the_start_is_within_a_bent_penaltys_prox():
    # In units of the penalty a step of 1e-9 is 1e-9 / data_norm^2.
    for name in ("agd", "blgd", "privgene"):
        model = DPLogisticRegression(data_norm=1e-17, penalty="scad", C=1e-3, solver=name)
        assert model.quote(100, 2).epsilon <= 1.0


@pytest.mark.parametrize("rho", [1e21, 1e-27])
def test_a_joint_release_of_iterates_that_rounding_would_blow_up_is_refused(rho):
    solver = SOLVERS["mpadmm"](variant="paper", rho=rho)
    with pytest.raises(NotSupported, match=r"rho from 1e-10 to 1e\+10"):
        DPLogisticRegression(data_norm=1.0, solver=solver).quote(100, 2)


def test_a_promise_too_small_for_a_line_search_is_refused_before_a_count_is_bought():
    account = Filter(Spec(1e-6, 1e-6, "add_remove"), "rdp")
    public = Public(n=None, n_features=1, intercept=0.0, neighbors="add_remove")
    task = Task(Logistic(), ScaledPenalty(L2(1.0), 1.0, False), (1,))
    oracle = Oracle(Records.blank(public), account, Silence())
    with pytest.raises(NotSupported, match="too small for a line search"):
        SOLVERS["blgd"](splits=10, selection_share=0.5).solve(oracle, task, None)
    assert account.spent == 0.0


@pytest.mark.parametrize("given", [{"growth": 1e-28}, {"clip": math.inf}])
@pytest.mark.parametrize("name", ["agd", "blgd", "blsgd"])
def test_a_gradient_that_cannot_be_bought_is_refused_before_a_count_is(name, given):
    account = Filter(Spec(0.01, 1e-6, "add_remove"), "rdp")
    public = Public(n=None, n_features=1, intercept=0.0, neighbors="add_remove")
    task = Task(Logistic(), ScaledPenalty(L2(1.0), 1.0, False), (1,))
    oracle = Oracle(Records.blank(public), account, Silence())
    if name == "blsgd" and "growth" in given:
        return  # its gradients cost more by it, never cheaper
    with pytest.raises(ValueError, match=r"too large for double precision|clip=inf"):
        SOLVERS[name](max_rounds=2, **given).solve(oracle, task, None)
    assert account.spent == 0.0
