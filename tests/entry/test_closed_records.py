"""Held-out records, those of a search and the parts of a cross-validation: refused, or closed and asked by outcomes."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from skdp import DPLogisticRegression, DPRidge, NotSupported
from skdp.entry import (
    OUTCOMES,
    FoldedRecords,
    Held,
    ListLabels,
    LossColumn,
    LossColumns,
    Outcomes,
    Right,
    SearchRecords,
    Table,
    Terms,
    sizes_along,
)
from skdp.mechanisms import Documents, Public
from skdp.model_selection import KeyFold, PositionFold
from skdp.preprocessing import DPBounds

RNG = np.random.default_rng(0)
N = 30
X = RNG.uniform(-0.5, 0.5, (N, 2))
NUMBERS = X[:, 0] - 0.2
Y = (NUMBERS > 0).astype(int)
MODEL = LogisticRegression().fit(X, Y)
CLASSIFIER = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
PUBLIC = Public(N, 1, 0.0, "replace_one")


def test_models_without_outcomes_are_refused():
    with pytest.raises(NotSupported, match="LinearRegression has no classes_"):
        Held.of(LinearRegression().fit(X, NUMBERS), X, Y, "replace_one")
    with pytest.raises(NotSupported, match="LogisticRegression is not a regressor"):
        Held.of_numbers(MODEL, X, NUMBERS, "replace_one")


def test_unknown_labels_and_groups_are_refused_without_being_shown():
    with pytest.raises(ValueError, match="y holds labels that are not among the model's classes"):
        Held.of(MODEL, X, Y + 3, "replace_one")
    held = Held.of(MODEL, X, Y, "replace_one")
    with pytest.raises(ValueError, match=r"groups holds values that are not among names=\['a'\]"):
        held.grouped(np.resize(["a", "b"], N), np.array(["a"]))


@dataclass(frozen=True)
class ByTheMean(Right):
    """Of no registered type."""


def test_outcomes_and_maps_of_no_registered_type_are_refused():
    held = Held.of(MODEL, X, Y, "replace_one")
    assert ByTheMean not in OUTCOMES
    with pytest.raises(TypeError, match="ByTheMean is no registered outcome"):
        Outcomes(ByTheMean(), PUBLIC, held)
    outcomes = Outcomes(Right(), PUBLIC, held)
    assert outcomes.check(None) is None
    with pytest.raises(TypeError, match="function is no registered map of targets"):
        outcomes.vault(lambda seen: seen)
    seen = outcomes.vault(None)
    assert outcomes.vault(None) is seen
    assert_array_equal(seen.y, (MODEL.predict(X) == Y).astype(float))
    both = np.column_stack([Y, Y]).astype(float)
    assert_allclose(Terms(0.0, 0.5, 1.0)(both), 0.5)


def steps(*given):
    """Steps of a candidate, the last of which pays."""
    return [(step, step is given[-1]) for step in given]


def test_a_search_fits_and_scores_what_it_cannot_read():
    records = SearchRecords(steps(CLASSIFIER), X, Y)
    assert records.count("replace_one") == N and records.count("add_remove") is None
    assert records.widths(steps(CLASSIFIER)) == (2,)
    model = records.fit(DPLogisticRegression(data_norm=1.0, classes=[0, 1], epsilon=100.0))
    wrong = (model.predict(X) != Y).astype(float)
    for scoring in ("accuracy", "neg_log_loss", "neg_brier_score"):
        judged = records.judged(model, None, neighbors="replace_one")
        rows, _ = LossColumns(scoring, unit=2.0).of(judged)
        assert rows.shape == (N, 2) and (rows[:, 1] == 0.5).all()
        _, losses = LossColumn(scoring).of(records.judged(model, neighbors="replace_one"))
        assert_array_equal(losses, 2.0 * rows[:, 0])
        assert ((losses >= 0.0) & (losses <= 1.0)).all()
        if scoring == "accuracy":
            assert_array_equal(losses, wrong)
    with pytest.raises(ValueError, match="no model to score"):
        LossColumn("accuracy").of(records.judged(None, neighbors="replace_one"))
    assert [name for name in dir(records) if not name.startswith("_")] == [
        "count",
        "fit",
        "judged",
        "refuse",
        "widths",
    ]


def test_losses_of_numbers_are_cut_to_bounds():
    ridge = DPRidge(data_norm=1.0, y_bounds=(-1.0, 1.0), epsilon=100.0)
    records = SearchRecords(steps(ridge), csr_array(X).tocoo(), NUMBERS)
    model = records.fit(ridge)
    _, losses = LossColumn("neg_mean_squared_error", -1.0, 1.0).of(
        records.judged(model, neighbors="replace_one")
    )
    assert_allclose(losses, ((model.predict(X) - NUMBERS) / 2.0) ** 2)


def test_records_that_a_candidate_refuses_are_refused():
    records = SearchRecords(steps(CLASSIFIER), X, Y)
    with pytest.raises(ValueError, match=f"X has more than {N - 1} rows"):
        records.refuse(steps(CLASSIFIER), N - 1)
    three = DPLogisticRegression(data_norm=1.0, classes=[3, 4])
    with pytest.raises(ValueError, match="not among the model's classes"):
        records.refuse(steps(three), N)


def raises(rows):
    """A step that shows a row in its error."""
    raise ValueError(f"cannot take {rows}")


def test_steps_in_front_are_gone_through_and_their_errors_show_no_row():
    scaler = FunctionTransformer(lambda rows: 2.0 * rows)
    records = SearchRecords(steps(scaler, CLASSIFIER), X, Y)
    assert records.widths(steps(scaler, CLASSIFIER)) == (2,)
    refused = "FunctionTransformer cannot take these rows"
    with pytest.raises(ValueError, match=refused) as error:
        SearchRecords(steps(FunctionTransformer(raises), CLASSIFIER), X, Y)
    assert error.value.__context__ is None


def test_sizes_of_the_fits_of_a_pipeline_are_public():
    bounds = DPBounds(neighbors="add_remove")
    along = sizes_along([(bounds, True), (CLASSIFIER, True)], X)
    assert along == [(None, 2), (N, 2)]


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_parts_are_spoken_of_by_the_model_of_the_others(relation):
    model = DPLogisticRegression(
        data_norm=1.0, classes=[0, 1], solver="gd", neighbors=relation, epsilon=1e3, n_public=N
    )
    folds, keys = (PositionFold(2), None) if relation == "replace_one" else (KeyFold(2), range(N))
    keys = None if keys is None else list(keys)
    folded = FoldedRecords(model, X, Y, folds, keys)
    assert folded.n_features == 2
    public = relation == "replace_one"
    assert folded.public_count() == (N if public else None)
    assert folded.counts() == ([15, 15] if public else [None, None])
    folded.refuse_without("probabilities")
    for what in ("predicted", "probabilities", "scores"):
        assert len(getattr(folded, what)()) == N
    assert np.mean(folded.predicted() == Y) > 0.6


def test_a_part_beside_no_other_has_a_model_of_the_public_row():
    model = clone(CLASSIFIER).set_params(neighbors="add_remove")
    folded = FoldedRecords(model, X, Y, KeyFold(2), ["one person"] * N)
    assert len(np.unique(folded.probabilities())) > 2


class Fails(type(CLASSIFIER)):
    """Fails once it is paid for."""

    def _keep(self, fitted, budget, heard):
        raise ValueError("no model")


def test_parts_without_a_model_are_of_nobody():
    folded = FoldedRecords(Fails(**CLASSIFIER.get_params(deep=False)), X, Y, PositionFold(2), None)
    assert_array_equal(folded.probabilities(), np.full((N, 2), 0.5))


def test_labels_of_public_documents_are_admitted_beside_them():
    shown = Documents.of(X, [10, 20], 1.0)
    public = Public(
        2, 2, 0.0, "replace_one", rows=20, lists="labels", documents=shown, target_bound=1.0
    )
    assert_array_equal(Table(X, Y.astype(float)).vault(ListLabels(public)).y, Y)
