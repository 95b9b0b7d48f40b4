"""Fit at random by the thousand and print what became of it: ``python tests/fuzz --fits 20000``."""

import argparse
import collections
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.cases import draw
from fuzz.law import Broken, check

__all__ = ["kind_of", "main", "table"]


def kind_of(sentence):
    """A sentence without its numbers and names, so that equal refusals count as one."""
    sentence = re.sub(r"\([^)]*\)|\[[^]]*\]|'[^']*'", "...", sentence)
    sentence = re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?|\binf\b|\bnan\b", "#", sentence)
    return re.sub(r"=\S+", "=#", sentence)[:110]


def table(outcomes, broken):
    """Lines of a report."""
    fitted = [o for o in outcomes.values() if o.refused is None]
    refused = collections.Counter(kind_of(o.refused) for o in outcomes.values() if o.refused)
    all_of_them = len(outcomes) + len(broken)
    yield f"fits {all_of_them}, models {len(fitted)}, refused {refused.total()}, broken {len(broken)}"
    if outcomes:
        slow = max(outcomes, key=lambda seed: outcomes[seed].seconds)
        long = max(outcomes, key=lambda seed: outcomes[seed].rounds)
        yield f"slowest {outcomes[slow].seconds:.1f} s of processor time (seed {slow})"
        yield f"most rounds of one inner minimiser {outcomes[long].rounds} (seed {long})"
    for sentence, count in refused.most_common():
        yield f"{count:6d}  {sentence}"
    for seed, why in broken.items():
        yield f"BROKEN {seed}: {why}"


def main():
    """Run, and end with 1 if any fit broke the law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--verbose", action="store_true", help="a line for each fit that breaks the law, at once"
    )
    asked = parser.parse_args()
    outcomes, broken, start = {}, {}, time.monotonic()
    for seed in range(asked.first, asked.first + asked.fits):
        try:
            outcomes[seed] = check(draw(seed), neighbour=seed % 10 == 0)
        except Broken as error:
            broken[seed] = str(error)
            if asked.verbose:
                print(f"{seed}: {error}", flush=True)
        if asked.verbose and seed % 100 == 99:
            print(f"{seed + 1} after {time.monotonic() - start:.0f} s", flush=True)
    print("\n".join(table(outcomes, broken)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
