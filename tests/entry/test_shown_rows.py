"""What a public model is shown of a record, and what it may do with it, tells of that record alone."""

import asyncio

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from skdp.entry import Held
from skdp.metrics import dp_score
from skdp.privacy import Ledger

N, AT = 40, 7
RNG = np.random.default_rng(3)
X = RNG.uniform(-1.0, 1.0, (N, 3)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
pytestmark = pytest.mark.filterwarnings("ignore:X has feature names")
RELATIONS = ("replace_one", "add_remove")


class ByType(ClassifierMixin, BaseEstimator):
    """Answers by all that it can see of a table besides its numbers."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        rows = X.toarray() if hasattr(X, "toarray") else X
        kind = sum(map(ord, f"{type(X)} {X.dtype} {X.ndim}"))
        return rows[:, 0].astype(float) + kind

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def predict_proba(self, X):
        second = (self.decision_function(X) % 2.0) / 2.0
        return np.column_stack([1.0 - second, second])


class NumbersByType(RegressorMixin, ByType):
    """The same for numbers."""

    def predict(self, X):
        return self.decision_function(X)


def tables():
    """Tables that differ in one record, in every way in which that decides about the type of the whole."""
    frame = pd.DataFrame(X, columns=list("abc"))
    yield frame
    yield frame.drop(index=AT)
    for cell in ("0.5", 1, True, 0.1, 2**60, np.float16(0.5)):
        other = frame.astype(object)
        other.iloc[AT, 1] = cell
        yield other
        other = frame.copy()
        other["b"] = other["b"].astype(object)
        other.iloc[AT, 1] = cell
        yield other.infer_objects()
        yield other.to_numpy()
        yield other.to_numpy().tolist()
    yield X
    yield X.astype(np.float64)


@pytest.mark.parametrize("what", ["predicted", "probabilities", "scores", "numbers"])
def test_others_are_shown_alike_whatever_one_record_makes_of_the_table(what):
    make = Held.of_numbers if what == "numbers" else Held.of
    model = (NumbersByType if what == "numbers" else ByType)().fit(X, Y)
    found = set()
    for table in tables():
        n = len(table)
        labels = Y if n == N else np.delete(Y, AT)
        said = getattr(make(model, table, labels, "add_remove"), what)()
        found.add((said if n < N else np.delete(said, AT, axis=0)).tobytes())
    assert len(found) == 1


def test_sparse_rows_are_shown_alike():
    found = set()
    for kind in (np.float32, np.float64):
        held = Held.of(ByType().fit(X, Y), csr_array(X.astype(kind)), Y, "add_remove")
        found.add(held.scores().tobytes())
    assert len(found) == 1


class Told(BaseException):
    """Of no kind that anybody catches."""


class Raises(ByType):
    """Ends what runs, where it sees a record."""

    def __init__(self, error=SystemExit):
        self.error = error

    def decision_function(self, X):
        if (X[:, 1] > 5.0).any():
            raise self.error("a cell of the record")
        return X[:, 0]


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, asyncio.CancelledError, Told])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("scoring", ["accuracy", "log_loss", "brier_score"])
def test_what_would_end_the_run_is_a_row_that_the_model_cannot_take(error, relation, scoring):
    model, spent = Raises(error).fit(X, Y), []
    for far in (0.0, 9.0):
        table, ledger = X.copy(), Ledger(9.0, 1e-2, relation)
        table[AT, 1] = far
        found = dp_score(model, table, Y, scoring=scoring, neighbors=relation, ledger=ledger)
        assert np.isfinite(found.value)
        spent.append(ledger.spent)
        outcomes = Held.of(model, table, Y, relation).scores()
        assert (outcomes[AT] == 0.0) == (far > 5.0)
    assert spent[0] == spent[1] > 0.0


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_interrupt_by_the_user_ends_the_run(relation):
    ledger = Ledger(9.0, 1e-2, relation)
    with pytest.raises(KeyboardInterrupt):
        dp_score(Raises(KeyboardInterrupt).fit(X, Y), X + 6.0, Y, neighbors=relation, ledger=ledger)
    assert len(ledger) == 1
