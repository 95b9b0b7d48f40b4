"""Every function of the package says what goes in and what comes out, also where mypy is not installed."""

import ast

import pytest
from walls.checks import modules, name_of


def untyped(source):
    """(line, name) of each function that leaves a parameter or its result without a type."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            rest = [one for one in (given.vararg, given.kwarg) if one is not None]
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]
            typed = all(one.annotation or one.arg in ("self", "cls") for one in named)
            started = node.name == "__init__" and len(named) > 1  # None goes without saying
            if not typed or not (node.returns or started):
                yield node.lineno, node.name


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_every_function_is_typed(path):
    assert list(untyped(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(x) -> int: ...",
        "def f(x: int): ...",
        "def f(): ...",
        "def f(*x) -> None: ...",
        "def f(**x) -> None: ...",
        "def f(*, x) -> None: ...",
        "class A:\n    def __init__(self): ...",
        "def f() -> None:\n    def g(y) -> None: ...",
    ],
)
def test_a_missing_type_is_seen(source):
    assert list(untyped(source))
