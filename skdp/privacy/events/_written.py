"""Scripts as plain types and back, to the last bit: numbers are written in hexadecimal."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ._event import Event
from ._script import Script

__all__ = ["read_script", "written_script"]


def written_script(script: Script) -> list[dict[str, Any]]:
    """A script as lists, dicts and strings, for json."""
    return [{**_event(event), "count": int(count)} for event, count in script]


def _event(event: Event) -> dict[str, Any]:
    return {
        "event": f"{type(event).__module__}:{type(event).__qualname__}",
        "fields": {f.name: _written(getattr(event, f.name)) for f in fields(event)},
    }


def read_script(plain: list[dict[str, Any]]) -> Script:
    """The script that `written_script` wrote; refuses events that nobody has defined here."""
    known = {f"{kind.__module__}:{kind.__qualname__}": kind for kind in _kinds(Event)}
    return tuple((_read_event(run, known), int(run["count"])) for run in plain)


def _read_event(plain: dict[str, Any], known: dict[str, type[Event]]) -> Event:
    if plain["event"] not in known:
        raise ValueError(
            f"The event {plain['event']!r} is not defined in this process; import its module first."
        )
    return known[plain["event"]](**{n: _read(v, known) for n, v in plain["fields"].items()})


def _kinds(base: type[Event]) -> list[type[Event]]:
    return [kind for sub in base.__subclasses__() for kind in (sub, *_kinds(sub))]


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return {"hex": value.hex()}
    if isinstance(value, Event):
        return _event(value)
    return [_written(part) for part in value] if isinstance(value, tuple) else value


def _read(value: Any, known: dict[str, type[Event]]) -> Any:
    if isinstance(value, dict):
        return float.fromhex(value["hex"]) if "hex" in value else _read_event(value, known)
    return tuple(_read(part, known) for part in value) if isinstance(value, list) else value
