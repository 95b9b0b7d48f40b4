"""What settings do: C 5.1 (six of the line search) and LK 1 (four of DP-AGD), on Adult."""

from dataclasses import dataclass

from _quick import few

from skdp.solvers import AGD, BLSGD, BLSGDAC

from ._by_epsilon import LOSSES, classifier, scored
from ._data import train_and_test
from ._figure import Figure, draw_lines, means
from ._methods import LADDER, SEARCH, Promise

__all__ = ["FIGURES"]

# Of C 5.1: what is varied, its values, and how a value enters; budgets grow never, always, or by the angle.
ALLOCATIONS = {"no": {"growth": 1e-9}, "must": {"widest": 1e-9}, "adap": {}}
SEARCHES = {
    "alpha": ((0.1, 0.3, 0.5, 0.7, 0.9), lambda v: {"decrease": v}),
    "beta": ((0.2, 0.4, 0.6, 0.8, 0.9), lambda v: {"backtrack": v}),
    "noise": (("laplace", "gaussian"), lambda v: {"search_noise": v}),
    "q": ((0.02, 0.05, 0.1, 0.2, 0.5, 1.0), lambda v: {"rate": v}),
    "allocation": (tuple(ALLOCATIONS), ALLOCATIONS.get),
    "zeta": ((0.0, 0.02, 0.05, 0.1, 0.2), lambda v: {"clip_decay": v}),
}
STEPS = {
    "splits": ((10, 20, 40, 60, 100, 200), lambda v: {"splits": int(v)}),
    "gamma": ((0.05, 0.1, 0.2, 0.5, 1.0), lambda v: {"growth": v}),
    "C_grad": ((0.1, 0.3, 0.5, 1.0, 3.0), lambda v: {"clip": v}),
    "C_obj": ((0.1, 0.3, 1.0, 3.0, 10.0), lambda v: {"objective_clip": v}),
}


def line_search(given):
    """Return the solver of C 5.1 at the printed settings and these."""
    settings = {"rate": 0.1, **SEARCH} | given
    return BLSGDAC(**settings) if settings.get("clip_decay") else BLSGD(**_without(settings))


def _without(settings):
    return {name: value for name, value in settings.items() if name != "clip_decay"}


def ladder(given):
    """Return the solver of LK 1 at the printed settings and these."""
    return AGD(**LADDER | given)


@dataclass(frozen=True)
class Settings(Figure):
    """Accuracy and objective by one setting at a time."""

    varied: object = None
    solver: object = None
    penalty: str | None = None
    lam: float = 0.0

    def cells(self):
        """Return a cell for each value of each setting."""
        return [
            {"data": "adult", "varied": name, "value": value, "epsilon": epsilon}
            for name, (values, _) in self.varied.items()
            for value in values[: few(None, 1)]
            for epsilon in self.axes["epsilon"]
        ]

    def measure(self, cell):
        """Fit one model."""
        X, y, X_test, y_test = train_and_test(cell["data"], int(cell["repetition"]))
        solver = self.solver(self.varied[cell["varied"]][1](cell["value"]))
        promise = Promise(solver, cell["epsilon"])
        given = self.penalty, self.lam
        model = classifier("logistic", *given, promise, 1e-8, len(y), cell["repetition"])
        model.fit(X, y)
        return {
            "neighbors": "replace_one",
            "delta": 1e-8,
            "accuracy": float(model.score(X_test, y_test)),
            "objective": scored(model, LOSSES["logistic"], *given, X, y),
        }

    def summary(self, rows):
        """Return the best value of each setting by epsilon, and what the worst one loses."""
        told = []
        for name in self.varied:
            for epsilon in sorted({row["epsilon"] for row in rows}):
                found = means(rows, "accuracy", "value", varied=name, epsilon=epsilon)
                if found:
                    best, worst = max(found, key=found.get), min(found, key=found.get)
                    lost = found[best] - found[worst]
                    best = best if isinstance(best, str) else f"{best:g}"
                    told.append(f"{name} at {epsilon:g}: best {best}, worst {lost:.3f} below")
        return "; ".join(told)

    def draw(self, rows, path):
        """Draw a panel for each setting; words are spread evenly."""
        panels = [[], []]
        for name, (values, _) in self.varied.items():
            places = {value: number for number, value in enumerate(values)}
            shown = [
                row | {"value": places[row["value"]] if isinstance(values[0], str) else row["value"]}
                for row in rows
                if row["varied"] == name
            ]  # fmt: skip
            title = f"{name}: {', '.join(values)}" if isinstance(values[0], str) else name
            for line, score in zip(panels, ("accuracy", "objective")):
                line.append((title, shown, score))
        draw_lines(panels, path, lambda r: f"epsilon {r['epsilon']:g}", "value", "value", log=False)


COLUMNS = dict.fromkeys(("data", "varied", "value"), ())
FIGURES = (
    Settings(
        "C 5.1",
        "effect of six settings of the line search",
        "Adult, logistic regression without penalty, epsilon 0.05 and 0.2",
        "the same, at the price of our filter",
        told="best alpha 0.5 and beta 0.8 at epsilon 0.05, robust at 0.2; Laplace a little above Gaussian; q not too "
        "small; budgets by the angle best; zeta helps at 0.05, not at 0.2",
        verdict="part",
        reason="all but alpha: with 0.5 the gradient's own noise fails tests, and 0.1 is best here; a clip of 3 of "
        "longer rows is 1 of ours, Laplace searches on a batch are priced as pure ones",
        axes=COLUMNS | {"epsilon": few((0.05, 0.2), (0.2,))},
        varied=SEARCHES,
        solver=line_search,
    ),
    Settings(
        "LK 1",
        "effect of four settings of DP-AGD",
        "Adult, logistic regression; the values are on axes that were not kept",
        "the same, at the price of our filter",
        told="moderate settings have small effect, less where the budget is large; too small and too large ones harm",
        reason="slides print neither lambda (here 1e-3) nor the epsilons (here 0.1, 0.4, 1.6)",
        axes=COLUMNS | {"epsilon": few((0.1, 0.4, 1.6), (0.4,))},
        varied=STEPS,
        solver=ladder,
        penalty="l2",
        lam=1e-3,
    ),
)
