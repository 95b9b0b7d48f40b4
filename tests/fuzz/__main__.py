"""Fit at random by the thousand and write what became of it: ``python tests/fuzz --fits 20000 > docs/fuzz.md``."""

import argparse
import collections
import concurrent.futures
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.cases import draw
from fuzz.law import ROUNDS, SECONDS, Broken, check

__all__ = ["kind_of", "main", "report"]

HEAD = """\
# Fuzzing: {fits:,} fits at random

Written by `python tests/fuzz --fits {fits} --first {first} > docs/fuzz.md`; a fit follows from one whole number
(`tests/fuzz/cases.py`): solver, hyper-parameters, loss, penalty, relation, promise, rows of any scale, type and layout.
Each must be **a finite model** with a receipt of at most the target, for exactly what was charged; or **one sentence**
that somebody wrote, before anything is charged or a row is read, the same for a neighbour and in the quote. No other
warning than the library's own, no cell of the data in any text, no inner minimiser of more than {rounds} rounds, no fit
of more than {seconds:.0f} s of processor time. That the law sees what is wrong: `tests/fuzz/test_law_can_fail.py`.

| fits | models | refused | law broken | slowest, s | most rounds of an inner minimiser |
| --- | --- | --- | --- | --- | --- |
| {fits:,} | {models:,} | {refused:,} | {broken} | {slowest:.1f} (fit {slow}) | {longest} (fit {long}) |
"""


def kind_of(sentence):
    """A sentence without its numbers, names and remedies, so that equal refusals count as one."""
    sentence = re.sub(r"'[^']*'|\([^()]*\)|\[[^]]*\]", "_", sentence)
    sentence = re.sub(r"[-+]?\b\d[\d.,]*(e[-+]?\d+)?|\b(inf|nan|None)\b", "#", sentence)
    sentence = re.sub(r"=[^\s;,:.]+", "=#", sentence)
    return re.split(r"[;:]", sentence)[0].strip(" .")[:90].replace("|", "/")


def report(first, outcomes, broken):
    """Lines of the page.

    Parameters
    ----------
    first : int
        The first fit.
    outcomes : dict
        Number of a fit -> (solver's name, `Outcome`).
    broken : dict
        Number of a fit -> what it did.
    """
    found = {seed: outcome for seed, (_, outcome) in outcomes.items()}
    slow = max(found, key=lambda seed: found[seed].seconds)
    long = max(found, key=lambda seed: found[seed].rounds)
    told = collections.Counter(kind_of(o.refused) for o in found.values() if o.refused)
    yield HEAD.format(
        **{"fits": len(outcomes) + len(broken), "first": first, "broken": len(broken)},
        **{"models": len(found) - told.total(), "refused": told.total()},
        **{
            "slow": slow,
            "slowest": found[slow].seconds,
            "long": long,
            "longest": found[long].rounds,
        },
        **{"rounds": ROUNDS, "seconds": SECONDS},
    )
    yield from _by_solver(outcomes)
    yield "\n| refused | sentence, up to its remedy |\n| --- | --- |"
    for sentence, count in told.most_common():
        yield f"| {count} | {sentence} |"
    for seed, why in broken.items():
        yield f"\nFit {seed} broke the law: {why}"


def _by_solver(outcomes):
    yield "| solver | fits | models | slowest, s | most rounds |\n| --- | --- | --- | --- | --- |"
    for name in sorted({name for name, _ in outcomes.values()}):
        mine = [outcome for other, outcome in outcomes.values() if other == name]
        models = sum(outcome.refused is None for outcome in mine)
        slowest, rounds = max(o.seconds for o in mine), max(o.rounds for o in mine)
        yield f"| {name} | {len(mine)} | {models} | {slowest:.1f} | {rounds or ''} |"


def tried(seed):
    """A fit's number, its solver's name, and what became of it: an `Outcome`, or the sentence of a broken law."""
    case = draw(seed)
    try:
        return seed, case.name, check(case, neighbour=seed % 10 == 0)
    except Broken as error:
        return seed, case.name, str(error)


def main():
    """Run, and end with 1 if any fit broke the law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first fit")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    outcomes, broken, start = {}, {}, time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(asked.processes) as pool:
        seeds = range(asked.first, asked.first + asked.fits)
        for seed, name, found in pool.map(tried, seeds, chunksize=20):
            if isinstance(found, str):
                broken[seed] = found
                print(f"{seed}: {found}", file=sys.stderr, flush=True)
            else:
                outcomes[seed] = name, found
            if seed % 100 == 99:
                told = f"{seed + 1} after {time.monotonic() - start:.0f} s"
                print(told, file=sys.stderr, flush=True)
    print("\n".join(report(asked.first, outcomes, broken)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
