"""Solvers with hyper-parameters at random: usual ones, ones over many decades, and ones that make no sense."""

import math
from dataclasses import fields
from fractions import Fraction

import numpy as np

from skdp.penalties import L2, PENALTIES, L1Ball, NoPenalty, Nuclear
from skdp.solvers import SOLVERS, SVRG
from skdp.solvers._ranges import range_of

WORDS = {
    "variant": ("tight", "paper", "cms11", "kst12", "noise_on_x", "odd"),
    "search_noise": ("laplace", "gaussian", "odd"),
    "schedule": ("constant", "epoch", "sqrt", "odd"),
    "sampling": ("poisson", "without_replacement", "allocation", "odd"),
    "stopping": ("fixed", "random", "odd"),
}
ODD = (
    *(0, -1, 1, 2.5, -0.0, math.nan, math.inf, -math.inf, None, True, "many", 10**400, -(10**400)),
    *(
        1e308,
        5e-324,
        1e-160,
        1e160,
        np.float32(0.5),
        np.int64(3),
        Fraction(1, 3),
        (0.9,),
        [],
        2**63,
    ),
    *(10**8, np.array(0.5), 1j),
)
EDGES = (0.0, 1e-30, 1e-15, 1e-9, 1e-6, 0.5, 1.0 - 1e-9, 1.0, 1e6, 1e15, 1e30, math.inf)
LONGEST = {
    "steps": 300,
    "epochs": 12,
    "max_rounds": 60,
    "splits": 200,
    "generations": 40,
    "rounds": 9,
}
LONG = 1200  # rounds of a run, now and then


REPLACING = ("dp-admm", "outpert-gd", "psgd", "rsgd-ar")  # solvers for replace-one neighbours alone


def penalties_for(kind, outputs=1):
    """Penalties that a solver takes, for so many scores a record; all of them where it is None."""
    known = list(PENALTIES.values())
    if kind is None:
        return known
    if "l1_ball" in kind.needs:
        return [L1Ball]
    if "smooth_penalty" in kind.needs or "white" in kind.name:
        return [L2, NoPenalty]
    fitting = [p for p in known if p is not Nuclear or outputs > 1]
    return [p for p in fitting if p().convex] if "convex_penalty" in kind.needs else fitting


def solver(rng, mode):
    """A registered solver; `mode` is "default", "mild", "wild", "edges" or "odd"."""
    kind = SOLVERS[sorted(SOLVERS)[rng.integers(len(SOLVERS))]]
    given = {}
    for field in fields(kind):
        default = field.default
        if field.name in LONGEST and default is not None:
            given[field.name] = min(default, int(rng.integers(1, LONGEST[field.name])))
        if mode != "default" and rng.random() < 0.35:
            given[field.name] = _value(rng, kind, field, mode)
    if kind is SVRG and isinstance(given.get("rate"), float) and given["rate"] > 1e-9:
        given["rate"] = max(given["rate"], 3e-3)  # an epoch has so many batches as one over it
    return kind, given


def _value(rng, kind, field, mode):
    name, default, lies = field.name, field.default, range_of(kind, field.name).holds
    if name in WORDS:
        return str(rng.choice(WORDS[name]))
    if mode == "odd" and rng.random() < 0.5:
        return ODD[rng.integers(len(ODD))]
    if mode == "edges" and rng.random() < 0.8:
        return _edge(rng, name, lies)
    if default is None and rng.random() < 0.2:
        return None
    if name == "averaging":
        return bool(rng.random() < 0.5)
    if name == "memory":
        return tuple(rng.random(2))
    if lies(3) and not lies(2.5):
        return _count(rng, name)
    if lies(0.5) and not lies(2):
        return _share(rng, mode)
    return _size(rng, mode)


def _edge(rng, name, lies):
    """A value at or near an end of its range."""
    near = [v for v in EDGES if lies(v)]
    if lies(3) and not lies(2.5):
        near = [1, 2, 60]
    return near[rng.integers(len(near))] if near else (0.0, 0.9)


def _count(rng, name):
    most = LONGEST.get(name, 60)
    if rng.random() < 0.03:
        most = LONG
    return int(math.exp(rng.uniform(0.0, math.log(most))))


def _share(rng, mode):
    if mode == "mild":
        return float(rng.random())
    edge = 10.0 ** rng.uniform(-320 if mode == "odd" else -30, 0)
    return float(1.0 - edge if rng.random() < 0.3 else edge)


def _size(rng, mode):
    decades = {"mild": 2, "odd": 320}.get(mode, 30)
    if rng.random() < 0.05:
        return 0.0
    with np.errstate(over="ignore"):
        return float(10.0 ** np.float64(rng.uniform(-decades, decades)))
