"""Digests that tie a page of docs/proofs/ to the code it proves.

A page opens with a block that names what it proves and the digest of that code::

    ---
    mechanism: Gradient
    helpers: _scores.losses_at
    digest: 3f0c...
    ---

``mechanism`` lists classes of `skdp.mechanisms` (questions, or the shapes in `_mechanism`), ``helpers`` further
functions of that room that the proof leans on. After reading page and code side by side, write the digests anew with
``python tests/walls/proof_digests.py --write [page ...]``.
"""

import argparse
import ast
import hashlib
import importlib
import inspect
import re
import textwrap
from pathlib import Path

PROOFS = Path(__file__).parents[2] / "docs" / "proofs"
FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)

# What a proof is about: what is measured, how far it moves, what is added, what is charged, what is refused.
PROVED = (
    "__post_init__",
    "measure",
    "bound",
    "sensitivity",
    "size",
    "rounding",
    "grid",
    "grids",
    "scale",
    "spread",
    "event",
    "sampled_event",
    "answer",
)
SHAPES = ("Mechanism", "Additive", "Selection", "Threshold", "Release")
UNPROVED = {"returns", "annotation", "type_comment", "type_params", "ctx", "kind"}


def pages():
    """All proof pages."""
    return sorted(PROOFS.glob("*.md"))


def front_matter(page):
    """The block at the head of a page, as a dict; empty where there is none."""
    found = FRONT.match(page.read_text(encoding="utf-8"))
    lines = found.group(1).splitlines() if found else []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def proved_code(front):
    """The functions that a page is about."""
    for name in _names(front.get("mechanism", "")):
        yield from _methods(_find(name), name)
    for name in _names(front.get("helpers", "")):
        yield inspect.unwrap(_find(name))


def digest_of(functions):
    """SHA-256 of the functions' syntax trees: layout, comments, docstrings and annotations do not count."""
    text = "\n".join(_shape(_tree(function)) for function in functions)
    return hashlib.sha256(text.encode()).hexdigest()


def digest(page):
    """Digest of the code that a page is about."""
    return digest_of(proved_code(front_matter(page)))


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _find(name):
    """`Gradient`, `_mechanism.Additive` or `_rows.DenseRows.tdot` in skdp.mechanisms; another room by its full path."""
    found = importlib.import_module("skdp.mechanisms")
    for i, part in enumerate(parts := name.split(".")):
        if i == 0 and part == "skdp":
            return _find_elsewhere(parts)
        if not hasattr(found, part):
            module = "_mechanism" if part in SHAPES else part
            found = importlib.import_module(f"skdp.mechanisms.{module}")
            if module == part:
                continue
        found = getattr(found, part)
    return found


def _find_elsewhere(parts):
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise LookupError(".".join(parts))


def _methods(cls, name):
    """The proved methods of a class, its own and inherited, but for those of a shape, which has its own page."""
    own_shape = cls.__name__ in SHAPES
    for method in PROVED:
        for base in cls.__mro__:
            if callable(vars(base).get(method)) and base.__module__.startswith("skdp."):
                if own_shape or base.__name__ not in SHAPES:
                    yield vars(base)[method]
                break


def _tree(function):
    function = getattr(function, "__func__", getattr(function, "fget", function))
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if ast.get_docstring(node):
        node.body = node.body[1:]
    return node


def _shape(node):
    """A tree as text that is the same under every Python version."""
    if isinstance(node, ast.AST):
        parts = (
            f"{name}={_shape(value)}"
            for name, value in ast.iter_fields(node)
            if name not in UNPROVED and value not in (None, [])
        )
        return f"{type(node).__name__}({' '.join(parts)})"
    if isinstance(node, list):
        return "[" + " ".join(map(_shape, node)) + "]"
    return repr(node)


def _write(page):
    text, wanted = page.read_text(encoding="utf-8"), digest(page)
    page.write_text(
        re.sub(r"(?m)^digest:.*$", f"digest: {wanted}", text, count=1), encoding="utf-8"
    )
    print(page.stem, wanted[:12])


TRUSTED = ("skdp.mechanisms", "skdp.privacy", "skdp.entry")


def outside():
    """Functions of rooms that are not trusted by themselves, and that a page names: each page with its own."""
    for page in pages():
        functions = (
            getattr(f, "__func__", getattr(f, "fget", f)) for f in proved_code(front_matter(page))
        )
        names = {f"{f.__module__}.{f.__qualname__}" for f in functions}
        yield page.stem, sorted(name for name in names if not name.startswith(TRUSTED))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write digests of pages anew")
    parser.add_argument("--outside", action="store_true", help="list what pages name elsewhere")
    parser.add_argument("page", nargs="*")
    given = parser.parse_args()
    if given.outside:
        for stem, names in outside():
            print(*(f"{stem}: {name}" for name in names), sep="\n", end="\n" * bool(names))
    for path in pages() if given.write else []:
        if not given.page or path.stem in given.page:
            _write(path)
