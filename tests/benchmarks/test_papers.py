"""The page of the papers' figures says what the committed files say, and has a line for each figure."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "benchmarks")
    papers = importlib.import_module("papers")

FIGURES = {
    *(
        "C 3.1",
        "C 3.2",
        "C 3.3",
        "C 3.4",
        "C 4.1, CL 1",
        "C 4.2, CL 2",
        "C 4.3, CL 3",
        "C 4.4, CL 4",
    ),
    *("C 5.1", "C 5.2", "C 5.3", "C 5.4", "C 5.5", "C 6.1", "C 6.2"),
    *("LK 1", "LK 2", "LK 3", "LK 4", "Z Table 3"),
}


def lines():
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][
        2:
    ]


def test_the_page_is_that_of_the_committed_files():
    remedy = "run `python benchmarks/papers.py` and commit docs/papers.md"
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == papers.page(), remedy


def test_there_is_a_line_for_each_figure_with_a_verdict_and_a_reason():
    assert {line[0] for line in lines()} == FIGURES and len(lines()) == len(FIGURES)
    for line in lines():
        assert len(line) == 6 and line[4] in ("whole", "part", "refuted", "not run") and line[5]
        assert (line[3] == "none") == (line[4] == "not run")


def test_each_command_is_there():
    for line in lines():
        for name in re.findall(r"`(\w+\.py)[^`]*`", line[1]):
            assert (ROOT / "benchmarks" / name).exists()


def test_above_counts_cells_where_the_first_is_above_all(monkeypatch):
    rows = [
        {"data": data, "method": method, "epsilon": epsilon, "accuracy": accuracy}
        for epsilon, data, first, second, third in (
            ("0.1", "a", 3, 2, 1),
            ("0.2", "a", 3, 2, 4),
            ("0.1", "b", 3, 3, 1),
            ("0.1", "c", 9, 2, 1),
        )
        for method, accuracy in (("x", first), ("y", second), ("z", third))
    ]
    monkeypatch.setattr(papers, "read", lambda name: rows)
    cells = papers.Cells("any")
    assert cells.above(("a", "b"), "x", ["y"]) == "2 of 3"
    assert cells.above(("a", "b"), "x", ["y", "z"]) == "1 of 3"
    assert papers.Cells("any", sign=-1).above(("a", "b"), "x", ["y", "z"]) == "0 of 3"
