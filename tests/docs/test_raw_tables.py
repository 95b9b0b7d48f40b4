"""The page on raw tables does what it says, with a file as users have it, in at most twelve lines."""

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest
from docs.test_readme import ROOT, blocks
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import skdp
from skdp.preprocessing import TableEncoder

PAGE = (ROOT / "docs" / "raw_tables.md").read_text()
FIRST, NOTHING, SECOND, BOTH, CURVES, WAVES = blocks(PAGE, "python")


def messy(n=6000):
    """A census of missing fields, unknown values, words among numbers and blanks around words."""
    rng = np.random.default_rng(0)
    age, female = rng.integers(17, 91, n), rng.random(n) < 0.5
    gain = np.where(rng.random(n) < 0.9, 0, rng.integers(100, 99_999, n)).astype(object)
    rich = rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 8 - 2.0 * (gain > 0) + female))
    gain[rng.random(n) < 0.1] = "?"
    sex = np.where(female, " female", "male").astype(object)
    sex[rng.random(n) < 0.05] = "not said"
    zone = np.where(rng.random(n) < 0.1, np.nan, rng.integers(1, 5, n))
    income = np.where(rich, "high", "low")
    given = {"age": np.where(rng.random(n) < 0.05, np.nan, age), "gain": gain, "sex": sex}
    return pd.DataFrame({**given, "zone": zone, "note": "x", "income": income})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the page's two files."""
    messy().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "people.json").write_text(blocks(PAGE, "json")[0])
    monkeypatch.chdir(tmp_path)


def run(code, space):
    """What it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        exec(compile(code, "raw_tables.md", "exec"), space)
    return told.getvalue()


def test_from_a_file_to_scores_and_a_receipt_in_twelve_lines(here):
    assert len([line for line in FIRST.splitlines() if line.strip()]) <= 12
    space = {}
    told = run(FIRST, space)
    scores = np.array(told.split("]")[0].strip("[\n").split(), dtype=float)
    assert len(scores) == 3 and scores.min() > 0.7
    assert "PRIVATE as a whole" in told and "together epsilon = 0.5" in told
    assert "data_norm = 1.0" in told
    assert 0.5 < space["ledger"].spent <= 1.5
    assert np.linalg.norm(space["model"][0].transform(space["people"]), axis=1).max() <= 1
    told = run(NOTHING, space)
    assert "data_norm = none: bought" in told and space["model"].bounds_[0, 1] == 128
    told = run(SECOND, space)
    assert "column_counts" in told and (space["model"][0].bounds_[:, 1] >= [64, 0]).all()
    norm, private = run(BOTH, space).split()
    assert float(norm) == pytest.approx(np.sqrt(1 + 2 / 3)) and private == "True"
    size, epsilon = run(CURVES, space).split()
    assert 3 <= int(size) <= 13 and 0 < float(epsilon) <= 1
    count, name = run(WAVES, space).split(maxsplit=1)
    assert int(count) == 40 and name.startswith("sin20(")


def test_the_declaration_on_the_page_is_read_as_the_page_says():
    reading = TableEncoder.from_declaration(json.loads(blocks(PAGE, "json")[0])).reading()
    assert "age     numbers from 17 to 90, linear" in reading and "one of 3 values" in reading


def test_the_naive_pipeline_is_told_as_the_page_shows():
    scale, encode = StandardScaler(), OneHotEncoder(sparse_output=False)
    columns = ColumnTransformer([("scale", scale, ["age"]), ("encode", encode, ["sex"])])
    model = make_pipeline(columns, skdp.DPLogisticRegression(classes=["low", "high"]))
    told = str(skdp.check(model))
    assert f"```\n{told}\n```" in PAGE
