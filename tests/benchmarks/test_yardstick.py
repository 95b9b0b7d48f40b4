"""The yardstick of accountants: its questions can be asked again, and who is below the truth is told."""

import importlib
import itertools
import json
import sys
from pathlib import Path

import pytest

from skdp.privacy import epsilon

FOLDER = Path(__file__).parents[2] / "benchmarks" / "accounting_yardstick"


@pytest.fixture
def yardstick(monkeypatch):
    """Both files, as they find each other where they are run."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield tuple(importlib.import_module(name) for name in ("generate", "score"))
    for name in ("generate", "score"):
        sys.modules.pop(name)


def test_a_seed_gives_the_same_questions_and_a_longer_file_begins_with_a_shorter_one(yardstick):
    generate, _ = yardstick
    short = list(generate.questions(3, 7))
    assert list(generate.questions(2, 7)) == short[:2]
    assert [asked["id"] for asked in short] == [0, 1, 2]
    assert json.loads(json.dumps(short)) == short


def test_an_enclosure_of_the_yardstick_is_below_the_price(yardstick):
    generate, _ = yardstick
    for asked in generate.questions(4, 11):
        price = epsilon(generate.script_of(asked["script"]), asked["delta"], asked["neighbors"])
        assert 0 < asked["low"] < asked["high"] <= price


def test_who_is_below_the_truth_or_fails_is_told(yardstick, monkeypatch):
    generate, score = yardstick
    asked = list(generate.questions(4, 7))
    calls = itertools.count()

    def careless(question):
        turn = next(calls)
        if turn == 0:
            raise score.Outside("no theorem")
        if turn == 1:
            raise ZeroDivisionError
        return question["low"] * 0.9 if turn == 2 else question["high"] * 1.5

    monkeypatch.setitem(score.TOOLS, "careless", careless)
    ours, theirs = (
        next(row for row in score.scored(asked, [name]) if row["kind"] == "all")
        for name in ("skdp", "careless")
    )
    assert (ours["answered"], ours["unsafe"], ours["failed"]) == (4, 0, 0)
    assert float(ours["worst slack"]) < 1e-3
    assert (theirs["answered"], theirs["unsafe"], theirs["failed"]) == (2, 1, 1)
    assert float(theirs["deepest"]) == pytest.approx(-0.1)
    assert float(theirs["worst slack"]) == pytest.approx(0.5)


def test_what_is_not_installed_is_named(yardstick, monkeypatch, tmp_path, capsys):
    generate, score = yardstick
    monkeypatch.setitem(score.TOOLS, "no_such_library", lambda asked: 0.0)
    file = tmp_path / "some.jsonl"
    file.write_text("\n".join(json.dumps(asked) for asked in generate.questions(2, 7)))
    told = [
        "score.py",
        str(file),
        "--tools",
        "no_such_library",
        "skdp",
        "--out",
        str(tmp_path / "out.csv"),
    ]
    monkeypatch.setattr(sys, "argv", told)
    score.main()
    assert "no_such_library: not installed" in capsys.readouterr().out
    assert (tmp_path / "out.csv").read_text().startswith("tool,")
