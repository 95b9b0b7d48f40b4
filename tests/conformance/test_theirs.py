"""Some of scikit-learn's own tests of its estimators, held to exactly what they say of ours.

The rest is slow and is run by hand: docs/conformance.md.
"""

import pytest
import sklearn
from conformance.theirs import outcome, run

# Module -> which of its tests are quick, and how they end.
FAST = {
    "logistic": (
        "test_predict_2_classes or test_write_parameters or test_nan or test_elastic_net_coeffs or test_logreg_l1 "
        "or test_c_inf_no_warning or test_penalty_none or test_single_feature_newton_cg "
        "or test_l1_ratio_non_elasticnet",
        {"passed": 18, "does not apply": 1},
    ),
    "svm": (
        "test_linearsvr or test_linearsvm_liblinear or test_svr_coef_sign",
        {"passed": 10},
    ),
    "ridge": (
        "test_ridge_regression_vstacked_X or test_ridge_shapes_type or test_ridge_intercept or test_ridge_vs_lstsq "
        "or test_ridge_individual_penalties or test_sparse_design_with_sample_weights",
        {"passed": 48},
    ),
    "coordinate_descent": (
        "test_random_descent or test_coef_shape or test_lasso_non_float_y or test_enet_float_precision "
        "or test_enet_sample_weight_does or test_lasso_positive_constraint",
        {"passed": 9},
    ),
    "huber": (
        "test_huber_equals or test_huber_and_sgd or test_huber_bool or better_r2",
        {"passed": 4},
    ),
    "quantile": (
        "test_quantile_sample_weight or test_linprog or test_quantile_equals_huber",
        {"passed": 3, "skipped": 1},
    ),
}


@pytest.mark.skipif(
    not sklearn.__version__.startswith("1.9"), reason="the list is for the tests of 1.9"
)
@pytest.mark.parametrize("which", FAST)
def test_scikit_learns_own_tests_say_what_they_said(which):
    chosen, expected = FAST[which]
    found = run(which, "-k", chosen)
    words = list(found.values())
    assert {word: words.count(word) for word in set(words)} == expected, found


def test_an_outcome_has_one_word():
    assert outcome("test_a[1]", "passed", "", 1) == "passed"
    assert outcome("test_a[1]", "passed", "", 0) == "elsewhere"
    assert outcome("test_a", "skipped", "", 0) == "skipped"
    assert outcome("test_warm_start[x]", "failed", "", 3) == "does not apply"
    assert outcome("test_a", "failed", "E   Not equal to tolerance rtol=1e-7", 1) == "coefficients"
    assert outcome("test_a", "failed", "E   Failed: DID NOT WARN", 1) == "silence"
    assert outcome("test_a", "failed", "E   ZeroDivisionError", 1) == "failed"
