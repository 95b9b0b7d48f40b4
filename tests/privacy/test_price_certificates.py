"""Certificates: honest ones are proved, corrupted ones are not, and the checker's bounds hold on any grid."""

import ast
import copy
import json
import math
import random
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import mpmath as mp
import pytest
from _truth import true_delta

from skdp.exceptions import NotSupported
from skdp.privacy import Receipt, _certificate, certificate, certificate_checker, enclose, epsilon
from skdp.privacy.certificate_checker import Interval, Prover, complaint, normal
from skdp.privacy.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    RandomizedResponse,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    WorstPair,
)

ADD, REPLACE = "add_remove", "replace_one"
CHECKER = Path(certificate_checker.__file__)
SCRIPTS = {
    "discrete gaussian": (((DiscreteGaussian(3.0, 1), 10),), ADD),
    "discrete laplace": (((DiscreteLaplace(3.0, 2), 8),), REPLACE),
    "epoch": (((ShuffledEpoch(4.0), 2), (Gaussian(math.inf), 1)), REPLACE),
    "gaussian": (((Gaussian(10.0), 30),), ADD),
    "laplace": (((Laplace(10.0), 30),), ADD),
    "pair": (((WorstPair((0.4, 0.3, 0.3), (0.3, 0.3, 0.4)), 40), (PureDP(0.2), 20)), ADD),
    "pair of two": (((WorstPair((0.6, 0.4), (0.4, 0.6)), 60), (Laplace(5.0), 20)), REPLACE),
    "pure": (((PureDP(0.1), 40), (PoissonGaussian(2.0, 0.0), 5)), REPLACE),
    "response": (((RandomizedResponse(0.3, 5), 10),), ADD),
    "sampled": (((PoissonGaussian(1.0, 0.05), 100),), ADD),
    "sampled everybody": (((PoissonGaussian(9.0, 1.0), 5),), REPLACE),
    "sampled, replaced": (((PoissonGaussian(1.5, 0.05), 60),), REPLACE),
    "sampled pure": (((PoissonPure(1.0, 0.02), 300),), ADD),
    "sure": (((WorstPair((0.5, 0.49999, 0.00001), (0.5, 0.5, 0.0)), 3), (PureDP(0.2), 40)), ADD),
    "unlike": (((PureDP(0.1), 10), (Gaussian(3.0), 2), (Laplace(10.0), 3)), ADD),
    "whole batch": (((WithoutReplacementGaussian(9.0, 1.0), 5),), REPLACE),
}
AT = {"sure": 1e-3}


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    monkeypatch.setattr(_certificate, "_EDGES", 400)
    monkeypatch.setattr(_certificate, "_CELLS", 4000)


@lru_cache
def made(name):
    script, neighbors = SCRIPTS[name]
    return json.dumps(certificate(script, delta=AT.get(name, 1e-6), neighbors=neighbors))


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_honest_certificate_is_proved(name):
    told = json.loads(made(name))
    assert complaint(told) is None
    low, high = told["claim"]["epsilon"]
    engine = told["engine"]
    assert low <= engine["high"] and engine["low"] <= high  # both hold the truth
    assert high - low < 0.05 * high
    del told["engine"]
    assert complaint(told) is None


@pytest.mark.parametrize("name", ["pure", "sampled", "unlike"])
def test_delta_at_an_epsilon_is_certified(name):
    script, neighbors = SCRIPTS[name]
    told = certificate(script, epsilon=1.0, neighbors=neighbors)
    low, high = told["claim"]["delta"]
    found = enclose(script, epsilon=1.0, neighbors=neighbors)
    assert low <= found.low * (1 + 1e-9) and found.high * (1 - 1e-9) <= high
    assert complaint(told) is None
    for wrong in ([low, found.low * 0.9], [found.high * 1.1, high]):
        told["claim"]["delta"] = wrong
        assert complaint(told) is not None


def test_the_checker_stands_alone(tmp_path):
    tree = ast.parse(CHECKER.read_text())
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported <= sys.stdlib_module_names
    assert len(CHECKER.read_text().splitlines()) <= 300
    alone = tmp_path / "checker.py"
    alone.write_text(CHECKER.read_text())
    for text, code in ((made("pure"), 0), (made("pure").replace('"count": 40', '"count": 41'), 1)):
        command = [sys.executable, "-I", str(alone)]
        ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert ran.returncode == code
        assert ("verified" in ran.stdout) == (code == 0)


