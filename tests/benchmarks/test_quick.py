"""Each driver of `benchmarks/` starts and finishes a small cell on generated stand-ins, and leaves nothing behind."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
DRIVERS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
FIGURES = FOLDER / "papers"  # a driver of many files
KEPT = (FOLDER / "results", ROOT / "docs")


def takes_quick(path):
    """Whether a file takes its folders or sizes from the shared helper, itself or by another driver."""
    files = path.glob("*.py") if path.is_dir() else [path]
    imports = {
        node.module
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    return "_quick" in imports


def written():
    """Every file of the folders that figures go to, and when it was written."""
    return {
        path: path.stat().st_mtime_ns for home in KEPT for path in home.rglob("*") if path.is_file()
    }


def run(path, home, *arguments):
    """Run a driver without data, network or a home folder."""
    assert takes_quick(path), (
        f"{path.name} takes no --quick: take few() and the folders RESULTS and DOCS from benchmarks/_quick.py."
    )
    kept = {key: value for key, value in os.environ.items() if key != "SKDP_DATA"}
    dead = dict.fromkeys(
        ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
    )
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    given = kept | dead | threads | {"HOME": str(home), "TMPDIR": str(home), "MPLBACKEND": "Agg"}
    return subprocess.run(
        [sys.executable, path, *arguments, "--quick"],
        cwd=home,
        env=given | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("path", [*DRIVERS, FIGURES], ids=lambda path: path.stem)
def test_a_driver_finishes_a_small_cell(path, tmp_path):
    before = written()
    ran = run(path, tmp_path, *(("run", "all") if path == FIGURES else ()))
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "stand-ins" in ran.stdout.partition("\n")[0]
    assert written() == before
    assert not list(tmp_path.glob("skdp_quick_*"))


def test_a_driver_without_quick_fails_before_it_runs(tmp_path):
    path = tmp_path / "new.py"
    path.write_text("import argparse\nopen('left_behind', 'w')\n")
    with pytest.raises(AssertionError, match=r"new.py takes no --quick: take few\(\)"):
        run(path, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["new.py"]


def test_a_driver_that_has_rotted_is_seen(tmp_path):
    path = tmp_path / "old.py"
    path.write_text(
        f"import sys\nsys.path.insert(0, {str(FOLDER)!r})\nfrom _quick import few\nfew(1, 2)(3)\n"
    )
    with pytest.raises(AssertionError, match="TypeError"):
        test_a_driver_finishes_a_small_cell(path, tmp_path)
