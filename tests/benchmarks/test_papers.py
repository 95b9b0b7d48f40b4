"""The command of the papers: it keeps what was measured, counts what is claimed, and its page is that of its files."""

import csv
import importlib
import itertools
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from skdp.privacy import accountants
from skdp.privacy.events import PoissonGaussian

ROOT = Path(__file__).parents[2]

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "benchmarks")
    command = importlib.import_module("papers.command")
    figure_module = importlib.import_module("papers._figure")
    methods = importlib.import_module("papers._methods")
    page = importlib.import_module("papers.page")
    registry = importlib.import_module("papers._registry")

NAMES = {
    *(f"C 3.{k}" for k in range(1, 5)),
    *(f"C 4.{k}" for k in range(1, 5)),
    *(f"C 5.{k}" for k in range(1, 6)),
    *("C 6.1", "C 6.2", "LK 1", "LK 2", "LK 3", "LK 4", "Z Table 3"),
}


def tables():
    """The rows of each table of the page, by its heading."""
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return {
        title: [
            [cell.strip() for cell in line.strip("|").split(" | ")]
            for line in body.splitlines()
            if line.startswith("| ")
        ][2:]
        for title, body in zip(parts[::2], parts[1::2])
    }


def test_the_page_is_that_of_the_committed_files():
    remedy = "run `python -m benchmarks.papers page` and commit docs/papers.md"
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == page.page(), remedy


def test_there_is_a_line_for_each_figure_and_each_claim():
    found = tables()
    assert {line[0] for line in found["Figures and tables"]} == NAMES == set(registry.FIGURES)
    claims = sum(len(figure.claims) for figure in registry.FIGURES.values())
    assert len(found["Orderings"]) == claims
    for line in found["Figures and tables"]:
        assert line[-2] in page.VERDICTS and line[-1]
        assert (line[3] == "") == (line[-2] == "missing")
    assert all(line[-2] in page.VERDICTS and line[-1] for line in found["Orderings"])


def test_all_129_items_have_a_verdict_and_all_but_whole_ones_a_reason():
    items = tables()["All items of the documents"]
    assert [line[0] for line in items] == [str(k) for k in range(1, 130)]
    assert all(len(line) == 6 and line[4] in page.VERDICTS for line in items)
    assert all(line[5] for line in items if line[4] != "whole")


def test_every_printed_number_of_table_3_stands_beside_ours():
    lines = tables()["Table 3 of Zhang et al."]
    assert len(lines) == 40 and {len(line) for line in lines} == {12}
    given = {"data": "wine", "lambda": 0.5, "setting": "document", "epsilon": 2.0}
    rows = [
        given | {"method": method, "objective": error, "true_epsilon": 0.5, "fit_seconds": 0.1}
        for method, error in (("OutPert-GD", 0.001), ("OutPert-GD", 0.002), ("SGD", 0.5))
    ]
    told = [line for line in page.beside_printed(rows) if "0.0015" in line]
    assert told == [
        "| wine | 0.5 | 2.0 | 0.0024 | 0.0015 | 1.6 | 0.5 | 5.3811 | 0.5 | 0.5 | 0.1812 | 0.1 |"
    ]


@dataclass(frozen=True)
class Made(figure_module.Figure):
    """A figure whose scores are given by its cell."""

    measured: list = field(default_factory=list)

    def measure(self, cell):
        self.measured.append(cell)
        return {"neighbors": "replace_one", "delta": 0.0, "accuracy": cell["repetition"] / 2}

    def draw(self, rows, path):
        path.write_text("drawn")


@pytest.fixture
def made(monkeypatch, tmp_path):
    monkeypatch.setattr(figure_module, "FOLDER", tmp_path)
    axes = {"method": ("a", "b"), "epsilon": (0.1, 1.0)}
    return Made("X 1.1", "any", repetitions=3, axes=axes)


def test_a_run_goes_on_where_it_was(made):
    few = figure_module.Sizes(methods=("a",), repetitions=2)
    assert len(figure_module.run(made, few)) == 4 == len(made.measured)
    rows = figure_module.run(made)
    assert len(rows) == 12 == len(made.measured)
    assert figure_module.run(made) == figure_module.read(made) and len(made.measured) == 12
    assert made.picture.read_text() == "drawn"
    names = {"method", "epsilon", "repetition", "neighbors", "delta", "seconds", "versions"}
    assert names < set(rows[0]) and all("numpy" in row["versions"] for row in rows)
    keys = {(row["method"], row["epsilon"], row["repetition"]) for row in rows}
    assert len(keys) == 12


