"""Every public estimator is of use as it comes: told bounds and nothing else, it beats a constant and its own solvers.

It ranges over what `all_estimators` finds, on generated families: bent columns, products, heavy tails, many classes, a
rare one, targets in a small part of their range or near its end.
"""

import pytest
from laws.defaults import (
    EPSILONS,
    by_solver,
    cases,
    check_beats_the_constant,
    check_near_the_best,
    family_of,
    gain,
)

from skdp import DPElasticNet, DPQuantileRegressor, DPRidge
from skdp.solvers import TwoPhase, white_gd

SHARE = 0.75  # of what the best own solver gains: draws of one fit differ by less
# What is short of it -> why, and the share that it has. "white-gd" takes steps by the bound on the curvature.
SHORT = {("DPPoissonRegressor", "products", 0.5): ("steps as if all counts were the largest", 0.2)}
COMPARED = {"products", "skewed", "rare"}


def named(where):
    """Cases in these families."""
    return [case for case in cases() if case[1] in where]


WITH_SOLVERS = [case for case in named(COMPARED) if "solver" in case[0]().get_params()]
ALL = {"bent", "products", "heavy tails", "rare", "many classes", "skewed"}


@pytest.mark.parametrize(("Estimator", "where"), named(ALL))
def test_a_default_beats_the_constant(Estimator, where):
    check_beats_the_constant({e: gain(Estimator, where, epsilon=e) for e in EPSILONS})


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("Estimator", "where"), WITH_SOLVERS)
def test_a_default_is_near_the_best_of_its_own_solvers(Estimator, where, epsilon):
    found, others = (
        gain(Estimator, where, epsilon=epsilon),
        by_solver(Estimator, where, epsilon=epsilon),
    )
    _, share = SHORT.get((Estimator.__name__, where, epsilon), (None, SHARE))
    check_near_the_best(found, others, share)
    if share < SHARE:
        with pytest.raises(AssertionError, match="far below"):  # or it needs no exception any more
            check_near_the_best(found, others, SHARE)


def test_the_families_are_those_of_the_law_and_told_bounds_alone():
    assert {where for _, where in cases()} == ALL
    declared = {
        name for Estimator, where in cases() for name in family_of(Estimator, where).declared
    }
    assert declared == {"classes", "data_norm", "y_bounds"}


# Bad defaults that the law must find: two that there were, and a solver that makes nothing of its budget.


def test_steps_by_the_bound_on_the_curvature_are_found(monkeypatch):
    monkeypatch.setattr(white_gd, "LOOSELY_BENT", ())
    with pytest.raises(AssertionError, match="no better than a constant"):
        test_a_default_beats_the_constant(DPQuantileRegressor, "skewed")
    with pytest.raises(AssertionError, match="far below"):
        test_a_default_is_near_the_best_of_its_own_solvers(DPQuantileRegressor, "skewed", 0.5)


def test_a_penalty_in_units_of_no_table_is_found():
    class AsElsewhere(DPElasticNet):
        alpha: float = 1.0

    with pytest.raises(AssertionError, match="no better than a constant"):
        test_a_default_beats_the_constant(AsElsewhere, "skewed")


def test_a_choice_of_a_poor_solver_is_found(monkeypatch):
    poor = TwoPhase(moment_share=1e-6, jacobian_share=1e-4)
    monkeypatch.setattr(DPRidge, "_chosen", lambda self, *given: poor)
    with pytest.raises(AssertionError, match="far below"):
        check_near_the_best(gain(DPRidge, "skewed", epsilon=0.5), {"two-phase": 0.46}, SHARE)
