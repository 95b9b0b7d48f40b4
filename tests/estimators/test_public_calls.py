"""Typical calls for scikit-learn run with the import changed; few are refused, with the reason."""

import warnings

import numpy as np
import pytest
from docs.test_readme import ROOT, blocks
from sklearn.base import clone, is_classifier

import skdp
from skdp.neural_network import DPMLPClassifier, DPMLPRegressor

KINDS = {
    name.removeprefix("DP"): getattr(skdp, name)
    for name in (
        "DPLogisticRegression",
        "DPLinearSVC",
        "DPRidge",
        "DPLasso",
        "DPElasticNet",
        "DPLinearRegression",
        "DPHuberRegressor",
        "DPQuantileRegressor",
        "DPLinearSVR",
        "DPPoissonRegressor",
        "DPGaussianNB",
    )
}
KINDS |= {"MLPClassifier": DPMLPClassifier, "MLPRegressor": DPMLPRegressor}

CALLS = """\
LogisticRegression()
LogisticRegression(max_iter=1000)
LogisticRegression(max_iter=200, random_state=42)
LogisticRegression(random_state=0)
LogisticRegression(C=1e5)
LogisticRegression(C=0.01, penalty="l1", solver="liblinear")
LogisticRegression(penalty="l1", solver="saga", tol=0.01, C=50.0 / 200)
LogisticRegression(penalty="l2", C=1.0, solver="lbfgs", max_iter=5000)
LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=0.5, max_iter=5000)
LogisticRegression(solver="lbfgs", multi_class="multinomial", max_iter=1000)
LogisticRegression(solver="lbfgs", multi_class="auto")
LogisticRegression(solver="liblinear", multi_class="ovr")
LogisticRegression(solver="newton-cg", class_weight="balanced", n_jobs=-1)
LogisticRegression(solver="newton-cholesky")
LogisticRegression(solver="sag", max_iter=100, random_state=1)
LogisticRegression(class_weight="balanced", max_iter=1000)
LogisticRegression(class_weight={0: 1, 1: 10})
LogisticRegression(fit_intercept=False, C=1e9)
LogisticRegression(n_jobs=-1, verbose=0)
LogisticRegression(dual=False, tol=1e-4, C=1.0, fit_intercept=True, intercept_scaling=1)
LogisticRegression(warm_start=False, max_iter=500)
LogisticRegression(penalty=None)
LogisticRegression(penalty="none", solver="newton-cg")
LogisticRegression(l1_ratio=1.0, solver="saga")
LinearSVC()
LinearSVC(random_state=0, tol=1e-5)
LinearSVC(C=0.01, penalty="l1", dual=False)
LinearSVC(C=1, loss="hinge", random_state=42)
LinearSVC(dual="auto", max_iter=10000)
LinearSVC(loss="squared_hinge", penalty="l2", multi_class="ovr")
LinearSVC(class_weight="balanced", max_iter=5000)
Ridge()
Ridge(alpha=1.0)
Ridge(alpha=0.1, solver="cholesky")
Ridge(alpha=10, fit_intercept=False, random_state=0)
Ridge(alpha=0.5, copy_X=True, max_iter=None, tol=1e-4, solver="auto")
Ridge(alpha=1e-2, solver="svd", positive=False)
Ridge(solver="sag", max_iter=10000)
Lasso()
Lasso(alpha=0.1)
Lasso(alpha=0.01, max_iter=10000, tol=1e-3)
Lasso(alpha=1e-3, precompute=True, selection="random", random_state=0)
Lasso(alpha=0.1, fit_intercept=True, copy_X=True, warm_start=False, positive=False)
ElasticNet(alpha=0.1, l1_ratio=0.7)
ElasticNet(random_state=0, max_iter=2000)
LinearRegression()
LinearRegression(fit_intercept=True, n_jobs=-1)
LinearRegression(n_jobs=None, copy_X=True, positive=True)
HuberRegressor(max_iter=1000)
HuberRegressor(alpha=0.0, tol=1e-5)
QuantileRegressor(quantile=0.5, alpha=0)
QuantileRegressor(quantile=0.95, alpha=0, solver="highs")
LinearSVR(random_state=0, tol=1e-5)
LinearSVR(C=1.0, max_iter=10000, dual=True)
LinearSVR(loss="squared_epsilon_insensitive", dual=False)
PoissonRegressor()
PoissonRegressor(alpha=1e-3, max_iter=300)
PoissonRegressor(alpha=0, solver="newton-cholesky", tol=1e-6)
GaussianNB()
GaussianNB(var_smoothing=1e-8)
MLPClassifier(hidden_layer_sizes=(5,), max_iter=3, solver="lbfgs", random_state=1)
MLPClassifier(hidden_layer_sizes=(5, 2), activation="relu", solver="adam", alpha=1e-5, max_iter=2, tol=1e-4)
MLPClassifier(hidden_layer_sizes=(4,), early_stopping=False, shuffle=True, max_iter=2)
MLPRegressor(hidden_layer_sizes=(4,), max_iter=2, random_state=1)
""".splitlines()

# Would be fitted with another meaning, or not at all.
REFUSED = {
    "Ridge(0.5)": "takes keyword arguments only",
    'LinearSVC(multi_class="crammer_singer")': "has no parameter 'multi_class'",
    "MLPClassifier(early_stopping=True)": "held-out records costs",
}

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (400, 3))
SCORES = X @ [2.0, -1.0, 0.0]
LABELS, COUNTS = (SCORES > 0).astype(int), np.floor(np.exp(SCORES) * 2.0)


def made(call):
    """The estimator that the call makes, with our names."""
    name, given = call.split("(", 1)
    return eval(f"kind({given}", {"kind": KINDS[name]})  # a line of this file


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_a_script_fits_with_warnings_at_most(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = made(call)
        model.fit(X, LABELS if is_classifier(model) else COUNTS)
    assert all(issubclass(one.category, UserWarning) for one in told)
    assert len(model.predict(X)) == len(X) and model.privacy_.epsilon <= 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model)


@pytest.mark.parametrize("call", REFUSED)
def test_a_call_that_would_mean_something_else_is_refused(call):
    with pytest.raises(TypeError, match=REFUSED[call]):
        made(call)


def test_the_page_for_those_who_come_from_scikit_learn_runs(capsys):
    page = (ROOT / "docs" / "from_scikit_learn.md").read_text()
    for code in blocks(page, "python"):
        exec(compile(code, "from_scikit_learn.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) <= 1.0
    told = f"{len(CALLS) + len(REFUSED)} typical calls, a sample of our own"
    assert told in page and f"{len(CALLS)} fit, and {len(REFUSED)} are refused" in page


def test_nearly_all_run():
    assert len(CALLS) >= 0.95 * (len(CALLS) + len(REFUSED)) and len(CALLS) > 40
