"""scikit-learn's own checks on every estimator, at an epsilon where noise cannot fail them."""

import pytest
from estimators.checked import LOOSE, checked
from sklearn.base import is_regressor
from sklearn.utils.estimator_checks import parametrize_with_checks

# check_fit... -> why it is expected to fail.
EXPECTED = {
    "check_all_zero_sample_weights_error": "it would say something of all weights, which are private",
    "check_sample_weight_equivalence_on_dense_data": "a record of weight 2 is not two, and one of 0 counts",
    "check_sample_weight_equivalence_on_sparse_data": "a record of weight 2 is not two, and one of 0 counts",
    "check_class_weight_classifiers": "all records weigh less than two of the heaviest, for which noise is made",
}
OF_REGRESSORS = EXPECTED | {
    "check_sample_weights_not_overwritten": "it has a weight of 10, beyond the bound that these declare",
}


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@parametrize_with_checks(
    checked(),
    expected_failed_checks=lambda estimator: OF_REGRESSORS if is_regressor(estimator) else EXPECTED,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
    if "epsilon" in estimator.get_params():
        assert estimator.get_params()["epsilon"] == LOOSE["epsilon"], (
            "a check changed the estimator it was given"
        )
