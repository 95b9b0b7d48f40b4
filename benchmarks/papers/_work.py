"""What a fit takes: C 3.4 (times on parts of KDD Cup 99) and C 5.2 (gradients and objectives by sampling rate)."""

import time
from dataclasses import dataclass

from _quick import few

from skdp.solvers import BLSGD

from ._by_epsilon import classifier
from ._data import is_here, train_and_test
from ._figure import Figure, draw_lines, means
from ._methods import METHODS, SEARCH, Promise

__all__ = ["FIGURES"]


@dataclass(frozen=True)
class Times(Figure):
    """Processor seconds of a fit by the number of rows."""

    def measure(self, cell):
        """Time one fit, after none that warms up: calibration is part of it."""
        X, y, *_ = train_and_test("kddcup99", 0)
        n = int(cell["rows"])
        promise = METHODS[cell["method"]].promise(cell["setting"], cell["epsilon"], 1e-12, n)
        model = classifier("logistic", "l2", 1e-3, promise, 1e-12, n, cell["repetition"])
        start = time.process_time()
        model.fit(X[:n], y[:n])
        return {
            "neighbors": "replace_one",
            "delta": 1e-12,
            "fit_seconds": time.process_time() - start,
        }

    def summary(self, rows):
        """Return seconds of the largest part, and how they grow."""
        told = []
        for method, setting in dict.fromkeys((row["method"], row["setting"]) for row in rows):
            found = means(rows, "fit_seconds", "rows", method=method, setting=setting)
            least, most = min(found), max(found)
            growth = found[most] / found[least]
            told.append(f"{method} ({setting}) {found[most]:.2g} s, {growth:.2g} times")
        return f"{most:,.0f} rows, and over {least:,.0f}: " + "; ".join(told)

    def draw(self, rows, path):
        """Draw one panel."""
        panels = [[("KDD Cup 99", rows, "fit_seconds")]]
        draw_lines(
            panels, path, lambda r: f"{r['method']}, {r['setting']}", "rows", "rows", log=False
        )


@dataclass(frozen=True)
class Evaluations(Figure):
    """How many records' gradients and objectives a line search asks for, by sampling rate."""

    def cells(self):
        """Return the cells of data that are here."""
        return [cell for cell in super().cells() if is_here(cell["data"])]

    def measure(self, cell):
        """Fit one model and count the releases of its receipt; a search tests at most all of its candidates."""
        X, y, X_test, y_test = train_and_test(cell["data"], int(cell["repetition"]))
        solver = BLSGD(rate=cell["q"], **SEARCH)
        promise = Promise(solver, cell["epsilon"])
        model = classifier("logistic", None, 0.0, promise, 1e-8, len(y), cell["repetition"])
        model.fit(X, y)
        events = [type(event).__name__ for event, _ in model.privacy_.script]
        gradients = sum("Gaussian" in name for name in events)
        size = cell["q"] * len(y)
        return {
            "neighbors": "replace_one",
            "delta": 1e-8,
            "accuracy": float(model.score(X_test, y_test)),
            "gradients": gradients,
            "searches": len(events) - gradients,
            "gradient_evaluations": gradients * size,
            "objective_evaluations": (len(events) - gradients) * size * (solver.candidates + 1),
        }

    def summary(self, rows):
        """Return evaluations at the printed rate over those of the largest."""
        told = []
        for name in dict.fromkeys(row["data"] for row in rows):
            for kind in ("gradient_evaluations", "objective_evaluations", "accuracy"):
                found = means(rows, kind, "q", data=name)
                least, most = min(found, key=lambda q: abs(q - 0.1)), max(found)
                word = kind.replace("_", " ")
                if kind == "accuracy":
                    told.append(f"{name} {word} {found[least]:.3f} and {found[most]:.3f}")
                else:
                    told.append(
                        f"{name} {word} {found[least] / found[most]:.2f} of those at {most:g}"
                    )
        return f"at q {least:g}: " + "; ".join(told)

    def draw(self, rows, path):
        """Draw a panel for each kind of evaluation."""
        scores = "gradient_evaluations", "objective_evaluations", "accuracy"
        panels = [[(score.replace("_", " "), rows, score) for score in scores]]
        draw_lines(panels, path, lambda r: r["data"], "q", "sampling rate")


FIGURES = (
    Times(
        "C 3.4",
        "processor time by rows of KDD Cup 99",
        "50,000 to 250,000 rows, logistic regression, lambda 1e-3; ObjPert by L-BFGS",
        "one thread, calibration of the noise included; ObjPert by Newton steps",
        told="linear in n; ObjPert fastest, RSGD-AR almost as fast",
        reason="parts of the ten per cent file",
        repetitions=3,
        axes={
            "method": few(
                ("RSGD-AR", "NSGD", "OutPert-GD", "ObjPert", "DP-AGD", "SGD-MA"), ("RSGD-AR",)
            ),
            "setting": few(("document", "ours"), ("ours",)),
            "epsilon": (1.0,),
            "rows": few((50_000, 100_000, 150_000, 200_000, 250_000), (200, 400)),
        },
    ),
    Evaluations(
        "C 5.2",
        "gradient and objective evaluations by sampling rate",
        "epsilon 0.4, logistic regression without penalty, four data sets",
        "releases of the receipt times records of a batch; of a search all candidates, which is the most it tests",
        told="batches need far fewer evaluations at similar accuracy",
        reason="at most that many objectives: an answer does not say how many were looked at after the one that passed",
        repetitions=3,
        axes={
            "data": few(("adult", "bank", "ipums_br", "ipums_us"), ("ipums_us",)),
            "epsilon": (0.4,),
            "q": few((0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), (0.2,)),
        },
    ),
)
