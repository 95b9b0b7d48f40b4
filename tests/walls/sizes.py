"""How long things are and how well they are documented: ``PYTHONPATH=tests python tests/walls/sizes.py`` prints it.

A public name is a class or function in the ``__all__`` of skdp or of one of its public rooms, counted once. An example
is runnable if doctest would run a line of it.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from statistics import median

from walls.checks import modules, name_of

import skdp

HEADING = re.compile(r"^See Also\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)


def bodies(source):
    """Lines of the body of every function, its docstring left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield body[-1].end_lineno - body[0].lineno + 1 if body else 0


def percentile(numbers, share):
    """Least of the numbers that this share of them does not exceed."""
    ordered = sorted(numbers)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def files():
    """Lines of each file of the package."""
    return {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in modules()}


def lengths():
    """Figures of the package's files and functions."""
    lines = [n for path in modules() for n in bodies(path.read_text(encoding="utf-8"))]
    return {
        "body median": median(lines),
        "body p90": percentile(lines, 90),
        "body max": max(lines),
        "file p90": percentile(files().values(), 90),
        "file max": max(files().values()),
    }


def rooms():
    """The package and its public packages and modules that say what they offer."""
    found = [skdp]
    for part in pkgutil.iter_modules(skdp.__path__):
        if not part.name.startswith("_"):
            found.append(importlib.import_module(f"skdp.{part.name}"))
    return [room for room in found if hasattr(room, "__all__")]


def public_names():
    """Public classes and functions by their name, the shortest where there are several."""
    found = {}
    for room in rooms():
        for name in room.__all__:
            thing = getattr(room, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                found.setdefault(id(thing), (f"{room.__name__}.{name}", thing))
    return dict(found.values())


def documented(thing):
    """Whether it has words of its own, and not those that a dataclass makes up."""
    text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return bool(text) and not text.startswith(f"{thing.__name__}(")


def runnable(thing):
    """Whether its docstring has an example that doctest runs."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    return any(not example.options.get(doctest.SKIP) for example in examples)


def see_also(thing):
    """Names in the docstring's section See Also."""
    found = HEADING.search(inspect.getdoc(thing) or "")
    return re.findall(r"^([\w.]+)", found.group(1), re.MULTILINE) if found else []


def leads_somewhere(name, thing):
    """Whether a name of See Also is found, by its full path or beside the thing that names it."""
    room = ".".join(thing.__module__.split(".")[:2])
    full = name if name.startswith("skdp.") else f"{room}.{name}"
    parent, _, last = full.rpartition(".")
    try:
        return hasattr(importlib.import_module(parent), last)
    except ModuleNotFoundError:
        return False


def shares(names):
    """Shares of public names, in percent."""
    questions = {"documented": documented, "example": runnable, "see also": see_also}
    return {
        what: 100.0 * sum(bool(asked(thing)) for thing in names.values()) / len(names)
        for what, asked in questions.items()
    }


if __name__ == "__main__":
    everything = public_names()
    for what, figure in {**lengths(), **shares(everything)}.items():
        print(f"{what:12} {figure:g}")
    for what, has in (("example", runnable), ("see also", see_also)):
        without = [name for name, thing in everything.items() if not has(thing)]
        print(f"without {what}: {', '.join(without)}")
