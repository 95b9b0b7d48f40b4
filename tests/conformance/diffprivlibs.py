"""Runs diffprivlib's own tests of its LogisticRegression and LinearRegression on the adapters below.

``PYTHONPATH=.:tests python -m conformance.diffprivlibs <unpacked diffprivlib-0.6.6 of PyPI>`` prints the table of
docs/conformance.md. Nothing of diffprivlib is in this repository; its tests need scikit-learn 1.6 or so.

The promise is theirs: epsilon alone, delta 0. Their accountant is charged with the promise. Words are those of
`conformance.theirs`.
"""

import inspect
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from skdp import DPLinearRegression, DPLogisticRegression, PrivacyWarning

from .theirs import table

LEAKS = "wants bounds to be read off the data, with a warning; ours are declared, or bought"
IGNORED = "wants a warning that something is ignored, which is taken here"
PRIVATE = "calls a private method of diffprivlib's"
NOT_OURS = {
    "TestLogisticRegression::test_no_params": LEAKS,
    "TestLogisticRegression::test_sample_weight_warning": IGNORED,
    "TestLogisticRegression::test_solver_warning": IGNORED,
    "TestLogisticRegression::test_multi_class_warning": IGNORED,
    "TestLinearRegression::test_no_params": LEAKS,
    "TestLinearRegression::test_no_bounds_y": LEAKS,
    "TestLinearRegression::test_sample_weight_warning": IGNORED,
    "TestLinearRegression::test_copy": PRIVATE,
}
MODULES = {
    "logistic_regression": "test_LogisticRegression.py",
    "linear_regression": "test_LinearRegression.py",
}


class _Adapted:
    """Takes diffprivlib's parameters, fits, and charges its accountant."""

    made = None

    def __init__(self, **given):
        self.given = given

    def _mapped(self):
        names = "epsilon", "C", "fit_intercept", "random_state", "data_norm"
        given = {name: self.given[name] for name in names if name in self.given}
        if isinstance(seed := given.get("random_state"), np.random.RandomState):
            given["random_state"] = int(seed.randint(2**31 - 1))
        return {"delta": 0.0, **given}

    def fit(self, X, y, sample_weight=None):
        from diffprivlib.accountant import BudgetAccountant

        model = self.made(**self._mapped())
        weights = {}
        if sample_weight is not None:
            model.set_params(max_sample_weight=float(np.max(sample_weight)))
            weights["sample_weight"] = sample_weight
        accountant = BudgetAccountant.load_default(self.given.get("accountant"))
        accountant.check(model.epsilon, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            model.fit(X, y, **weights)
        accountant.spend(model.epsilon, 0)
        self.model = model
        return self

    def __getattr__(self, name):
        return getattr(vars(self)["model"], name)


class LogisticRegression(_Adapted):
    """The bound on rows is called the same; of several classes each is fitted against the rest."""

    made = DPLogisticRegression

    def _mapped(self):
        return super()._mapped() | {"multi_class": "ovr"}


class LinearRegression(_Adapted):
    """Bounds of columns give one of rows."""

    made = DPLinearRegression

    def _mapped(self):
        given = super()._mapped()
        low, high = self.given["bounds_X"]
        farthest = np.maximum(np.abs(low), np.abs(high))
        return given | {
            "data_norm": float(np.sqrt(np.sum(np.square(farthest)))),
            "y_bounds": self.given["bounds_y"],
            "clip_predictions": False,
        }


class _Kept:
    """A pytest plugin that keeps outcomes."""

    def __init__(self):
        self.found = {}

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.outcome == "passed":
            return
        name = "::".join(report.nodeid.split("::")[1:])
        word = report.outcome
        if word == "failed" and name in NOT_OURS:
            word = "does not apply"
        self.found[name] = word


def main(folder):
    """Swap the names, run both modules, and print a table."""
    root = Path(folder)
    sys.path.insert(0, str(root))
    from diffprivlib.models import linear_regression, logistic_regression

    assert "LinearRegression" in vars(linear_regression), inspect.getfile(linear_regression)
    linear_regression.LinearRegression = LinearRegression
    logistic_regression.LogisticRegression = LogisticRegression
    kept = _Kept()
    files = [str(root / "tests" / "models" / file) for file in MODULES.values()]
    quiet = ["-p", "no:cacheprovider", "-q", "--no-header", "--tb=short", "-c", "/dev/null"]
    pytest.main([*quiet, "--rootdir", str(root), *files], plugins=[kept])
    print()
    print(table(kept.found))
    print(dict(Counter(kept.found.values())))


if __name__ == "__main__":
    main(*sys.argv[1:])
