"""A fit asks which engine holds a table before anything looks at it; what an engine cannot do costs nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from laws.csr_rows import Csr, CsrRows

from skdp import DPGaussianNB, DPLinearSVR, DPLogisticRegression, DPRidge, NotSupported
from skdp.entry import any_table
from skdp.entry._arrays import table
from skdp.mechanisms import _engine
from skdp.mechanisms._engine import ENGINES, read_table
from skdp.mechanisms._rows import DenseRows
from skdp.mechanisms._shards import ShardRows
from skdp.metrics import dp_score
from skdp.model_selection import DPGridSearchCV
from skdp.preprocessing import DPStandardScaler, RowNormClipper
from skdp.privacy import Ledger

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)) * (RNG.random((80, 3)) < 0.7)
Y = (X[:, 0] > 0).astype(int)
GIVEN = {"epsilon": 5.0, "delta": 1e-5, "data_norm": 2.0, "random_state": 0}


@dataclass(frozen=True, eq=False)
class Asked:
    """A table whose engine reads it; nobody else may ask it for anything."""

    read: Any

    def __getattr__(self, name):
        raise AssertionError(f"somebody asked for {name}")


class AskedRows(DenseRows):
    """Its engine."""

    __slots__ = ()

    @staticmethod
    def admits(X):
        return isinstance(X, Asked)

    @staticmethod
    def read(X):
        return X.read()


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    monkeypatch.setattr(_engine, "ENGINES", (*ENGINES, CsrRows, AskedRows))


def near(model, other):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9, atol=1e-10)
    assert model.privacy_.epsilon == other.privacy_.epsilon


CLASSIFIER = (DPLogisticRegression, {"classes": [0, 1]}, {})
CASES = [
    CLASSIFIER,
    (DPRidge, {"y_bounds": (0.0, 1.0)}, {}),
    (DPLinearSVR, {"y_bounds": (0.0, 1.0)}, {}),
    (*CLASSIFIER[:2], {"sample_weight": np.linspace(0.0, 1.0, 80)}),
    (DPLogisticRegression, {"classes": [0, 1], "class_weight": "balanced"}, {}),
    (DPLogisticRegression, {"classes": [0, 1], "max_rows_per_group": 2}, {"groups": Y * 40}),
    (DPLogisticRegression, {"classes": [0, 1], "neighbors": "add_remove", "n_public": 80}, {}),
]


@pytest.mark.parametrize(("kind", "more", "beside"), CASES)
def test_a_table_of_any_engine_is_fitted(kind, more, beside):
    if "groups" in beside:
        beside = {"groups": np.arange(80) // 2}
    one, other = (
        kind(**GIVEN, **more).fit(form, Y.astype(float), **beside) for form in (X, Csr.of(X))
    )
    near(one, other)
    again = kind(**GIVEN, **more).fit(Asked(lambda: X), Y.astype(float), **beside)
    assert np.array_equal(again.coef_, one.coef_)
    assert np.array_equal(again.predict(Asked(lambda: X)), one.predict(X))


REFUSED = [
    lambda given, ledger: DPLogisticRegression(classes=[0, 1], ledger=ledger).fit(given, Y),
    lambda given, ledger: DPGaussianNB(classes=[0, 1], ledger=ledger, bounds=(-1.0, 1.0)).fit(
        given, Y
    ),
    lambda given, ledger: DPStandardScaler(ledger=ledger).fit(given),
    lambda given, ledger: RowNormClipper().fit(given),
    lambda given, ledger: DPGridSearchCV(
        DPLogisticRegression(data_norm=1.0, classes=[0, 1]), {"C": [0.1, 1.0]}, ledger=ledger
    ).fit(given, Y),
    lambda given, ledger: dp_score(
        DPLogisticRegression(data_norm=1.0, classes=[0, 1], epsilon=1.0).fit(X, Y),
        given,
        Y,
        ledger=ledger,
    ),
    lambda given, ledger: DPLogisticRegression(**GIVEN, classes=[0, 1]).fit(X, Y).predict(given),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_an_engine_cannot_do_is_refused_before_anything_is_paid(call):
    ledger = Ledger(10.0, 1e-3)
    with pytest.raises(NotSupported, match=r"Csr .*pass an array") as refused:
        call(Csr.of(X), ledger)
    assert ledger.spent == 0.0 and str(refused.value).count(". ") == 0


def failing(error):
    def read():
        raise error

    return Asked(read)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ValueError("12345 is the salary of Alice"),
            "X, of type Asked, could not be read; open it again.",
        ),
        (OSError("/home/alice"), "X, of type Asked, could not be read; open it again."),
        (NotSupported("X has no room."), "X has no room."),
    ],
)
def test_an_engine_that_cannot_read_shows_no_cell(error, said):
    for call in (DPLogisticRegression(**GIVEN, classes=[0, 1]).fit, DPRidge(**GIVEN).fit):
        with pytest.raises(NotSupported) as refused:
            call(failing(error), Y)
        assert str(refused.value) == said
        assert refused.value.__context__ is None and refused.value.__cause__ is None


@pytest.mark.parametrize("cell", [np.nan, np.inf, 1e308])
def test_what_an_engine_reads_is_checked(cell):
    wrong = X.copy()
    wrong[3] = cell
    model = DPLogisticRegression(**GIVEN, classes=[0, 1])
    if cell < np.inf:
        near(model.fit(Asked(lambda: wrong), Y), model.fit(wrong, Y))
        return
    for form in (lambda: Asked(lambda: wrong), lambda: Csr.of(wrong)):
        with pytest.raises(ValueError, match=r"NaN|infinity|not finite") as refused:
            model.fit(form(), Y)
        assert "inf " not in str(refused.value)


def test_names_of_columns_and_frames_go_the_way_they_went():
    given = Asked(lambda: X.astype(np.float32))
    model = DPLogisticRegression(**GIVEN, classes=[0, 1]).fit(given, Y)
    assert model.n_features_in_ == 3 and model.coef_.dtype == np.float32
    assert any_table(model, given, reset=False).shape == X.shape


def test_a_frame_of_sparse_columns_is_a_dense_table():
    """One text in it would make it dense for all records."""
    frame = pd.DataFrame(np.eye(3)).astype(pd.SparseDtype(float, 0.0))
    assert isinstance(table(DPLogisticRegression(), frame, reset=True), np.ndarray)


def test_a_table_that_memory_does_not_hold_is_refused_in_a_sentence(monkeypatch):
    def full(X):
        raise MemoryError

    monkeypatch.setattr(ShardRows, "read", full)
    with pytest.raises(MemoryError, match="does not fit into memory"):
        read_table(ShardRows.from_dense(np.eye(3)), own=True)
