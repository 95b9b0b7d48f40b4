"""Each row is mapped by itself, by the declaration alone, and leaves within the norm that is published."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from preprocessing.mixed import DECLARATION, frame
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from skdp.preprocessing import BoundsScaler, DeclaredEncoder, RowNormClipper, TableEncoder
from skdp.preprocessing import table_encoder as room

CELLS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(10**400), 10**400),
    st.sampled_from(["f", "m", " f ", "F", "1", "2.0", "?", "", "nan", None, True, pd.NA, pd.NaT]),
    st.text(max_size=3),
    st.just([]),  # has no hash
)
ROWS = st.lists(CELLS, min_size=len(DECLARATION), max_size=len(DECLARATION))
OPTIONS = [
    {"contrasts": contrasts, "unknown": unknown, "missing": missing}
    for contrasts in ("helmert", "one-hot")
    for unknown in ("value", "zero")
    for missing in (0.0, -1.0, "indicator")
]


def table_of(rows):
    """An array of objects, a cell each."""
    table = np.empty((len(rows), len(DECLARATION)), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            table[i, j] = cell
    return table


def by_place(declaration=DECLARATION):
    return dict(enumerate(declaration.values()))


def exact_squared_norm(row):
    return sum(Fraction(float(value)) ** 2 for value in row)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(row=ROWS)
def test_norm_at_most_one_whatever_the_record(options, row):
    encoder = TableEncoder(by_place(), **options)
    (found,) = encoder.fit_transform(table_of([row]))
    assert np.isfinite(found).all() and exact_squared_norm(found) <= 1 == encoder.row_norm_
    assert (
        len(found)
        == len(encoder.get_feature_names_out())
        == len(set(encoder.get_feature_names_out()))
    )


@pytest.mark.parametrize("kinds", [(2,), (3, 5), (7, 2, 11), (40,), (2,) * 30])
@pytest.mark.parametrize("contrasts", ["helmert", "one-hot"])
def test_the_norm_is_attained(contrasts, kinds):
    """By a row of declared values with every number at a bound: the theorem gives nothing away."""
    declared = {str(j): [f"v{k}" for k in range(kind)] for j, kind in enumerate(kinds)}
    declared |= {"x": [0, 1], "y": [1, 100, "log"]}
    X = pd.DataFrame(
        {name: [values[0], values[-1]] for name, values in declared.items() if name < "x"}
    )
    X["x"], X["y"] = [0.0, 1.0], [1.0, 100.0]
    found = TableEncoder(declared, contrasts=contrasts, unknown="zero").fit_transform(X)
    for row in found:
        assert 1 - Fraction(2) ** -45 < exact_squared_norm(row) <= 1


def test_the_exact_root_would_not_do(monkeypatch):
    """The twin without the slack of `root` passes 1 for some number of columns."""
    monkeypatch.setattr(room, "root", lambda squares, dtype: np.sqrt(sum(squares)))
    corners = [TableEncoder((-1, 1)).fit_transform(np.ones((1, m)))[0] for m in range(1, 60)]
    assert max(map(exact_squared_norm, corners)) > 1


@given(rows=st.lists(ROWS, min_size=2, max_size=5))
def test_a_row_does_not_see_the_others(rows):
    encoder, table = TableEncoder(by_place(), missing="indicator"), table_of(rows)
    whole = encoder.fit_transform(table)
    for i in range(len(rows)):
        assert_array_equal(whole[i], encoder.transform(table[i : i + 1])[0])
        assert_array_equal(whole[i], clone(encoder).fit_transform(table[i : i + 1])[0])


NUMBER = st.floats(-1e300, 1e300)


def apart(bounds):
    """Whether a double can tell numbers between the bounds apart, in size and in magnitude."""
    low, high = bounds
    return high / 2 - low / 2 > 1e-6 * max(-low, high, 1e-280)


@given(
    bounds=st.tuples(NUMBER, NUMBER).map(sorted).filter(apart),
    share=st.floats(0, 1),
    scale=st.sampled_from(["linear", "symlog", "log"]),
)
def test_inverse_and_order(bounds, share, scale):
    low, high = bounds if scale != "log" else (1e-290, max(map(abs, bounds)))
    scaler = BoundsScaler({0: (low, high, scale)})
    inside = min(low + share * (high / 2 - low / 2), high)
    X = np.array([[-np.inf], [low], [inside], [high], [np.inf], [np.nan]])
    unit = scaler.fit_transform(X)[:, 0]
    assert_allclose(unit[[0, 1, 3, 4, 5]], [-1, -1, 1, 1, 0], atol=1e-6)
    assert (np.diff(unit[:5]) >= 0).all() and np.abs(unit).max() <= 1
    back = scaler.inverse_transform(scaler.transform(X))[:, 0]
    assert low <= back.min() and back.max() <= high
    # On its scale, to a few units of rounding of the ends.
    there = {
        "linear": np.asarray,
        "log": np.log,
        "symlog": lambda x: np.sign(x) * np.log1p(np.abs(x)),
    }
    ends = np.abs(there[scale](np.array([low, high]))).max()
    assert_allclose(
        there[scale](back[1:4]), there[scale](X[1:4, 0]), rtol=0, atol=1e-14 * ends + 1e-15
    )


def test_known_values():
    found = TableEncoder(DECLARATION, contrasts="one-hot", missing="indicator").fit(frame())
    X = pd.DataFrame(found.transform(frame()) * np.sqrt(6), columns=found.get_feature_names_out())
    assert_allclose(X["age"], [-1, 1, 0, 0, -1], atol=1e-12)
    assert_allclose(X["age=missing"], [0, 0, 1, 0, 0], atol=1e-12)
    half = 2 * np.log(1000) / np.log(1e6 + 1) - 1
    assert_allclose(X["gain"], [-1, 0, 1, half, 0], atol=1e-12)
    assert_allclose(X["gain=missing"], [0, 1, 0, 0, 1], atol=1e-12)
    assert_allclose(X["rate"], [1, 0, -1, -1, 0.5], atol=1e-12)
    for name, kind in {
        "f": [1, 0, 0, 0, 1],
        "m": [0, 1, 0, 0, 0],
        "(other)": [0, 0, 1, 1, 0],
    }.items():
        assert_allclose(X[f"sex={name}"], kind, atol=1e-12)
    zones = X[[f"zone={z}" for z in (1, 2, 3, "(other)")]].to_numpy().argmax(axis=1)
    assert zones.tolist() == [0, 1, 3, 2, 3]
    assert X["member=True"].round(9).tolist() == [1, 0, 0, 1, 0]
    assert not [name for name in X if "note" in name]


def test_contrasts_have_the_inner_products_of_ones_without_the_constant():
    values = [["a"], ["b"], ["c"], ["?"]]
    ones = DeclaredEncoder(["a", "b", "c"]).fit_transform(values)
    contrasts = DeclaredEncoder(["a", "b", "c"], contrasts="helmert").fit_transform(values)
    centred = ones - ones.mean(axis=0)
    assert contrasts.shape == (4, 3)
    assert_allclose(contrasts @ contrasts.T, centred @ centred.T, atol=1e-14)
    names = DeclaredEncoder({0: ["a", "b"]}, contrasts="helmert").fit(values)
    assert names.get_feature_names_out().tolist() == ["x0:b", "x0:(other)"]


def test_as_scikit_learns_encoder_of_declared_categories():
    X = np.array([["a", "x"], ["b", "y"], ["?", "x"]], dtype=object)
    theirs = OneHotEncoder(
        categories=[["a", "b"], ["x", "y"]], handle_unknown="ignore", sparse_output=False
    )
    ours = DeclaredEncoder({0: ["a", "b"], 1: ["x", "y"]}, unknown="zero")
    assert_array_equal(ours.fit_transform(X), theirs.fit_transform(X))


@pytest.mark.parametrize("unknown", ["zero", "value"])
def test_sparse_output_holds_the_same(unknown):
    X = frame()[["sex", "zone"]]
    declared = {name: DECLARATION[name] for name in X}
    dense = DeclaredEncoder(declared, unknown=unknown).fit_transform(X)
    sparse = DeclaredEncoder(declared, unknown=unknown, sparse_output=True).fit_transform(X)
    assert issparse(sparse) and sparse.nnz == (dense != 0).sum()
    assert_array_equal(sparse.toarray(), dense)
    with pytest.raises(ValueError, match="sparse_output=True needs"):
        DeclaredEncoder(declared, contrasts="helmert", sparse_output=True).fit(X)


def test_unknown_values_are_refused_without_being_shown():
    encoder = DeclaredEncoder({"sex": ["f", "m"]}, unknown="refuse")
    with pytest.raises(ValueError, match="'sex' holds a value that is not") as error:
        encoder.fit_transform(pd.DataFrame({"sex": ["f", "SECRET"]}))
    assert "SECRET" not in str(error.value) and error.value.__context__ is None


@given(row=st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=30), norm=st.floats(1e-30, 1e30))
def test_clipped_rows(row, norm):
    clipper = RowNormClipper(norm=norm)
    (found,) = clipper.fit_transform([row])
    assert exact_squared_norm(found) <= Fraction(norm) ** 2 and clipper.row_norm_ == norm
    length = float(np.linalg.norm(np.array(row) / max(map(abs, row)))) if any(row) else 0.0
    if any(row) and length * (max(map(abs, row)) / norm) < 1 - 1e-12:
        assert found.tolist() == row
    elif any(row):
        assert_allclose(
            found, np.array(row) / max(map(abs, row)) * (norm / length), rtol=1e-12, atol=0
        )


def test_fit_reads_no_record():
    class Frame(pd.DataFrame):
        """Has names and a shape, and no cells for anybody."""

        def __getitem__(self, name):
            raise AssertionError("a cell was read")

    bare = Frame(frame())
    assert TableEncoder(DECLARATION).fit(bare).row_norm_ == 1.0
    with pytest.raises(AssertionError):
        TableEncoder(DECLARATION).fit_transform(bare)
    assert BoundsScaler((-1, 1)).fit([["no", "number"]]).row_norm_ >= np.sqrt(2)


@pytest.mark.parametrize(
    "transformer",
    [
        TableEncoder(DECLARATION, missing="indicator"),
        BoundsScaler({name: DECLARATION[name] for name in ("age", "gain", "rate")}),
        DeclaredEncoder({name: DECLARATION[name] for name in ("sex", "zone")}),
        RowNormClipper(),
    ],
    ids=lambda transformer: type(transformer).__name__,
)
def test_frames_copies_and_names(transformer):
    given = getattr(transformer, "bounds", getattr(transformer, "categories", None))
    X = frame() if given is None else frame()[[*given]]
    X = (
        pd.DataFrame({"a": [1.0, 2], "b": [3, 4.0]})
        if isinstance(transformer, RowNormClipper)
        else X
    )
    fitted = clone(transformer).fit(X)
    plain = fitted.transform(X)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), plain)
    framed = clone(transformer).set_output(transform="pandas").fit_transform(X)
    assert framed.columns.tolist() == fitted.get_feature_names_out().tolist()
    assert_array_equal(framed.to_numpy(), plain)
    assert max(map(exact_squared_norm, plain)) <= Fraction(fitted.row_norm_) ** 2
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(X[X.columns[::-1]])


def test_the_bound_is_known_before_fit_where_the_columns_are():
    assert (
        BoundsScaler({"a": (0, 1), "b": (0, 1)}).row_norm_
        == BoundsScaler((0, 1)).fit([[0, 0]]).row_norm_
    )
    pairs = {0: ["a", "b"], 1: ["c", "d"]}
    assert DeclaredEncoder(pairs, contrasts="helmert", unknown="zero").row_norm_ == pytest.approx(1)
    assert not hasattr(BoundsScaler(), "row_norm_") and not hasattr(DeclaredEncoder(), "row_norm_")


def test_columns_that_are_wrong_are_named():
    X = frame()
    with pytest.raises(ValueError, match=r"'Age' is declared.*\(did you mean 'age'\?\)"):
        TableEncoder({"Age": [0, 1]}).fit(X)
    with pytest.raises(ValueError, match="'b' has no declaration"):
        BoundsScaler({"a": [0, 1]}).fit(pd.DataFrame({"a": [0.0], "b": [0.0]}))
    with pytest.raises(ValueError, match="X has no names"):
        BoundsScaler({"a": [0, 1]}).fit([[0.0]])
    with pytest.raises(ValueError, match="declare it once"):
        BoundsScaler({"a": [0, 1], 0: [0, 1]}).fit(pd.DataFrame({"a": [0.0]}))
    with pytest.raises(ValueError, match="Column 7 is declared"):
        TableEncoder({7: [0, 1]}).fit(X)
    with pytest.raises(ValueError, match="declaration is empty"):
        TableEncoder({}).fit(X)
    with pytest.raises(ValueError, match="names a column twice"):
        TableEncoder((0, 1)).fit(pd.DataFrame([[0, 1]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="'when' holds dates"):
        TableEncoder({"when": [0, 1]}).fit_transform(
            pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])})
        )
    with pytest.raises(ValueError, match="columns that transform returns"):
        BoundsScaler((0, 1)).fit([[0.0]]).inverse_transform([[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"norm=-1 must be"):
        RowNormClipper(-1).fit([[0.0]])