def test_what_two_figures_share_is_measured_once(made):
    figure_module.run(made)
    axes = {"method": ("b", "c"), "epsilon": (1.0, 2.0)}
    other = Made("X 1.2", "any", repetitions=3, axes=axes, same="X 1.1")
    rows = figure_module.run(other)
    assert len(rows) == 12 and len(other.measured) == 9
    assert len({(row["method"], row["epsilon"], row["repetition"]) for row in rows}) == 12


def test_claims_are_counted_in_pairs_and_against_the_best_rival():
    scores = {  # by data: first, then two rivals, of three repetitions
        "won": ([0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.1, 0.9, 0.2]),
        "lost": ([0.5, 0.5, 0.5], [0.1, 0.1, 0.1], [0.6, 0.6, 0.61]),
        "open": ([0.5, 0.7, 0.6], [0.6, 0.6, 0.59], [0.0, 0.0, 0.0]),
    }
    rows = [
        {"data": name, "method": method, "setting": "ours", "epsilon": 1.0, "repetition": r, "accuracy": x}
        for name, of in scores.items()
        for method, values in zip("xyz", of)
        for r, x in enumerate(values)
    ]  # fmt: skip
    claim = figure_module.Claim("", "x", ("y", "z"), "")
    found = figure_module.count(claim, rows, "ours", ("data",))
    assert (found.won, found.cells, found.clearly, found.lost) == (2, 3, 1, 1)
    assert found.mean == pytest.approx(np.mean([0.1, -0.31 / 3, 0.01 / 3]))
    assert page.verdict_of([found, found]) == "part"
    assert str(figure_module.count(claim, rows, "document", ("data",))) == "not run"
    twins = figure_module.Claim("", "x", ("x",), "")
    assert "one method" in str(figure_module.count(twins, rows, "ours", ("data",)))
    below = figure_module.Claim("", "x", ("y",), "", most=0.5)
    assert figure_module.count(below, rows, "ours", ("data",)).cells == 0


def test_the_command_names_what_it_does_not_know():
    with pytest.raises(SystemExit, match=r"'C 9.9' is no figure; known are C 3.1"):
        command.main(["run", "C 9.9"])


@pytest.mark.parametrize("shares, verdict", [((9, 8), "whole"), ((2, 0), "refuted"), ((9, 1), "part")])  # fmt: skip
def test_verdicts_are_by_both_prices(shares, verdict):
    counts = [figure_module.Counts(won, 10, 0, 0, 0.0, 0.0) for won in shares]
    assert page.verdict_of(counts) == verdict


def test_advanced_composition_is_safe_and_loose():
    """Its noise holds the epsilon that it is for, many times over; and a step alone is worth what it is said to be."""
    epsilon, delta, rate, steps = 0.4, 1e-8, 0.005, 1000
    noise = methods.advanced_composition(epsilon, delta, rate, steps)
    true = accountants.epsilon(((PoissonGaussian(noise, rate), steps),), delta, "replace_one")
    assert 0 < true < 0.25 * epsilon
    alone = 2.0 * math.sqrt(2.0 * math.log(2.5 * steps * rate / delta)) / noise
    step = math.log1p(rate * math.expm1(alone))
    total = step * math.sqrt(2 * steps * math.log(2 / delta)) + steps * step * math.expm1(step)
    assert total == pytest.approx(epsilon, rel=1e-6)


def test_no_committed_svm_of_the_defaults_falls_with_epsilon():
    """A clip that shortens every record did that: accuracy went down to the majority's as noise did."""
    path = ROOT / "benchmarks" / "results" / "gradient_solvers.csv"
    found = {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["method"].startswith("l2/svm/"):
            error = float(row["accuracy_sd"]) / math.sqrt(float(row["runs"]) - 1)
            place = row["data"], row["method"]
            found.setdefault(place, []).append(
                (float(row["epsilon"]), float(row["accuracy"]), error)
            )
    assert len(found) >= 4
    for points in found.values():
        for (_, before, error), (_, after, other) in itertools.pairwise(sorted(points)):
            assert after >= before - 2 * math.hypot(error, other)