# Corruptions, all of them in a direction in which the claim is false or no longer proved

JUNK = (math.nan, math.inf, -1.0, "1.0", None, True, [], {}, [[1.0]], "nan", -math.inf, 1e400)


def places(value, path=()):
    """Paths to all that a certificate holds."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            yield (*path, key)
            yield from places(part, (*path, key))


def holder(told, path):
    for key in path[:-1]:
        told = told[key]
    return told


def removed(told, draw):
    path = draw.choice(list(places(told)))
    del holder(told, path)[path[-1]]


def junk(told, draw):
    kinds = dict | list | None  # without a range, none is read
    path = draw.choice([p for p in places(told) if not isinstance(holder(told, p)[p[-1]], kinds)])
    holder(told, path)[path[-1]] = draw.choice(JUNK)


def claimed_less(told, draw):
    claim = told["claim"]
    claim["epsilon"][1] = claim["epsilon"][0] * (1 - log_uniform(draw, 1e-6, 0.5))


def claimed_more(told, draw):
    claim = told["claim"]
    claim["epsilon"][0] = claim["epsilon"][1] * (1 + log_uniform(draw, 1e-6, 0.5))


def other_delta(told, draw):
    told["claim"]["delta"] *= draw.choice((1, -1)) * 2.0 ** draw.choice((-3, -2, -1, 1, 2, 3))


FIELDS = ("multiplier", "rate", "epsilon", "scale", "sd")


def other_event(told, draw):
    """A parameter that is a fifth or more larger or smaller."""
    event = draw.choice(told["script"])
    name = draw.choice([*(f for f in FIELDS if f in event), "count"])
    factor = 1 + log_uniform(draw, 0.2, 3)
    value = event[name] * factor if draw.random() < 0.5 else event[name] / factor
    if name == "count":
        value = max(round(value), 1) if round(value) != event["count"] else event["count"] + 1
    event[name] = min(value, 0.99) if name == "rate" else value


def other_laws(told, draw):
    event = draw.choice(told["script"])
    if "upper" not in event:
        return other_event(told, draw)
    side = draw.choice(("upper", "lower"))
    i, j = draw.sample(range(2), 2)  # the answers that are not rare
    moved = event[side][i] * log_uniform(draw, 0.3, 0.9)
    event[side][i] -= moved
    event[side][j] += moved


def more_events(told, draw):
    told["script"].append(copy.deepcopy(told["script"][0]))
    for way in told["witness"]["ways"].values():
        way["ranges"].append(way["ranges"][0])


def coarser_grid(told, draw):
    grid = told["witness"]["grid"]
    step = grid["step"] if "step" in grid else 1.0 / grid["parts"]
    told["witness"]["grid"] = {"step": step * log_uniform(draw, 20, 200)}


def truncated(told, draw):
    """Half of the losses are left out; or a law that is on the grid has none."""
    for way in told["witness"]["ways"].values():
        way["ranges"] = [ends and [ends[0], ends[1] // 4] for ends in way["ranges"]]
    if not any(event["family"] in INTEGRATED for event in told["script"]):
        told["witness"]["grid"] = {"event": len(told["script"]), "parts": 1}


def few_digits(told, draw):
    told["witness"]["digits"] = draw.choice((0, -1, 1, 5, 9, 61, 10.0))


def other_base(told, draw):
    for way in told["witness"]["ways"].values():
        way["base"] = draw.choice((1.0, 0.5, 0.0, -1.0, 1e10))


def other_relation(told, draw):
    told["neighbors"] = {ADD: REPLACE, REPLACE: ADD}[told["neighbors"]]


INTEGRATED = {"Gaussian", "Laplace", "PoissonGaussian"}
CORRUPTIONS = [
    removed,
    junk,
    claimed_less,
    claimed_more,
    other_delta,
    other_event,
    other_laws,
    more_events,
    coarser_grid,
    truncated,
    few_digits,
    other_base,
    other_relation,
]


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def corrupted(name, corruption, draw):
    told = json.loads(made(name))
    del told["engine"]  # not read
    before = copy.deepcopy(told)
    corruption(told, draw)
    assert repr(told) != repr(before)
    return told


def accepted(seed, rounds):
    """Corrupted certificates that are proved, and how many there were."""
    draw, wrong, count = random.Random(seed), [], 0
    for name in SCRIPTS:
        for corruption in CORRUPTIONS:
            for _ in range(rounds):
                count += 1
                told = corrupted(name, corruption, draw)
                if complaint(told) is None:
                    wrong.append((name, corruption.__name__, told))
    return wrong, count


def test_corrupted_certificates_are_rejected():
    assert accepted(0, 1) == ([], 208)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_thousand_corrupted_certificates_are_rejected(seed):
    assert accepted(seed, 5) == ([], 1040)


# The checker's bounds on arbitrary grids, and twins of it that are wrong in one place

QUESTIONS = [
    ([("PureDP", {"epsilon": 0.4}, 5)], ((PureDP(0.4), 5),), ADD, "remove"),
    ([("Gaussian", {"multiplier": 2.0}, 2)], ((Gaussian(2.0), 2),), ADD, "remove"),
    (
        [("PoissonGaussian", {"multiplier": 1.0, "rate": 0.2}, 1)],
        ((PoissonGaussian(1.0, 0.2), 1),),
        REPLACE,
        "replace",
    ),
    (
        [("PoissonPure", {"epsilon": 2.0, "rate": 0.3}, 6)],
        ((PoissonPure(2.0, 0.3), 6),),
        ADD,
        "remove",
    ),
    (
        [("Laplace", {"multiplier": 1.5}, 2), ("Gaussian", {"multiplier": 2.0}, 1)],
        ((Laplace(1.5), 2), (Gaussian(2.0), 1)),
        ADD,
        "remove",
    ),
]


@lru_cache
def truth(i, at):
    _, script, neighbors, _ = QUESTIONS[i]
    return float(true_delta(script, at, neighbors))


def random_witness(draw, script, way):
    """Any grid at all: coarse or fine, short or long, with a base that suits nothing."""
    h = log_uniform(draw, 0.004, 0.3)
    grid = {"step": h}
    if draw.random() < 0.5 and script[0][0] != "Gaussian" and script[0][0] != "PoissonGaussian":
        grid, h = {"event": 0, "parts": draw.randrange(1, 20)}, 0.05
    ranges = []
    for _ in script:
        low, high = draw.uniform(-6, 0.2), draw.uniform(0.5, 8)
        ranges.append([math.floor(low / h), math.ceil(high / h)])
    base = math.exp(draw.uniform(0.01, 6) * h)
    return {
        "digits": draw.choice((10, 12, 20)),
        "grid": grid,
        "ways": {way: {"base": base, "ranges": ranges}},
    }


def violations(checker, seed, rounds=6):
    """Bounds of a checker that the truth is not between."""
    draw, wrong = random.Random(seed), []
    for i, (script, _, _, way) in enumerate(QUESTIONS):
        written = [{"family": family, **own, "count": k} for family, own, k in script]
        for _ in range(rounds):
            prover = checker.Prover(written, random_witness(draw, script, way), way)
            for at in (0.2, 0.9, 1.7):
                point = checker.Interval(at)
                low, high = float(prover.lower(point)), float(prover.delta(point)[1])
                if not low * (1 - 1e-12) <= truth(i, at) <= high * (1 + 1e-12):
                    wrong.append((script, at, low, truth(i, at), high))
    return wrong


@pytest.mark.parametrize("seed", range(2))
def test_on_any_grid_the_truth_is_between_the_bounds(seed):
    assert violations(certificate_checker, seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_on_many_grids_the_truth_is_between_the_bounds(seed):
    assert violations(certificate_checker, seed) == []


def twin(*edits):
    """The checker with lines of it changed."""
    text = CHECKER.read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module = ModuleType("twin")
    exec(compile(text, "twin", "exec"), module.__dict__)
    return module


TWINS = {
    "forgets the grid's excess": ("s = (Interval(EIGHTH_PI)", 's = (Interval("1e-9")'),
    "forgets what was lost": ("found + most * missing", "found"),
    "puts the lost at the first kept index": ("for i in (start, k))", "for i in (start, start))"),
    "forgets what is above the grid": ("Interval(0, max(start[2].hi, ZERO))", "NIL"),
    "forgets what was raised": ("put(first, Interval(0, start[0].hi))", "put(first, NIL)"),
    "takes what was raised as known": (
        "put(first, Interval(0, start[0].hi))",
        "put(first, Interval(start[0].hi))",
    ),
    "rounds losses up": (
        "k = j * parts if parts else math.floor(",
        "k = j * parts if parts else 1 + math.floor(",
    ),
    "puts nothing up": (
        "put(k + 1, mass * share._within(NIL, UNIT))",
        "put(k, mass * share._within(NIL, UNIT))",
    ),
    "rounds masses up": (
        "masses = [int(DOWN.divide(mass.lo, unit))",
        "masses = [1 + int(DOWN.divide(mass.hi, unit))",
    ),
    "rounds products up": ("- self.digits]) for i", "- self.digits]) + 10**6 for i"),
    "counts a spread once": ("a.spread + b.spread", "max(a.spread, b.spread)"),
    "takes P for Q": (
        "up = ((mass - (end[1] - start[1]) * grown)",
        "up = ((mass - (end[1] - start[1]))",
    ),
    "undoes too little": (
        "back = self.law, self.h, UNIT / self.base",
        "back = self.law, self.h, UNIT / self.base / self.base",
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_of_the_checker_is_found(name):
    broken = twin(TWINS[name])
    assert any(violations(broken, seed, 2) for seed in range(30))


def test_the_normal_law_is_enclosed():
    draw = random.Random(0)
    with mp.workdps(60):
        for x in [
            0.0,
            -13.0,
            13.0,
            12.99,
            -40.0,
            40.0,
            *(draw.uniform(-14, 14) for _ in range(300)),
        ]:
            found, exact = normal(Interval(x)), mp.ncdf(mp.mpf(x))
            assert mp.mpf(str(found.lo)) <= exact <= mp.mpf(str(found.hi))
            assert found.hi - found.lo < 1e-34
        wide = normal(Interval(-50, 0.5))
        assert wide.lo == 0 and float(wide.hi) > 0.69


def test_what_needs_no_certificate_is_refused():
    with pytest.raises(ValueError, match="nothing to certify"):
        certificate(((PureDP(0.1), 3),), delta=0.0)
    with pytest.raises(ValueError, match="nothing to certify"):
        certificate(Gaussian(0.0), delta=1e-6)
    with pytest.raises(NotSupported, match="The checker refuses"):
        certificate(Gaussian(1e7), epsilon=1e-9)
    with pytest.raises(NotSupported, match="Only an upper bound"):
        certificate(PoissonPure(1.0, 0.1), delta=1e-6, neighbors=REPLACE)


def test_a_grid_may_be_refused():
    script = [{"family": "PureDP", "epsilon": 0.1, "count": 2**53}]
    witness = {"digits": 20, "grid": {"event": 0, "parts": 2**18}}
    witness["ways"] = {"remove": {"base": 1.5, "ranges": [None]}}
    with pytest.raises(ValueError, match="is no number between"):
        Prover(script, witness, "remove")


# Receipts carry one


def receipt_of(script, neighbors=ADD, **changed):
    told = {"epsilon": 10.0, "delta": 1e-6, "neighbors": neighbors, "accountant": "auto"}
    return Receipt(**(told | {"script": script, "solver": "GD()", "proofs": ("sums",)} | changed))


def test_a_receipt_carries_a_certificate():
    script, neighbors = SCRIPTS["pure"]
    plain = receipt_of(script, neighbors, epsilon=epsilon(script, 1e-6, neighbors))
    assert "certificate" not in plain.to_dict()
    receipt = plain.certified()
    assert receipt.verify() and complaint(receipt.certificate) is None
    again = Receipt.from_dict(json.loads(json.dumps(receipt.to_dict())))
    assert again == receipt and again.verify()


def test_a_receipt_refuses_the_certificate_of_something_else():
    script, neighbors = SCRIPTS["pure"]
    receipt = receipt_of(script, neighbors, epsilon=2.0).certified()
    (told,) = [c for c in receipt.complaints() if "certificate" in c]
    assert "epsilon is at least" in told
    other = receipt_of(((PureDP(0.1), 39),), neighbors, certificate=receipt.certificate)
    assert any("another script" in c for c in other.complaints())
    claim = {**receipt.certificate["claim"], "epsilon": [0.0, 1.0]}
    false = receipt_of(script, neighbors, certificate={**receipt.certificate, "claim": claim})
    assert any("not proved" in c for c in false.complaints())
