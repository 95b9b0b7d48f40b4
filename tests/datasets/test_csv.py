"""A user's csv: what is declared counts, and nothing else of the file is looked at."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from skdp.datasets import _fetch, load_csv
from skdp.preprocessing import TableEncoder

HEADER = "age, sex,note,wage,income\n"
LINES = '41, female,"a, b",1e4,high\n200,male,,?,low\n\n,other,x,-3,low \n'
DECLARATION = {
    "age": [0, 100],
    "wage": [-1e6, 1e6, "symlog"],
    "sex": ["female", "male"],
    "income": ["low", "high"],
}


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(HEADER + LINES)
    return path


def test_declared_columns_and_their_rules(people):
    table = load_csv(people, target="income", bounds=DECLARATION)
    assert table.feature_names == ("age", "wage", "sex")
    assert table.target.tolist() == [1, 0, 0] and table.target_names == ("low", "high")
    assert table.symlog == {"wage"}
    assert table.reading().splitlines() == [
        "age   numbers from 0 to 100, linear",
        "wage  numbers from -1e+06 to 1e+06, symlog",
        "sex   one of 2 values: 'female', 'male'",
    ]
    X = table.encode() * np.sqrt(3)
    # Out of bounds is clipped, missing is the midpoint, an undeclared category is empty.
    np.testing.assert_allclose(X[:, 0], [-0.18, 1, 0], atol=1e-12)
    np.testing.assert_allclose(X[1:, 1], [0, -np.log(4) / np.log(1e6 + 1)], atol=1e-12)
    np.testing.assert_allclose(X[:, 2:], [[1, 0], [0, 1], [0, 0]], atol=1e-12)


def test_cells_and_labels_are_read_as_encoders_read_them(tmp_path):
    """As numbers where they spell one, whatever their spelling; and floats of many digits stay apart."""
    path = tmp_path / "spelled.csv"
    path.write_text("zone,member,y\n01,TRUE,1\n 1.0,true,01\n2,0,0\nNA,no,-0\n1234568,1,+1\n")
    zones = {"categories": [1.0, 1234567.0, 1234568.0]}
    declared = {"zone": zones, "member": [True, False], "y": [0, 1]}
    table = load_csv(path, target="y", bounds=declared)
    assert table.target.tolist() == [1, 1, 0, 0, 1]
    assert table.categories["zone"] == ("1", "1234567.0", "1234568.0")
    ours = TableEncoder(table.declaration, contrasts="one-hot", unknown="zero")
    for given in ({}, {"dtype": str}):
        X = ours.fit_transform(pd.read_csv(path, **given))
        np.testing.assert_array_equal(table.encode(), X)
    assert X[:, 0].astype(bool).tolist() == [True, True, False, False, False]
    with pytest.raises(ValueError, match="'01' and '1' are the same cell"):
        load_csv(path, target="y", bounds={**declared, "y": ["01", "1"]})


@pytest.mark.parametrize("form", ["json", "csv"])
def test_declaration_files(people, tmp_path, form):
    path = tmp_path / f"bounds.{form}"
    lines = ["age,0,100", "wage,-1e6,1e6,symlog", "sex, female, male", "income,low,high"]
    path.write_text(json.dumps(DECLARATION) if form == "json" else "\n".join(lines))
    from_file = load_csv(people, target="income", bounds=path)
    direct = load_csv(people, target="income", bounds=DECLARATION)
    assert from_file.symlog == direct.symlog and from_file.categories == direct.categories
    assert (from_file.encode() == direct.encode()).all()


def test_numeric_labels(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x,y\n0.5,0\n0.1,1\n")
    for bounds in ({"x": [0, 1], "y": [0, 1]}, {"x": [0, 1], "y": ["0", "1"]}):
        assert load_csv(path, target="y", bounds=bounds).target.tolist() == [0, 1]
    (tmp_path / "b.csv").write_text("x,0,1\ny,0,1\n")
    assert load_csv(path, target="y", bounds=tmp_path / "b.csv").target.tolist() == [0, 1]


def test_blocks_are_joined(people, monkeypatch):
    whole = load_csv(people, target="income", bounds=DECLARATION).encode()
    monkeypatch.setattr(_fetch, "_BLOCK", 1)
    assert (load_csv(people, target="income", bounds=DECLARATION).encode() == whole).all()


def refused(text, change, tmp_path):
    path = tmp_path / "secret.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError) as error:
        load_csv(path, target="income", bounds=DECLARATION | change)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (HEADER + "41,female,n,1,SECRET\n", {}, "holds a label other than the declared"),
        (HEADER + "41,SECRET\n", {}, "must have the 5 fields"),
        (HEADER + f'41,"SECRET{"x" * 200_000}\n', {}, "not a valid csv"),
        (HEADER + "41,female,SECRET\xe9,1,high\n", {"absent": [0, 1]}, "'absent' is declared, but"),
        (HEADER + LINES, {"sex": ["female", "female"]}, "declares a category twice"),
        (HEADER + LINES, {"income": ["low", "high", "low"]}, "declares a category twice"),
        (HEADER + LINES, {"age": 3}, "write .low, high. or the categories"),
        ("age,age,income\n", {}, "name every column once"),
        ("", {}, "name every column once"),
    ],
)
def test_refusals_show_no_record(text, change, message, tmp_path):
    said = refused(text, change, tmp_path)
    assert re.search(message, said) and "SECRET" not in said


def test_target_and_columns_must_be_declared(people):
    with pytest.raises(ValueError, match="target 'note' has no declaration"):
        load_csv(people, target="note", bounds=DECLARATION)
    with pytest.raises(ValueError, match="Only the target is declared"):
        load_csv(people, target="income", bounds={"income": ["low", "high"]})


def test_broken_json_is_named(people, tmp_path):
    (tmp_path / "bounds.json").write_text('{"age": [0, 1')
    with pytest.raises(ValueError, match=r"bounds\.json is not valid JSON"):
        load_csv(people, target="income", bounds=tmp_path / "bounds.json")
