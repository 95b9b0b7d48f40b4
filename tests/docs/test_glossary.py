"""The glossary has every word of the house, each on one line, and its links lead somewhere; dialect has left."""

import inspect
import re

import pytest
from walls.checks import PACKAGE, ROOT
from walls.sizes import public_names, rooms

from skdp.privacy import events
from skdp.utils import all_estimators

PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
WORDS = """record, unit, neighbours, relation, promise, public, vault, records, engine, mechanism, question, oracle,
answer, statement, rehearsal, bound, clip, sensitivity, sensitivity factor, noise multiplier, linear term, strength,
leverage, certificate, kink, lattice, strips, twofold, piece, coordinates, image, event, script, profile, accountant,
currency, account, filter, ledger, book, budget, allowance, quote, receipt, face, task, plan, run, solver, adaptive,
model, tape, room, wall, registry, law, worst pair, sabotaged twin, digest, proof, dry run, audit, replay"""
# Words that the field does not use so, and what it says.
DIALECT = {
    r"\bhang(s|ing)? on\b|\bhung on\b": "depends on",
    r"\bdear(er|est)?\b": "costly",
    r"\btilted objective": "perturbed objective",
    r"\bpurse\b|\bswing\b": "allowance, sensitivity factor",
    r"\bS[0-4] (Alg|eq|[0-9])|\b[(;] ?S[0-4][ ,)]": "authors, year, title, section",
}
PROSE = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(PACKAGE.rglob("*.py")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]


def entries(page):
    """Words that have a line: what stands in its first cell, without marks."""
    cells = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    return [word.strip(" `") for cell in cells for word in cell.split(",")]


def classes():
    """Public classes, but for estimators, which are named where they are shown."""
    faces = {kind for _, kind in all_estimators()}
    found = [*public_names().values(), *(getattr(events, name) for name in events.__all__)]
    return sorted({kind.__name__ for kind in found if inspect.isclass(kind) and kind not in faces})


def dialect(text):
    """Words in a text that the field has others for."""
    return [
        f"{found[0]!r}: {say}" for word, say in DIALECT.items() for found in re.finditer(word, text)
    ]


def test_every_word_has_one_line():
    there = entries(PAGE)
    assert [
        word.strip() for word in WORDS.split(",") if there.count(" ".join(word.split())) != 1
    ] == []


def test_every_public_class_and_every_room_is_named():
    assert [name for name in classes() if f"`{name}`" not in PAGE] == []
    assert [room.__name__ for room in rooms()[1:] if f"`{room.__name__}`" not in PAGE] == []
    assert len(classes()) > 80


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert len(links) > 50 and [link for link in links if not (ROOT / "docs" / link).exists()] == []


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_prose_is_in_the_words_of_the_field(path):
    if path.name != "threat_model.md":
        assert dialect(path.read_text(encoding="utf-8")) == []


def test_what_is_missing_or_dialect_is_noticed():
    assert entries("| word | x |\n| `A`, b c | y |\n") == ["word", "A", "b c"]
    wrong = "It hangs on a dear purse of a tilted objective (S0 Algorithm 3.1)."
    assert len(dialect(wrong)) == 5 and not dialect(
        "A costly RSTOS0 S5 and tilted measure depends on it."
    )
