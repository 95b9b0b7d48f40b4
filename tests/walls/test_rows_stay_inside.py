"""Rows stay in the trusted rooms: in a fit no other function holds one entry for each record.

Formulas of models and losses, which are handed single blocks, are not counted, nor is what scikit-learn's interface
shows a user of a user's own table (`predict`, `transform`, `score`): these are no fits. See `walls.rows_inside`.
"""

import contextlib
import io
import sys

import numpy as np
import pandas as pd
import pytest
from laws.promises import N, acts, table
from scipy.sparse import csr_array
from walls.rows_inside import ROOT, holders, holds

FITS = (
    "DPLogisticRegression: solver=gd",
    "DPLogisticRegression: declared",
    "DPLogisticRegression: data_norm=None",
    "DPLogisticRegression: class_weight=balanced",
    "DPLogisticRegression: class_weight=dict",
    "DPLogisticRegression: sample_weight",
    "DPLogisticRegression: persons",
    "DPLogisticRegression: sparse",
    "DPLogisticRegression: warm_start",
    "DPGaussianNB: declared",
    "DPRidge: declared",
    "DPRidge: data_norm=None, y_bounds=None",
    "DPRidge: several targets",
    "DPMLPClassifier: declared",
    "DPMLPRegressor: declared",
    "DPRanker: declared",
    "DPRanker: persons",
    "DPRanker: labels",
    "DPBounds: declared",
    "DPImputer: missing cells",
    "DPPCA: declared",
    "make_pipeline(DPStandardScaler)",
    "make_pipeline(TableEncoder)",
    "dp_score: accuracy",
    "dp_score: log_loss",
    "dp_score: r2",
    "dp_score: roc_auc",
    "DPGroupAccuracy.from_estimator: plain",
    "DPConfusionMatrix.from_estimator: plain",
    "dp_calibration_curve: plain",
    "dp_cross_val_score: accuracy, PositionFold(n_splits=3, seed=0)",
    "dp_cross_val_score: accuracy, KeyFold(n_splits=3, seed=0)",
    "DPGridSearchCV: declared",
    "DPGridSearchCV(make_pipeline)",
)
ACTS = {act.name: act for act in acts() if act.relation == "replace_one" or "KeyFold" in act.name}

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="names of methods are known from 3.11 on"
)


def met(name):
    """Functions that hold rows while an act runs on as many records as nothing else has."""
    given, act = table(0), ACTS[name]
    assert len(given) == N
    with contextlib.redirect_stdout(io.StringIO()):
        return holders(lambda: act.run(given))


@pytest.mark.parametrize("name", FITS)
def test_no_function_holds_rows_in_a_fit(name):
    assert met(name) == set()


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(N),
        np.zeros((3, N)),
        csr_array((N, 2)),
        pd.DataFrame({"a": np.zeros(N)}),
        pd.Series(np.zeros(N)),
        [0.0] * N,
        (1, np.zeros((N, 2))),
        {"rows": [np.zeros(N)]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_rows_are_known_in_any_form(value):
    assert holds(value)


@pytest.mark.parametrize("value", [N, np.zeros(N - 1), "x" * N, [0.0], None, {"n": N}])
def test_other_values_are_no_rows(value):
    assert not holds(value)


PLANTED = """
class Planted:
    def fit(self, X):
        self.look(X)
        return self.passing(lambda: [0.0] * len(X))

    def look(self, X):
        return X + 1.0

    def passing(self, make):
        found = make()
        found = self.shown()
        return found

    def shown(self):
        return 1.0

    def keep(self, make):
        self.kept = make()

    def predict(self, X):
        return self.look(X)


Planted.__module__ = "skdp.fitting.planted"
"""


def planted():
    """An object whose code stands, to all that asks, in a room that is not trusted."""
    space = {}
    exec(compile(PLANTED, str(ROOT / "fitting" / "planted.py"), "exec"), space)
    return space["Planted"]()


def test_functions_that_hold_rows_are_found():
    """Where rows are an argument, a result or in a closure, and where they are held for a while."""
    named = {name for _, name in holders(lambda: planted().fit(np.zeros(N)))}
    assert named == {"Planted.look", "Planted.passing", "Planted.fit.<locals>.<lambda>"}


def test_an_object_that_keeps_rows_is_found():
    named = {name for _, name in holders(lambda: planted().keep(lambda: np.zeros(N)))}
    assert named == {"Planted.keep"}


def test_predictions_of_a_users_table_are_no_fits():
    assert holders(lambda: planted().predict(np.zeros(N))) == set()
