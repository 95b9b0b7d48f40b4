"""Estimators that show an attribute without noise: every fitted attribute must be a function of the answers."""

import numpy as np
import pytest
from estimators.fitted import check_attributes_are_answers
from estimators.of_rows import of_rows

from skdp import DPLinearSVC, DPLogisticRegression


class ShowsTheTrainingScore(DPLogisticRegression):
    """Stores an accuracy on the training data."""

    def fit(self, X, y):
        super().fit(X, y)
        self.train_score_ = float(np.mean(self.predict(X) == y))
        return self


class ShowsTheCount(DPLogisticRegression):
    """Stores n where it is private."""

    def fit(self, X, y):
        super().fit(X, y)
        self.n_samples_ = len(X)
        return self


class ShowsTheMean(DPLinearSVC):
    """Centres the intercept by an exact mean."""

    def fit(self, X, y):
        super().fit(X, y)
        self.intercept_ = self.intercept_ - np.mean(X)
        return self


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("Estimator", dict(of_rows("classifier")).values())
def test_sound_estimators_pass(Estimator, neighbors):
    check_attributes_are_answers(Estimator, neighbors)


@pytest.mark.parametrize(
    "broken, neighbors",
    [
        (ShowsTheTrainingScore, "replace_one"),
        (ShowsTheCount, "add_remove"),
        (ShowsTheMean, "replace_one"),
    ],
)
def test_an_attribute_without_noise_is_rejected(broken, neighbors):
    with pytest.raises(AssertionError, match="depends on the data"):
        check_attributes_are_answers(broken, neighbors)
