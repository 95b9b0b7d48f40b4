"""Log of all replays, as a page, and what is replayed: every question, estimator and solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import mechanisms as room
from ..exceptions import NotSupported
from ..fitting import PrivateEstimator, prepare
from ..linear_model import DPLinearSVC, DPLogisticRegression, DPRidge
from ..losses import BayesRank, Hinge, ListNet, Logistic
from ..mechanisms import MECHANISMS, Public, Records
from ..mechanisms._mechanism import Mechanism
from ..penalties import L1, L1Ball, NoPenalty, ScaledPenalty
from ..privacy.ledger import Recorder
from ..solvers import SOLVERS
from ._neighbours import Array, Data, adversarial_pairs, common_row
from ._replay import Run, Watched, fitted, replay

__all__ = ["asked", "estimators", "first_that_fits", "page", "questions", "replays"]


INTERCEPT = 0.25
SHORT = {"steps": 6, "epochs": 2, "max_rounds": 6, "generations": 3, "rounds": 2}
# Where a solver needs more of the task than the default gives it, the first of these that fits.
TASKS: tuple[dict[str, Any], ...] = (
    {},
    {"fit_intercept": False},
    {"fit_intercept": False, "penalty": L1Ball(2.0)},
)


def questions(n: int, width: int) -> dict[str, Mechanism]:
    """Return every registered question by name: one or more that records with `width` columns can be asked.

    Parameters
    ----------
    n : int
        Records of the first table.
    width : int
        Columns, the constant one included.

    Returns
    -------
    dict
        From names to questions; a registered question that is not among them is an error.
    """
    found = [*_sums(n, width), *_choices(width), *_releases(n, width)]
    others = MECHANISMS - {type(question) for _, question in found}
    found += [("", _usual(kind, width)) for kind in sorted(others, key=lambda kind: kind.__name__)]
    return {f"{type(question).__name__}{what}": question for what, question in found}


def _usual(kind: type[Any], width: int) -> Any:
    """A question of a kind whose fields have usual names, or defaults."""
    usual: dict[str, Any] = {
        "at": np.linspace(-1.0, 1.0, width),
        "loss": Logistic(),
        "clip": 0.3,
        "cap": 0.4,
        "bound": 0.3,
    }
    usual |= {"multiplier": 2.0, "epsilon": 0.5}
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    if not set(needed) <= set(usual):
        raise NotImplementedError(
            f"no replay asks {kind.__name__}; add one to skdp/audit/_replay_log.py."
        )
    return kind(**{name: usual[name] for name in needed})


def _sums(n: int, width: int) -> Iterator[tuple[str, Mechanism]]:
    at = np.linspace(-1.0, 1.0, width)
    given: dict[str, Any] = {"clip": 0.3, "multiplier": 2.0}
    gradient = room.Gradient(at=at, loss=Logistic(), **given)
    coordinates = room.Coordinates(np.linspace(-2.0, 3.0, 2 * width).reshape(2, width))
    mapped = room.Gradient(at=at[:2], loss=Logistic(), **given)
    step: dict[str, Any] = {"penalty": ScaledPenalty(L1(0.1), 1.0, True), "rho": 1.0}
    step |= {"inverse": 2.0, "n": 20.0}
    yield "", gradient
    yield ", huge parameters", room.Gradient(at=1e18 * at, loss=Logistic(), **given)
    yield ", cancelling scores", room.Gradient(at=_torn(width, 1e18, 0.0), loss=Logistic(), **given)
    yield ", at the corner", room.Gradient(at=_torn(width, 1.0, 1.0), loss=Hinge(), **given)
    yield "", room.ListGradient(at=at, loss=ListNet(), **given)
    yield "", room.LabelGradient(at=at, loss=BayesRank(), **given)
    yield "", room.GradientDifference(at=at, anchor=0.5 * at, loss=Logistic(), reach=0.1, **given)
    yield "", room.PartyGradients(at=np.stack([at, -at]), loss=Logistic(), **given)
    yield "", room.ModelStep(x=at, z=0.5 * at, y=-at, loss=Logistic(), **step, **given)
    yield "", room.SecondMoment(multiplier=2.0)
    yield "", room.RowNorms(coordinates=coordinates, cap=2.0, multiplier=2.0)
    yield "", room.Count(multiplier=2.0)
    yield "", room.ColumnCounts(multiplier=2.0)
    yield "", room.ClassSums(multiplier=2.0, squares=0.5)
    bounds = np.linspace(0.5, 2.0, width - 1)
    yield "", room.ColumnMoments(multiplier=2.0, low=-bounds, high=bounds)
    yield "", room.Mapped(question=mapped, coordinates=coordinates, scale=0.8, whole=0.4)
    sums = room.ClassSums(multiplier=2.0)
    yield ": ClassSums", room.Mapped(question=sums, coordinates=coordinates, scale=0.8)
    yield ": Gradient", room.PoissonBatch(gradient, 0.3)
    yield ": SecondMoment", room.PoissonBatch(room.SecondMoment(multiplier=2.0), 0.3)
    yield ": Gradient", room.RandomBatch(gradient, n // 3)
    yield ": Gradient", room.AllocatedBatch(gradient, 3, opens=True)


def _torn(width: int, size: float, score: float) -> Array:
    """Parameters near which the order of a sum decides on which side of `score` the common row's score lies."""
    row = np.append(common_row(width - 1), 0.0)
    for phase in range(1, 10_000):
        w = np.cos(phase * np.arange(width)) * (row != 0.0)
        w = size * (w - (w @ row) / (row @ row) * row) + score / (row @ row) * row
        if all(_turns(row, w, score, precision) for precision in (np.float64, np.float32)):
            break
    return w


