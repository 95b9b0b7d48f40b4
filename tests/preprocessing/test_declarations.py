"""A declaration is read in one way, or refused with the column's name before anything is fitted."""

import json

import numpy as np
import pytest

from skdp.datasets import load_csv
from skdp.preprocessing import BoundsScaler, DeclaredEncoder, TableEncoder
from skdp.preprocessing._declaration import (
    Categories,
    Numbers,
    did_you_mean,
    read_column,
    read_file,
)

READ = [
    ([17, 90], Numbers(17.0, 90.0)),
    ((0, 1e6, "symlog"), Numbers(0.0, 1e6, "symlog")),
    ([1, 8, "log"], Numbers(1.0, 8.0, "log")),
    (np.array([0.0, 2.0]), Numbers(0.0, 2.0)),
    ({"bounds": [0, 1]}, Numbers(0.0, 1.0)),
    ({"bounds": [1, 2], "scale": "log"}, Numbers(1.0, 2.0, "log")),
    (["f", " m "], Categories(("f", "m"))),
    ({"categories": ["17", "90"]}, Categories(("17", "90"))),
    ({"categories": [0, 1]}, Categories((0, 1))),
    ([1, 2, 3], Categories((1, 2, 3))),
    (["1", "2", "3"], Categories(("1", "2", "3"))),
    ([True, False], Categories((True, False))),
]
REFUSED = [
    (["17", "90"], "may be bounds in quotes"),
    ([17, "90"], "may be bounds in quotes"),
    (["17", "90", "symlog"], "may be bounds in quotes"),
    ([17], "a single value says nothing"),
    (["f;m"], r"did you mean ',' where it has ';'\?"),
    ([0, 1, "log10"], r"scale 'log10'.*\(did you mean 'log'\?\)"),
    ([0, 1, "Symlog"], r"did you mean 'symlog'\?"),
    ([0, 1, "log"], "needs low > 0"),
    ([90, 17], r"low < high \(did you mean \[17, 90\]\?\)"),
    ([1, 1], "low < high"),
    ([0, float("inf")], "must be finite"),
    ([float("nan"), 1], "must be finite"),
    ([0.0, 5e-324], "closer than a double can divide"),
    ([1e300, 1.0000000000000002e300, "log"], "closer than a double can divide"),
    (["a", "a"], "declares a category twice"),
    (["a", " a"], "declares a category twice"),
    (["a", 3, "b", 4], "a mix of text and numbers"),
    ([(17, 90), (0, 50)], "declare each column by its name"),
    (["a", None], "a mix of text and numbers"),
    ([1.0, float("nan"), 2.0, 3.0], "declares NaN"),
    ({"bounds": [0, 1], "scal": "log"}, "write"),
    ({"categories": "ab"}, "or the categories"),
    ([], "or the categories"),
    (3, "or the categories"),
    ("f,m", "or the categories"),
    (None, "or the categories"),
]


@pytest.mark.parametrize(("declared", "read"), READ, ids=str)
def test_read(declared, read):
    found = read_column("x", declared)
    assert found == read and read_column("x", found) is found


@pytest.mark.parametrize(("declared", "why"), REFUSED, ids=str)
def test_refused_with_the_column(declared, why, tmp_path):
    for read in (
        lambda: read_column("the column", declared),
        lambda: TableEncoder.from_declaration({"the column": declared}),
        lambda: load_csv(
            tmp_path / "absent.csv", target="y", bounds={"the column": declared, "y": ["a", "b"]}
        ),
    ):
        with pytest.raises(ValueError, match=why) as error:
            read()
        assert str(error.value).startswith("Column 'the column' ") and str(error.value).endswith(
            "."
        )


def test_printed_back_before_anything_is_fitted(tmp_path):
    declaration = {"age": [17, 90], "gain": [0, 1e6, "symlog"], "sex": ["f", "m"], "y": ["0", "1"]}
    told = "age   numbers from 17 to 90, linear\ngain  numbers from 0 to 1e+06, symlog\n"
    told += "sex   one of 2 values: 'f', 'm'"
    (tmp_path / "d.json").write_text(json.dumps(declaration))
    (tmp_path / "d.csv").write_text("age,17,90\ngain,0,1e6,symlog\nsex, f, m\ny,0,1\n")
    for given in (declaration, tmp_path / "d.json", str(tmp_path / "d.csv")):
        encoder = TableEncoder.from_declaration(given, target="y", missing="indicator")
        assert encoder.reading() == told and encoder.missing == "indicator"
    assert BoundsScaler((0, 255)).reading() == "every column  numbers from 0 to 255, linear"
    assert read_file(tmp_path / "d.csv")["y"] == [0.0, 1.0]
    (tmp_path / "codes.csv").write_text("code,1,2,3\nzone,1,2,3,4\n")
    assert read_file(tmp_path / "codes.csv") == {"code": [*"123"], "zone": [*"1234"]}


def test_wrong_names_and_wrong_kinds_are_named():
    with pytest.raises(ValueError, match=r"target 'Y' is not declared \(did you mean 'y'\?\)"):
        TableEncoder.from_declaration({"y": ["a", "b"], "x": [0, 1]}, target="Y")
    with pytest.raises(ValueError, match=r"Column 'sex' is declared as one of 2.*DeclaredEncoder"):
        BoundsScaler({"sex": ["f", "m"]}).reading()
    with pytest.raises(ValueError, match=r"Column 'age' is declared as numbers.*BoundsScaler"):
        DeclaredEncoder({"age": {"bounds": [0, 1]}}).reading()
    for wrong in (
        {"contrasts": "onehot"},
        {"unknown": "ignore"},
        {"missing": 2},
        {"missing": "no"},
    ):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"{name}={value!r}"):
            TableEncoder(**wrong).reading()
    assert did_you_mean("disease", ["Disease", "Age"]) == " (did you mean 'Disease'?)"
    assert did_you_mean("weight", ["Disease", "Age"]) == ""
