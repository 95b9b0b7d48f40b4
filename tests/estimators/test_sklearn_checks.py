"""scikit-learn's own checks on every estimator, at an epsilon where noise cannot fail them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdp.utils import all_estimators

# An epsilon at which noise is invisible, and a bound on row norms that holds for the checks' data.
LOOSE = {"epsilon": 1e6, "delta": 1e-6, "data_norm": 10.0}

# check_fit... -> why it is expected to fail. Empty: nothing is excused.
EXPECTED = {}


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@parametrize_with_checks(
    [
        Estimator(**LOOSE, neighbors=neighbors)
        for _, Estimator in all_estimators()
        for neighbors in ("replace_one", "add_remove")
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
    assert estimator.get_params()["epsilon"] == LOOSE["epsilon"], (
        "a check changed the estimator it was given"
    )
