"""The page on audits: its code runs, its links lead somewhere."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_code_of_the_page_runs():
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "audit.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), "audit.md", "exec"), {"__name__": "page"})


def test_links_lead_somewhere():
    for name in ("audit.md", "known_vulnerabilities.md", "replay_log.md"):
        links = re.findall(r"\]\(([^)#]+)\)", (DOCS / name).read_text(encoding="utf-8"))
        assert [link for link in links if not (DOCS / link).exists()] == [], name
    assert links


def test_tests_that_are_named_exist():
    text = (DOCS / "known_vulnerabilities.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert len(named) >= 8
    assert [path for path in named if not (DOCS.parent / path).exists()] == []
