"""Scripts as plain types and back, to the last bit: numbers are written in hexadecimal."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ._event import Event
from ._script import Script

__all__ = ["read_script", "written_script"]


def written_script(script: Script) -> list[dict[str, Any]]:
    """A script as lists, dicts and strings, for json."""
    return [
        {
            "event": f"{type(event).__module__}:{type(event).__qualname__}",
            "count": int(count),
            "fields": {f.name: _written(getattr(event, f.name)) for f in fields(event)},
        }
        for event, count in script
    ]


def read_script(plain: list[dict[str, Any]]) -> Script:
    """The script that `written_script` wrote; refuses events that nobody has defined here."""
    known = {f"{kind.__module__}:{kind.__qualname__}": kind for kind in _kinds(Event)}
    out = []
    for run in plain:
        if run["event"] not in known:
            raise ValueError(
                f"The event {run['event']!r} is not defined in this process; import its module first."
            )
        values = {name: _read(value) for name, value in run["fields"].items()}
        out.append((known[run["event"]](**values), int(run["count"])))
    return tuple(out)


def _kinds(base: type[Event]) -> list[type[Event]]:
    return [kind for sub in base.__subclasses__() for kind in (sub, *_kinds(sub))]


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return {"hex": value.hex()}
    return [_written(part) for part in value] if isinstance(value, tuple) else value


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return float.fromhex(value["hex"])
    return tuple(_read(part) for part in value) if isinstance(value, list) else value
