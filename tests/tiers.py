"""The tiers of the tests: `pytest` alone leaves out what is heavy, and `pytest -m smoke` runs a short choice.

`tests/heavy.txt` and `tests/smoke.txt` name one test function, or one case of it, a line. The first is written from the
durations of a run (``nox -s heavy``), the second by hand.
"""

import random
from collections import defaultdict
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).parent
LONGEST = 0.5  # seconds of a case that is not heavy
DEAREST = 20.0  # and of all cases of a function together
TIERS = ("heavy", "smoke")


def listed(tier):
    """Lines of a tier's file."""
    return (FOLDER / f"{tier}.txt").read_text(encoding="utf-8").splitlines()


def function_of(nodeid):
    """Name of a test without its parameters."""
    return nodeid.partition("[")[0]


def file_of(nodeid):
    """File of a test."""
    return nodeid.partition("::")[0]


def lost(lines, nodeids):
    """Lines that name no test."""
    return sorted(set(lines) - set(nodeids) - set(map(function_of, nodeids)))


def is_asked_for(item, config):
    """Whether a test was asked for by name: by its node id, by that of its class, or by -k."""
    if config.option.keyword:
        return True
    _, _, name = item.nodeid.partition("::")
    for argument in config.args:
        path, _, asked = argument.partition("::")
        same = name == asked or name.startswith((f"{asked}[", f"{asked}::"))
        if asked and same and (config.invocation_params.dir / path).resolve() == item.path:
            return True
    return False


def mark(config, items):
    """Give tests the marker of their tier; one that is asked for by name is not left out for being heavy."""
    by_default = config.option.markexpr in config.getini("addopts")
    for tier in TIERS:
        lines = frozenset(listed(tier))
        for item in items:
            if item.nodeid in lines or function_of(item.nodeid) in lines:
                named = by_default and is_asked_for(item, config)
                if tier == "smoke" or not (named or item.get_closest_marker("slow")):
                    item.add_marker(tier)


def shuffle(items, seed):
    """Put files, and the tests in each, into a random order; a file stays together, and so do its fixtures."""
    draw = random.Random(seed)
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    draw.shuffle(files)
    for tests in files:
        draw.shuffle(tests)
    items[:] = [item for tests in files for item in tests]


def heavy(seconds):
    """Lines for tests that took so long: functions most of whose cases are slow, or whose cases add up, and cases.

    Parameters
    ----------
    seconds : dict of str to float
        Of each case of a run, by node id.
    """
    cases, lines = defaultdict(dict), []
    for nodeid, took in seconds.items():
        cases[function_of(nodeid)][nodeid] = took
    for function, each in cases.items():
        slow = [nodeid for nodeid, took in each.items() if took > LONGEST]
        rest = sum(each.values()) - sum(each[nodeid] for nodeid in slow)
        lines += [function] if 2 * len(slow) > len(each) or rest > DEAREST else slow
    return sorted(lines)


def write_heavy(reports):
    """Write heavy.txt anew for the functions of a run, from the reports of its setups, calls and teardowns."""
    seconds = defaultdict(float)
    for report in reports:
        seconds[report.nodeid] += report.duration
    measured = set(map(function_of, seconds))
    others = [line for line in listed("heavy") if function_of(line) not in measured]
    lines = sorted([*others, *heavy(seconds)])
    (FOLDER / "heavy.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