def _turns(row: Array, w: Array, score: float, precision: DTypeLike) -> bool:
    """Return True if `score` lies between the row's scores in tables of two layouts."""
    table, w = np.tile(row, (16, 1)).astype(precision), w.astype(precision)
    one, other = (np.einsum("ij,j->i", laid(table), w)[0] for laid in (np.array, np.asfortranarray))
    return (one - score) * (other - score) < 0.0


def _choices(width: int) -> Iterator[tuple[str, Mechanism]]:
    at, loss = np.linspace(-1.0, 1.0, width), Logistic()
    candidates = np.stack([at, -at, 2.0 * at])
    search: dict[str, Any] = {"at": at, "candidates": candidates, "loss": loss}
    search |= {"demands": np.array([3.0, -1.0, 0.5]), "bounds": np.array([0.5, 0.3, 2.0])}
    steepest = room.SteepestCoordinate(at=at, loss=loss, bound=0.3, epsilon=0.5)
    laplace = room.FirstDecrease(**search, threshold_epsilon=0.5, query_epsilon=0.5)
    normal = room.GaussianFirstDecrease(**search, threshold_multiplier=2.0, query_multiplier=3.0)
    yield "", steepest
    yield "", room.BestCandidate(candidates=candidates, loss=loss, cap=0.4, epsilon=0.5)
    yield "", laplace
    yield "", normal
    yield ": SteepestCoordinate", room.PoissonBatch(steepest, 0.3)
    yield ": FirstDecrease", room.PoissonBatch(laplace, 0.3)
    yield ": GaussianFirstDecrease", room.PoissonBatch(normal, 0.3)


