"""Public steps of scikit-learn behind a reader of files, which decides by all cells of a column what they are.

Beside one word numbers come as text, and beside one fraction as doubles: no step that `check` calls public may map the
rows of others otherwise then. A refusal of the whole table is admission, and moves nobody.
"""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from inspection.test_steps import NUMBERS, STEPS
from scipy import special
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

import skdp
from skdp.inspection._rules import is_elementwise

OTHERS = {
    "numbers": ("1", "2", "4000000000", "0"),
    "holes": ("1", "2", "", "0"),
    "codes": ("01", "02", "01", "0"),
    "booleans": ("True", "False", "True", "False"),
    "words": ("a", "b", "a", "b"),
}
LAST = ("1", "2.5", "x", "", "True")
UFUNCS = [
    function
    for module in (np, special)
    for function in vars(module).values()
    if isinstance(function, np.ufunc) and is_elementwise(function)
]


def rows_of(step, cells):
    """The rows of all records but the last, or None where the table is refused."""
    text = "\n".join(("value", *(f'"{cell}"' if cell == "" else cell for cell in cells)))
    table = pd.read_csv(io.StringIO(text), skip_blank_lines=False)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            rows = clone(step).fit(table).transform(table)
        except (ArithmeticError, TypeError, ValueError):
            return None
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    return _numbers(rows)[:-1]


def _numbers(rows):
    """What an estimator makes of cells: doubles, and a number of its own where there is none."""
    read = [[_number(cell) for cell in row] for row in rows.tolist()]
    return np.array(read, dtype=np.float64)


def _number(cell):
    try:
        return float(cell)
    except (TypeError, ValueError):  # text, or complex
        return -8.5 if isinstance(cell, str) else cell.real


def moved(step):
    """The kinds of columns in which the last cell changes the rows of others."""
    found = set()
    for kind, others in OTHERS.items():
        rows = [rows_of(step, (*others, last)) for last in LAST]
        rows = [one for one in rows if one is not None]
        if not all(np.array_equal(one, rows[0], equal_nan=True) for one in rows):
            found.add(kind)
    return found


PUBLIC = [
    step
    for name, (step, one, _) in STEPS.items()
    if one is NUMBERS and name not in ("FunctionTransformer", "SplineTransformer")
]


@pytest.mark.parametrize("step", PUBLIC, ids=lambda step: type(step).__name__)
def test_one_cell_moves_no_other_record(step):
    assert not moved(step)


@pytest.mark.parametrize(
    "step",
    [
        OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore"),
        OneHotEncoder(categories=[["a", "b", "x"]]),
        OrdinalEncoder(
            categories=[["a", "b"]], handle_unknown="use_encoded_value", unknown_value=-1
        ),
    ],
    ids=["one-hot", "one-hot or refused", "ordinal"],
)
def test_words_are_words_whatever_stands_beside_them(step):
    assert skdp.check(step).steps[0].verdict == "public"
    assert not moved(step)


@pytest.mark.parametrize("function", UFUNCS, ids=lambda function: function.__name__)
def test_functions_take_a_number_alike_whatever_its_type(function):
    assert not moved(FunctionTransformer(function))


MOVE = {
    "cut to whole numbers": AdditiveChi2Sampler(),
    "numbers as categories": OneHotEncoder(categories=[[1, 2]], handle_unknown="ignore"),
    "ordinal numbers": OrdinalEncoder(
        categories=[[1, 2]], handle_unknown="use_encoded_value", unknown_value=-1
    ),
    "booleans as words": OneHotEncoder(
        categories=[["True", "False", "x"]], handle_unknown="ignore"
    ),
    "constant by type": SimpleImputer(strategy="constant", keep_empty_features=True),
    "integers divided": FunctionTransformer(np.reciprocal),
    "integers squared": FunctionTransformer(np.square),
}


@pytest.mark.parametrize("name", MOVE)
def test_what_follows_the_type_of_a_column_is_not_public(name):
    assert moved(MOVE[name])
    model = make_pipeline(MOVE[name], skdp.DPLogisticRegression(classes=[0, 1]))
    assert skdp.check(MOVE[name]).steps[0].verdict in ("learns", "unknown")
    assert not skdp.check(model).private
