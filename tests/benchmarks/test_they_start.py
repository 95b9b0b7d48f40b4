"""Each benchmark can be started: what it takes from the library is there."""

import ast
import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


def taken(path):
    """Every (module, name) of the library that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "skdp":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_takes_is_there(path):
    for module, name in taken(path):
        home = importlib.import_module(module)
        assert hasattr(home, name) or importlib.import_module(f"{module}.{name}")


def test_a_name_that_has_gone_is_missed(tmp_path):
    path = tmp_path / "old.py"
    path.write_text("def run():\n    from skdp.privacy import not_there\n")
    with pytest.raises(ModuleNotFoundError):
        test_what_a_benchmark_takes_is_there(path)
