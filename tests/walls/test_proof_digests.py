"""Changing what is measured, or how far it moves, without opening the proof page fails here."""

import re

import pytest
from walls.proof_digests import PROOFS, digest, digest_of, front_matter, pages, proved_code

from skdp.mechanisms import MECHANISMS

REMEDY = (
    "read docs/proofs/{0}.md beside the code, mend either, then run "
    "`python tests/walls/proof_digests.py --write {0}`"
)


@pytest.mark.parametrize("question", sorted(MECHANISMS, key=lambda q: q.__name__))
def test_every_question_names_a_page_that_is_about_it(question):
    page = PROOFS / f"{question.proof}.md"
    assert page.exists(), f"docs/proofs/{question.proof}.md is missing"
    front = front_matter(page)
    assert question.__name__ in front["mechanism"], "the page is about something else"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_page_was_read_beside_the_code_that_it_proves(page):
    assert front_matter(page).get("digest") == digest(page), REMEDY.format(page.stem)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_page_has_what_a_proof_needs(page):
    headings = " ".join(re.findall(r"(?m)^#+ .*$", page.read_text(encoding="utf-8"))).lower()
    for heading in ("statement", "conditions", "derivation", "source", "new"):
        assert heading in headings, f"docs/proofs/{page.name} has no section on {heading!r}"


def _proved():
    def measure(self, records):
        """As proved."""
        return records.total(self.clip)

    return measure


def _relaid():
    def measure(self, records: object) -> float:
        # another comment
        return records.total(
            self.clip,
        )

    return measure


def _doubled():
    def measure(self, records):
        """As proved."""
        return 2 * records.total(self.clip)

    return measure


def test_digest_sees_code_and_not_layout():
    assert digest_of([_proved()]) == digest_of([_relaid()])
    assert digest_of([_proved()]) != digest_of([_doubled()])


def test_digest_covers_measure_and_bound():
    names = {f.__name__ for f in proved_code({"mechanism": "Gradient"})}
    assert {"measure", "bound", "__post_init__"} <= names
    names = {f.__name__ for f in proved_code({"mechanism": "Additive"})}
    assert {"sensitivity", "event", "sampled_event", "answer"} <= names


def test_a_pending_page_fails(tmp_path):
    page = tmp_path / "count.md"
    page.write_text("---\nmechanism: Count\ndigest: pending\n---\n", encoding="utf-8")
    assert front_matter(page)["digest"] != digest(page)
