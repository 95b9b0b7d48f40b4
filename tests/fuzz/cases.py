"""A fit at random from one whole number: through an estimator, or of any other loss through `private_fit`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp import DPLinearSVC, DPLogisticRegression, losses, penalties
from skdp.entry import Table
from skdp.fitting import Plan, prepare
from skdp.mechanisms import Noise, Public
from skdp.penalties import PENALTIES, ScaledPenalty
from skdp.privacy import Ledger, Spec
from skdp.privacy.accountants import ACCOUNTANTS
from skdp.solvers import Task, resolve

from . import hyper, tables

MODES, CHANCES = ("default", "mild", "wild", "edges", "odd"), (0.15, 0.4, 0.2, 0.1, 0.15)
# Ends of what an estimator takes, for the mode that is about them.
EDGES = {
    "epsilon": (1e-12, 1e-6, 1.0, 1e6, 1e15),
    "delta": (0.0, 1e-300, 1e-30, 1e-6, 0.5, 1.0 - 1e-9),
    "data_norm": (1e-30, 1.0, 1e30),
    "C": (1e-100, 1e-30, 1.0, 1e30, 1e100),
    "h": (1e-30, 1e-12, 0.5, 1e30),
    "target_bound": (1e-30, 1e-12, 1.0, 1e12),
}
NAMED = ("l2", "l2", "l1", "elasticnet", "scad", "mcp", None)
LABELS = ((0, 1), (-1, 1), (False, True), ("no", "yes"), (-2.5, 1e300))


@dataclass
class Case:
    """All that a fit is given, and nothing that it makes.

    Parameters
    ----------
    seed : int
        The whole number that all of it follows from.
    X, y : ndarray
        Records, before they are put into `container`.
    labels : tuple
        Targets that an added record may have.
    given : dict
        Parameters by name.
    solver : tuple
        Class of the solver and its hyper-parameters; None for the estimator's own choice.
    allowance : tuple or None
        Epsilon and delta of a ledger that others may have charged.
    """

    seed: int
    X: Any
    y: Any
    container: str
    labels: tuple
    given: dict
    solver: tuple | None
    allowance: tuple | None

    @property
    def relation(self):
        """The neighbour relation."""
        return self.given["neighbors"]

    @property
    def name(self):
        """The solver's name."""
        return self.solver[0].name if self.solver else "auto"

    def __str__(self):
        solver = f"{self.name} {self.solver[1]}" if self.solver else "auto"
        n, d = self.X.shape
        return f"seed {self.seed}: {solver}, {n} x {d} {self.container}, {self.given}, {self.allowance}"

    def ledger(self):
        """A fresh ledger, or None."""
        return Ledger(*self.allowance, self.relation) if self.allowance else None

    def neighbour(self):
        """The same fit where one record has changed."""
        rng = np.random.default_rng([self.seed, 1])
        X, y = tables.neighbour(rng, self.X, self.y, self.labels, self.relation)
        return type(self)(**{**vars(self), "X": X, "y": y})

    def _solver(self):
        kind, given = self.solver or (None, {})
        return kind(**given) if kind else "auto"


class Estimated(Case):
    """A fit of a classifier."""

    def fit(self, ledger):
        """Parameters and receipt, or an exception."""
        model = self._model(ledger).fit(tables.held(self.X, self.container), self.y)
        return np.append(model.coef_, model.intercept_), model.privacy_

    def quote(self):
        """The receipt by public numbers alone."""
        n = len(self.X) if self.relation == "replace_one" else None
        return self._model(None).quote(n, self.X.shape[1])

    def _model(self, ledger):
        given = dict(self.given)
        kind = given.pop("estimator")
        return kind(solver=self._solver(), ledger=ledger, random_state=self.seed, **given)


