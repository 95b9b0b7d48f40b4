"""Lower bounds on epsilon from one fit with canaries, beside those from thousands of fits of a worst-case pair.

    python benchmarks/one_run_audit.py [--runs 2000]

Claims are (epsilon, 1e-5); confidence is 95 % for each bound. Every solver is also run at a quarter of the noise that
it paid for, and without noise: those claims are false. Writes ``results/one_run_audit.csv``.
"""

import argparse
import os
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from _protocol import write_csv
from _quick import few

from skdp import DPLinearSVC, DPLogisticRegression, NotSupported
from skdp.audit import audit, audit_one_run, linear_canaries, worst_case_pair
from skdp.fitting import prepare
from skdp.mechanisms import Noise, Oracle, Records
from skdp.privacy.ledger import Recorder
from skdp.solvers import GD, SGD

DELTA, CONFIDENCE = 1e-5, 0.95
EPSILONS = few((1.0, 4.0, 16.0), (4.0,))
SHARES = few((1.0, 0.25, 0.0), (1.0,))
MOST = few(2000, 40)  # canaries
# Few steps and a small clip, so that little of what is paid for is lost on the way to the coefficients.
FEW = {"clip": 0.1, "step_size": 0.01}
# Name: estimator, solver, penalty, canaries. Minimisers with many columns of their own take long.
FITS = {
    "gd": (DPLogisticRegression, GD(steps=1, momentum=0.0, **FEW), None, 2000),
    "sgd": (DPLogisticRegression, SGD(steps=2, rate=0.9, averaging=False, **FEW), None, 2000),
    "psgd": (DPLinearSVC, "psgd", "l2", 2000),
    "output-perturbation": (DPLinearSVC, "output-perturbation", "l2", 500),
    "objective-perturbation": (DPLinearSVC, "objective-perturbation", "l2", 500),
}


def model_of(name, epsilon, relation, n_public):
    """The estimator as it is audited."""
    kind, solver, penalty, _ = FITS[name]
    return kind(
        epsilon=epsilon,
        delta=DELTA,
        data_norm=1.0,
        classes=[0, 1],
        neighbors=relation,
        n_public=n_public if relation == "add_remove" else None,
        solver=solver,
        penalty=penalty,
        fit_intercept=False,
    )


def run_with(model, n, d, share):
    """A function from data to parameters: the fit, at a share of the noise that it paid for."""
    plan = model._plan(n, d, {})
    budget = plan.budget(noise=share * prepare(plan).budget.noise)

    def run(data):
        X, y = data
        records = Records.admit(X, 2.0 * y - 1.0, plan.public, plan.data_norm)
        return plan.solver.solve(Oracle(records, Recorder(), Noise()), plan.task, budget)

    return run


def one_run(name, epsilon, relation, share, seed):
    """Bounds of one fit with canaries, and its seconds."""
    m = min(FITS[name][3], MOST)
    canaries = linear_canaries(m, neighbors=relation, seed=seed)
    shape = canaries.data[0].shape
    model = model_of(name, epsilon, relation, m // 2)
    coefficients = run_with(model, *shape, share)(canaries.data)
    start = time.perf_counter()
    run_with(model, *shape, share)(canaries.data)
    seconds = time.perf_counter() - start
    found = {
        curve: audit_one_run(lambda data: coefficients, canaries, DELTA, CONFIDENCE, None, curve)
        for curve in ("any", "gaussian")
    }
    return {
        "one_run": round(found["any"].epsilon, 2),
        "one_run_gaussian": round(found["gaussian"].epsilon, 2),
        "one_run_profile_refuted": found["any"].refutes_receipt(model.quote(*shape)),
        "canaries": m,
        "one_run_seconds": round(seconds, 2),
    }


def many_runs(name, epsilon, relation, share, runs):
    """Bound of the attack on a worst-case pair, and the seconds of all its fits."""
    pair = worst_case_pair(n=4, neighbors=relation)
    run = run_with(model_of(name, epsilon, relation, 4), 4, 1, share)
    start = time.perf_counter()
    found = audit(run, pair, DELTA, runs, CONFIDENCE)
    seconds = time.perf_counter() - start
    return {
        "many_runs": round(found.epsilon, 2),
        "fits": 2 * runs,
        "many_runs_seconds": round(seconds, 1),
    }


def rows(runs):
    """One row for each solver, relation, claim and share of the noise."""
    for name in FITS:
        for relation in ("replace_one", "add_remove"):
            for epsilon in EPSILONS:
                for seed, share in enumerate(SHARES):
                    asked = {"solver": name, "neighbors": relation, "epsilon": epsilon}
                    try:
                        found = one_run(name, epsilon, relation, share, seed)
                    except NotSupported:  # under this relation
                        continue
                    found |= many_runs(name, epsilon, relation, share, runs)
                    yield asked | {"noise": share} | found


def main(argv=None):
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=few(2000, 40))
    runs = parser.parse_args(argv).runs
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    table = []
    for row in rows(runs):
        print(*row.values(), flush=True)
        table.append(row)
    write_csv("one_run_audit", table)


if __name__ == "__main__":
    main()
