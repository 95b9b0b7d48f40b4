"""`py.typed` is true: a strict check of a user's script finds nothing, and finds each of its mistakes."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import skdp

pytest.importorskip("mypy", reason="types are checked by mypy")

CLIENT = Path(__file__).with_name("client.py")
# scikit-learn ships no types, of which mypy wants to be told; errors of skdp itself are for the package's own check.
CONFIG = """
[mypy]
strict = true
[mypy-sklearn.*]
ignore_missing_imports = true
[mypy-skdp.*]
follow_imports = silent
"""
ERROR = re.compile(r"^(\w+)\.py:(\d+): error: .*\[([a-z-]+)\]$", re.MULTILINE)

# What is written instead of what, and the kind of error that it is.
MISTAKES = {
    "text_for_a_count": ("own.quote(100, 2)", 'own.quote("a", 3)', "arg-type"),
    "unknown_parameter_of_a_solver": (
        "GD(steps=50, momentum=",
        "GD(steps=50, inertia=",
        "call-arg",
    ),
    "wrong_type_of_a_solvers_parameter": ("AGD(splits=10", 'AGD(splits="ten"', "arg-type"),
    "text_for_epsilon": ("epsilon=1.0,", 'epsilon="1.0",', "arg-type"),
    "parameter_without_a_name": ("DPLinearSVC(epsilon=1.0", "DPLinearSVC(1.0", "call-arg"),
    "unknown_parameter_of_an_estimator": ("h=0.3, data_norm", "width=0.3, data_norm", "call-arg"),
    "number_for_a_ledger": ("ledger=ledger,", "ledger=3.0,", "arg-type"),
    "text_for_rows": ("predict_proba(X_test)", "predict_proba(None)", "arg-type"),
    "rows_for_a_table": ('study(table.drop("region"))', "study(rows)", "arg-type"),
    "unknown_fact_of_a_receipt": ("receipt.epsilon\n", "receipt.epsilons\n", "attr-defined"),
    "penalty_for_a_loss": ('LOSSES["hinge"]()', "L2()", "list-item"),
    "text_for_a_step": ("step=0.5", 'step="0.5"', "arg-type"),
    "text_for_a_promise": ("noise_multiplier(1.0", 'noise_multiplier("1.0"', "arg-type"),
    "number_for_an_event": ("charge(PureDP(0.9))", "charge(0.9)", "arg-type"),
    "text_for_runs": ("n_runs=40", 'n_runs="40"', "arg-type"),
    "solver_that_wants_more": ("budget: Budget)", "budget: Budget, n: int)", "override"),
    "solver_that_wants_records": ("oracle.public.n\n", "oracle.records\n", "attr-defined"),
    "slope_that_may_be_none": (".mean()) / bound", ".mean()) / slope", "operator"),
}


def with_mistake(name):
    """The script with one mistake, and the line of it."""
    right, wrong, _ = MISTAKES[name]
    source = CLIENT.read_text(encoding="utf-8")
    before, found, after = source.partition(right)
    assert found, f"the script holds no {right!r}"
    return before + wrong + after, before.count("\n") + 1


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """(line, kind) of all that mypy finds, by script: one run over the script and its copies."""
    folder = tmp_path_factory.mktemp("typing")
    (folder / "mypy.ini").write_text(CONFIG)
    scripts = {"client": CLIENT.read_text(encoding="utf-8")}
    scripts |= {name: with_mistake(name)[0] for name in MISTAKES}
    for name, source in scripts.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    home = Path(skdp.__file__).parents[1]  # mypy finds by itself what is installed
    where = {} if home.name == "site-packages" else {"MYPYPATH": str(home)}
    command = [sys.executable, "-m", "mypy", "--no-pretty", *(f"{name}.py" for name in scripts)]
    run = subprocess.run(
        command, cwd=folder, env=os.environ | where, capture_output=True, text=True
    )
    assert not run.stderr, run.stderr
    found = {name: [] for name in scripts}
    for name, line, kind in ERROR.findall(run.stdout):
        found[name].append((int(line), kind))
    assert sum(map(len, found.values())) == run.stdout.count(": error: "), run.stdout
    return found


def test_the_package_says_that_it_is_typed():
    assert Path(skdp.__file__).with_name("py.typed").is_file()


def test_the_script_is_long_enough_to_mean_something():
    assert len(CLIENT.read_text(encoding="utf-8").splitlines()) >= 100


def test_a_strict_check_finds_nothing(errors):
    assert errors["client"] == []


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_where_it_is(name, errors):
    _, line = with_mistake(name)
    assert errors[name] == [(line, MISTAKES[name][2])]


def test_the_script_runs():
    told = runpy.run_path(str(CLIENT))["main"]()
    assert '"three": ' in told[0] and "DPLinearSVC" in told[-1]
