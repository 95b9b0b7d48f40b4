"""What one private step costs beside its peers, all in one run.

    python benchmarks/step_cost.py

Prints ratios: an `sgd` step (batch, clip, noise, charge) against Opacus on the same model and batch, the same at a
hundred times the records, a `gd` step against its two bare BLAS products, and the steps of every registered solver
against the BLAS work of the questions that they ask. Opacus is measured where it is installed (extra `bench`).
Medians of repeated blocks of processor time, one thread. Writes results/step_cost.csv.
"""

import csv
import os
import statistics
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from _quick import RESULTS, few, is_missing

from skdp import DPLogisticRegression
from skdp.fitting import prepare
from skdp.losses import Logistic
from skdp.mechanisms import Gradient, Noise, Oracle, PoissonBatch, Public, Records, _rows
from skdp.privacy.ledger import Scripted
from skdp.privacy.spec import Spec
from skdp.solvers import SOLVERS

N, D, BATCH = few((40_000, 100, 200), (600, 10, 20))
MANY = few(100, 2)  # times the records
REPEAT, BLOCKS = few(2000, 2), few(9, 1)  # calls of a block, and blocks


def median_time(step, repeat=REPEAT, blocks=BLOCKS):
    """Median over blocks of the mean processor seconds of one call: what else the machine does counts less."""
    for _ in range(min(repeat, 500)):  # until caches and clock have settled
        step()
    times = []
    for _ in range(blocks):
        start = time.process_time()
        for _ in range(repeat):
            step()
        times.append((time.process_time() - start) / repeat)
    return statistics.median(times)


def table(n, d=D, dtype=np.float64):
    """Rows of norm at most 1 and labels, without a second array of n x d."""
    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype)
    for start in range(0, n, 100_000):
        X[start : start + 100_000] = rng.uniform(-1, 1, (min(100_000, n - start), d))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return X, y


def vault(n, dtype=np.float64):
    X, y = table(n, dtype=dtype)
    public = Public(n, D, 0.25, "replace_one")
    return X, Records.admit(X, y, public, np.sqrt(D))


def stepper(records, ask, scale):
    """A closure that takes one step: ask (pay, draw, clip, sum, noise) and move."""
    w = np.zeros(D + 1)

    def question():
        return ask(Gradient(at=w, loss=Logistic(), clip=1.0, multiplier=1.0))

    script = ((question().event(records.public), 1_000_000),)
    oracle = Oracle(records, Scripted(Spec(np.inf, 1e-6), script), Noise())

    def step():
        w[:] -= 0.1 * oracle.ask(question()) / scale

    return step


def sgd_step(records):
    return stepper(records, lambda question: PoissonBatch(question, BATCH / len(records)), BATCH)


def _plan(n, solver):
    model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=np.sqrt(D), solver=solver)
    return model._plan(n, D, {})


