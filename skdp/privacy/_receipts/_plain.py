"""Receipts and events as plain data, and back: what json can hold, with a digest over all of it.

Detached signatures of receipts, Ed25519 by the extra ``skdp[sign]``.

What is signed is the digest of the data as they were filed, so that a signature holds when later versions write
receipts otherwise.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from .. import events
from ..curves import registered
from ..events import Event, Script

__all__ = [
    "READ",
    "SCHEMA",
    "is_signed",
    "plain",
    "plain_script",
    "receipt_fields",
    "sealed",
    "signature_of",
]


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


# Since 2, the hashes of a model are of all that a fit has left, each with its version in front. Whatever names none
# such is written as before: a receipt that was filed long ago keeps its digest.
SCHEMA = 2
READ = (1, SCHEMA)  # what is read: of each of them receipts are kept, which hold for ever


def plain(value: Any) -> Any:
    """Numbers, text, lists and dicts; numbers that json does not know are text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Event):
        return _plain_event(value)
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return str(value)


def _number(value: Any) -> float:
    """A number that may have been written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a number.")
    return float(value)


def plain_script(script: Script) -> list[dict[str, Any]]:
    """Return a script as a list with a dict for each run: the event's name, its count and its fields."""
    return [{**_plain_event(event), "count": count} for event, count in script]


def _plain_event(event: Event) -> dict[str, Any]:
    own = {f.name: plain(getattr(event, f.name)) for f in fields(event)}
    return {"event": type(event).__name__, **own}


def _read_script(entries: Any) -> Script:
    """The way back; an event that nobody registered is refused."""
    return tuple(_run(entry) for entry in entries)


def _run(entry: Any) -> tuple[Event, int]:
    given = dict(entry)
    count = given.pop("count")
    if given.get("event") not in _kinds() or type(count) is not int or count < 0:
        raise ValueError(
            f"{entry!r} is not a run of a known event; register the event before reading the receipt."
        )
    return _event(given), count


def _event(entry: Mapping[str, Any]) -> Event:
    """An event, those that it is made of among its fields."""
    given = dict(entry)
    kind = _kinds()[given.pop("event")]
    numeric = {f.name for f in fields(kind) if "high" in f.metadata}
    return kind(**{n: _read(v) if n in numeric else _nested(v) for n, v in given.items()})


def _nested(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _event(value)
    return tuple(map(_nested, value)) if isinstance(value, list) else value


def _read(value: Any) -> Any:
    return tuple(map(_number, value)) if isinstance(value, list) else _number(value)


def _kinds() -> dict[str, type[Event]]:
    own = {name: kind for name in events.__all__ if isinstance(kind := getattr(events, name), type)}
    return {kind.__name__: kind for kind, _, _ in registered()} | own


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """Plain data with its schema and the digest of all."""
    versioned = any(":" in digest for digest in data.get("model", {}).values())
    data = {"schema": SCHEMA if versioned else 1, **data}
    return {**data, "digest": _digest(data)}


def receipt_fields(data: Any, kind: Any) -> dict[str, Any]:
    """The fields of a receipt from what was written, or a refusal of what was changed since."""
    try:
        return _fields(dict(data), kind)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"This is not a receipt as skdp wrote it ({error}); ask for the original file."
        ) from None


def _fields(data: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Checked; a field that came later has its default, so that older receipts can be read."""
    if data.pop("digest") != _digest(data):
        raise ValueError("its digest is that of other data")
    schema = data.pop("schema")
    if schema not in READ or not set(data) <= {f.name for f in fields(kind)}:
        raise ValueError(f"schema {schema!r} is unknown here, or has other fields")
    read = {n: tuple(v) if isinstance(v, list) else v for n, v in data.items() if n != "script"}
    unspent = data["unspent"]
    return read | {
        "script": _read_script(data["script"]),
        "epsilon": _number(data["epsilon"]),
        "delta": _number(data["delta"]),
        "unspent": None if unspent is None else _number(unspent),
    }


def _digest(data: Mapping[str, Any]) -> str:
    """SHA-256 of plain data in one spelling."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
