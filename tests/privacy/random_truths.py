"""Prices and enclosures of random scripts against truths that share no code with them, for as long as one lets it run.

    PYTHONPATH=.:tests:tests/privacy python -m random_truths --scripts 20000 --processes 2 --out truths.jsonl

Scripts of all families whose truth is known otherwise: closed forms in forty digits, enumeration of answers, contour
integrals (`_truth`). Each line is one script: what its price, its delta and its enclosures miss, which is nothing, and
how far the price is above the truth, in delta. A run that was stopped goes on with its file.
"""

import argparse
import json
import multiprocessing
import random
from pathlib import Path

from _truth import true_delta
from test_enclosures import (
    ADD,
    CLOSED,
    CONTOUR,
    closed_script,
    enumerated,
    listed_event,
    log_uniform,
    relation,
    sampled_script,
)

from skdp.privacy import delta, enclose, epsilon
from skdp.privacy.events import PoissonGaussian

SEED = 24


def listed_script(draw):
    """Few answers, of which all products are enumerated."""
    return tuple((listed_event(draw), draw.randrange(1, 3)) for _ in range(draw.randrange(1, 3)))


def long_script(draw):
    """So many sampled steps that they are added in blocks."""
    rate, count = log_uniform(draw, 1e-3, 0.3), round(log_uniform(draw, 500, 3e6))
    least = rate * count**0.5 / log_uniform(draw, 0.05, 4)
    return ((PoissonGaussian(max(log_uniform(draw, 0.7, 5), least), rate), count),)


KINDS = {
    "closed": (closed_script, true_delta, CLOSED),
    "contour": (sampled_script, true_delta, CONTOUR),
    "enumerated": (listed_script, enumerated, CLOSED),
    "long": (long_script, true_delta, CONTOUR),
}
SHARES = (10, 3, 6, 1)


def wrong(script, at, neighbors, truth, error):
    """What is on the wrong side of the truth, and true delta at the price; None where the truth is out of reach."""
    price = epsilon(script, at, neighbors)
    found = enclose(script, delta=at, neighbors=neighbors)
    true = {eps: truth(script, eps, neighbors) for eps in {price, found.low, found.high}}
    if None in true.values():
        return None
    there = enclose(script, epsilon=found.high, neighbors=neighbors)
    sides = {
        "price": true[price] <= at * (1 + error),
        "high": true[found.high] <= at * (1 + error),
        "low": found.low == 0 or true[found.low] >= at * (1 - error),
        "delta": true[price] <= delta(script, price, neighbors) * (1 + error),
        "delta low": there.low <= true[found.high] * (1 + error),
        "delta high": true[found.high] <= there.high * (1 + error),
        "order": found.low <= found.high <= price,
    }
    return [name for name, holds in sides.items() if not holds], float(true[price])


def judged(number):
    """One line: the number of a script, its kind, and what is wrong."""
    draw = random.Random(f"{SEED} {number}")
    kind = draw.choices(list(KINDS), SHARES)[0]
    make, truth, error = KINDS[kind]
    script = make(draw)
    neighbors = ADD if kind == "enumerated" else relation(draw, script)
    at = log_uniform(draw, 1e-15 if kind != "enumerated" else 1e-9, 0.05)
    found = wrong(script, at, neighbors, truth, error)
    if found is None:
        return [number, kind, "out of reach", 0.0]
    return [
        number,
        kind,
        [str((script, at, neighbors)), *found[0]] if found[0] else [],
        found[1] / at,
    ]


def main():
    """Judge scripts, or go on with them, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scripts", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("truths.jsonl"))
    given = parser.parse_args()
    text = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
    known = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    given.out.write_text("".join(json.dumps(line) + "\n" for line in known), encoding="utf-8")
    todo = range(len(known), given.scripts)
    with (
        given.out.open("a", encoding="utf-8") as file,
        multiprocessing.Pool(given.processes) as pool,
    ):
        for line in pool.imap(judged, todo, chunksize=4):
            file.write(json.dumps(line) + "\n")
            file.flush()
            known.append(line)
    for kind in KINDS:
        lines = [line for line in known if line[1] == kind]
        told = [line for line in lines if line[2] != "out of reach"]
        missed = [line[2] for line in told if line[2]]
        print(f"{kind}: {len(told)} truths of {len(lines)} scripts, {len(missed)} missed", *missed)


if __name__ == "__main__":
    main()
