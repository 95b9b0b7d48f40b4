"""One-hot rows as a sparse table and as a dense one: time of one fit and peak memory, each in a process of its own.

    python benchmarks/sparse_rows.py [--rows 1000000] [--columns 500] [--stored 14] [--solver gd] [--solver auto]

Each row has one 1 in each of 14 groups of columns, as encoded categories have. A fit is DPLogisticRegression at
epsilon 1, delta 1e-6, replace-one, on one thread; its time begins when the table is there. Peak memory is that of the
whole process, the table and the libraries included. Coefficients of both, with the same seed, are compared.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from _quick import few
from scipy.sparse import csr_array

from skdp import DPLogisticRegression

FORMS = ("sparse", "dense")


def table(rows, columns, stored, form):
    """Rows in a form, built without the other one; and labels."""
    rng = np.random.default_rng(0)
    wide = columns // stored
    place = rng.integers(wide, size=(rows, stored), dtype=np.int32)
    place += np.arange(stored, dtype=np.int32) * wide
    y = (place[:, 0] + place[:, 1] - wide > rng.integers(wide, size=rows)).astype(int)
    if form == "sparse":
        ends = np.arange(0, rows * stored + 1, stored, dtype=np.int32)
        return csr_array((np.ones(rows * stored), place.ravel(), ends), shape=(rows, columns)), y
    X = np.zeros((rows, columns))
    X[np.arange(rows)[:, None], place] = 1.0
    return X, y


def one(args):
    """One fit in this process, as a line of JSON."""
    X, y = table(args.rows, args.columns, args.stored, args.form)
    model = DPLogisticRegression(
        epsilon=1.0,
        delta=1e-6,
        data_norm=args.stored**0.5,
        classes=[0, 1],
        solver=args.solver[0],
        random_state=0,
    )
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"seconds": seconds, "MB": peak, "coef": model.coef_[0].tolist()}))


def compared(args, solver):
    """Both forms, one after the other, and what came out."""
    found = {}
    for form in FORMS:
        command = [sys.executable, __file__, "--form", form, "--solver", solver]
        for name in ("rows", "columns", "stored"):
            command += [f"--{name}", str(getattr(args, name))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found[form] = json.loads(said.splitlines()[-1])
        shown = found[form]
        print(f"{solver:8} {form:7} {shown['seconds']:8.2f} s {shown['MB']:8.0f} MB", flush=True)
    sparse, dense = (found[form] for form in FORMS)
    apart = np.abs(np.subtract(sparse["coef"], dense["coef"])).max() / np.abs(dense["coef"]).max()
    faster, less = (dense[what] / sparse[what] for what in ("seconds", "MB"))
    print(
        f"{solver:8} {faster:.1f}x faster, {less:.1f}x less memory, {apart:.1e} apart", flush=True
    )


def main():
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=few(1_000_000, 1_000))
    parser.add_argument("--columns", type=int, default=few(500, 70))
    parser.add_argument("--stored", type=int, default=14)
    parser.add_argument("--solver", action="append")
    parser.add_argument("--form", choices=FORMS)
    args = parser.parse_args()
    if args.form:
        one(args)
    else:
        for solver in args.solver or few(["gd", "auto"], ["gd"]):
            compared(args, solver)


if __name__ == "__main__":
    main()
