"""Signatures of receipts: of these data, by this key, and of nothing else."""

import json
from dataclasses import replace

import pytest
from privacy.kept_receipts import kept
from privacy.receipt_samples import receipt_number

from skdp.privacy import Receipt
from skdp.privacy._receipts._plain import READ, signature_of

ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PEM, OPEN = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo


@pytest.mark.parametrize("number", range(8))
def test_a_signed_receipt_is_that_of_its_signer(number):
    receipt = receipt_number(number)
    filed = json.loads(json.dumps(receipt.to_dict()))
    signature = receipt.sign(KEY)
    assert Receipt.verify_signature(filed, signature, KEY.public_key())
    other = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
    assert not Receipt.verify_signature(filed, signature, other.public_key())
    forged = replace(receipt, solver="Another()").to_dict()
    assert not Receipt.verify_signature(forged, signature, KEY.public_key())
    assert not Receipt.verify_signature({**filed, "solver": "x"}, signature, KEY.public_key())
    for wrong in ("", "zz", signature[:-2], "00" * 64):
        assert not Receipt.verify_signature(filed, wrong, KEY.public_key())


def test_keys_may_be_text():
    receipt = receipt_number(0)
    raw = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    signature = receipt.sign(KEY.private_bytes(PEM, *raw))
    public = KEY.public_key().public_bytes(PEM, OPEN)
    assert signature == receipt.sign(KEY)
    assert Receipt.verify_signature(receipt.to_dict(), signature, public)


@pytest.mark.parametrize("schema", READ)
def test_a_signature_of_an_older_file_holds(schema):
    for entry in kept(schema).values():
        filed = entry["receipt"]
        assert Receipt.verify_signature(filed, signature_of(filed, KEY), KEY.public_key())


def test_keys_of_another_kind_are_refused():
    x25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.x25519")
    other, receipt = x25519.X25519PrivateKey.generate(), receipt_number(0)
    with pytest.raises(TypeError, match="Ed25519 private key, got"):
        receipt.sign(other)
    for wrong in (other.public_key(), KEY):
        with pytest.raises(TypeError, match="Ed25519 public key, got"):
            Receipt.verify_signature(receipt.to_dict(), receipt.sign(KEY), wrong)
