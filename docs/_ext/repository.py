"""Pages that are read in the repository, too: their links to code, tests and folders lead to it from the site.

A page whose only line is ``<!-- file: ../NAME -->`` and a link shows that file.
"""

import os
import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
EXAMPLES = ROOT / "examples"
FORGE = "https://github.com/skdp/skdp"
LINK = re.compile(r"(\[[\w/.]+\.md)?\]\(([^)#\s]+)(#[^)\s]*)?\)")
SHOWN = re.compile(r"<!-- file: (\S+) -->")
PAGES = {".md", ".rst"}


def elsewhere(link, folder):
    """Where a relative link of a page in ``folder`` leads to on the site; None where it may stay."""
    if "://" in link or link.startswith("mailto:"):
        if not link.startswith(f"{FORGE}/blob/main/docs/"):
            return None
        path = ROOT / link.removeprefix(f"{FORGE}/blob/main/")
        return _relative(path, folder) if path.suffix in PAGES and path.exists() else None
    path = (folder / link).resolve()
    if path.is_relative_to(EXAMPLES):
        page = DOCS / "gallery" / path.relative_to(EXAMPLES)
        return _relative(page.with_suffix(".rst") if path.is_file() else page / "index.rst", folder)
    page = path.with_suffix(".md") if path.is_dir() else path
    if page.is_relative_to(DOCS) and page.suffix in PAGES and page.exists():
        return _relative(page, folder)
    if not path.exists():
        return None  # and Sphinx complains of it
    return f"{FORGE}/{'tree' if path.is_dir() else 'blob'}/main/{path.relative_to(ROOT)}"


def _relative(path, folder):
    return Path(os.path.relpath(path, folder)).as_posix()


def rewrite(text, folder, page_folder=None):
    """The text of a page with its links changed; ``folder`` is where they start, ``page_folder`` where the page is.

    A link whose text is a file's name takes the title of the page.
    """

    def changed(match):
        name, link, mark = match[1] or "", match[2], match[3] or ""
        start = page_folder or folder
        if page_folder and "://" not in link:
            link = _relative((folder / link).resolve(), page_folder)
        link = elsewhere(link, start) or link
        titled = name and "://" not in link
        return f"{'[' if titled else name}]({link}{mark})"

    return LINK.sub(changed, text)


def read(app, docname, content):
    """Change the source of a markdown page as Sphinx reads it."""
    path = DOCS / f"{docname}.md"
    if not path.exists():
        return
    shown = SHOWN.search(content[0])
    if shown:
        file = (path.parent / shown[1]).resolve()
        content[0] = rewrite(file.read_text(encoding="utf-8"), file.parent, path.parent)
    else:
        content[0] = rewrite(content[0], path.parent)


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