def _releases(n: int, width: int) -> Iterator[tuple[str, Mechanism]]:
    penalty = ScaledPenalty(NoPenalty(), 1.0, True)
    given: dict[str, Any] = {"loss": Logistic(), "penalty": penalty, "multiplier": 2.0}
    given |= {"shape": (width,)}
    coordinates = room.Coordinates(np.linspace(-2.0, 3.0, 2 * width).reshape(2, width))
    schedule = room.Schedule.harmonic(0.5, 3, (n // 2, n - n // 2), period=2)
    flat = {**given, "shape": (2,), "penalty": ScaledPenalty(NoPenalty(), 1.0, False)}
    for pure, what in ((False, ""), (True, ", pure")):
        yield what, room.NoisyMinimiser(strength=0.5, pure=pure, **given)
        yield what, room.PerturbedObjective(strength=2.0, pure=pure, **given)
        yield what, room.HiddenDescent(schedule=schedule, convexity=0.1, pure=pure, **given)
    yield ", clipped", room.NoisyMinimiser(strength=0.5, clip=0.1, **given)
    yield ", clipped", room.PerturbedObjective(strength=2.0, clip=0.1, **given)
    yield (
        ", shuffled",
        room.HiddenDescent(schedule=schedule, convexity=0.1, shuffle=True, **given),
    )
    clipped = room.PerturbedObjective(strength=2.0, clip=0.1, **flat)
    yield ": PerturbedObjective", room.Mapped(question=clipped, coordinates=coordinates)


def asked(question: Mechanism, neighbors: str, n: int) -> Run:
    """A run for `replay`: the question, put to the records of a table.

    Parameters
    ----------
    question : Mechanism
        Registered.
    neighbors : {"replace_one", "add_remove"}
        The relation.
    n : int
        Records of the first table; public under ``replace_one``.

    Returns
    -------
    run : callable
        From a table and a noise source to the answer.
    """

    def run(table: Data, noise: Any) -> Any:
        X, y = table
        known = n if neighbors == "replace_one" else None
        public = Public(known, X.shape[1], intercept=INTERCEPT, neighbors=neighbors)
        records = Records.admit(X, 2.0 * y - 1.0, public, 1.0)
        return Watched(records, Recorder(), noise).ask(question)

    return run


def estimators(name: str, neighbors: str) -> Iterator[PrivateEstimator]:
    """Estimators with one solver, short and at a large epsilon, whose tasks differ until the solver takes one.

    Parameters
    ----------
    name : str
        Of the solver.
    neighbors : {"replace_one", "add_remove"}
        The relation.

    Yields
    ------
    estimator
        Not fitted; some refuse.
    """
    solver = SOLVERS[name]()
    fewer = {k: min(v, SHORT[k]) for k, v in solver.get_params().items() if k in SHORT and v}
    for kind in (DPLogisticRegression, DPLinearSVC):
        for task in TASKS:
            yield kind(
                epsilon=1.0,
                delta=1e-5,
                data_norm=1.0,
                classes=[0, 1],
                neighbors=neighbors,
                solver=solver.with_params(**fewer),
                **task,
            )
    yield DPRidge(
        epsilon=1.0,
        delta=1e-5,
        data_norm=1.0,
        y_bounds=(0.0, 1.0),
        neighbors=neighbors,
        solver=solver.with_params(**fewer),
    )


# Subject, relation, pairs, calls, the largest movement over its claim, findings.
Line = tuple[str, str, int, int, float, tuple[str, ...]]

RELATIONS = ("replace_one", "add_remove")
MANY, N, D = 600, 24, 8  # records asked by questions and by solvers, and features
HEAD = """# Replay with frozen answers: the log

Written by `python -m skdp.audit replay > docs/replay_log.md`; [audit.md](audit.md) says what is replayed and what is
compared. Each line is over all adversarial pairs of neighbours ({pairs}):
three layouts, two precisions and pairs of tables with different layouts; {d} features; {many} records for questions,
{n} for solvers. *Calls* of the noise that were compared, the largest *moved/claimed*, all roundings included in the
claim, and *findings*: branches that differ, statistics that move too far, anything else that comes out and differs.
"refused" is one sentence before the data is touched. Questions of lists have lists of one document here,
which add nothing; lists are replayed through `DPRanker` in tests/ranking/test_ranker.py.
"""


def replays(only: Callable[[str, str], bool] | None = None) -> Iterator[Line]:
    """Run all of them.

    Parameters
    ----------
    only : callable or None
        Takes (subject, relation) and says whether to run it.

    Yields
    ------
    tuple (subject, relation, pairs, calls, moved, findings)
        `pairs` is 0 where the subject is refused under the relation.
    """
    for relation in RELATIONS:
        for subject, n, run in _runs(relation):
            if only is None or only(subject, relation):
                yield (subject, relation, *_over_pairs(run, relation, n))


def _runs(relation: str) -> Iterator[tuple[str, int, Run | None]]:
    for name, question in questions(MANY, D + 1).items():
        yield name, MANY, asked(question, relation, MANY)
    for name in sorted(SOLVERS):
        yield f"solver {name}", N, first_that_fits(name, relation)


def first_that_fits(name: str, relation: str) -> Run | None:
    """A run of the first task that the solver takes; None if it takes none under the relation.

    Parameters
    ----------
    name, relation : str
        Of the solver, and of the neighbours.

    Returns
    -------
    run : callable or None
        For `replay`.
    """
    for estimator in estimators(name, relation):
        try:
            prepare(estimator._plan(N, D, {})).quote()
        except NotSupported:
            continue
        return fitted(estimator)
    return None


def _over_pairs(run: Run | None, relation: str, n: int) -> tuple[int, int, float, tuple[str, ...]]:
    pairs, calls, moved, findings = 0, 0, 0.0, []
    if run is None:
        return 0, 0, math.nan, ()
    for seed, pair in enumerate(adversarial_pairs(relation, n, D)):
        found = replay(run, pair, seed)
        if not pairs and not found.calls and str(found.refused).startswith("NotSupported"):
            return 0, 0, math.nan, ()
        pairs, calls = pairs + 1, calls + found.calls
        moved = max(moved, found.moved)
        findings += [f"{pair.name}: {what}" for what in found.findings]
    return pairs, calls, moved, tuple(findings)


def page(lines: Iterable[Line]) -> str:
    """The log as Markdown.

    Parameters
    ----------
    lines : iterable of tuple
        See `replays`.

    Returns
    -------
    str
        The page.
    """
    count = {r: sum(1 for _ in adversarial_pairs(r, N, D)) for r in RELATIONS}
    pairs = ", ".join(f"{count[r]} under `{r}`" for r in RELATIONS)
    text = [HEAD.format(pairs=pairs, many=MANY, n=N, d=D)]
    text += [
        "| subject | relation | calls | moved/claimed | findings |",
        "| --- | --- | --- | --- | --- |",
    ]
    told = []
    for subject, relation, ran, calls, moved, findings in lines:
        result = f"{calls} | {_ratio(moved)} | {len(findings)}" if ran else "refused | | "
        text.append(f"| {subject} | {relation} | {result} |")
        told += [f"* {subject}, {relation}, {what}" for what in findings]
    return (
        "\n".join([*text, "", *(["## Findings", "", *told] if told else ["No findings."])]) + "\n"
    )


def _ratio(moved: float) -> str:
    """Close to 1, how far below."""
    return f"{moved:.4f}" if moved <= 0.9999 or moved > 1.0 else f"1 - {1.0 - moved:.1e}"
