"""C 4.3 and 4.4 (CL 3 and 4): accuracy, objective and found features on generated sparse data."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from _quick import few
from feature_selection import KEPT, coverage, data

from ._by_epsilon import LOSSES, classifier, scored, true_epsilon
from ._figure import Claim, Figure, draw_lines
from ._linear import OURS, PRINTED_4
from ._methods import METHODS

__all__ = ["FIGURES"]

PANELS = {"C 4.3": ("accuracy", "objective"), "C 4.4": tuple(f"xi_{kept}" for kept in KEPT)}


@lru_cache(maxsize=1)
def generated(repetition):
    """Return one generated set."""
    return data(repetition)


@dataclass(frozen=True)
class Simulated(Figure):
    """Scores of L1 logistic regression on generated sparse data."""

    def measure(self, cell):
        """Fit one model; each repetition has a set of its own, as in the source."""
        repetition = int(cell["repetition"])
        X, y, support = generated(repetition)
        cut = int(0.8 * len(y))
        lam, promise = (
            cell["lambda"],
            METHODS[cell["method"]].promise(cell["setting"], cell["epsilon"], 1e-8, cut),
        )
        model = classifier("logistic", "l1", lam, promise, 1e-8, cut, repetition)
        model.fit(X[:cut], y[:cut])
        coef, rng = model.coef_[0], np.random.default_rng(repetition)
        return {
            "neighbors": "replace_one",
            "delta": 1e-8,
            "accuracy": float(model.score(X[cut:], y[cut:])),
            "objective": scored(model, LOSSES["logistic"], "l1", lam, X[cut:], y[cut:]),
            "true_epsilon": true_epsilon(model),
        } | {f"xi_{kept}": coverage(coef, support, kept, rng) for kept in KEPT}

    def draw(self, rows, path):
        """Draw a row of panels for each lambda."""
        panels = [
            [
                (f"lambda {lam:g}: {score}", [row for row in rows if row["lambda"] == lam], score)
                for score in PANELS[self.name]
            ]
            for lam in dict.fromkeys(row["lambda"] for row in rows)
        ]
        draw_lines(panels, path, lambda r: f"{r['method']}, {r['setting']}", "epsilon", "epsilon")


AXES = {
    "lambda": few((1e-3, 1e-4), (1e-3,)),
    "method": few(("ssADMM", "mpADMM", "DP-SGD", "ADMM-objP", "DP-ADMM"), ("mpADMM", "DP-SGD")),
    "setting": few(("document", "ours"), ("document",)),
    "epsilon": few((0.05, 0.1, 0.2, 0.4, 0.8), (0.8,)),
}
LOW, RIVALS = 0.1, ("ssADMM", "DP-SGD")
NOISE = (
    "at steps of eta/h batches of the root of n keep the noise of their first, long steps, which full passes and whole "
    "releases do not have; constant, averaged steps of larger batches at one price do not keep it either"
)
FIGURES = (
    Simulated(
        "C 4.3",
        "L1 logistic regression on simulated data: accuracy and objective (CL 3)",
        PRINTED_4,
        OURS,
        (
            Claim("ssADMM above ADMM-objP in accuracy", "ssADMM", ("ADMM-objP",), NOISE),
            Claim("DP-SGD above ADMM-objP in accuracy", "DP-SGD", ("ADMM-objP",), NOISE),
        ),
        "ten generated sets in the source, one for each run here; objective on the test rows, as there",
        axes=AXES,
    ),
    Simulated(
        "C 4.4",
        "L1 logistic regression on simulated data: found features (CL 4)",
        PRINTED_4,
        OURS,
        (
            Claim("mpADMM finds most at low epsilon", "mpADMM", (*RIVALS, "ADMM-objP"), NOISE, "xi_20", most=LOW),
            Claim("ADMM-objP finds more than ssADMM and DP-SGD there", "ADMM-objP", RIVALS, NOISE, "xi_20", most=LOW),
        ),
        "as C 4.3",
        axes=AXES,
        rows_of="C 4.3",
    ),
)  # fmt: skip
