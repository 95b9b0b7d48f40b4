"""No refusal and no warning shows a cell of the data, nor what hangs on the exception; nor n where it is private."""

import itertools
import re
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
from estimators.malformed import CELLS_SHOWN, COUNT_SHOWN, GOOD_X, GOOD_Y, TEXT, N, columns, tables
from estimators.of_rows import of_rows
from scipy.sparse import csr_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from skdp import DPGaussianNB, DPLogisticRegression, DPRidge
from skdp.entry import _arrays
from skdp.fitting import classifier as _classifier
from skdp.neural_network import DPMLPClassifier
from skdp.preprocessing import DPWhitener
from skdp.solvers import GD, SGD

FLOATS = [np.float64, np.float32]
RELATIONS = ("replace_one", "add_remove")
PREDICTING = ("predict", "decision_function", "predict_proba", "predict_log_proba")


def model(Estimator=DPLogisticRegression, **given):
    """An estimator whose fit is over at once."""
    declared = {"epsilon": 1.0, "data_norm": 1.0, "classes": [0, 1], "random_state": 0}
    short = SGD(steps=1) if issubclass(Estimator, DPMLPClassifier) else GD(steps=1)
    if "solver" in Estimator().get_params():
        declared["solver"] = short
    return Estimator(**{**declared, **given})


def told(call):
    """The exception, or None, and all that was said in words: its chain and notes as printed, and every warning."""
    found = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            found = error
    words = [str(warning.message) for warning in caught]
    if found is not None:
        # The lines of code are ours; where they stand is no number of the data.
        words.append(re.sub(r", line \d+, in", "", "".join(traceback.format_exception(found))))
    link = found
    while link is not None:
        words += [repr(link), *map(repr, link.args), repr(vars(link))]
        link = link.__cause__ or link.__context__
    return found, "\n".join(words)


def trials(fitted, unfitted):
    """(name, what to try) of every wrong table and every wrong target at every method that takes one."""
    for name, X in tables():
        yield f"fit, X: {name}", lambda X=X: unfitted.fit(X, GOOD_Y)
        for method in PREDICTING:
            if hasattr(fitted, method):
                yield f"{method}, X: {name}", lambda X=X, m=method: getattr(fitted, m)(X)
        yield f"score, X: {name}", lambda X=X: fitted.score(X, GOOD_Y)
    for name, y in columns():
        yield f"fit, y: {name}", lambda y=y: unfitted.fit(GOOD_X, y)
        yield f"score, y: {name}", lambda y=y: fitted.score(GOOD_X, y)
        yield (
            f"score, weight: {name}",
            lambda y=y: fitted.score(GOOD_X, GOOD_Y, sample_weight=y),
        )


def shown_cells(Estimator=DPLogisticRegression, only="", **given):
    """Trials at which a cell came out, or the count where it is private; and how many were refused."""
    fitted = model(Estimator, **{**given, "classes": [0, 1]}).fit(GOOD_X, GOOD_Y)
    private = fitted.neighbors == "add_remove"
    faults, refused = {}, 0
    for name, call in trials(fitted, model(Estimator, **given)):
        if not name.startswith(only):
            continue
        error, words = told(call)
        refused += error is not None
        if CELLS_SHOWN.search(words) or (private and COUNT_SHOWN.search(words)):
            faults[name] = words
    return faults, refused


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"], None])
def test_no_cell_is_shown_in_fit(neighbors, classes):
    faults, refused = shown_cells(only="fit", neighbors=neighbors, classes=classes)
    assert faults == {} and refused > 800


@pytest.mark.parametrize("Estimator", dict(of_rows("classifier")).values())
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_cell_is_shown_by_a_fitted_model(neighbors, Estimator):
    faults, refused = shown_cells(Estimator, neighbors=neighbors)
    assert faults == {} and refused > 2000


def test_a_refusal_is_a_fresh_exception_of_one_sentence():
    fitted = model().fit(GOOD_X, GOOD_Y)
    for name, call in trials(fitted, model()):
        error, _ = told(call)
        if error is None:
            continue
        assert type(error) in (ValueError, TypeError), name
        assert error.__context__ is None and error.__cause__ is None, name
        assert not hasattr(error, "__notes__") and vars(error) == {}, name
        (message,) = error.args
        assert message.endswith(".") and "\n" not in message, name
        assert not re.search(r"[.!?]\s", message), name


def test_the_type_is_scikit_learns():
    for name, X in tables():
        theirs, _ = told(lambda X=X: check_array(X, dtype=FLOATS, accept_sparse=True))
        ours, _ = told(lambda X=X: model().fit(X, GOOD_Y))
        if theirs is not None:
            assert isinstance(ours, TypeError) == isinstance(theirs, TypeError), name


# Where one wrong cell stands, or more than one.
PLACES = ([(0, 0)], [(N - 1, 0)], [(3, 1)], [(3, 1), (4, 1)], [(3, 0), (3, 1)])
WRONG = [np.nan, np.inf, None, TEXT, "", 10**400, 1j, pd.NaT]
TABLES = {
    "lists": np.ndarray.tolist,
    "objects": np.ndarray.copy,
    "array": lambda cells: np.array(cells.tolist()),
    "frame": lambda cells: pd.DataFrame(cells).infer_objects(),
    "sparse": lambda cells: csr_array(cells.astype(float)),
}
ASKED = {
    "classifier": model,
    "regressor": lambda: DPRidge(data_norm=1.0, y_bounds=(0.0, 1.0), solver=GD(steps=1)),
    "transformer": DPWhitener,
    "densities": lambda: DPGaussianNB(data_norm=1.0, classes=[0, 1]),
}


