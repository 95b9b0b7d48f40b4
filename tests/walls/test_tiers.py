"""The lists of tiers name tests that exist, leave out what they say, and nothing that is asked for by name."""

import os
import subprocess
import sys
from functools import cache

import pytest
import tiers
from walls.checks import ROOT

HEAVY = "tests/walls/test_tiers.py::test_every_line_names_a_test"


def collected(*arguments):
    """Node ids that pytest would run with these arguments."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only"]
    told = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, cwd=ROOT, env=alone()
    )
    assert told.returncode in (0, 5), told.stdout[-2000:] + told.stderr[-2000:]
    return [line for line in told.stdout.splitlines() if "::" in line]


@cache
def of_all_tiers():
    """Node ids of all files that a tier names."""
    files = {tiers.file_of(line) for tier in tiers.TIERS for line in tiers.listed(tier)}
    return collected("-m", "", *sorted(files))


def alone():
    """The environment of a pytest that is not a part of this one."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}


@pytest.mark.parametrize("tier", tiers.TIERS)
def test_every_line_names_a_test(tier):
    lines = tiers.listed(tier)
    assert lines == sorted(set(lines))
    assert tiers.lost(lines, of_all_tiers()) == []


def test_every_folder_has_smoke_tests():
    folders = {f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/test_*.py")}
    assert {line.rpartition("/")[0] for line in tiers.listed("smoke")} == folders


def test_a_line_that_names_no_test_is_seen():
    nodeids = ["tests/a.py::test_f[1]", "tests/a.py::test_f[2]", "tests/a.py::TestA::test_g"]
    assert (
        tiers.lost(["tests/a.py::test_f", "tests/a.py::TestA::test_g", nodeids[1]], nodeids) == []
    )
    wrong = ["tests/a.py::test", "tests/a.py::test_f[3]", "tests/a.py::test_g"]
    assert tiers.lost(wrong, nodeids) == wrong


@pytest.mark.parametrize(
    "arguments, runs",
    [
        ([HEAVY.partition("::")[0]], False),
        ([HEAVY.partition("::")[0], "-m", "heavy"], True),
        ([HEAVY.partition("::")[0], "-m", ""], True),
        ([HEAVY.partition("::")[0], "-m", "not heavy"], False),
        ([HEAVY.partition("::")[0], "-k", "names_a_test"], True),
        ([HEAVY], True),
        ([f"{HEAVY}[heavy]"], True),
        ([f"{HEAVY}[heavy]", "-m", "heavy"], True),
    ],
)
def test_what_is_heavy_runs_where_it_is_asked_for(arguments, runs):
    found = collected(*arguments)
    assert (f"{HEAVY}[heavy]" in found) == runs


def test_functions_and_cases_are_listed_by_their_durations():
    seconds = {"f.py::all[1]": 0.6, "f.py::all[2]": 0.7, "f.py::all[3]": 0.1}
    seconds |= {"f.py::one[1]": 0.9, "f.py::one[2]": 0.1, "f.py::one[3]": 0.1, "f.py::none": 0.4}
    seconds |= {f"f.py::many[{k}]": 0.4 for k in range(60)}
    assert tiers.heavy(seconds) == ["f.py::all", "f.py::many", "f.py::one[1]"]
