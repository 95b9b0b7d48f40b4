"""``import skdp`` loads what it uses: how much is counted in a new interpreter, and nothing is timed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import skdp

# Of ours, at most; there are about 300 in all.
MOST = {
    "import skdp": 6,
    "from skdp.privacy import Spec": 12,
    "from skdp import DPLogisticRegression": 205,
    "from skdp.privacy import Ledger": 60,
}
FIT = """
import numpy as np
X = np.random.default_rng(0).normal(size=(2000, 3))
y = (X[:, 0] > 0).astype(int)
from skdp import DPLogisticRegression
DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=3.0, classes=[0, 1]).fit(X, y)
"""
MOST[FIT] = 222
# What may be imported somewhere in skdp, and is no part of a fit. What scikit-learn loads itself does not count.
HEAVY = (
    "pandas",
    "polars",
    "torch",
    "matplotlib",
    "tqdm",
    "dp_accounting",
    "cryptography",
    "sqlite3",
    "scipy.signal",
)
HEAVY += (
    "scipy.stats",
    "scipy.integrate",
    "scipy.interpolate",
    "sklearn.compose",
    "sklearn.ensemble",
)
HEAVY += ("http", "urllib.request", "multiprocessing", "html", "unittest", "asyncio")


def loaded(code):
    """Modules of an interpreter after it has run the code."""
    listing = "import json, sys\nprint(json.dumps(sorted(sys.modules)))"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{code}\n{listing}"],
        cwd=Path(skdp.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(told.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def known():
    """What scikit-learn's linear models load."""
    return loaded("import sklearn.linear_model")


@pytest.mark.parametrize("code", MOST, ids=["package", "promise", "estimator", "ledger", "fit"])
def test_no_more_is_loaded_than_is_used(code, known):
    found = loaded(code)
    ours = {name for name in found if name.split(".")[0] == "skdp"}
    assert len(ours) <= MOST[code], sorted(ours)
    beside = {
        name for name in found - known for heavy in HEAVY if f"{name}.".startswith(f"{heavy}.")
    }
    assert not beside


@pytest.mark.parametrize(
    "code",
    ["from skdp.privacy import Ledger, calibrate, epsilon", "import skdp.privacy.events"],
)
def test_prices_alone_load_no_scipy(code):
    assert "scipy" not in loaded(code)


def test_what_is_loaded_is_seen(known):
    assert "sqlite3" in loaded("import skdp.privacy.ledger._file") - known
    assert "skdp.solvers.gd" in loaded("from skdp.solvers import GD")
    assert "skdp.solvers.sgd" not in loaded("from skdp.solvers import GD")


def test_accounting_alone_needs_no_estimators():
    """Who fits elsewhere prices, composes and keeps a ledger without scikit-learn."""
    found = loaded(
        "from skdp.privacy import *\n"
        "from skdp.privacy.events import Gaussian, PoissonGaussian\n"
        "epsilon(((PoissonGaussian(1.0, 0.01), 1000),), 1e-6)\n"
        "Ledger(1.0, 1e-6).reserve(((Gaussian(10.0), 1),))"
    )
    outside = {"sklearn", "joblib"}
    assert not outside & found
