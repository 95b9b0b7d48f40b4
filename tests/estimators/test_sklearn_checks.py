"""scikit-learn's own checks on every estimator, at an epsilon where noise cannot fail them."""

import pytest
from estimators.checked import LOOSE, checked
from sklearn.utils.estimator_checks import parametrize_with_checks

# check_fit... -> why it is expected to fail. Empty: nothing is excused.
EXPECTED = {}


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@parametrize_with_checks(checked(), expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)
    if "epsilon" in estimator.get_params():
        assert estimator.get_params()["epsilon"] == LOOSE["epsilon"], (
            "a check changed the estimator it was given"
        )
