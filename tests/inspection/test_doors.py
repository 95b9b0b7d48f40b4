"""A pipeline that is not private as a whole says so at three doors: its receipt, `skdp.check` and its diagram."""

import re

import numpy as np
import pytest
from inspection.test_check import naive
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import skdp
from skdp.preprocessing import BoundsScaler, DPBounds
from skdp.privacy import Receipt

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=400), RNG.integers(0, 3, 400)])
Y = (X[:, 0] > 0).astype(int)
BOTH = ("StandardScaler", "OneHotEncoder")


def sound(*before):
    """A pipeline of steps that pay or read no record."""
    return make_pipeline(*before, skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1]))


def captions(model):
    """What scikit-learn's diagram says below the names."""
    return re.findall(r'class="caption">([^<]*)', model._repr_html_())


def test_the_receipt_says_it_first():
    receipt = naive().fit(X, Y)[-1].privacy_
    assert receipt.around == BOTH
    for first in (str(receipt).splitlines()[0], receipt.statement().splitlines()[0]):
        assert first.startswith("NOT PRIVATE as a whole") and all(name in first for name in BOTH)
    assert receipt.lines()[0] == (
        "covers",
        "this step only; around it StandardScaler, OneHotEncoder, which have no receipt and may tell anything",
    )
    assert "NOT PRIVATE as a whole" in receipt._repr_html_()
    assert Receipt.from_dict(receipt.to_dict()) == receipt and receipt.verify()


def test_a_search_around_is_named_too():
    search = GridSearchCV(naive(), {"dplogisticregression__C": [1.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_[-1].privacy_.around == ("GridSearchCV", *BOTH)


def test_the_diagram_says_it_before_and_after_fit():
    model = naive()
    for _ in range(2):
        (caption,) = captions(model)
        assert "NOT PRIVATE as a whole: StandardScaler, OneHotEncoder" in caption
        model.fit(X, Y)


@pytest.mark.parametrize(
    "before", [(), (BoundsScaler((-9, 9)),), (DPBounds(epsilon=0.1),)], ids=len
)
def test_a_sound_pipeline_is_not_accused(before):
    model = sound(*before).fit(X, Y)
    assert skdp.check(model).private and model[-1].privacy_.around == ()
    assert not any("NOT PRIVATE" in caption for caption in captions(model))
    assert model[-1].privacy_.lines()[0][0] == "guarantee"


def test_scaling_by_hand_is_seen_by_nobody():
    """What is done outside of a pipeline cannot be seen, and nothing is claimed of it."""
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    assert sound().fit(rows, Y)[-1].privacy_.around == ()
