"""Completion of docstrings: what a class leaves out of its parameters is taken from where they are defined.

The text of a shared parameter stands once, in the docstring of the base that has it as a field. Whoever reads
``help(DPRidge)`` finds all of them, each with the default of `DPRidge`. Methods of many rooms take rows: what these are
is said here.
"""

import inspect
import re
from collections.abc import Iterable
from functools import lru_cache
from types import FunctionType
from typing import Any

__all__ = ["complete", "entries", "sections"]

_HEADING = re.compile(r"^(\S[^\n]*)\n-{3,}$\n?", re.MULTILINE)
_ROWS = "X : array-like of shape (n_samples, n_features)\n    Rows."
_DEFAULT = re.compile(r"(?<=, default=).*")


def sections(text: str) -> dict[str, str]:
    """Sections of a docstring by their headings; what stands before the first one is under "".

    Parameters
    ----------
    text : str
        A docstring in numpydoc's form.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> sections("Fits.\\n\\nNotes\\n-----\\nWell.")
    {'': 'Fits.', 'Notes': 'Well.'}
    """
    before, *rest = _HEADING.split(inspect.cleandoc(text))
    bodies = {title: body.strip("\n").rstrip() for title, body in zip(rest[::2], rest[1::2])}
    return {"": before.strip()} | bodies


def entries(section: str) -> dict[str, str]:
    """Return the entry of each name in a section; two names in one line share their entry.

    Parameters
    ----------
    section : str
        Of parameters or attributes.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> entries("a, b : int\\n    Sizes.\\nc : str")
    {'a': 'a, b : int\\n    Sizes.', 'b': 'a, b : int\\n    Sizes.', 'c': 'c : str'}
    """
    blocks = map(str.rstrip, re.split(r"^(?=\S)", section, flags=re.MULTILINE))
    return {
        name: block
        for block in blocks
        if block
        for name in re.split(r" : |\n", block)[0].split(", ")
    }


def complete(kind: type) -> None:
    """Add to a class's docstring the parameters and attributes that its bases describe.

    Into those of its methods that say nothing of X: that these are rows.

    Parameters
    ----------
    kind : type
        A class; one without a docstring, as under ``python -OO``, stays so.
    """
    for method in vars(kind).values():
        if inspect.isfunction(method) and not method.__name__.startswith("_"):
            _say_what_rows_are(method)
    own = vars(kind).get("__doc__")
    if own is None:
        return
    rest = sections(own)
    intro = rest.pop("")
    told = _told(kind, "Parameters")
    signature = inspect.signature(kind).parameters.values()
    parameters = [_with_default(told[at.name], at.default) for at in signature if at.name in told]
    rest = {
        "Parameters": "\n".join(dict.fromkeys(parameters)),
        "Attributes": "\n".join(dict.fromkeys(_told(kind, "Attributes").values())),
    } | {title: body for title, body in rest.items() if title not in ("Parameters", "Attributes")}
    kind.__doc__ = intro + "".join(_written(rest.items()))


def _told(kind: type, title: str) -> dict[str, str]:
    """Return the entries of a class and its bases under a heading; the nearest class comes first."""
    found: dict[str, str] = {}
    for base in kind.__mro__:
        for name, block in (
            *_of(base.__doc__ or "", title).items(),
            *_at_fields(base, title).items(),
        ):
            found.setdefault(name, block)
    return found


def _at_fields(kind: type, title: str) -> dict[str, str]:
    """Return the entries that stand at the fields that a class declares, where several classes share them."""
    own = vars(kind).get("__dataclass_fields__", {})
    declared = [own[name] for name in vars(kind).get("__annotations__", {}) if name in own]
    return {
        one.name: one.metadata["text"]
        for one in declared
        if one.metadata.get("text") and one.init == (title == "Parameters")
    }


@lru_cache
def _of(text: str, title: str) -> dict[str, str]:
    """Entries of a docstring under a heading; bases are asked again by all that inherit from them."""
    return entries(sections(text).get(title, ""))


def _say_what_rows_are(method: FunctionType) -> None:
    """Add a Parameters section to the docstring of a method that takes X alone and documents no parameters."""
    told = sections(method.__doc__ or "")
    if method.__doc__ and list(inspect.signature(method).parameters)[1:] == ["X"]:
        rest = {"Parameters": _ROWS} | {title: body for title, body in told.items() if title}
        method.__doc__ = told[""] + "".join(_written(rest.items()))


def _with_default(block: str, default: Any) -> str:
    """An entry with the default of whoever inherits it, written as in a signature."""
    head, *lines = block.split("\n")
    shown = f'"{default}"' if isinstance(default, str) else repr(default).replace("e-0", "e-")
    return "\n".join([_DEFAULT.sub(lambda _: shown, head), *lines])


def _written(parts: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Write sections in numpydoc's form; empty ones are left out."""
    for title, body in parts:
        if body:
            yield f"\n\n{title}\n{'-' * len(title)}\n{body}"
