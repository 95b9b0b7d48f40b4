"""Some of scikit-learn's own tests of its estimators, held to exactly what they say of ours.

The rest is slow and is run by hand: docs/conformance.md.
"""

import pytest
import sklearn
from conformance.theirs import outcome, run

FAST = (
    "test_predict_2_classes or test_write_parameters or test_nan or test_elastic_net_coeffs or test_c_inf_no_warning "
    "or test_penalty_none or test_logreg_l1 or test_single_feature_newton_cg or test_l1_ratio_non_elasticnet"
)
EXPECTED = {"passed": 18, "does not apply": 1}


@pytest.mark.skipif(
    not sklearn.__version__.startswith("1.9"), reason="the list is for the tests of 1.9"
)
def test_scikit_learns_own_tests_say_what_they_said():
    found = run("logistic", "-k", FAST)
    words = list(found.values())
    assert {word: words.count(word) for word in set(words)} == EXPECTED, found


def test_an_outcome_has_one_word():
    assert outcome("test_a[1]", "passed", "", 1) == "passed"
    assert outcome("test_a[1]", "passed", "", 0) == "elsewhere"
    assert outcome("test_a", "skipped", "", 0) == "skipped"
    assert outcome("test_warm_start[x]", "failed", "", 3) == "does not apply"
    assert outcome("test_a", "failed", "E   Not equal to tolerance rtol=1e-7", 1) == "coefficients"
    assert outcome("test_a", "failed", "E   Failed: DID NOT WARN", 1) == "silence"
    assert outcome("test_a", "failed", "E   ZeroDivisionError", 1) == "failed"
