"""Utility of the one-shot solvers on Bank and IPUMS-BR, beside the prototypes' figures.

    SKDP_DATA=... python benchmarks/one_shot_solvers.py [--data bank ipums_br]

Writes ``results/one_shot_solvers.csv``. Protocol: see `_protocol`; lambda is 1/n (C = 1) unless said.
"""

import argparse
import sys
import time
import warnings

import numpy as np
from _protocol import DELTA, EPSILONS, N_SEEDS, baselines, summarise, sweep, write_csv
from _quick import few

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.solvers import PSGD, RSGDAR, ObjectivePerturbation, OutPertGD

# Accuracy and AUC of the prototypes (mean of 15 runs): what these solvers are measured against.
PROTOTYPES = {
    ("bank", "objpert_tight"): (
        (0.8794, 0.8850, 0.8891, 0.8908, 0.8921, 0.8942),
        (0.6646, 0.7009, 0.7432, 0.7896, 0.8276, 0.8578),
    ),
    ("bank", "objpert_clip"): (
        (0.8830, 0.8864, 0.8900, 0.8914, 0.8918, 0.8934),
        (0.6737, 0.7055, 0.7418, 0.7847, 0.8240, 0.8574),
    ),
    ("bank", "outpert_gd_003"): (
        (0.5613, 0.6803, 0.4060, 0.7468, 0.8497, 0.8545),
        (0.5042, 0.5391, 0.5253, 0.6201, 0.6642, 0.7031),
    ),
    ("ipums_br", "objpert_tight"): (
        (0.6962, 0.7307, 0.7499, 0.7583, 0.7644, 0.7669),
        (0.7666, 0.8106, 0.8323, 0.8428, 0.8493, 0.8527),
    ),
    ("ipums_br", "objpert_clip"): (
        (0.7207, 0.7422, 0.7538, 0.7597, 0.7655, 0.7679),
        (0.7964, 0.8236, 0.8374, 0.8451, 0.8503, 0.8533),
    ),
    ("ipums_br", "outpert_gd_003"): (
        (0.5207, 0.5090, 0.5271, 0.5329, 0.5940, 0.6479),
        (0.5424, 0.5030, 0.5914, 0.6601, 0.7329, 0.8017),
    ),
}


def private(solver, cls=DPLogisticRegression, delta=DELTA):
    """A method of the sweep: the solver with its defaults."""

    def make(epsilon, seed):
        return cls(
            epsilon=epsilon,
            delta=delta,
            solver=solver,
            data_norm=1.0,
            classes=[0, 1],
            random_state=seed,
        )

    return make


METHODS = {
    "objective-perturbation": private("objective-perturbation"),
    "objpert unclipped": private(ObjectivePerturbation(clip=np.inf)),
    "objpert svm": private("objective-perturbation", DPLinearSVC),
    "objpert pure": private("objective-perturbation", delta=0.0),
    "cms11": private(ObjectivePerturbation(variant="cms11"), delta=0.0),
    "kst12": private(ObjectivePerturbation(variant="kst12")),
    "amp": private("amp"),
    "output-perturbation": private("output-perturbation"),
    "outpert-gd": private("outpert-gd"),
    "outpert-gd paper": private(OutPertGD(variant="paper")),
    "psgd": private("psgd"),
    "rsgd-ar": private("rsgd-ar"),
    "nsgd": private(PSGD(clip=np.inf)),  # the dissertation's: the loss's own bound, no clip
    "rsgd-ar unclipped": private(RSGDAR(clip=np.inf)),
    "admm-objp": private("admm-objp"),
}


def compare(lines):
    """Our row beside the prototype's, in accuracy and AUC, with the standard error of the mean."""
    found = {(line["data"], line["method"], line["epsilon"]): line for line in lines}
    for (data, prototype), scores in PROTOTYPES.items():
        for score, figures in zip(("accuracy", "auc"), scores):
            print(f"{data} {score}: {prototype:15s}", *(f"{x:.4f}" for x in figures))
            for method in METHODS:
                rows = [found.get((data, method, e)) for e in EPSILONS]
                if all(rows):
                    print(f"    {method:24s}", *(f"{row[score]:.4f}" for row in rows))


def main(argv=None):
    """Run the sweep, print it beside the prototypes, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=few(["bank", "ipums_br"], ["bank"]))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    rows, start = [], time.perf_counter()
    for data in args.data:
        chosen = {name: METHODS[name] for name in args.methods}
        rows += sweep(data, chosen, EPSILONS, seeds=N_SEEDS)
        print(f"{data}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    lines = summarise(rows)
    compare(lines)
    plain = [r for data in args.data for r in sweep(data, baselines(), EPSILONS[:1], seeds=1)]
    write_csv("one_shot_solvers", lines + summarise(plain))


if __name__ == "__main__":
    main()
