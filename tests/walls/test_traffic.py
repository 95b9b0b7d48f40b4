"""A fit goes through few doors between rooms, and a price runs no solver: what a reader must hold in mind at once."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from laws.faces import face_for
from walls.traffic import traffic

from skdp import DPLogisticRegression
from skdp.fitting._pricing import _remembered
from skdp.solvers import GD, SOLVERS

NAMES, SOLVES = 35, 2  # at most; the clip asks a loss how steep it is at the start
OF_A_FIT = NAMES + 2  # by which what a user passed is read by its engine, and closed
MOST = {"default": (713, 90), "gd": (440, 69)}  # functions and files that a fit runs through
PLAIN = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 3.0, "classes": [0, 1], "random_state": 0}

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="names of methods are known from 3.11 on"
)


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    """A price that is looked up goes through fewer doors than one that has to be found."""
    _remembered.cache_clear()


def table(n=200, d=5):
    """Rows and labels."""
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, (X[:, 0] > 0).astype(int)


def test_a_fit_goes_through_few_doors():
    X, y = table()
    model = DPLogisticRegression(solver="gd", **PLAIN)
    seen = traffic(lambda: model.fit(X, y))
    assert len(seen.names) <= OF_A_FIT, sorted(seen.names)
    assert seen.solves == 1


@pytest.mark.parametrize("what", MOST)
def test_a_fit_runs_through_few_functions_in_few_files(what):
    """In a new interpreter: what an earlier fit has remembered is not run through again."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).with_name("traffic.py")), what],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    functions, files = json.loads(told.stdout.splitlines()[-1])
    assert (functions <= MOST[what][0], files <= MOST[what][1]) == (True, True), (functions, files)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_price_goes_through_few_doors(neighbors):
    model = DPLogisticRegression(neighbors=neighbors, **PLAIN)
    seen = traffic(lambda: model.quote(20_000, 5))
    assert len(seen.names) <= NAMES, sorted(seen.names)


@pytest.mark.parametrize("name", [*sorted(SOLVERS), "auto"])
def test_a_price_runs_no_solver(name):
    model = face_for(name, DPLogisticRegression, **PLAIN)
    if name != "frank-wolfe":
        assert traffic(lambda: model.quote(1000, 5)).solves == 0


@dataclass(frozen=True)
class Silent(GD):
    """States nothing, so it has to be run to see."""

    def asks(self, public, task, budget):
        """Nothing."""
        return None


def test_a_price_that_runs_a_solver_is_seen():
    model = DPLogisticRegression(solver=Silent(steps=5), **PLAIN)
    assert traffic(lambda: model.quote(1000, 5)).solves >= SOLVES