def opacus_step(X, y):
    """One DP-SGD step of Opacus: Poisson batch, per-sample gradients, clip, noise, update."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    data = TensorDataset(
        torch.tensor(X, dtype=torch.float32), torch.tensor((y + 1) / 2, dtype=torch.float32)
    )
    model = torch.nn.Linear(D, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = PrivacyEngine(accountant="rdp")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=optimizer,
        data_loader=DataLoader(data, batch_size=BATCH),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    loss_of = torch.nn.BCEWithLogitsLoss()
    batches = iter(loader)

    def step():
        nonlocal batches
        try:
            rows, labels = next(batches)
        except StopIteration:
            batches = iter(loader)
            rows, labels = next(batches)
        optimizer.zero_grad()
        loss_of(model(rows).squeeze(-1), labels).backward()
        optimizer.step()

    return step


def against_opacus(rows):
    """Opacus computes in single precision, so the asked ratio is between equals; ours in double stands beside it."""
    X, double = vault(N)
    single = vault(N, np.float32)[1]
    ours = {"float32": median_time(sgd_step(single)), "float64": median_time(sgd_step(double))}
    rows += [(f"sgd step, n=40,000, {kind}", seconds, "") for kind, seconds in ours.items()]
    if is_missing("torch", "opacus"):
        return
    step = opacus_step(X, double.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = median_time(step, repeat=few(40, 1))
    rows.append(("Opacus step, n=40,000, float32", theirs, ""))
    rows.append(("Opacus / sgd, both float32 (asked: at least 20)", "", theirs / ours["float32"]))
    rows.append(("Opacus float32 / sgd float64", "", theirs / ours["float64"]))


def at_scale(rows):
    """The same step at a hundred times the records, both in float32, so that both fit in memory."""
    small = median_time(sgd_step(vault(N, np.float32)[1]))
    large = median_time(sgd_step(vault(MANY * N, np.float32)[1]))
    rows.append(("sgd step, n=4,000,000, float32", large, ""))
    rows.append(("n=4,000,000 / n=40,000 (asked: at most 1.3)", "", large / small))


def against_blas(rows):
    X, records = vault(N)
    w, u = np.zeros(D), np.ones(N)
    ours = median_time(stepper(records, lambda question: question, N), repeat=few(20, 1))
    bare = median_time(lambda: (X @ w, X.T @ u), repeat=few(20, 1))
    rows.append(("gd step, n=40,000", ours, ""))
    rows.append(("two bare products", bare, ""))
    rows.append(("gd / bare products (asked: at most 1.4)", "", ours / bare))


def against_lbfgs(rows):
    """A whole fit of fifty full-batch steps on the Adult table (with SKDP_DATA) beside scikit-learn's lbfgs."""
    if "SKDP_DATA" not in os.environ:
        print("SKDP_DATA is not set: the fit on Adult is not measured")
        return
    from _protocol import load
    from sklearn.linear_model import LogisticRegression

    X, y = load("adult")
    model = DPLogisticRegression(
        epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[0, 1], solver=SOLVERS["gd"](steps=50)
    )
    ours = median_time(lambda: model.fit(X, y), repeat=1)
    theirs = median_time(lambda: LogisticRegression(max_iter=1000).fit(X, y), repeat=1)
    rows.append((f"gd fit of 50 steps, {X.shape[0]:,} x {X.shape[1]}", ours, ""))
    rows.append(("scikit-learn lbfgs fit", theirs, ""))
    rows.append(("gd fit / lbfgs fit (asked: under 3)", "", ours / theirs))


class Stopwatch:
    """Seconds spent in the vault's linear algebra, by wrapping the methods of DenseRows."""

    names = ("dot", "whole_dot", "tdot", "gram", "take")

    def __init__(self):
        self.seconds, self.depth = 0.0, 0

    def __enter__(self):
        self.plain = {name: getattr(_rows.DenseRows, name) for name in self.names}
        for name, method in self.plain.items():
            setattr(_rows.DenseRows, name, self.timed(method))
        return self

    def __exit__(self, *_):
        for name, method in self.plain.items():
            setattr(_rows.DenseRows, name, method)

    def timed(self, method):
        def run(*args):
            start = time.process_time()
            try:
                return method(*args)
            finally:
                self.seconds += time.process_time() - start

        return run


class AskCounter(Oracle):
    """An oracle that counts questions."""

    asked = 0

    def ask(self, question):
        AskCounter.asked += 1
        return super().ask(question)


def solver_overheads(rows):
    """(run - 30 us per question) over BLAS work, for every solver that the plain task suits."""
    _, records = vault(N)
    for name in sorted(SOLVERS):
        try:
            plan = _plan(N, name)
            priced = prepare(plan)
            account, budget = priced.account, priced.budget
        except ValueError as refusal:
            print(f"{name}: {refusal}")
            continue
        # Once beforehand: an adaptive solver looks up prices when it starts, which is no part of a step.
        plan.solver.solve(Oracle(records, account, Noise()), plan.task, budget)
        priced = prepare(plan)
        account, budget = priced.account, priced.budget
        AskCounter.asked = 0
        with Stopwatch() as watch:
            start = time.process_time()
            plan.solver.solve(AskCounter(records, account, Noise()), plan.task, budget)
            total = time.process_time() - start
        ratio = (total - 30e-6 * AskCounter.asked) / watch.seconds
        rows.append((f"{name}: {AskCounter.asked} questions", total, ""))
        rows.append((f"{name}: (run - 30 us a question) / BLAS (asked: at most 1.5)", "", ratio))


def main():
    rows = []
    for measure in (against_opacus, at_scale, against_blas, against_lbfgs, solver_overheads):
        measure(rows)
    with (RESULTS / "step_cost.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "seconds", "ratio"])
        writer.writerows(rows)
    for what, seconds, ratio in rows:
        print(f"{what:<60} {f'{seconds * 1e6:12.1f} us' if seconds != '' else f'{ratio:12.2f} x'}")


if __name__ == "__main__":
    main()
