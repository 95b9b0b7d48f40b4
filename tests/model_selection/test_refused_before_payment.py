"""What a fit inside a search or a cross-validation would refuse is refused before anything is paid, by any record."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdp import DPLogisticRegression, DPTableClassifier, NotSupported
from skdp.metrics import dp_score
from skdp.model_selection import DPGridSearchCV, KeyFold, PositionFold, dp_cross_val_score
from skdp.privacy import Ledger

RELATIONS = ("replace_one", "add_remove")
RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (400, 2))
Y = (X[:, 0] > 0).astype(int)
FAR = X.copy()
FAR[7] = 1.7e308  # finite, but its norm is not


def logistic(relation, **given):
    return DPLogisticRegression(
        epsilon=5.0, data_norm=1.0, classes=[0, 1], solver="gd", neighbors=relation, **given
    )


def folds(relation):
    return PositionFold(3) if relation == "replace_one" else KeyFold(3)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_row_without_a_norm_is_refused_by_cross_validation(relation):
    ledger = Ledger(100.0, 1e-3, relation)
    keys = None if relation == "replace_one" else np.arange(400)
    given = {"cv": folds(relation), "groups": keys, "ledger": ledger}
    with pytest.raises(ValueError, match="too large to be scaled"):
        dp_cross_val_score(logistic(relation), FAR, Y, **given)
    assert ledger.spent == 0.0


@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_row_without_a_norm_is_refused_by_a_search(relation, strategy):
    ledger = Ledger(100.0, 1e-3, relation)
    model = logistic(relation)
    search = DPGridSearchCV(
        model, {"data_norm": [1.0, None]}, strategy=strategy, ledger=ledger, max_runs=3, mean_runs=2
    )
    with pytest.raises(ValueError, match="too large to be scaled"):
        search.fit(FAR, Y)
    assert ledger.spent == 0.0


def test_a_category_that_is_refused_is_refused_before_payment():
    codes = RNG.integers(0, 3, (300, 1)).astype(float)
    model = DPTableClassifier(
        {0: [0, 1, 2]}, unknown="refuse", model="line", epsilon=1.0, classes=[0, 1]
    )
    ledger = Ledger(100.0, 1e-3)
    y = (codes[:, 0] > 0).astype(int)
    assert 0.0 <= dp_cross_val_score(model, codes, y, ledger=ledger).value <= 1.0
    spent, codes[7] = ledger.spent, 9.0
    with pytest.raises(ValueError):
        dp_cross_val_score(model, codes, y, ledger=ledger)
    assert ledger.spent == spent


def test_persons_are_not_silently_left_out_of_cross_validation():
    with pytest.raises(NotSupported, match="max_rows_per_group=2 needs groups="):
        dp_cross_val_score(logistic("replace_one", max_rows_per_group=2), X, Y)


class Counted(DPLogisticRegression):
    """Remembers on how many records it was fitted."""

    sizes = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None, *, groups=None):
        Counted.sizes.append((len(X), set(np.unique(y).tolist())))
        return super().fit(X, y, sample_weight, groups=groups)


@pytest.mark.parametrize("others", [0, 1])
def test_no_fit_of_private_parts_is_on_no_record(others):
    """A constant in the place of a model would tell that a part holds all records."""
    parts = np.concatenate([part for _, part in KeyFold(2).split(X, None, np.arange(400))][:1])
    first = np.arange(400)[np.isin(np.arange(400), parts)]
    keys = np.concatenate([first[:50], np.setdiff1d(np.arange(400), parts)[:others]])
    Counted.sizes.clear()
    model = Counted(epsilon=5.0, data_norm=1.0, classes=[0, 1], solver="gd", neighbors="add_remove")
    rows = len(keys)
    dp_cross_val_score(model, X[:rows], np.ones(rows, int), cv=KeyFold(2), groups=keys)
    sizes = sorted(size for size, _ in Counted.sizes)
    assert sizes == sorted([1 + others, 51])
    assert all(0 in labels for _, labels in Counted.sizes)  # of the public row


def test_too_many_records_are_refused_before_a_score_is_paid():
    model = LogisticRegression().fit(X[:, :1], Y)
    many = 2**20 + 1
    ledger = Ledger(10.0, 1e-3, "add_remove")
    with pytest.raises(ValueError, match="rounding has no bound"):
        dp_score(
            model, np.zeros((many, 1)), np.zeros(many, int), neighbors="add_remove", ledger=ledger
        )
    assert ledger.spent == 0.0


def test_one_text_does_not_decide_in_which_precision_a_frame_is_fitted():
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b"])
    told = frame.astype(object)
    told.loc[3, "a"] = "0.25"
    kinds = {
        logistic("replace_one").fit(table, Y).coef_.dtype
        for table in (frame, told, told.astype({"b": "float32"}))
    }
    assert kinds == {np.dtype(np.float64)}
    assert logistic("replace_one").fit(X.astype(np.float32), Y).coef_.dtype == np.float32


def test_a_search_takes_models_of_raw_tables():
    model = DPTableClassifier((-0.5, 0.5), epsilon=4.0, classes=[0, 1])
    search = DPGridSearchCV(model, {"model": ["line", "curves"]}, random_state=0).fit(X, Y)
    assert search.best_params_.get("model", "auto") in ("auto", "line", "curves")
