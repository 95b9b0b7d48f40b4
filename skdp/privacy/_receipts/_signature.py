"""Detached signatures of receipts, Ed25519 by the extra ``skdp[sign]``.

What is signed is the digest of the data as they were filed, so that a signature holds when later versions write
receipts otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_signed", "signature_of"]

_DOMAIN = b"skdp receipt, sha-256 "  # a signature of a receipt is one of nothing else


def signature_of(data: Mapping[str, Any], key: Any) -> str:
    """The signature of a receipt's data, in hexadecimal.

    Parameters
    ----------
    data : dict
        As `Receipt.to_dict` writes it.
    key : Ed25519PrivateKey or bytes
        Of the signer, or its PEM text without a password.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    private = load_pem_private_key(key, None) if isinstance(key, bytes) else key
    if not isinstance(private, Ed25519PrivateKey):
        raise TypeError(
            f"Receipts are signed with an Ed25519 private key, got {type(private).__name__}."
        )
    return private.sign(_message(data)).hex()


def is_signed(data: Mapping[str, Any], signature: str, key: Any) -> bool:
    """Return whether the holder of a key has signed a receipt's data.

    Parameters
    ----------
    data : dict
        As it was filed, and read by `Receipt.from_dict`, which checks its digest.
    signature : str
        In hexadecimal.
    key : Ed25519PublicKey or bytes
        Of the signer, or its PEM text.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    public = load_pem_public_key(key) if isinstance(key, bytes) else key
    if not isinstance(public, Ed25519PublicKey):
        raise TypeError(
            f"Signatures are verified with an Ed25519 public key, got {type(public).__name__}."
        )
    try:
        public.verify(bytes.fromhex(signature), _message(data))
    except (InvalidSignature, ValueError):
        return False
    return True


def _message(data: Mapping[str, Any]) -> bytes:
    return _DOMAIN + str(data["digest"]).encode()
