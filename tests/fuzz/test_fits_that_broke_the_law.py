"""What fuzzing has found once, in its shortest form: each must be a model, or refused before anything is spent."""

from itertools import product

import numpy as np
import pytest
from fuzz.cases import Estimated, Planned, draw
from fuzz.law import check

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.losses import Squared
from skdp.penalties import L1Ball, Nuclear
from skdp.solvers import (
    AGD,
    DPADMM,
    PSGD,
    RRPSGD,
    SGD,
    SOLVERS,
    SSADMM,
    SVRG,
    FrankWolfe,
    ObjectivePerturbation,
    OutPertGD,
    PrivGene,
)


def estimated(solver, X=None, y=None, estimator=DPLogisticRegression, **given):
    """A fit of a classifier, of 20 records by default."""
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 3)) if X is None else X
    y = (X[:, 0] > 0).astype(int) if y is None else y
    usual = {"epsilon": 1.0, "delta": 1e-6, "neighbors": "replace_one", "data_norm": 1.0}
    parameters = {"estimator": estimator, "classes": [0, 1], **usual, **given}
    return Estimated(0, X, y, "float64", (0, 1), parameters, solver, None)


def planned(solver, penalty, **given):
    """A fit of the squared loss with one output."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-0.5, 0.5, (20, 3)), rng.uniform(-1, 1, 20)
    usual = {"epsilon": 1.0, "delta": 1e-6, "neighbors": "replace_one", "data_norm": 1.0}
    rest = {"accountant": "auto", "n_public": None, "loss": Squared, "penalty": penalty}
    rest |= {"intercept": 0.25, "target_bound": 1.0}
    return Planned(0, X, y, "float64", (0.0, 1.0, -1.0), usual | rest | given, solver, None)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("delta", [0.5, 0.999999999])
def test_tiny_epsilons_beside_a_delta_near_one(epsilon, delta, relation):
    solver = (SSADMM, {"steps": 20})
    assert check(estimated(solver, epsilon=epsilon, delta=delta, neighbors=relation)).seconds < 30


HUGE = (
    (FrankWolfe, {"steps": 30}),
    (PrivGene, {"generations": 3}),
    (SSADMM, {"steps": 2, "rate": 0.05}),
    (SGD, {"steps": 249, "sampling": "without_replacement"}),
    (RRPSGD, {"steps": 60, "batch_size": 2, "sampling": "without_replacement"}),
    (DPADMM, {"steps": 5}),
)
LONG = {(SSADMM, 1e6, 1e-6), (SSADMM, 1e6, 0.999999999), (SSADMM, 1e15, 1e-6)}  # of many seconds


@pytest.mark.parametrize(
    "solver, epsilon, delta",
    [
        pytest.param(
            *case,
            marks=[pytest.mark.slow] if (case[0][0], *case[1:]) in LONG else [],
            id="-".join(map(str, (case[0][0].name, *case[1:]))),
        )
        for case in product(HUGE, (1e6, 1e15), (0.0, 1e-300, 1e-6, 0.999999999))
    ],
)
def test_huge_epsilons(solver, epsilon, delta):
    ball = {"penalty": L1Ball(1.0), "fit_intercept": False} if solver[0] is FrankWolfe else {}
    check(estimated(solver, epsilon=epsilon, delta=delta, **ball))


def test_privgene_whose_offspring_coincide():
    for given in ({"decay": 1e-6, "generations": 12}, {"mutation": 1e-30}, {"mutation": 1e30}):
        assert check(estimated((PrivGene, given))).refused is None


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_nuclear_norm_of_one_output_is_refused_beforehand(name):
    assert check(planned((SOLVERS[name], {}), Nuclear)).refused is not None


def test_more_steps_than_can_be_priced_are_refused_by_public_numbers():
    for solver, epochs in ((PSGD, 10**7), (SVRG, 9)):
        given = {"epochs": epochs} | ({"rate": 1e-9} if solver is SVRG else {})
        assert "steps" in check(estimated((solver, given))).refused or solver is SVRG
    assert "batches" in check(estimated((SVRG, {"epochs": 9, "rate": 1e-9}))).refused


def test_descents_that_run_away_are_refused_by_public_numbers():
    """Also where the distance of two runs leaves the doubles."""
    for step in (0.1, 1e3, 2e12, 1e30):
        for given in ({}, {"steps": 2000}, {"convexity": 27.0}):
            solver = (OutPertGD, {"step_size": step, **given})
            assert (
                check(estimated(solver)).refused is None
                or "run away" in check(estimated(solver)).refused
            )


def test_an_infinite_clip_is_refused_where_it_bounds_the_noise():
    assert "clip=inf" in check(estimated((AGD, {"clip": np.inf}))).refused


@pytest.mark.parametrize("h", [1e-8, 1.6e-7, 1e-5])
def test_a_minimiser_between_two_kinks_ends(h):
    """All rows at one point, all of one class: the optimum lies where the loss bends, within h."""
    X, y = np.zeros((37, 2)), np.zeros(37, dtype=int)
    given = {"h": h, "C": 7.3e7, "loss": "huberised_hinge", "epsilon": np.inf, "penalty": "l2"}
    relation = {"neighbors": "add_remove", "fit_intercept": True}
    solver = (ObjectivePerturbation, {})
    found = check(estimated(solver, X, y, DPLinearSVC, **given, **relation))
    assert found.refused is not None or found.rounds <= 300


@pytest.mark.parametrize("seed", [6568, 7688, 9750, 13882, 15376])
def test_fits_of_a_long_run_that_broke_it_once(seed):
    """Edges at no loss; kinks without noise, twice; a clip that shrank to nothing; gradients bought by a crumb."""
    check(draw(seed))
