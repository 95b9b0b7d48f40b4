"""``python -m skdp``, called as a function: the table, the notes, the refusals."""

import json
import os
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest

import skdp
from skdp import _demo
from skdp._show_versions import versions
from skdp.datasets import make_census


def rows(text):
    """The printed table: name to accuracy and AUC."""
    figure = r" +(\d\.\d{4})(?: \+- \d\.\d{4})?"
    found = re.findall(rf"^ *(\S.*?){figure}{figure} +[\d.]+$", text, re.MULTILINE)
    return {name: (float(accuracy), float(auc)) for name, accuracy, auc in found}


@pytest.fixture
def census_csv(tmp_path):
    """Three hundred generated rows as a user's file, with its declaration."""
    table = make_census(300)
    names = (*table.columns, "income")
    labels = np.array(table.target_names)[table.target]
    lines = [",".join(map(str, row)) for row in zip(*table.columns.values(), labels)]
    (tmp_path / "people.csv").write_text("\n".join([",".join(names), *lines]))
    declared = {**table.bounds, **table.categories, "income": table.target_names}
    (tmp_path / "bounds.json").write_text(json.dumps(declared))
    files = ["--csv", str(tmp_path / "people.csv"), "--bounds", str(tmp_path / "bounds.json")]
    return [*files, "--target", "income"]


def test_default_epsilons_and_baselines(capsys):
    assert _demo.main(["--n-samples", "4000", "--seed", "0", "--draws", "2"]) == 0
    out, err = capsys.readouterr()
    names = ["majority", "0.1", "0.25", "0.5", "1", "2", "4", "no privacy"]
    assert list(rows(out)) == names
    assert err.count("/8]") == 8
    table = rows(out)
    assert table["majority"][1] == 0.5 and 0.7 < table["majority"][0] < 0.8
    # Privacy costs, and buys more than nothing.
    assert 0.6 < table["4"][1] <= table["no privacy"][1] + 0.02
    assert "seeded" in out and "costs the sum" in out and "held-out" not in out
    assert "Treated as public" not in out