def with_wrong(good, cell, places):
    """The same cells as objects, but for the wrong one."""
    cells = good.astype(object)
    for place in places:
        cells[place] = cell
    return cells


def telling_places(make, targets=True):
    """Wrong cells of which it is told where they are, or how many."""
    for cell, (form, made) in itertools.product(WRONG, TABLES.items()):
        if form == "sparse" and not isinstance(cell, float):
            continue  # nothing else is stored
        given = [made(with_wrong(GOOD_X, cell, places)) for places in PLACES]
        said = {told(lambda X=X: make().fit(X, GOOD_Y))[1] for X in given}
        if len(said) > 1:
            yield f"X: {cell!r} in {form}", said
    for cell in WRONG * targets:
        given = [with_wrong(GOOD_Y, cell, places) for places in ([0], [N - 1], [3, 4])]
        said = {told(lambda y=y: make().fit(GOOD_X, y))[1] for y in given}
        if len(said) > 1:
            yield f"y: {cell!r}", said


@pytest.mark.parametrize("name", ASKED)
def test_a_refusal_does_not_tell_where_a_wrong_cell_is_or_how_many_there_are(name):
    assert dict(telling_places(ASKED[name], name != "transformer")) == {}


def test_the_law_sees_a_column_that_is_told(monkeypatch):
    sound = _arrays._why_no_numbers

    def named(found):
        wrong = np.isnan(found.astype(np.float64)).any(axis=0) if found.dtype.kind == "f" else []
        return f"{sound(found)[:-1]}: column {np.flatnonzero(wrong).tolist()}."

    monkeypatch.setattr(_arrays, "_why_no_numbers", named)
    assert "X: nan in array" in dict(telling_places(model, False))


# -------------------------------------------------------------------------- the law can fail


class AsBefore(DPLogisticRegression):
    """Hands scikit-learn's errors on, as all estimators did."""

    def decision_function(self, X):
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def fit(self, X, y):
        try:
            X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        except ValueError as error:
            if "could not convert string" in str(error):
                raise ValueError("X holds text that is no number.") from None
            raise
        check_classification_targets(y)
        return super().fit(X, y)


def _chained(call):
    """An `attempt` that raises inside of its except block, where the cause hangs on in `__context__`."""
    try:
        return call(), None
    except Exception:
        raise ValueError("Something is wrong with the data.") from None


def _notes(call):
    """An `attempt` that says what went wrong as a note."""
    try:
        return call(), None
    except Exception as cause:
        fault = ValueError("Something is wrong with the data.")
        fault.add_note(str(cause))
    raise fault


def test_the_law_sees_what_scikit_learn_shows():
    faults, _ = shown_cells(AsBefore, only="fit")
    for name in ("complex in array", "float in flat array", "text in lists", "float in scalar"):
        assert f"fit, X: {name}" in faults
    assert "fit, y: complex in flat" in faults or "fit, y: one complex" in faults
    faults, _ = shown_cells(AsBefore, only="predict, X")
    assert "predict, X: float in flat array" in faults and "predict, X: text in frame" in faults


@pytest.mark.parametrize("broken", [_chained, _notes])
def test_the_law_sees_what_hangs_on_an_exception(broken, monkeypatch):
    for room in (_arrays, _classifier):
        monkeypatch.setattr(room, "attempt", broken)
    faults, _ = shown_cells(only="fit, X")
    assert "fit, X: text in lists" in faults and "fit, X: float in flat array" in faults


def test_the_law_sees_a_private_count(monkeypatch):
    monkeypatch.setattr(_arrays, "hides_count", lambda estimator: False)
    faults, _ = shown_cells(only="fit", neighbors="add_remove")
    assert "fit, X: float in longer" in faults and "fit, X: no columns" in faults


# ------------------------------------------------------------------------------ the count


@pytest.mark.parametrize(
    "rows, labels",
    [(GOOD_X, GOOD_Y[:-1]), (GOOD_X[:, :0], GOOD_Y), (GOOD_X, np.column_stack([GOOD_Y, GOOD_Y]))],
)
def test_a_public_count_is_shown_and_a_private_one_is_not(rows, labels):
    for neighbors in RELATIONS:
        given = model(neighbors=neighbors)
        error, words = told(lambda given=given: given.fit(rows, labels))
        assert isinstance(error, ValueError)
        assert (str(N) in words) == (neighbors == "replace_one")


def test_no_records_are_refused_without_a_number_where_n_is_private():
    error, _ = told(lambda: model(neighbors="add_remove").fit(GOOD_X[:0], GOOD_Y[:0]))
    assert not re.search(r"\d", str(error))


def test_running_out_of_memory_does_not_tell_how_many_records_there_are(monkeypatch):
    def full(*args):
        raise MemoryError(f"Unable to allocate an array of shape ({N},)")

    monkeypatch.setattr("skdp.fitting.estimator.prepare", full)
    error, words = told(lambda: model(neighbors="add_remove").fit(GOOD_X, GOOD_Y))
    assert isinstance(error, MemoryError) and str(N) not in words and error.__context__ is None


def test_a_column_is_warned_of_on_the_line_of_the_fit():
    with pytest.warns(match="A column-vector y was passed when a 1d array") as caught:
        model().fit(GOOD_X, GOOD_Y[:, None])
    assert [warning.filename for warning in caught] == [__file__]


def test_classes_taken_from_y_are_warned_of_on_the_line_of_the_fit():
    with pytest.warns(match="makes it public") as caught:
        model(classes=None).fit(GOOD_X, GOOD_Y)
    assert [warning.filename for warning in caught] == [__file__]
