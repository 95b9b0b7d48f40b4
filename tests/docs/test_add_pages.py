"""The pages on adding a thing: their links lead somewhere, and guides know them. tests/dry_runs runs their code."""

import re

import pytest
from dry_runs.pages import PAGES
from walls.checks import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#]+)\)", (DOCS / name).read_text(encoding="utf-8"))
    assert len(links) >= 3 and [link for link in links if not _exists(link)] == []


def _exists(link):
    """Beside the pages, or beside the proofs where a page shows one of these."""
    return (DOCS / link).exists() or (DOCS / "proofs" / link).exists()


@pytest.mark.parametrize("name", PAGES)
def test_the_guide_names_it(name):
    assert len(PAGES) == 11 and f"]({name})" in (DOCS / "develop.md").read_text(encoding="utf-8")