class Planned(Case):
    """A fit of any registered loss, as an estimator to come would make it."""

    def fit(self, ledger):
        """Parameters and receipt, or an exception."""
        plan, X = self._plan(), np.asarray(tables.held(self.X, self.container))
        X = X if X.dtype == np.float32 else X.astype(float)
        fitted, receipt = prepare(plan, ledger).on(Table(X, self.y), Noise(self.seed))
        return fitted.w, receipt

    def quote(self):
        """The receipt by public numbers alone."""
        return prepare(self._plan()).quote()

    def _plan(self):
        given = self.given
        n = len(self.X) if self.relation == "replace_one" else given["n_public"]
        public = Public(
            n, self.X.shape[1], given["intercept"], self.relation, given["target_bound"]
        )
        loss, penalty = given["loss"](), given["penalty"]()
        shape = (public.width,) if loss.outputs == 1 else (public.width, loss.outputs)
        task = Task(loss, ScaledPenalty(penalty, given["data_norm"], given["intercept"] > 0), shape)
        spec = Spec(given["epsilon"], given["delta"], self.relation)
        return Plan(
            *(spec, task, resolve(self._solver()), public),
            *(given["data_norm"], given["accountant"], {}),
        )


def draw(seed):
    """The fit of a whole number.

    Parameters
    ----------
    seed : int
        Any of 0 or more.

    Returns
    -------
    Case
        Mostly one that the solver could do; what it needs is left to chance in 15 of 100.
    """
    rng = np.random.default_rng(seed)
    mode = str(rng.choice(MODES, p=CHANCES))
    solver = hyper.solver(rng, mode)
    fitting = solver[0] if rng.random() < 0.85 else None
    given = _promise(rng, mode, fitting)
    X, container = _rows(rng, given["data_norm"])
    allowance = None
    if rng.random() < 0.4:
        allowance = (float(given["epsilon"] * 2.0 ** rng.uniform(-1, 3)), given["delta"])
    facts = {"seed": seed, "X": X, "container": container, "solver": solver, "allowance": allowance}
    make = _estimated if rng.random() < 0.65 else _planned
    return make(rng, mode, given, fitting, facts)


def _rows(rng, data_norm):
    n = int(math.exp(rng.uniform(0.0, math.log(400.0))))
    if rng.random() < 0.03:
        n = int(rng.integers(400, 5000))
    d = int(math.exp(rng.uniform(0.0, math.log(41.0))))
    size = data_norm * 10.0 ** rng.uniform(-1, 1) / math.sqrt(d)
    if rng.random() < 0.25:
        size = 10.0 ** rng.uniform(-300, 300)
    X = tables.rows(rng, n, d, str(rng.choice(tables.KINDS)), size)
    container = str(rng.choice(tables.CONTAINERS))
    # As the container holds them, so that a neighbour differs in one record alone.
    return np.array(tables.held(X, container), dtype=float), container


def _promise(rng, mode, fitting):
    decades = {"default": (-1, 1), "mild": (-2, 2)}.get(mode, (-3, 4))
    epsilon = math.inf if rng.random() < 0.06 else float(10.0 ** rng.uniform(*decades))
    delta = 0.0 if rng.random() < 0.15 else float(10.0 ** rng.uniform(-12, -2))
    if fitting and fitting.adaptive:
        delta = delta or 1e-6
    relation = str(rng.choice(["replace_one", "add_remove"]))
    if fitting and fitting.name in hyper.REPLACING:
        relation = "replace_one"
    accountant = "auto" if rng.random() < 0.8 else str(rng.choice(ACCOUNTANTS))
    norm = 30 if rng.random() < 0.3 else 2
    given = {
        "epsilon": epsilon,
        "delta": delta,
        "neighbors": relation,
        "accountant": accountant,
        "n_public": _rough_count(rng) if rng.random() < 0.6 else None,
        "data_norm": float(10.0 ** rng.uniform(-norm, norm)),
    }
    return _at_edges(rng, mode, given)


def _at_edges(rng, mode, given):
    """The same, and in one of the modes half of what has ends at one of them."""
    for name in [name for name in EDGES if name in given and mode == "edges"]:
        if rng.random() < 0.5:
            given[name] = EDGES[name][rng.integers(len(EDGES[name]))]
    return given


def _rough_count(rng):
    return int(10.0 ** rng.uniform(0, 4 if rng.random() < 0.9 else 15))


