"""Labels, targets and ids mean the same as numbers, booleans and text: no record decides how the others are read."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from estimators.checked import RELATIONS, checked
from sklearn.base import clone, is_classifier, is_regressor

import skdp
from skdp import DPLogisticRegression, DPRidge
from skdp.entry import targets
from skdp.entry._units import units_of
from skdp.metrics import DPGroupAccuracy
from skdp.model_selection import KeyFold

RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (40, 2))
CODES = (X[:, 0] > 0).astype(int)
# The same two labels as readers of files may give them; what is declared, in any of these forms, is read likewise.
FORMS = {
    "numbers": [0, 1],
    "doubles": [0.0, 1.0],
    "booleans": [False, True],
    "text of numbers": ["0", "1"],
    "codes": ["00", "01"],
    "decimals": ["0.0", "1.00"],
    "text of booleans": ["False", "True"],
    "of R": ["FALSE", "TRUE"],
}


def spelled(form):
    return np.array(FORMS[form])[CODES]


def estimators(kind):
    """One of each public estimator of a kind, with a seed."""
    for estimator in checked():
        known = estimator.get_params()
        if kind(estimator) and known.get("neighbors") == RELATIONS[0] and "random_state" in known:
            yield pytest.param(
                clone(estimator).set_params(random_state=0), id=type(estimator).__name__
            )


@pytest.mark.parametrize("classifier", [*estimators(is_classifier)])
def test_every_classifier_reads_labels_one_by_one(classifier):
    model = clone(classifier).set_params(classes=[0, 1])
    truth = model.fit(X, CODES).predict(X)
    for form in FORMS:
        found = clone(model).fit(X, spelled(form))
        np.testing.assert_array_equal(found.predict(X), truth, err_msg=form)
        assert found.score(X, spelled(form)) == model.score(X, CODES)
        mixed = [FORMS[form][code] if row % 2 else code for row, code in enumerate(CODES.tolist())]
        np.testing.assert_array_equal(clone(model).fit(X, mixed).predict(X), truth, err_msg=form)


@pytest.mark.parametrize("declared", FORMS)
def test_classes_are_declared_in_any_form(declared):
    model = DPLogisticRegression(data_norm=1.0, random_state=0)
    truth = clone(model).set_params(classes=[0, 1]).fit(X, CODES)
    found = clone(model).set_params(classes=FORMS[declared]).fit(X, CODES)
    np.testing.assert_array_equal(found.coef_, truth.coef_)
    assert found.classes_.tolist() == FORMS[declared]


@pytest.mark.parametrize("classes", [["01", "1"], ["true", "1"], ["a", " a"], ["0", "-0"]], ids=str)
def test_two_classes_that_are_one_label_are_refused(classes):
    told = "classes holds .* and .*, which are the same label in a file; spell labels otherwise"
    with pytest.raises(ValueError, match=told):
        DPLogisticRegression(data_norm=1.0, classes=classes).fit(X, CODES)
    with pytest.raises(ValueError, match="'NA', which is read as a missing cell"):
        DPLogisticRegression(data_norm=1.0, classes=["NA", "x"]).fit(X, CODES)


def test_labels_that_are_taken_from_y_show_none_where_two_are_one():
    with (
        pytest.warns(skdp.PrivacyWarning, match="classes=None"),
        pytest.raises(ValueError, match="holds labels, which are the same label") as refusal,
    ):
        DPLogisticRegression(data_norm=1.0).fit(X, np.where(CODES, "01", "1"))
    assert "01" not in str(refusal.value)


@pytest.mark.parametrize("regressor", [*estimators(is_regressor)])
def test_every_regressor_reads_targets_one_by_one(regressor):
    y = np.where(CODES, 1.5, 0.0)
    truth = clone(regressor).fit(X, y).predict(X)
    for spelling in (
        ["-0", "1.5"],
        ["0.0", " 1.50 "],
        ["false", "15e-1"],
        [False, "1.5"],
        [-0.0, 1.5],
    ):
        column = [spelling[code] for code in CODES]
        np.testing.assert_array_equal(clone(regressor).fit(X, column).predict(X), truth)
        series = pd.Series(column, dtype=object)
        np.testing.assert_array_equal(clone(regressor).fit(X, series).predict(X), truth)


@pytest.mark.parametrize("cell", ["many", "", None, "1_0_", "nan"])
def test_a_target_that_is_no_number_is_refused_in_any_form(cell):
    asked = SimpleNamespace(neighbors="replace_one")
    for y in (["1", "2", cell], np.array(["1", "2", cell], dtype=object), [1.0, 2.0, cell]):
        with pytest.raises(ValueError, match="y holds text, missing values or other non-numbers"):
            targets(asked, y, 3)
    assert DPRidge(y_bounds=(0, 2), data_norm=1.0).fit(X, CODES.astype(str)).score(X, CODES) <= 1.0


def test_groups_of_records_are_read_likewise():
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X, CODES)
    given = {"names": [0, 1], "random_state": 0}
    truth = DPGroupAccuracy.from_estimator(model, X, CODES, groups=CODES, **given).sizes
    for form in FORMS:
        found = DPGroupAccuracy.from_estimator(
            model, X, spelled(form), groups=spelled(form), **given
        )
        assert found.sizes == truth
    with pytest.raises(ValueError, match="all different"):
        DPGroupAccuracy.from_estimator(model, X, CODES, groups=CODES, names=["01", "1"])


# ------------------------------------------------------------------------------------------ ids

IDS = ["1", "01", "2", "2.0", "1e1", "10", "+3", "3"]  # four persons with two rows each
READ = {
    "text": IDS,
    "one is a word besides": [*IDS, "Alice"],
    "numbers": [1, 1, 2, 2, 10, 10, 3, 3],
    "doubles": np.array([1, 1, 2, 2, 10, 10, 3, 3], dtype=float),
    "one is a fraction besides": [1, 1, 2, 2, 10, 10, 3, 3, 0.5],
    "objects": np.array([1, "01", 2.0, "2", 10, "1e1", 3, " 3"], dtype=object),
}


@pytest.mark.parametrize("form", READ)
def test_no_form_of_a_file_joins_or_parts_the_rows_of_persons(form):
    ids = READ[form]
    given = SimpleNamespace(max_rows_per_group=2)
    owners, persons = units_of(given, ids, len(ids))
    assert persons == 4 + (len(ids) > 8)
    place = {one: k for k, one in enumerate(dict.fromkeys(owners.tolist()))}
    assert [place[one] for one in owners.tolist()][:8] == [0, 0, 1, 1, 2, 2, 3, 3]
    parts = next(iter(KeyFold(2, seed=3).split(np.zeros((len(ids), 1)), groups=ids)))[1]
    truth = next(iter(KeyFold(2, seed=3).split(np.zeros((8, 1)), groups=READ["numbers"])))[1]
    assert [row for row in parts if row < 8] == truth.tolist()


def test_large_ids_keep_their_digits_or_are_refused():
    given = SimpleNamespace(max_rows_per_group=2)
    near = [2**60, 2**60 + 1, "1152921504606846978", 2**60 + 1]
    assert units_of(given, near, 4)[1] == 3
    assert units_of(given, np.array(near[:2] * 2), 4)[1] == 2
    for lost in (np.array([2.0**60, 0.5]), ["1e18", "0.5"], [2.0**60, 0.5]):
        with pytest.raises(ValueError, match=r"ids of 2\*\*53 or more as whole numbers or text"):
            units_of(given, lost, 2)
    for missing in (["1", "NA"], ["1", ""], [1.0, np.nan], np.array([1, None])):
        with pytest.raises(ValueError, match="missing values"):
            units_of(given, missing, 2)
