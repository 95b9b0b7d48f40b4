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


def asked_of(generate, number, seed=7):
    return [generate.answered(i, seed) for i in range(number)]


def test_a_stopped_file_goes_on_and_a_longer_one_begins_with_a_shorter_one(
    yardstick, monkeypatch, tmp_path
):
    generate, score = yardstick
    file, packed = tmp_path / "some.jsonl", tmp_path / "some.jsonl.xz"
    file.write_text(json.dumps(generate.answered(0)) + '\n{"id": 1, "ki')
    monkeypatch.setattr(generate, "PACKED", packed)
    monkeypatch.setattr(
        sys, "argv", ["generate.py", "--scripts", "3", "--out", str(file), "--pack"]
    )
    generate.main()
    found = score.asked_of(file)
    assert found == score.asked_of(packed) == asked_of(generate, 3, generate.SEED)
    assert [asked["id"] for asked in found] == [0, 1, 2]


def test_an_enclosure_of_the_yardstick_is_below_the_price(yardstick):
    generate, _ = yardstick
    for asked in asked_of(generate, 4, 11):
        price = epsilon(generate.script_of(asked["script"]), asked["delta"], asked["neighbors"])
        assert 0 < asked["low"] < asked["high"] <= price * (1 + 1e-9)  # of ten digits


def test_who_is_below_the_truth_or_fails_is_told(yardstick, monkeypatch, tmp_path):
    generate, score = yardstick
    asked = asked_of(generate, 4)
    calls = itertools.count()

    def careless(question):
        turn = next(calls)
        if turn == 0:
            raise score.Outside("no theorem")
        if turn == 1:
            raise ZeroDivisionError
        return question["low"] * 0.9 if turn == 2 else question["high"] * 1.5

    monkeypatch.setitem(score.TOOLS, "careless", careless)
    found = score.collected(asked, ["skdp", "careless"], tmp_path / "answers.jsonl", 1)
    again = score.collected(asked, ["skdp", "careless"], tmp_path / "answers.jsonl", 1)
    assert found == again and next(calls) == 4  # asked once
    rows = [row for row in score.scored(asked, found) if row["kind"] == "all"]
    ours, theirs = rows
    assert (ours["answered"], ours["unsafe"], ours["failed"]) == (4, 0, 0)
    assert float(ours["worst slack"]) < 1e-3
    assert (theirs["answered"], theirs["unsafe"], theirs["failed"]) == (2, 1, 1)
    assert float(theirs["deepest"]) == pytest.approx(-0.1)
    assert float(theirs["worst slack"]) == pytest.approx(0.5)
    assert score.tighter(asked, found) == [("careless", 1, 0, 0.0)]


def test_what_is_not_installed_is_named(yardstick, monkeypatch, tmp_path, capsys):
    generate, score = yardstick
    monkeypatch.setitem(score.TOOLS, "no_such_library", lambda asked: 0.0)
    file = tmp_path / "some.jsonl"
    file.write_text("\n".join(json.dumps(asked) for asked in asked_of(generate, 2)))
    told = [
        "score.py",
        str(file),
        "--tools",
        "no_such_library",
        "skdp",
        "--out",
        str(tmp_path / "out.csv"),
        "--answers",
        str(tmp_path / "answers.jsonl"),
    ]
    monkeypatch.setattr(sys, "argv", told)
    score.main()
    assert "no_such_library: not installed" in capsys.readouterr().out
    assert (tmp_path / "out.csv").read_text().startswith("tool,")