def _estimated(rng, mode, given, fitting, facts):
    n = len(facts["X"])
    labels = LABELS[rng.integers(len(LABELS))]
    second = rng.random(n) < rng.choice([0.0, 0.03, 0.5, 0.5, 0.5, 1.0])
    given |= {
        "estimator": DPLogisticRegression if rng.random() < 0.5 else DPLinearSVC,
        "C": float(10.0 ** rng.uniform(*((-1, 1) if mode == "default" else (-8, 8)))),
        "fit_intercept": bool(rng.random() < 0.6),
        "classes": list(labels),
        "penalty": _named(rng, fitting) if rng.random() < 0.7 else _instance(rng, mode, fitting)(),
        "l1_ratio": float(rng.random()) if rng.random() < 0.9 else None,
    }
    if given["estimator"] is DPLinearSVC:
        names = ["huberised_hinge", "huberised_hinge", "squared_hinge", "hinge"]
        smooth = fitting is not None and "smooth_loss" in fitting.needs
        given["loss"] = str(rng.choice(names[:3] if smooth else names))
        given["h"] = float(10.0 ** rng.uniform(-8, 3))
    given = _at_edges(rng, mode, given)
    if rng.random() < 0.1:
        facts["solver"] = None
    y = np.array(labels)[second.astype(int)]
    return Estimated(y=y, labels=tuple(np.array(labels)), given=given, **facts)


def _named(rng, fitting):
    names = [name for name in NAMED if PENALTIES[name or "none"] in hyper.penalties_for(fitting)]
    return names[rng.integers(len(names))] if names else "l2"


def _instance(rng, mode, fitting, outputs=1):
    """A penalty to be made when the fit is, for making it may be refused."""
    kinds = hyper.penalties_for(fitting, outputs)
    kind = kinds[rng.integers(len(kinds))]
    fields = {
        name: float(10.0 ** rng.uniform(*((-1, 1) if mode in ("default", "mild") else (-30, 30))))
        for name in ("strength", "radius", "weight")
        if name in kind.__dataclass_fields__
    }
    if "l1_ratio" in kind.__dataclass_fields__:
        fields["l1_ratio"] = float(rng.random())
    if kind is penalties.Box:
        fields = {
            "low": -float(10.0 ** rng.uniform(-3, 3)),
            "high": float(rng.choice([0.0, 1.0, math.inf])),
        }
    return lambda: kind(**fields)


def _planned(rng, mode, given, fitting, facts):
    n = len(facts["X"])
    make, most = _loss(rng, mode, fitting)
    bound = float(most or 10.0 ** rng.uniform(*((-1, 1) if mode == "default" else (-6, 6))))
    if most is None:
        bound = _at_edges(rng, mode, {"target_bound": bound})["target_bound"]
    if most is None:
        y = rng.uniform(-bound, bound, n) * (rng.random(n) < rng.choice([0.1, 1.0]))
        labels = (0.0, bound, -bound)
    else:
        y = rng.integers(most + 1, size=n).astype(float)
        labels = tuple(np.arange(most + 1.0))
    given |= {
        "loss": make,
        "penalty": _instance(rng, mode, fitting, 1 if most is None else most + 1),
        "intercept": float(rng.choice([0.0, 0.25, 1.0])),
        "target_bound": bound,
    }
    return Planned(y=y, labels=labels, given=given, **facts)


def _loss(rng, mode, fitting):
    """How to make a loss, and the largest code of its targets where those are codes."""
    decades = 1 if mode == "default" else 3
    kind = rng.integers(4 if fitting and "one_output" in fitting.needs else 5)
    size, share = float(10.0 ** rng.uniform(-decades, decades)), float(rng.random())
    if kind == 4:
        outputs = int(rng.integers(2, 6))
        return lambda: losses.Multinomial(outputs), outputs - 1
    return (
        losses.Squared,
        lambda: losses.Huber(size),
        lambda: losses.QuantileHuber(share, size),
        lambda: losses.QuantileHuber(0.5, size),
    )[kind], None
