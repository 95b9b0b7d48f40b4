"""A user's script, typed to the last line: ``mypy --strict`` must find nothing wrong with it, and it must run.

What a study would do: declare, plan, fit, read the receipts, price by hand, extend, attack. `test_client.py` checks it,
and beside it a copy with one mistake at a time, which mypy must find.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from skdp import BudgetExceeded, DPLinearSVC, DPLogisticRegression, NotSupported
from skdp.audit import (
    Evidence,
    OneRun,
    audit,
    audit_one_run,
    linear_canaries,
    released_by,
    worst_case_pair,
)
from skdp.datasets import Table, make_census, make_sparse_classification
from skdp.losses import LOSSES, HuberisedHinge, Logistic, Loss, MarginLoss
from skdp.mechanisms import Gradient
from skdp.penalties import L1, L2, ElasticNet, L1Ball, Penalty, make
from skdp.privacy import (
    Filter,
    Ledger,
    Spec,
    calibrate,
    epsilon,
    epsilon_spent,
    for_rows,
    noise_multiplier,
    profile,
)
from skdp.privacy.events import Gaussian, PureDP, Script
from skdp.privacy.receipt import Receipt
from skdp.solvers import AGD, GD, SGD, SSADMM, Budget, FrankWolfe, OracleLike, Solver, Task, resolve
from skdp.utils import all_estimators

Floats = NDArray[np.float64]
DELTA = 1e-6


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """The loss of boosting, of which a mechanism clips the slope."""

    rate: float = 1.0

    def of_margin(self, margin: Floats) -> Floats:
        return np.exp(-self.rate * margin)

    def slope_at(self, margin: Floats) -> Floats:
        return -self.rate * np.exp(-self.rate * margin)


@dataclass(frozen=True)
class Ridge(Penalty):
    """The squared norm, written anew."""

    smooth = True
    weight: float = 1.0

    @property
    def convexity(self) -> float:
        return self.weight

    def value(self, w: Floats) -> float:
        return 0.5 * self.weight * float(w @ w)

    def prox(self, w: Floats, step: float) -> Floats:
        return w / (1.0 + step * self.weight)


@dataclass(frozen=True)
class OneStep(Solver):
    """A single noisy gradient."""

    name: ClassVar[str] = "one-step"
    length: float = 1.0

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Floats:
        w: Floats = np.zeros(task.shape)
        known: int | None = oracle.public.n
        question = Gradient(at=w, loss=task.loss, clip=1.0, multiplier=budget.noise)
        step = self.length / (known or 1000)
        return task.penalty.prox(w - step * np.asarray(oracle.ask(question)), step)


def plan() -> dict[str, float]:
    """What several solvers would spend, before any data."""
    solvers: dict[str, str | Solver] = {
        "auto": "auto",
        "gd": GD(steps=50, momentum=0.9),
        "sgd": SGD(batch_size=200, steps=300, averaging=False),
        "ssadmm": SSADMM(steps=100, rho=0.1, schedule="sqrt"),
        "agd": AGD(splits=10, selection_share=0.3),
        "named": resolve("gd").with_params(steps=20),
    }
    costs: dict[str, float] = {}
    for name, solver in solvers.items():
        model = DPLogisticRegression(
            epsilon=1.0, delta=DELTA, solver=solver, data_norm=1.0, classes=[0, 1]
        )
        receipt: Receipt = model.quote(5000, n_features=20)
        costs[name] = receipt.epsilon
    return costs


def refused() -> str:
    """A combination that nobody can prove."""
    model = DPLogisticRegression(epsilon=1.0, delta=0.0, solver="gd", data_norm=1.0)
    try:
        model.quote(1000, 5)
    except NotSupported as refusal:
        return str(refusal)
    return ""


def study(table: Table) -> tuple[list[Receipt], float]:
    """Both estimators on one budget, the second in a pipeline."""
    X, y = table.encode(), table.target
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    ledger = Ledger(3.0, 1e-5)
    logistic = DPLogisticRegression(
        epsilon=1.0,
        delta=DELTA,
        penalty=ElasticNet(strength=1.0, l1_ratio=0.1),
        solver=GD(steps=50),
        data_norm=1.0,
        classes=("low", "high"),
        ledger=ledger,
    ).set_params(classes=[0, 1])
    logistic.fit(X_train, y_train)
    probabilities: Floats = logistic.predict_proba(X_test)
    margins: Floats = logistic.decision_function(X_test)
    assert probabilities.shape == (len(margins), 2)
    svc = DPLinearSVC(epsilon=1.0, loss="huberised_hinge", h=0.3, data_norm=1.0, classes=[0, 1])
    pipeline = Pipeline([("scale", MinMaxScaler((-0.05, 0.05))), ("svc", svc)])
    pipeline.set_params(svc__ledger=ledger).fit(X_train, y_train)
    accuracy: float = logistic.score(X_test, y_test)
    fitted: DPLinearSVC = pipeline.named_steps["svc"]
    assert ledger.spent <= ledger.epsilon and ledger.remaining < 3.0
    return [logistic.privacy_, fitted.privacy_], accuracy


def tell(receipt: Receipt) -> str:
    """The statement as json, with its script."""
    script: Script = receipt.script
    answers = sum(count for _, count in script)
    several: Spec = receipt.for_rows(3)
    facts: dict[str, Any] = receipt.to_dict() | {"answers": answers, "three": several.epsilon}
    return json.dumps(facts, default=str)


def price() -> Floats:
    """The same arithmetic without an estimator."""
    noise: float = noise_multiplier(1.0, DELTA, steps=100, sample_rate=0.05)
    spent = epsilon_spent(noise, DELTA, steps=100, sample_rate=0.05)
    spec = Spec(1.0, DELTA, "add_remove")
    scale, script = calibrate(lambda sigma: ((Gaussian(sigma), 10),), spec)
    total = epsilon(script, spec.delta, spec.neighbors)
    assert spent <= 1.0 and total <= spec.epsilon and scale > 0.0
    account = Filter(Spec(1.0, 0.0), "pure")
    account.charge(PureDP(0.9))
    try:
        account.charge(PureDP(0.2))
    except BudgetExceeded:
        assert account.affords(PureDP(0.1))
    assert for_rows(script, spec, 2).epsilon >= total
    return profile(script, [0.5, 1.0, 2.0], spec.neighbors)


def formulas() -> dict[str, float]:
    """Losses and penalties are formulas that one may evaluate."""
    z, y = np.array([-1.0, 0.0, 2.0]), np.array([1.0, -1.0, 1.0])
    values: dict[str, float] = {}
    losses: list[Loss] = [Logistic(), HuberisedHinge(h=0.3), Exponential(0.5), LOSSES["hinge"]()]
    for loss in losses:
        slope: float | None = loss.slope
        bound = loss.value_bound(2.0) if slope is None else slope
        values[type(loss).__name__] = float(loss.value(z, y).mean()) / bound
    penalties: list[Penalty] = [L1(1.0), L2(2.0), L1Ball(1.0), Ridge(2.0), make("l2", strength=3.0)]
    for penalty in penalties:
        shrunk: Floats = penalty.prox(z, step=0.5)
        values[repr(penalty)] = penalty.value(shrunk) + float(penalty.convex)
    return values


def attack() -> tuple[Evidence, OneRun]:
    """Runs on neighbours, and one run with canaries."""
    model = DPLogisticRegression(
        epsilon=1.0, delta=1e-2, data_norm=1.0, classes=[0, 1], solver=GD(steps=3)
    )
    found = audit(released_by(model), worst_case_pair(n_features=2), delta=0.1, n_runs=40)
    canaries = linear_canaries(60, seed=0)
    once = audit_one_run(released_by(model), canaries, delta=1e-2, guesses=(60, 30))
    assert not found.refutes(8.0) and not once.refutes(8.0)
    return found, once


def sparse() -> NDArray[np.int64]:
    """Which features a run of Frank-Wolfe chooses."""
    X, y, support = make_sparse_classification(2000, 20, 4, random_state=1)
    model = DPLogisticRegression(
        epsilon=4.0,
        delta=DELTA,
        solver=FrankWolfe(steps=10),
        penalty=L1Ball(radius=5.0),
        data_norm=5.0,
        classes=[0, 1],
        fit_intercept=False,
    )
    chosen = np.flatnonzero(model.fit(X, y).coef_[0])
    return np.intersect1d(chosen, support)


def main() -> list[str]:
    """All of it; what a user would print."""
    table = make_census(n_samples=4000, random_state=0)
    rows, labels = make_census(n_samples=50, return_X_y=True)
    assert rows.shape == (50, len(table.encoded_names)) and len(labels) == 50
    receipts, accuracy = study(table.drop("region"))
    found, once = attack()
    own = DPLogisticRegression(
        epsilon=1.0, delta=DELTA, solver=OneStep(3.0), data_norm=1.0, classes=[0, 1]
    )
    names = [name for name, kind in all_estimators("classifier") if issubclass(kind, DPLinearSVC)]
    return [
        *(tell(receipt) for receipt in receipts),
        f"accuracy {accuracy:.3f}, plans {plan()}, refused: {refused()}",
        f"profile {price().tolist()}, formulas {formulas()}, features {sparse().tolist()}",
        f"attacks: {found.epsilon:.2f} and {once.epsilon:.2f}, own: {own.quote(100, 2).epsilon:.2f}",
        ", ".join(names),
    ]


if __name__ == "__main__":
    print("\n".join(main()))
