"""Runs a test module of scikit-learn's own on the adapters.

``PYTHONPATH=.:tests python -m conformance.theirs logistic`` prints the table of docs/conformance.md.

The outcome of each item is one of these words, by a written rule, in this order:

=============== =====================================================================================================
skipped         scikit-learn itself skips it here
elsewhere       it passes and never fits an adapter: no evidence
passed          it passes
does not apply  its function is listed in `NOT_OURS`, with the reason: it looks at what is no part of ours
a reason        it fails, and the first error says why by one of `REASONS`
failed          it fails otherwise
=============== =====================================================================================================
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import sklearn

from .adapters import ADAPTERS

MODULES = {
    "logistic": ("linear_model", "linear_model/tests/test_logistic.py"),
    "svm": ("svm", "svm/tests/test_svm.py"),
    "ridge": ("linear_model", "linear_model/tests/test_ridge.py"),
    "coordinate_descent": ("linear_model", "linear_model/tests/test_coordinate_descent.py"),
    "huber": ("linear_model", "linear_model/tests/test_huber.py"),
    "quantile": ("linear_model", "linear_model/tests/test_quantile.py"),
}

ITERATIONS = (
    "counts iterations, or wants a warning that few do not converge; there is no iteration here"
)
SOLVERS = "asks for scikit-learn's own solvers, or what they say of each other"
WARM = "counts iterations, or steps of Newton, from the last fit on; there is no iteration here"
IN_PLACE = "wants the caller's table to be overwritten, or not to be looked at"
DEPRECATED = "wants a warning that a parameter of scikit-learn is deprecated"
ITSELF = (
    "compares one of scikit-learn's own solvers with itself, where both stop short of the optimum"
)
WORDING = "wants scikit-learn's own words in a message; ours are held by tests of our own"
# Function of scikit-learn's tests -> why it says nothing of these estimators.
NOT_OURS = {
    "test_n_iter": ITERATIONS,
    "test_max_iter": ITERATIONS,
    "test_logistic_regression_callback_support": ITERATIONS,
    "test_logistic_regression_callback_fitted_estimator": ITERATIONS,
    "test_linear_svm_convergence_warnings": ITERATIONS,
    "test_logistic_regression_max_iter": ITERATIONS,
    "test_logistic_regression_convergence_warnings": ITERATIONS,
    "test_zero_max_iter": ITERATIONS,
    "test_logistic_cv": ITSELF,
    "test_logistic_cv_multinomial_score": ITSELF,
    "test_logistic_regression_cv_refit": ITSELF,
    "test_LogisticRegressionCV_on_folds": ITSELF,
    "test_check_solver_option": SOLVERS,
    "test_logistic_regression_solvers_multiclass_unpenalized": SOLVERS,
    "test_large_sparse_matrix": SOLVERS,
    "test_liblinear_multiclass_raises": SOLVERS,
    "test_liblinear_dual_random_state": SOLVERS,
    "test_liblinear_with_large_values": SOLVERS,
    "test_newton_cholesky_fallback_to_lbfgs": SOLVERS,
    "test_logistic_regression_callback_support_warning": SOLVERS,
    "test_linearsvc_parameters": SOLVERS,
    "test_linearsvc_crammer_singer": SOLVERS,
    "test_dense_liblinear_intercept_handling": SOLVERS,
    "test_liblinear_set_coef": SOLVERS,
    "test_lasso_alpha_warning": ITERATIONS,
    "test_enet_coordinate_descent_raises_convergence": ITERATIONS,
    "test_huber_max_iter": ITERATIONS,
    "test_ridge_fit_intercept_sparse_error": SOLVERS,
    "test_ridge_fit_intercept_sparse_sag": SOLVERS,
    "test_elasticnet_precompute_incorrect_gram": SOLVERS,
    "test_overridden_gram_matrix": SOLVERS,
    "test_error_interior_point_future": SOLVERS,
    "test_ridge_positive_error_test": SOLVERS,
    "test_lbfgs_solver_error": SOLVERS,
    "test_warm_start_convergence": WARM,
    "test_warm_start_convergence_with_regularizer_decrement": WARM,
    "test_huber_warm_start": WARM,
    "test_enet_copy_X_False_check_input_False": IN_PLACE,
    "test_check_input_false": IN_PLACE,
    "test_warm_start": WARM,
    "test_warm_start_newton_cholesky": WARM,
    "test_warm_start_newton_solver": WARM,
    "test_warm_start_effectiveness": WARM,
    "test_logistic_regression_array_api_warm_start": WARM,
    "test_penalty_deprecated": DEPRECATED,
    "test_l1_ratio_None_deprecated": DEPRECATED,
    "test_logisticregression_warns_with_n_jobs": DEPRECATED,
    "test_inconsistent_input": WORDING,
    "test_raises_value_error_if_sample_weights_greater_than_1d": WORDING,
    "test_enet_nonfinite_params": WORDING,
    "test_l1_ratio_non_elasticnet": WORDING,
    "test_lr_penalty_l1ratio_incompatible": WORDING,
}

# What the first error says -> reason. The first that is found counts.
REASONS = {
    "several classes": r"Only binary classification|needs two classes",
    "class_weight": r"class_weight",
    "sample_weight": r"sample_weight",
    "sparse": r"[Ss]parse",
    "inside": r"n_iter_|dual_gap_|solver_'|outliers_|_predict_proba_lr",
    "positive": r"positive=True",
    "several targets": r"predicts one number",
    "liblinear": r"float32'\) == <class 'numpy.float64'>",  # which widens sparse tables; ours keep float32
    "float32": r"float32|dtype",
    "silence": r"DID NOT WARN",
    "coefficients": r"Not equal to tolerance|not almost equal",
}


class Swap:
    """A pytest plugin: adapters stand where scikit-learn's estimators stood, and outcomes are kept."""

    def __init__(self, room):
        self.room, self.found = room, {}

    def pytest_configure(self, config):
        """Before the module is imported, which takes the names."""
        room = getattr(sklearn, self.room, None) or __import__(
            f"sklearn.{self.room}", fromlist=["*"]
        )
        for name, adapter in ADAPTERS.items():
            if hasattr(room, name):
                setattr(room, name, adapter)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Count fits of adapters."""
        before = _fits()
        try:
            return (yield)
        finally:
            item.user_properties.append(("fits", _fits() - before))

    def pytest_runtest_logreport(self, report):
        """Keep the outcome of the call, or of a setup that skipped."""
        if report.when == "call" or report.outcome != "passed":
            fits = dict(report.user_properties).get("fits", 0)
            name = report.nodeid.split("::")[-1]
            self.found[name] = outcome(name, report.outcome, str(report.longrepr or ""), fits)


def _fits():
    return sum(adapter.fits for adapter in ADAPTERS.values())


def outcome(name, result, error, fits):
    """The word for one item."""
    if result == "skipped":
        return "skipped"
    if result == "passed":
        return "passed" if fits else "elsewhere"
    if name.split("[")[0] in NOT_OURS:
        return "does not apply"
    told = "\n".join(re.findall(r"^E .*", error, flags=re.MULTILINE)[:6]) or error[-2000:]
    return next((word for word, sign in REASONS.items() if re.search(sign, told)), "failed")


def run(which, *arguments):
    """Outcome of each item of a module, in a process of its own.

    Parameters
    ----------
    which : str
        Name in `MODULES`.
    *arguments : str
        For pytest, such as ``-k`` and a pattern.
    """
    given = [sys.executable, "-m", "conformance.theirs", which, "--json", *arguments]
    here = Path(__file__).parents[2]
    paths = {"PYTHONPATH": f"{here}{os.pathsep}{here / 'tests'}"}
    done = subprocess.run(
        given, capture_output=True, text=True, check=False, env=os.environ | paths
    )
    assert "\n{" in "\n" + done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout[done.stdout.rindex("\n{") :])


def table(found):
    """Rows of functions with how many items ended how."""
    functions = {}
    for name, word in found.items():
        functions.setdefault(name.split("[")[0], Counter())[word] += 1
    lines = ["| function | items |", "| --- | --- |"]
    for name, words in functions.items():
        told = ", ".join(f"{word} {count}" for word, count in sorted(words.items()))
        lines.append(f"| `{name}` | {told} |")
    return "\n".join(lines)


def main(which, *arguments):
    """Run here, and print a table, or JSON on the last line."""
    room, file = MODULES[which]
    plugin, root = Swap(room), Path(sklearn.__file__).parent
    as_json = "--json" in arguments
    given = [argument for argument in arguments if argument != "--json"]
    quiet = ["-p", "no:cacheprovider", "-q", "--no-header", "--tb=short", "-c", os.devnull]
    quiet += ["--rootdir", str(root.parent), "-W", "ignore::skdp.PrivacyWarning"]
    pytest.main([*quiet, str(root / file), *given], plugins=[plugin])
    print()
    if as_json:
        print(json.dumps(plugin.found))
        return
    print(table(plugin.found))
    print(dict(Counter(plugin.found.values())))


if __name__ == "__main__":
    main(*sys.argv[1:])
