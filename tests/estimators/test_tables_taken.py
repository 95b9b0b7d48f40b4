"""Tables of many kinds, sparse and in single precision: one model of the same numbers, scikit-learn's types."""

import warnings

import numpy as np
import pandas as pd
import pytest
from laws.sparse_layouts import SPARSE, sparse_laid_out
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from skdp import DPLasso, DPLinearRegression, DPLinearSVC, DPLogisticRegression, DPRidge
from skdp.entry import _arrays

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6)) * (RNG.random((300, 6)) < 0.5)
Y = (X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=300) > 0).astype(int)
CLASSIFIERS = (DPLogisticRegression, DPLinearSVC)
PAIRS = (
    (DPLogisticRegression, LogisticRegression),
    (DPLinearSVC, LinearSVC),
    (DPRidge, Ridge),
    (DPLinearRegression, LinearRegression),
    (DPLasso, Lasso),
)


def made(Estimator, **given):
    """An estimator whose noise is known."""
    about = {"classes": [0, 1]} if Estimator in CLASSIFIERS else {"y_bounds": (0.0, 1.0)}
    return Estimator(epsilon=1.0, delta=1e-5, data_norm=4.0, random_state=0, **about, **given)


@pytest.mark.parametrize("Estimator", [ours for ours, _ in PAIRS])
@pytest.mark.parametrize("layout", [k for k in SPARSE if k != "roomy"])  # NaN behind is refused
def test_a_sparse_table_gives_the_model_of_a_dense_one(layout, Estimator):
    dense = made(Estimator).fit(X, Y)
    table = sparse_laid_out(X, layout)
    model = made(Estimator).fit(table, Y)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.predict(table), dense.predict(X), rtol=1e-9)
    assert model.score(table, Y) == pytest.approx(dense.score(X, Y))


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("solver", ["auto", "gd", "sgd", "objective-perturbation"])
def test_probabilities_and_decisions_of_sparse_rows(solver, relation):
    model = made(DPLogisticRegression, solver=solver, neighbors=relation).fit(X, Y)
    table = sparse.csc_array(X)
    again = made(DPLogisticRegression, solver=solver, neighbors=relation).fit(table, Y)
    for ask in ("decision_function", "predict_proba", "predict_log_proba"):
        one, other = getattr(model, ask)(X), getattr(again, ask)(table)
        np.testing.assert_allclose(other, one, rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_single_precision_stays_where_scikit_learn_keeps_it(ours, theirs, dtype, form):
    table = form(X.astype(dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = theirs().fit(table, Y)
    model = made(ours).fit(table, Y)
    assert model.coef_.dtype == wanted.coef_.dtype
    for ask in ("decision_function", "predict_proba"):
        if hasattr(wanted, ask):
            assert getattr(model, ask)(table).dtype == getattr(wanted, ask)(table).dtype, ask
    if ours in CLASSIFIERS:
        plain = made(ours).fit(X, Y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-3, atol=1e-4)


def test_no_coefficient_becomes_infinite_in_single_precision():
    model = DPLogisticRegression(data_norm=1e-29, classes=[0, 1], random_state=0, solver="gd")
    model.fit(X.astype(np.float32), Y)
    assert model.coef_.dtype == np.float32 and np.isfinite(model.coef_).all()


FRAMES = {
    "frame": pd.DataFrame,
    "nullable": lambda table: pd.DataFrame(table).convert_dtypes(),
    "sparse columns": lambda table: pd.DataFrame(table).astype(pd.SparseDtype(float, 0.0)),
    "read-only": lambda table: np.frombuffer(table.tobytes()).reshape(table.shape),
    "lists": np.ndarray.tolist,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_many_kinds(frame):
    table = FRAMES[frame](X)
    dense, model = made(DPLogisticRegression).fit(X, Y), made(DPLogisticRegression).fit(table, Y)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(table), dense.predict(X))


# Of one type in all columns, as no reader of files makes them unasked.
ALIKE = {
    "nullable": lambda frame: frame.astype("Float32"),
    "sparse columns": lambda frame: frame.astype(pd.SparseDtype(float, 0.0)),
}


def fitted_both_ways(kind, Estimator, data_norm):
    """Fits on a frame, and on one in which a single number is spelled as text."""
    frame = ALIKE[kind](pd.DataFrame(X[:, :3], columns=["a", "b", "c"]))
    column = np.asarray(frame["a"], dtype=float).astype(object)
    column[7] = str(column[7])
    model = made(Estimator).set_params(data_norm=data_norm)
    return [clone(model).fit(table, Y) for table in (frame, frame.assign(a=column))]


@pytest.mark.parametrize("data_norm", [4.0, None])
@pytest.mark.parametrize("Estimator", [DPLogisticRegression, DPRidge])
@pytest.mark.parametrize("kind", ALIKE)
def test_one_text_does_not_decide_how_a_frame_is_fitted(kind, Estimator, data_norm):
    plain, spelled = fitted_both_ways(kind, Estimator, data_norm)
    assert vars(plain).keys() == vars(spelled).keys()
    assert plain.privacy_.notes == spelled.privacy_.notes
    np.testing.assert_array_equal(plain.coef_, spelled.coef_)


def test_a_frame_that_stays_sparse_would_be_seen(monkeypatch):
    monkeypatch.setattr(_arrays, "_with_cells", lambda X: X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn tells of the columns that are left sparse
        plain, spelled = fitted_both_ways("sparse columns", DPLogisticRegression, None)
    assert plain.privacy_.notes != spelled.privacy_.notes


def test_tables_mapped_from_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    table = sparse.csr_array(X)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(table, name))
    parts = [
        np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")
    ]
    for found in (mapped, sparse.csr_array(tuple(parts), shape=X.shape)):
        model = made(DPLogisticRegression).fit(found, Y)
        np.testing.assert_allclose(
            model.coef_, made(DPLogisticRegression).fit(X, Y).coef_, rtol=1e-10
        )
