"""Scripts of releases with proved enclosures of their epsilon, as a file that any accountant can be held against.

    OMP_NUM_THREADS=1 python benchmarks/accounting_yardstick/generate.py --scripts 10000 --out yardstick.jsonl

Families, parameters, counts, relations and deltas (1e-15 to .1) are drawn from a seed; the same seed gives the same
scripts in the same order, so that a longer file begins with a shorter one. Each line is one question as json: what is
released, the relation, delta, and the interval that epsilon provably lies in (docs/proofs/certificates.md). Questions
whose epsilon is zero or above 100 are drawn anew.
"""

import argparse
import json
import math
import random
import time
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


def questions(number, seed):
    """Questions with their enclosures."""
    draw, found = random.Random(seed), 0
    while found < number:
        asked = question(draw)
        answer = enclose(
            script_of(asked["script"]), delta=asked["delta"], neighbors=asked["neighbors"]
        )
        if answer.low > 0 and answer.high < MOST:
            yield {"id": found, **asked, "low": answer.low, "high": answer.high}
            found += 1


def main():
    """Write a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scripts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=Path("yardstick.jsonl"))
    given = parser.parse_args()
    start = time.process_time()
    with given.out.open("w", encoding="utf-8") as file:
        for asked in questions(given.scripts, given.seed):
            file.write(json.dumps(asked) + "\n")
            file.flush()
    print(f"{given.scripts} scripts in {time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
