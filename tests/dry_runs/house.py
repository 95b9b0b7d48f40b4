"""A copy of the package in which things are added for real, and what its laws say of them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from xml.etree import ElementTree

from dry_runs.pages import with_lines
from walls.checks import ROOT

COPIED = ("skdp", "tests", "docs")


@dataclass(frozen=True)
class Verdict:
    """What a run of the laws said.

    Parameters
    ----------
    passed, failed : collection of str
        Names of tests, with the file before them.
    said : str
        All that was printed.
    """

    passed: Collection
    failed: Collection
    said: str

    def about(self, names):
        """The part of it that concerns a thing of these names."""
        word = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(names)})(?![A-Za-z0-9_])")
        both = ({n for n in tests if word.search(n)} for tests in (self.passed, self.failed))
        return Verdict(*both, self.said)


class House:
    """A copy of the package, its tests and its pages.

    Parameters
    ----------
    root : Path
        Where to put it.
    """

    def __init__(self, root):
        self.root = root
        for folder in COPIED:
            hidden = shutil.ignore_patterns("__pycache__", ".*", "dry_runs")
            shutil.copytree(ROOT / folder, root / folder, ignore=hidden)
        shutil.copy(ROOT / "pyproject.toml", root)

    def add(self, addition):
        """Write the files, add the lines, and run what comes before pytest."""
        for path, text in addition.files.items():
            assert not (self.root / path).exists(), f"{path} is there already"
            (self.root / path).write_text(text, encoding="utf-8")
        for path, added in addition.lines.items():
            text = (self.root / path).read_text(encoding="utf-8")
            (self.root / path).write_text(with_lines(text, added), encoding="utf-8")

    def run(self, command):
        """Run a command of a page here; None, or what went wrong."""
        known = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}
        first, *rest = shlex.split(command)
        given = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        path = os.pathsep.join([str(self.root), str(self.root / "tests")])
        return subprocess.run(
            [*known[first], *rest],
            cwd=self.root,
            env={**given, **one, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    def ask(self, command):
        """What the laws of a pytest command say."""
        report = self.root / "report.xml"
        told = self.run(f"{command} -p no:cacheprovider --junitxml={report}")
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
        named = {f"{case.get('classname')}::{case.get('name')}": case for case in cases}
        failed = {
            name
            for name, case in named.items()
            if case.find("failure") is not None or case.find("error") is not None
        }
        skipped = {name for name, case in named.items() if case.find("skipped") is not None}
        return Verdict(set(named) - failed - skipped, failed, told.stdout + told.stderr)
