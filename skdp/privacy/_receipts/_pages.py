"""The proof pages that a receipt points at: they ship with the package, and can be read on the web."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["is_page", "proof_page", "statement_of", "web_address"]

_SHIPPED = Path(__file__).parent / "proofs"  # where a wheel has them
_SOURCE = Path(__file__).parents[3] / "docs" / "proofs"  # where the repository does
_WEB = "https://github.com/skdp/skdp/blob/{ref}/docs/proofs/{name}.md"


def proof_page(name: str) -> str:
    """Text of a proof page that a receipt names, from this installation.

    Parameters
    ----------
    name : str
        One of ``receipt.proofs``.

    Returns
    -------
    str
        The page, in markdown.

    See Also
    --------
    Receipt : Names the pages that its guarantee rests on.

    Examples
    --------
    >>> from skdp.privacy import proof_page
    >>> proof_page("count").splitlines()[0]
    '# The number of records'
    """
    path = _pages().get(name)
    if path is None:
        raise ValueError(f"name={name!r} is not a proof page; choose one of receipt.proofs.")
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\A---\n.*?\n---\n\s*", "", text, flags=re.DOTALL)


def is_page(name: str) -> bool:
    """Return whether a proof page of this name is installed."""
    return name in _pages()


def _pages() -> dict[str, Path]:
    """All pages by name, those of the package before those of the repository."""
    return {path.stem: path for folder in (_SOURCE, _SHIPPED) for path in folder.glob("*.md")}


def statement_of(name: str) -> str:
    """The section of a page that says what is proved; empty where the page is not here."""
    try:
        page = proof_page(name)
    except ValueError:
        return ""
    found = re.search(r"^## Statement\n+(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else ""


def web_address(name: str, version: str) -> str:
    """Return the address of a proof page on the web; an unreleased version gets the newest page."""
    released = bool(re.fullmatch(r"\d+(\.\d+)*", version))
    return _WEB.format(ref=f"v{version}" if released else "main", name=name)
