"""Accuracy by epsilon before any record is read; the page that says how to choose."""

import contextlib
import io
import warnings

import numpy as np
import pytest
from docs.test_readme import ROOT, blocks

import skdp
from skdp import DPLinearSVC
from skdp.datasets._table import cells_as_declared
from skdp.preprocessing._declaration import read_column
from skdp.privacy import Ledger

COLUMNS = {
    "age": [17, 90],
    "gain": [1, 1e6, "log"],
    "loss": [-1e5, 1e6, "symlog"],
    "sex": ["f", "m"],
    "rich": ["no", "yes"],
}


def test_more_epsilon_and_more_records_are_more_accurate():
    small, large = (
        skdp.simulate(COLUMNS, n, [0.02, 3.0], target="rich", repeats=4) for n in (500, 5000)
    )
    assert small.accuracy.shape == (2, 4) and 0.7 < small.best < 0.9
    assert small.accuracy[0].mean() < small.accuracy[1].mean() <= small.best + 0.03
    assert small.accuracy[0].mean() < large.accuracy[0].mean()
    assert abs(large.accuracy[1].mean() - large.best) < 0.03
    assert "epsilon 0.02" in str(small) and "500 generated records" in str(small)


def test_accuracy_is_of_records_that_no_fit_has_seen():
    """Fits that know their few records by heart do no better on others than the score that labels were drawn by."""
    columns = {f"x{j}": [0, 1] for j in range(40)}
    found = skdp.simulate(columns, 60, [1e6], repeats=3, signal=0.3)
    assert found.best < 0.6 and found.accuracy.max() <= found.best + 0.02


def test_cells_are_as_declared():
    declared = [read_column(name, given) for name, given in COLUMNS.items()]
    cells = cells_as_declared(declared, 4000, (0,))
    for j, (low, high, *_) in enumerate(list(COLUMNS.values())[:3]):
        column = cells[:, j].astype(float)
        assert low <= column.min() and column.max() <= high
    assert 400 < np.median(cells[:, 1].astype(float)) < 2500  # evenly on the scale
    assert set(cells[:, 3]) == {"f", "m"}


def test_it_repeats_itself_charges_nobody_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with skdp.budget(1.0, 1e-5) as held:
            ledger = Ledger(1.0, 1e-5)
            first, again = (
                skdp.simulate(COLUMNS, 300, [1.0], estimator=DPLinearSVC(ledger=ledger), repeats=2)
                for _ in range(2)
            )
    assert np.array_equal(first.accuracy, again.accuracy)
    assert ledger.spent == 0.0 == held.spent


def test_a_picture():
    pytest.importorskip("matplotlib").use("Agg")
    ax = skdp.simulate(COLUMNS, 300, [0.5, 1.0], repeats=2).plot()
    assert "n = 300" in ax.get_ylabel() and ax.get_xscale() == "log"


@pytest.mark.parametrize(
    ("given", "told"),
    [({"repeats": 1}, "repeats=1"), ({"estimator": 3}, "int"), ({"target": "x"}, "'x'")],
)
def test_what_is_wrong_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        skdp.simulate(COLUMNS, 300, **given)


def test_the_page_says_what_comes_out():
    page = (ROOT / "docs" / "choose.md").read_text()
    with contextlib.redirect_stdout(io.StringIO()) as told:
        exec(compile(blocks(page, "python")[0], "choose.md", "exec"), {})
    assert told.getvalue().count("at best") == 2
    for epsilon, caught in ((0.1, "5.4"), (1.0, "8.6"), (10.0, "90")):
        said = (
            skdp.DPLogisticRegression(epsilon=epsilon, data_norm=1.0).quote(30_000, 3).statement()
        )
        found = float(said.split("can be right about at most ")[1].split()[0])
        assert float(caught) == pytest.approx(found, rel=0.011)
        assert f"| {epsilon:g} | {caught} |" in page
