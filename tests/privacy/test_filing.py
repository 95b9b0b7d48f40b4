"""What is filed of a receipt: a registry's record, a model card, a checklist; and the pages that the wheel carries."""

import copy
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from privacy.receipt_samples import receipt_number
from walls.checks import ROOT
from walls.proof_digests import pages

from skdp.privacy import Receipt, proof_page
from skdp.privacy._receipts._card import registry_schema, wrong_with
from skdp.privacy._receipts._check import statement_of, web_address

ANSWERS = {
    "name": "Incomes",
    "curators": "An office",
    "intended_use": "To show",
    "region": "Nowhere",
    "description": "A model",
    "authors": ["A person"],
}
FILED = ROOT / "docs" / "receipts"


def leaves(value, place=()):
    """Every text, number and list of a record, with the way to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*place, name))
    else:
        yield place


class TestRecord:
    """Of the registry of deployments."""

    @pytest.mark.parametrize("number", [0, 1, 3, 5])
    def test_it_fits_the_registry(self, number):
        record = receipt_number(number).to_registry(**ANSWERS)
        assert list(wrong_with(record, registry_schema())) == []
        assert json.loads(json.dumps(record, allow_nan=False)) == record

    def test_it_says_what_the_receipt_says(self):
        receipt = receipt_number(0)
        told = receipt.to_registry(**ANSWERS, sector="Government")["deployment"]
        assert told["privacy_loss"]["privacy_parameters"]["epsilon"] == receipt.epsilon
        assert "mu" in told["privacy_loss"]["privacy_parameters_details"]
        assert told["basic"]["publication_date"] == receipt.date
        assert told["basic"]["data_product_sector"] == "Government"
        assert receipt.to_dict()["digest"] in told["administrative"]["notes"]

    @pytest.mark.parametrize("name", ANSWERS)
    def test_a_missing_answer_is_named(self, name):
        left = {key: value for key, value in ANSWERS.items() if key != name}
        with pytest.raises(ValueError, match=name):
            receipt_number(0).to_registry(**left)

    def test_unknown_and_unfit_answers_are_named(self):
        with pytest.raises(ValueError, match="colour"):
            receipt_number(0).to_registry(**ANSWERS, colour="red")
        with pytest.raises(ValueError, match="data_product_sector is 'Sports'"):
            receipt_number(0).to_registry(**ANSWERS, sector="Sports")
        with pytest.raises(ValueError, match="name is 3"):
            receipt_number(0).to_registry(**{**ANSWERS, "name": 3, "slug": "x"})

    def test_a_quote_is_no_release(self):
        with pytest.raises(ValueError, match="quote"):
            replace(receipt_number(0), date="").to_registry(**ANSWERS)

    def test_every_breach_of_the_schema_is_seen(self):
        record = receipt_number(0).to_registry(**ANSWERS)
        for place in list(leaves(record)):
            broken = copy.deepcopy(record)
            inner = broken
            for name in place[:-1]:
                inner = inner[name]
            inner["surprise"] = 1
            assert any("surprise" in said for said in wrong_with(broken, registry_schema()))
            if place[-1] != "privacy_parameters_details":
                inner[place[-1]] = None
                del inner["surprise"]
                assert list(wrong_with(broken, registry_schema())), place
        for name in ("tier", "deployment", "status"):
            short = {key: value for key, value in record.items() if key != name}
            assert list(wrong_with(short, registry_schema())) == [f"record.{name} is missing"]
        assert list(wrong_with({**record, "tier": 4}, registry_schema()))
        broken = copy.deepcopy(record)
        broken["deployment"]["basic"]["publication_date"] = "1/1/2026"
        assert list(wrong_with(broken, registry_schema()))

    def test_the_schema_is_read_alike_by_another_reader(self):
        jsonschema = pytest.importorskip("jsonschema")
        jsonschema.validate(receipt_number(0).to_registry(**ANSWERS), registry_schema())


class TestCard:
    """A model card."""

    def test_it_has_the_tags_and_the_promise(self):
        receipt = receipt_number(0)
        card = receipt.to_model_card("Incomes", license="cc0-1.0")
        head, _, body = card.removeprefix("---\n").partition("\n---\n")
        assert "- differential_privacy" in head and "license: cc0-1.0" in head
        assert body.startswith("\n# Incomes") and receipt.statement().splitlines()[0] in body
        assert receipt.to_dict()["digest"] in body

    def test_tables_have_as_many_cells_as_their_heads(self):
        for block in receipt_number(0).to_model_card().split("\n\n"):
            if block.startswith("|"):
                assert len({line.count("|") for line in block.splitlines()}) == 1

    def test_no_promise_is_said(self):
        card = replace(receipt_number(0), epsilon=float("inf")).to_model_card()
        assert "No privacy" in card and "| guarantee | none |" in card


def test_the_checklist_answers_every_layer():
    lines = receipt_number(0).nist_checklist()
    assert len({line.layer for line in lines}) >= 8 and all(line.answer for line in lines)
    assert "FIXED SEED" in str(replace(receipt_number(0), seeded=True).nist_checklist())


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_proof_page_can_be_shown(page):
    text = proof_page(page.stem)
    assert text.startswith("# ") and text in page.read_text(encoding="utf-8")


def test_pages_are_found_by_name_alone():
    for name in ("nowhere", "../index", "", "count.md"):
        with pytest.raises(ValueError, match="is not a proof page"):
            proof_page(name)
    assert statement_of("nowhere") == "" and "sensitivity" in statement_of("gaussian_sum")
    assert "/v1.2/" in web_address("count", "1.2") and "/main/" in web_address("count", "1.2.dev0")


def test_a_wheel_carries_pages_and_schema(tmp_path):
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "in")
    there = tmp_path / "in" / "skdp" / "privacy" / "_receipts"
    assert {path.name for path in (there / "proofs").glob("*.md")} == {
        page.name for page in pages()
    }
    told = "from skdp.privacy import proof_page as p; print(p('count').splitlines()[0])"
    run = [sys.executable, "-c", told]
    shown = subprocess.run(run, cwd=tmp_path / "in", check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == "# The number of records"
    assert (there / "registry_schema.json").exists() and (
        tmp_path / "in" / "skdp" / "py.typed"
    ).exists()


class TestFiled:
    """The record and the card of a fit on Adult that stand in docs/."""

    def receipt(self):
        return Receipt.from_dict(json.loads((FILED / "adult_receipt.json").read_text("utf-8")))

    def test_the_receipt_holds(self):
        receipt = self.receipt()
        assert receipt.verify() and not receipt.seeded and receipt.model

    def test_the_record_is_what_it_gives_and_fits_the_registry(self):
        record = json.loads((FILED / "adult_registry.json").read_text("utf-8"))
        assert list(wrong_with(record, registry_schema())) == []
        answers = json.loads((FILED / "adult_answers.json").read_text("utf-8"))
        assert self.receipt().to_registry(**answers) == record

    def test_the_card_is_what_it_gives(self):
        card = (FILED / "adult_model_card.md").read_text("utf-8")
        assert (
            self.receipt().to_model_card("Income above 50,000 dollars (Adult)", "cc-by-4.0") == card
        )