def test_draws_have_noise_of_their_own_and_are_drawn(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    picture = tmp_path / "cost.png"
    given = ["--n-samples", "1000", "--epsilon", "0.5", "--draws", "3", "--seed", "0"]
    assert _demo.main([*given, "--plot", str(picture)]) == 0
    (spread,) = re.findall(r"^ +0\.5 .*\+- (\S+) +\S+$", capsys.readouterr().out, re.MULTILINE)
    assert float(spread) > 0 and picture.read_bytes().startswith(b"\x89PNG")


def test_rows_without_a_class_are_left_out_where_their_number_is_private(census_csv, capsys):
    path = census_csv[1]
    with open(path, "a") as file:
        file.write("\n" + ",".join(["40"] * 13 + [""]))
    assert _demo.main([*census_csv, "--epsilon", "1"]) == 2
    assert "drop_unlabelled=True" in capsys.readouterr().err
    given = [*census_csv, "--drop-unlabelled", "--epsilon", "1", "--draws", "1"]
    with pytest.raises(SystemExit):
        _demo.main(given)
    assert "--neighbors add_remove" in capsys.readouterr().err
    assert _demo.main([*given, "--neighbors", "add_remove"]) == 0
    declared = {**make_census(10).bounds, "income": make_census(10).target_names}
    read = {"target": "income", "bounds": declared}
    assert len(skdp.datasets.load_csv(path, **read, drop_unlabelled=True).target) == 300


def test_generated_table_is_reported_with_its_size(capsys):
    assert (
        _demo.main(["--n-samples", "1000", "--epsilon", "1", "--delta", "1e-5", "--draws", "1"])
        == 0
    )
    out = capsys.readouterr().out
    assert "census: 800 training rows" in out and "delta=1e-05" in out and "seeded" not in out


def test_csv_says_that_scores_are_not_private(census_csv, capsys):
    assert _demo.main([*census_csv, "--epsilon", "1", "2"]) == 0
    out, err = capsys.readouterr()
    assert (
        err.startswith("The declaration was read as follows:\nage ")
        and "numbers from 17 to 90" in err
    )
    assert list(rows(out)) == ["majority", "1", "2", "no privacy"]
    assert "held-out records WITHOUT noise" in out and "people.csv: 240 training rows" in out


def test_the_number_of_records_is_private_under_add_remove(census_csv, capsys):
    assert _demo.main([*census_csv, "--epsilon", "1", "--neighbors", "add_remove"]) == 0
    assert "240" not in capsys.readouterr().out


def test_no_scores_prints_only_what_is_paid_for(census_csv, capsys):
    assert _demo.main([*census_csv, "--epsilon", "2", "--no-scores"]) == 0
    out = capsys.readouterr().out
    assert "column,coefficient" in out and "occupation=manager," in out and "(intercept)," in out
    assert "accuracy" not in out and "no privacy" not in out and "majority" not in out
    assert len(out.split("column,coefficient\n")[1].splitlines()) == 46 + 1


def test_no_scores_never_predicts_nor_fits_without_privacy(census_csv, monkeypatch):
    def refuse(*arguments, **keywords):
        raise AssertionError("a record was used outside the private fit")

    monkeypatch.setattr(_demo, "LogisticRegression", refuse)
    monkeypatch.setattr(_demo, "DummyClassifier", refuse)
    monkeypatch.setattr(skdp.DPLogisticRegression, "predict_proba", refuse)
    assert _demo.main([*census_csv, "--epsilon", "2", "--no-scores"]) == 0
    with pytest.raises(AssertionError, match="outside the private fit"):
        _demo.main([*census_csv, "--epsilon", "2"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--csv", "x.csv"], "--csv needs --target and --bounds"),
        (["--csv", "x.csv", "--data", "adult"], "exclude each other"),
        (["--target", "y"], "describe a --csv file"),
        (["--no-scores"], "give it one --epsilon"),
        (["--no-scores", "--plot", "x.png"], "leave one out"),
        (["--draws", "0"], "at least 1; got 0"),
        (["--data", "unknown"], "invalid choice"),
    ],
)
def test_arguments_refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        _demo.main(arguments)
    assert stop.value.code == 2 and message in capsys.readouterr().err


def test_errors_are_one_line_without_a_traceback(tmp_path, capsys):
    files = ["--csv", str(tmp_path / "absent.csv"), "--bounds", str(tmp_path / "b.json")]
    assert _demo.main([*files, "--target", "y"]) == 2
    assert _demo.main(["--n-samples", "100", "--epsilon", "-1"]) == 2
    err = capsys.readouterr().err
    assert "error: [Errno 2]" in err and "-1" in err and "Traceback" not in err


@pytest.mark.skipif(not os.environ.get("SKDP_DATA"), reason="set SKDP_DATA for the public tables")
def test_public_table(capsys):
    assert _demo.main(["--data", "adult", "--epsilon", "1", "--seed", "0"]) == 0
    out = capsys.readouterr().out
    table = rows(out)
    assert "Treated as public" in out and "the ranges of capital_loss, fnlwgt." in out
    assert table["1"][0] > table["majority"][0] and table["1"][1] > 0.85


def test_module_runs_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skdp", "--help"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("skdp", run_name="__main__")
    assert stop.value.code == 0 and "--no-scores" in capsys.readouterr().out


def test_show_versions(capsys):
    skdp.show_versions()
    out = capsys.readouterr().out
    assert all(f"{name}: {value}" in out for name, value in versions().items())
    assert versions()["numpy"] == np.__version__


def test_the_first_command_warns_of_nothing():
    """In a process of its own, as a user runs it: six fits, whose costs the notes tell."""
    command = [sys.executable, "-W", "error", "-m", "skdp", "--n-samples", "4000", "--draws", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
