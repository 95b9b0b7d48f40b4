"""Models that cannot take a row: scored at the price that was paid, with no word of which or how many."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from skdp import DPLinearSVC, NotSupported
from skdp.entry import Held, _held
from skdp.metrics import (
    DPConfusionMatrix,
    DPGroupAccuracy,
    dp_calibration_curve,
    dp_score,
)
from skdp.metrics._score import SCORINGS
from skdp.model_selection import dp_cross_val_score
from skdp.privacy import Ledger

N, D, AT = 203, 33, 5
RNG = np.random.default_rng(0)
CELLS = RNG.integers(0, 3, (N, 2)).astype(float)
ROWS = RNG.normal(size=(N, D))
Y = (CELLS[:, 0] + ROWS[:, 0] > 1).astype(int)
RELATIONS = ("replace_one", "add_remove")
FAR = 7.0  # a category that no model has seen, and a number that the picky ones do not take


class Picky(ClassifierMixin, BaseEstimator):
    """Products of the whole table, and `how` of a table with a cell that it does not take."""

    def __init__(self, how="raises", number=False):
        self.how, self.number = how, number

    def fit(self, X, y):
        self.classes_, self.coef_ = np.array([0, 1]), np.linspace(-1.0, 1.0, X.shape[1])
        return self

    def decision_function(self, X):
        scores = X @ np.tile(self.coef_[:, None], 8)  # a product of matrices rounds by place
        return self._unless_far(X, scores[:, 3])

    def predict_proba(self, X):
        second = 1.0 / (1.0 + np.exp(-(X @ np.tile(self.coef_[:, None], 8))[:, 3]))
        return self._unless_far(X, np.column_stack([1.0 - second, second]))

    def predict(self, X):
        scores = (X @ np.tile(self.coef_[:, None], 8))[:, 3]
        return self._unless_far(X, scores if self.number else (scores > 0).astype(int))

    def _unless_far(self, X, found):
        if not (X == FAR).any():
            return found
        if self.how == "raises":
            raise KeyError(f"the record {X[X == FAR]}")
        kept = (X != FAR).all(axis=1)
        ways = {"drops": found[kept], "text": np.full(len(X), "?"), "nothing": None}
        return ways[self.how]


class PickyNumbers(RegressorMixin, Picky):
    """The same for numbers."""

    def __sklearn_tags__(self):
        return super().__sklearn_tags__()


def encoded():
    return make_pipeline(OneHotEncoder(), LogisticRegression()).fit(CELLS, Y)


def far(X):
    """The table with one cell that the models do not take."""
    X = X.copy()
    X[AT, 1] = FAR
    return X


def metrics(model, X, y, **given):
    """Every public metric of a classifier."""
    for scoring in SCORINGS:
        if scoring != "roc_auc" or given["neighbors"] == "replace_one":
            yield lambda s=scoring: dp_score(model, X, y, scoring=s, **given)
    yield lambda: DPConfusionMatrix.from_estimator(model, X, y, **given)
    yield lambda: dp_calibration_curve(model, X, y, **given)
    groups = np.where(y > 0, "a", "b")
    yield lambda: DPGroupAccuracy.from_estimator(model, X, y, groups, names=["a", "b"], **given)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", ["none", "one", "all"])
def test_every_metric_has_a_value_and_costs_what_it_costs(relation, rows):
    model, spent = encoded(), []
    X = {"none": CELLS, "one": far(CELLS), "all": np.full_like(CELLS, FAR)}[rows]
    for table in (CELLS, X):
        ledger = Ledger(1e3, 1e-2, relation)
        for score in metrics(model, table, Y, neighbors=relation, epsilon=4.0, ledger=ledger):
            score()  # raises nothing, and warns of nothing: a warning is an error here
        spent.append(ledger.spent)
    assert spent[0] == spent[1] > 0.0


@pytest.mark.parametrize("how", ["raises", "drops", "text", "nothing"])
@pytest.mark.parametrize("what", ["predicted", "probabilities", "scores", "numbers"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_said_of_one_record_hangs_on_that_record_alone(relation, what, how):
    check_others_stay(relation, what, how)


def check_others_stay(relation, what, how):
    """Raise where a record that the model does not take moves a bit of what it says of another."""
    kind = PickyNumbers if what == "numbers" else Picky
    model = kind(how, number=what == "numbers").fit(ROWS, Y)
    make = Held.of_numbers if what == "numbers" else Held.of
    others = np.arange(N) != AT
    tables = [ROWS, far(ROWS)] if relation == "replace_one" else [ROWS[others], far(ROWS)]
    labels = [Y, Y] if relation == "replace_one" else [Y[others], Y]
    found = [getattr(make(model, X, y, relation), what)() for X, y in zip(tables, labels)]
    one = found[0][others] if relation == "replace_one" else found[0]
    assert one.tobytes() == found[1][others].tobytes(), "another record's outcome has changed"
    assert len(np.unique(one)) > 1
    nobody = _held.of_nobody(what, 1, 2)[0]
    np.testing.assert_array_equal(found[1][AT], nobody)


def test_two_records_that_are_not_taken_are_like_one():
    model = Picky().fit(ROWS, Y)
    both = far(ROWS)
    both[AT + 1, 0] = FAR
    others = np.arange(N) != AT + 1
    one, two = (Held.of(model, X, Y, "replace_one").scores() for X in (far(ROWS), both))
    assert one[others].tobytes() == two[others].tobytes()


def test_rows_that_are_all_shown_alone_where_one_fails_are_found(monkeypatch):
    # Without stand-ins the others would round as single rows, and not by their place in the table.
    monkeypatch.setattr(_held, "_with_stand_ins", lambda rows, taken, n: None)
    with pytest.raises(AssertionError, match="another record's outcome"):
        check_others_stay("replace_one", "scores", "raises")


def test_a_model_without_the_method_is_refused_before_it_is_paid():
    model, ledger = LinearSVC().fit(ROWS, Y), Ledger(1.0, 1e-5)
    for scoring in ("log_loss", "brier_score"):
        with pytest.raises(NotSupported, match="LinearSVC has no predict_proba"):
            dp_score(model, ROWS, Y, scoring=scoring, ledger=ledger)
    with pytest.raises(NotSupported, match="has no predict_proba"):
        dp_calibration_curve(model, ROWS, Y, ledger=ledger)
    private = DPLinearSVC(data_norm=1.0, classes=[0, 1])
    with pytest.raises(NotSupported, match="DPLinearSVC has no predict_proba"):
        dp_cross_val_score(private, ROWS, Y, scoring="log_loss", ledger=ledger)
    assert ledger.spent == 0.0


def test_r2_of_a_model_that_takes_no_row():
    class Torn(LinearRegression):
        def predict(self, X):
            raise ValueError

    ledger = Ledger(1e3, 1e-2)
    given = {"scoring": "r2", "y_bounds": (-1.0, 1.0), "ledger": ledger}
    dp_score(Torn().fit(ROWS, Y), ROWS, Y, **given)
    assert ledger.spent > 0.0
