"""The reference: a page for each room of the package, with a table of its public names, and a page for each name.

All of it is read off ``__all__``, so that a new public name is there without a word. A name that the package or a
room hands on from another room has one page, at the place where it lives.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import get_origin

FOLDER = Path(__file__).parents[1] / "api"
PARTS = {
    "Estimators": "linear_model naive_bayes neural_network tabular ranking preprocessing",
    "Around a model": "model_selection metrics inspection privacy audit datasets engines exceptions utils",
    "To build on": "solvers losses penalties models mechanisms privacy.events entry fitting",
}


def public(module):
    """Names of a module's ``__all__`` but for dunders, modules, and names of types for annotations."""
    names = [name for name in sorted(module.__all__) if not name.startswith("__")]
    return [name for name in names if not _is_no_page(getattr(module, name))]


def _is_no_page(thing):
    return inspect.ismodule(thing) or get_origin(thing) is not None


def rooms():
    """Public modules that say what they offer, the package first."""
    package = importlib.import_module("skdp")
    names = [part.name for part in pkgutil.iter_modules(package.__path__)]
    found = [importlib.import_module(f"skdp.{n}") for n in names if not n.startswith("_")]
    found.append(importlib.import_module("skdp.privacy.events"))
    return [package, *(room for room in found if hasattr(room, "__all__"))]


def homes():
    """Identity of each public object -> the longest name it has, which is where its page is."""
    found = {}
    for room in rooms()[1:]:
        for name in public(room):
            found.setdefault(id(getattr(room, name)), f"{room.__name__}.{name}")
    return found


def page(room, home):
    """Text of a room's page."""
    names = public(room)
    full = [home.get(id(getattr(room, name)), f"{room.__name__}.{name}") for name in names]
    own = [name for name, where in zip(names, full) if where == f"{room.__name__}.{name}"]
    away = [where for where in full if where.rpartition(".")[0] != room.__name__]
    others = [f"~{where.removeprefix(f'{room.__name__}.')}" for where in away]
    title = room.__name__
    lines = [title, "=" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    for heading, listed, option in (
        ("Public names", own, "   :toctree: names"),
        ("From other rooms", others, None),
    ):
        if listed:
            lines += [heading, "-" * len(heading), "", ".. autosummary::"]
            lines += [option] * bool(option) + ["   :nosignatures:", ""]
            lines += [f"   {name}" for name in listed] + [""]
    return "\n".join(lines)


def pages():
    """File names -> texts of all pages."""
    home = homes()
    return {f"{room.__name__}.rst": page(room, home) for room in rooms()}


def index():
    """Text of the first page: the rooms by what they are for, each with the first line of its docstring."""
    lines = [
        "Reference",
        "=========",
        "",
        "One page for each public name. Names of the package itself: :doc:`skdp`.",
    ]
    for heading, names in PARTS.items():
        lines += ["", heading, "-" * len(heading), "", ".. list-table::", "   :widths: 30 70", ""]
        for name in names.split():
            module = importlib.import_module(f"skdp.{name}")
            lines += [f"   * - :doc:`{module.__name__}`"]
            lines += [f"     - {module.__doc__.strip().splitlines()[0]}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    return "\n".join([*lines, *(f"   {room.__name__}" for room in rooms()), ""])


def write(app, config):
    """Write what has changed, so that an unchanged page is not built again."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in {"index.rst": index(), **pages()}.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app):
    """Before Sphinx looks which pages there are."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True}
