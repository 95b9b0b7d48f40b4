"""Scripts of releases with proved enclosures of their epsilon, as a file that any accountant can be held against.

    OMP_NUM_THREADS=1 python benchmarks/accounting_yardstick/generate.py --scripts 10000 --processes 2

Families, parameters, counts, relations, deltas (1e-15 to .1) are drawn from a seed and the number of the question, so
that a longer file begins with a shorter one. Each line is one question as json: what is released, the relation, delta,
and the interval that epsilon provably lies in (docs/proofs/certificates.md), rounded outwards to ten digits. Questions
whose epsilon is zero or above 100 are drawn anew. A run that was stopped goes on; ``--pack`` compresses the
file into results/, from where `score.py` reads it.
"""

import argparse
import json
import lzma
import math
import multiprocessing
import random
from contextlib import ExitStack
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import partial
from pathlib import Path

from skdp.privacy import enclose
from skdp.privacy.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    RandomizedResponse,
)

KINDS = {
    kind.__name__: kind
    for kind in (
        DiscreteGaussian,
        DiscreteLaplace,
        Gaussian,
        Laplace,
        PoissonGaussian,
        PoissonPure,
        PureDP,
        RandomizedResponse,
    )
}
SEED = 20_261_120
PACKED = Path(__file__).parents[1] / "results" / "accounting_yardstick.jsonl.xz"
MOST = 100.0  # of epsilon


def near(draw, low, high):
    """A number of three digits, log-uniform between two others."""
    return float(f"{math.exp(draw.uniform(math.log(low), math.log(high))):.3g}")


def count(draw, most):
    """A log-uniform number of repetitions."""
    return max(1, round(near(draw, 1, most)))


def gaussian(draw):
    """Gaussian noise."""
    k = count(draw, 1000)
    return [("Gaussian", {"multiplier": near(draw, 0.3 * math.sqrt(k), 20 * math.sqrt(k))}, k)]


def laplace(draw):
    """Laplace noise."""
    k = count(draw, 300)
    return [("Laplace", {"multiplier": near(draw, 0.4 * math.sqrt(k), 10 * math.sqrt(k))}, k)]


def pure(draw):
    """Pure steps."""
    k = count(draw, 300)
    return [("PureDP", {"epsilon": near(draw, 0.05 / math.sqrt(k), 3 / math.sqrt(k))}, k)]


def sampled(draw):
    """Gaussian noise on Poisson samples."""
    rate = near(draw, 1e-3, 0.5)
    noise = {"multiplier": near(draw, 0.6, 10), "rate": rate}
    return [("PoissonGaussian", noise, count(draw, 5000))]


def sampled_pure(draw):
    """Pure steps on Poisson samples."""
    noise = {"epsilon": near(draw, 0.1, 8), "rate": near(draw, 1e-3, 0.5)}
    return [("PoissonPure", noise, count(draw, 500))]


def discrete(draw):
    """Integer noise, or randomised response."""
    k = count(draw, 100)
    noise = near(draw, 0.5 * math.sqrt(k), 8 * math.sqrt(k))
    which = draw.randrange(3)
    if which == 0:
        return [("DiscreteGaussian", {"sd": noise, "shift": 1}, k)]
    if which == 1:
        return [("DiscreteLaplace", {"scale": noise, "shift": draw.randrange(1, 4)}, k)]
    return [("RandomizedResponse", {"epsilon": 1 / noise, "categories": draw.randrange(2, 9)}, k)]


def unlike(draw):
    """Two or three of the others."""
    parts = draw.sample([gaussian, laplace, pure, sampled, discrete], draw.randrange(2, 4))
    return [run for part in parts for run in part(draw)]


FAMILIES = {
    family.__name__: family
    for family in (gaussian, laplace, pure, sampled, sampled_pure, discrete, unlike)
}
SHARES = (1, 1, 1, 4, 1, 1, 3)  # sampled Gaussians are what most accountants are used for


def question(draw):
    """One question, without its answer."""
    family = draw.choices(list(FAMILIES), SHARES)[0]
    both = family != "sampled_pure"  # of which no attained pair is known under replace-one
    neighbors = draw.choice(("add_remove", "replace_one")) if both else "add_remove"
    runs = [{"family": name, **own, "count": k} for name, own, k in FAMILIES[family](draw)]
    return {"kind": family, "neighbors": neighbors, "script": runs, "delta": near(draw, 1e-15, 0.1)}


def script_of(runs):
    """The script of a question in this package's events."""
    return tuple(
        (
            KINDS[run["family"]](**{n: v for n, v in run.items() if n not in ("family", "count")}),
            run["count"],
        )
        for run in runs
    )


def answered(number, seed=SEED):
    """One question with its enclosure."""
    draw = random.Random(f"{seed} {number}")
    while True:
        asked = question(draw)
        answer = enclose(
            script_of(asked["script"]), delta=asked["delta"], neighbors=asked["neighbors"]
        )
        if answer.low > 0 and answer.high < MOST:
            ends = {
                "low": rounded(answer.low, ROUND_FLOOR),
                "high": rounded(answer.high, ROUND_CEILING),
            }
            return {"id": number, **asked, **ends}


def rounded(value, way):
    """A double of ten digits on the named side of another."""
    return float(Context(10, way).create_decimal(Decimal(value)))


def kept(path):
    """Whole lines of a file, without what a stopped run left of its last one."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = text[: text.rfind("\n") + 1].splitlines()
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return lines


def written(path, work, todo, processes):
    """Append what a function makes of each of some values to a file, in their order."""
    with ExitStack() as stack:
        file = stack.enter_context(path.open("a", encoding="utf-8"))
        found = map(work, todo)
        if processes > 1:
            pool = stack.enter_context(multiprocessing.Pool(processes))
            found = pool.imap(work, todo, chunksize=4)
        for value in found:
            file.write(json.dumps(value) + "\n")
            file.flush()


def main():
    """Write a file, or go on with it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scripts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=Path("yardstick.jsonl"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--pack", action="store_true")
    given = parser.parse_args()
    todo = range(len(kept(given.out)), given.scripts)
    written(given.out, partial(answered, seed=given.seed), todo, given.processes)
    if given.pack:
        PACKED.write_bytes(lzma.compress(given.out.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
