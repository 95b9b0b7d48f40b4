"""Receipts of every schema that was ever written can be read, hold, and know the model that they were written for."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from privacy.kept_receipts import kept, missing, numbers_of

from skdp._fingerprint import VERSION, fingerprint, first_fingerprint
from skdp.privacy import Receipt
from skdp.privacy._receipts._plain import READ, SCHEMA

ENTRIES = [(schema, name) for schema in READ for name in kept(schema)]


def test_each_schema_that_can_be_read_is_kept():
    assert {schema for schema, _ in ENTRIES} == set(READ) and max(READ) == SCHEMA


def test_each_event_and_each_sort_of_fit_is_kept_in_the_present_schema():
    assert not missing(), "run `python tests/privacy/kept_receipts.py --write`"


@pytest.mark.parametrize("schema, name", ENTRIES)
def test_it_can_be_read_holds_and_keeps_its_digest(schema, name):
    written = kept(schema)[name]["receipt"]
    receipt = Receipt.from_dict(written)
    assert written["schema"] == (schema if written["model"] else 1)
    assert receipt.complaints() == [] and receipt.to_dict()["digest"] == written["digest"]
    assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))) == receipt
    assert receipt.risk if written["epsilon"] == "inf" else receipt.risk().epsilons
    assert str(receipt) and receipt._repr_html_()


@pytest.mark.parametrize("schema, name", ENTRIES)
def test_what_was_changed_since_is_refused(schema, name):
    written = kept(schema)[name]["receipt"]
    for field in written:
        with pytest.raises(ValueError, match="not a receipt"):
            Receipt.from_dict({**written, field: "another"})


@pytest.mark.parametrize("schema, name", [e for e in ENTRIES if kept(e[0])[e[1]]["model"]])
def test_it_knows_the_numbers_of_its_model(schema, name):
    entry = kept(schema)[name]
    told, numbers = entry["receipt"]["model"], numbers_of(entry)
    here = (first_fingerprint if schema == 1 else fingerprint)(SimpleNamespace(**numbers))
    assert all(told[name] == here[name] for name in numbers if name in told)
    assert all(digest.startswith(VERSION) for digest in told.values()) == (schema > 1)


def test_a_receipt_of_the_first_version_refuses_other_numbers():
    entry = kept(1)["script"]
    receipt, numbers = Receipt.from_dict(entry["receipt"]), numbers_of(entry)
    own = {name: value for name, value in numbers.items() if name in receipt.model}
    assert receipt.verify(SimpleNamespace(**own))
    other = {**own, "coef_": np.nextafter(own["coef_"], 9.0)}
    (told,) = receipt.complaints(SimpleNamespace(**other))
    assert "coef_" in told
