"""What docs/pitfalls.md says that `check` sees, it sees; each row says whether."""

from pathlib import Path

import numpy as np
import pytest
from inspection.compositions import Own, added, lr
from inspection.test_other_libraries import of
from sklearn import calibration, ensemble, model_selection, multiclass, preprocessing
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

import skdp
from skdp.model_selection import PositionFold

PAGE = Path(__file__).parents[2] / "docs" / "pitfalls.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| pitfall", "| ---"))
]
# For each row that check sees, by its first words: models that fall into it.
SEEN = {
    "`StandardScaler`": [
        make_pipeline(step, lr())
        for step in (preprocessing.StandardScaler(), preprocessing.OneHotEncoder())
    ],
    "features selected": [make_pipeline(SelectKBest(k=1), lr())],
    "`GridSearchCV`": [model_selection.GridSearchCV(lr(), {})],
    "a fixed `random_state`": [lr(random_state=0)],
    "`epsilon=numpy.inf`": [lr(epsilon=np.inf), lr(epsilon=30.0)],
    "an epsilon above 10": [lr(epsilon=30.0)],
    "oversampling": [make_pipeline(of("imblearn", "SMOTE")(), lr())],
    "means or neighbours": [make_pipeline(of("category_encoders", "TargetEncoder")(), lr())],
    "`classes=None`": [lr(classes=None)],
    "one-vs-rest": [
        multiclass.OneVsRestClassifier(lr()),
        multiclass.OutputCodeClassifier(lr()),
        ensemble.VotingClassifier([("a", lr())]),
        ensemble.StackingClassifier([("a", lr())], lr(), cv=PositionFold(3)),
    ],
    "delta of the order": [lr(delta=0.1)],
    "publishing held-out": [],  # tests/inspection/test_other_libraries.py
    "a stratified split": [ensemble.StackingClassifier([("a", lr())], lr())],
    "one-vs-one": [multiclass.OneVsOneClassifier(lr())],
    "one model for each": [of("sklego", "GroupedClassifier")(added())],
    "columns picked": [
        make_pipeline(ColumnTransformer([("a", Own(), columns)], sparse_threshold=0), lr())
        for columns in (make_column_selector(dtype_include=float), np.flatnonzero)
    ],
    "a function in front": [make_pipeline(preprocessing.FunctionTransformer(np.sort), lr())],
    "decision thresholds": [
        calibration.CalibratedClassifierCV(lr()),
        model_selection.TunedThresholdClassifierCV(lr()),
    ],
    "`n_jobs`": [lr(random_state=np.random.RandomState(0))],
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:30])
def test_each_row_says_whether_check_sees_it(row):
    assert len(row) == 4 and row[1].split(":")[0].split()[0] in ("fatal", "serious", "costly")
    seen = [models for first, models in SEEN.items() if row[0].startswith(first)]
    assert len(seen) == (0 if row[3].split(":")[0] == "no" else 1), row
    for model in (model for models in seen for model in models):
        assert not skdp.check(model).private


def test_no_model_is_of_a_row_that_is_gone():
    assert all(any(row[0].startswith(first) for row in ROWS) for first in SEEN)


def test_the_page_says_where_the_line_of_epsilon_is():
    assert skdp.check(lr(epsilon=25.0, delta=1e-6)).private
    assert not skdp.check(lr(epsilon=26.5, delta=1e-6)).private
