"""Every registered solver in a setting where one record shows as much as it can, and runs of it without ceremony."""

from dataclasses import replace
from itertools import count

from laws.runs import plan_for

from skdp.audit import worst_case_pair
from skdp.fitting import prepare
from skdp.mechanisms import Noise, Oracle, Records
from skdp.penalties import L1Ball
from skdp.solvers import SOLVERS

EPSILON, DELTA, N = 1.0, 0.1, 4
# A declared count leaves the whole allowance to the descent; buying one is audited with the default settings.
NO_EXTRAS = {"fit_intercept": False, "penalty": None, "n_public": N}

# Few steps, small enough that the changed record stays clipped, so that little of what is paid for is lost on the
# way to the coefficients. Solvers that are not listed are run as they come.
FEW = {"clip": 0.1, "step_size": 0.01}
SETTINGS = {
    "gd": {**FEW, "steps": 2, "momentum": 0.0},
    "sgd": {**FEW, "steps": 2, "rate": 0.9, "averaging": False},
    "adam": {**FEW, "steps": 2, "rate": 1.0},
    "rrpsgd": {**FEW, "steps": 2, "rate": 0.9},
    "svrg": {**FEW, "epochs": 1, "rate": 0.9},
    "ssadmm": {"clip": 0.1, "steps": 1, "rate": 0.9},
    "mpadmm": {"clip": 0.1, "steps": 1},
    "dp-admm": {"clip": 0.1, "steps": 1},
    "newton": {"clip": 0.1, "steps": 1},
    "white-gd": {**FEW, "steps": 1, "momentum": 0.0, "moment_share": 0.01, "norm_share": 0.01},
    "white-objective": {"clip": 0.1, "moment_share": 0.01, "norm_share": 0.01, "strength": 20.0},
    "agd": {**FEW, "splits": 1, "max_rounds": 3, "selection_share": 0.02},
    "blgd": {**FEW, "splits": 1, "max_rounds": 3, "selection_share": 0.02},
    "blsgd": {**FEW, "splits": 1, "max_rounds": 3, "selection_share": 0.02, "rate": 0.9},
    "blsgd-ac": {**FEW, "splits": 1, "max_rounds": 3, "selection_share": 0.02, "rate": 0.9},
    "privgene": {"generations": 1, "mutation": 1.0, "cap": 0.1},
    "output-perturbation": {"strength": 20.0},
    "objective-perturbation": {"strength": 20.0},
    "admm-objp": {"rounds": 1, "strength": 20.0},
    "outpert-gd": {"steps": 1},
    "psgd": {"epochs": 1},
    "rsgd-ar": {"epochs": 1, "period": 1},
}
# A choice among a few points is nearly pure: it shows itself at a small delta, and where another record outvotes it.
DELTAS = {"privgene": 1e-3}
OPPOSED = {("privgene", "replace_one")}
# Their noise is for the steepest slope, which the huberised hinge has at 0 and the logistic loss only far away.
AT_THE_STEEPEST = {
    "amp",
    "output-perturbation",
    "objective-perturbation",
    "white-objective",
    "admm-objp",
    "outpert-gd",
    "psgd",
    "rsgd-ar",
}


class HalfTheNoise(Noise):
    """A noise source that adds half of what it should."""

    def gaussian(self, statistic, grid):
        return super().gaussian(statistic, replace(grid, step=0.5 * grid.step))

    def radial(self, statistic, grid):
        return super().radial(statistic, replace(grid, step=0.5 * grid.step))

    def largest(self, scores, scale):
        return super().largest(scores, 0.5 * scale)

    def first_above(self, totals, demands, own, shared):
        return super().first_above(totals, demands, 0.5 * own, 0.5 * shared)


def solver_for(name):
    """The solver as it is audited."""
    return SOLVERS[name]().with_params(**SETTINGS.get(name, {}))


def delta_of(name):
    """The delta at which a solver is audited."""
    return DELTAS.get(name, DELTA)


def pair_for(name, relation):
    """The neighbouring data sets that its attack tells apart."""
    others = "opposed" if (name, relation) in OPPOSED else "silent"
    return worst_case_pair(n=N, neighbors=relation, others=others)


def plan_of(solver, relation, **given):
    """What an estimator would do with it on the worst-case pair."""
    given = {"delta": delta_of(solver.name), "n": N, "d": 1, "data_norm": 1.0, **NO_EXTRAS, **given}
    if solver.name == "frank-wolfe":
        given["penalty"] = L1Ball(1.0)
    loss = "huberised_hinge" if solver.name in AT_THE_STEEPEST else "logistic"
    return plan_for(solver, relation, loss, epsilon=EPSILON, **given)


def runs_of(plan, noise=Noise):
    """A function from a data set to parameters: one fit without validation, on a fresh account.

    Every run has a seed of its own, so that a test that passes once passes always.
    """
    priced = prepare(plan)
    account, budget = priced.account, priced.budget
    seeds = count()

    def run(data):
        X, y = data
        records = Records.admit(X, 2.0 * y - 1.0, plan.public, plan.data_norm)
        fresh = _fresh(account, plan)
        return plan.solver.solve(Oracle(records, fresh, noise(next(seeds))), plan.task, budget)

    return run


def _fresh(account, plan):
    if plan.solver.adaptive:
        return type(account)(account.spec, account.kind, account.order)
    return type(account)(account.spec, account.script, plan.accountant)
