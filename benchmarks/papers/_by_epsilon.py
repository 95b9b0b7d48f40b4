"""Accuracy and objective by epsilon of linear models: what most figures show."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.dummy import DummyClassifier

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.losses import Hinge, HuberisedHinge, Logistic
from skdp.privacy import accountants

from ._data import is_here, train_and_test
from ._figure import Figure, draw_lines
from ._methods import METHODS, Promise

__all__ = ["BASELINES", "ByEpsilon", "classifier", "scored", "true_epsilon"]

# Of a figure's loss "hinge" the methods that need a smooth one have the huberised one.
LOSSES = {"logistic": Logistic(), "svm": HuberisedHinge(0.5), "hinge": Hinge()}
BASELINES = ("Non-private", "Majority")
LEAST = 1e-6  # lambda of the non-private fit where a figure has none: a minimum need not exist


@dataclass(frozen=True)
class ByEpsilon(Figure):
    """A figure of accuracy and objective by epsilon.

    Parameters
    ----------
    penalty : {"l1", "l2", None}
        Of the objective; its weight is the column ``lambda``.
    delta : float
        Of all promises; neighbours differ by one replaced record.
    """

    penalty: str | None = "l2"
    delta: float = 1e-8
    axes: dict = field(default_factory=dict)

    def cells(self):
        """Return all cells of data that are here, and each baseline once."""
        found = {}
        for cell in super().cells():
            if cell["method"] in BASELINES:
                cell = cell | {"setting": "baseline", "epsilon": 0.0}
            if is_here(cell["data"]):
                found[tuple(cell.values())] = cell
        return list(found.values())

    def measure(self, cell):
        """Fit one model."""
        X, y, X_test, y_test = train_and_test(cell["data"], int(cell["repetition"]))
        given = {"neighbors": "replace_one", "delta": self.delta}
        if cell["method"] == "Majority":
            model = DummyClassifier(strategy="prior").fit(X, y)
            return given | {
                "accuracy": float(model.score(X_test, y_test)),
                "objective": float("nan"),
                "true_epsilon": 0.0,
            }
        method = METHODS.get(cell["method"])
        loss = cell["loss"]
        if loss == "hinge" and (method is None or method.smooth):
            loss = "svm"
        penalty, lam = self.penalty, cell["lambda"]
        if method is None:
            promise = Promise("gd" if penalty == "l1" else "objective-perturbation", np.inf)
            penalty, lam = (penalty, lam) if penalty else ("l2", LEAST)
        else:
            promise = method.promise(cell["setting"], cell["epsilon"], self.delta, len(y))
        model = classifier(loss, penalty, lam, promise, self.delta, len(y), cell["repetition"])
        model.fit(X, y)
        return given | {
            "accuracy": float(model.score(X_test, y_test)),
            "objective": scored(model, LOSSES[loss], self.penalty, cell["lambda"], X, y),
            "true_epsilon": true_epsilon(model),
        }

    def draw(self, rows, path):
        """Draw accuracy above the objective, a column for each data set, loss and lambda."""
        shown = [row for row in rows if row["setting"] != "baseline"]
        columns = dict.fromkeys((row["data"], row["loss"], row["lambda"]) for row in shown)
        panels = [
            [
                (
                    f"{data}, {loss}, lambda {lam:g}",
                    [row for row in shown if (row["data"], row["loss"], row["lambda"]) == (data, loss, lam)],
                    score,
                )
                for data, loss, lam in columns
            ]
            for score in ("accuracy", "objective")
        ]  # fmt: skip
        draw_lines(panels, path, lambda r: f"{r['method']}, {r['setting']}", "epsilon", "epsilon")


def classifier(loss, penalty, lam, promise, delta, n, seed):
    """Return the model that a promise asks for; nothing of it goes into calibrated scores."""
    given = {
        "epsilon": promise.epsilon,
        "delta": delta,
        "solver": promise.solver,
        "accountant": promise.accountant,
        "penalty": penalty,
        "data_norm": 1.0,
        "classes": [0, 1],
        "random_state": int(seed),
    }
    if penalty is not None:
        given["C"] = 1.0 / (lam * n)
    if loss == "logistic":
        return DPLogisticRegression(calibrate=False, **given)
    kind = "hinge" if loss == "hinge" else "huberised_hinge"
    return DPLinearSVC(loss=kind, **given)


def scored(model, loss, penalty, lam, X, y):
    """Return the objective on the training rows: mean loss and penalty of all coefficients but the intercept."""
    w = model.coef_.ravel()
    value = loss.value(X @ w + model.intercept_[0], 2.0 * y - 1.0).mean()
    if penalty is None:
        return float(value)
    return float(value + lam * (np.abs(w).sum() if penalty == "l1" else 0.5 * w @ w))


def true_epsilon(model):
    """Return what a fit costs by the tightest accountant: of a filter, its allowance."""
    receipt = model.privacy_
    if not np.isfinite(receipt.epsilon):
        return float("inf")
    if receipt.accountant.endswith("filter"):
        return float(receipt.epsilon)
    return float(accountants.epsilon(receipt.script, receipt.delta, receipt.neighbors))
