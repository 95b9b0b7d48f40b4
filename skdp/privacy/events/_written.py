"""Scripts as plain types and back, to the last bit: numbers are written in hexadecimal.

What is written must be readable for years. So an event of this package is named by a public name and the version of
its fields' meaning, wherever its class lives; and one that nobody defined here is kept as it was written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, cast

from ._event import Event, Script
from ._objective import BestOf

__all__ = ["Unread", "after_answers", "read_script", "written_script"]


def after_answers(script: Script) -> Script:
    """Return the script for rows that earlier answers may have chosen: no angle between two records is fixed then.

    See docs/proofs/bought_scales.md.
    """
    return tuple((_anywhere(event), count) for event, count in script)


def _anywhere(event: Event) -> Event:
    if isinstance(event, BestOf):
        return replace(event, scripts=tuple(map(after_answers, event.scripts)))
    if getattr(event, "rule", None) == "two_signed":
        return cast(Event, replace(cast(Any, event), rule="two_signed_anywhere"))
    return event


_ROOM = __name__.rpartition(".")[0]
_OWN = "skdp/1:"  # counted up when the fields of an event come to mean something else


@dataclass(frozen=True)
class Unread(Event):
    """An event whose class is not defined in this process: it has no price here, and stays as it was written.

    Parameters
    ----------
    name : str
        Of its class.
    text : str
        Its fields, as json.
    """

    scalable: ClassVar[bool] = False

    name: str
    text: str


def written_script(script: Script) -> list[dict[str, Any]]:
    """A script as lists, dicts and strings, for json."""
    return [{**_event(event), "count": int(count)} for event, count in script]


def _event(event: Event) -> dict[str, Any]:
    if isinstance(event, Unread):
        return {"event": event.name, "fields": json.loads(event.text)}
    return {
        "event": _name_of(type(event)),
        "fields": {f.name: _written(getattr(event, f.name)) for f in fields(event)},
    }


def _name_of(kind: type[Event]) -> str:
    """A public name for ours; a user's class is named by its module."""
    if kind.__module__.startswith(f"{_ROOM}."):
        return _OWN + kind.__qualname__
    return f"{kind.__module__}:{kind.__qualname__}"


def read_script(plain: list[dict[str, Any]]) -> Script:
    """The script that `written_script` wrote; an event that nobody has defined here is `Unread`."""
    from .. import curves  # noqa: F401  # an event may be defined beside its costs

    known = {_name_of(kind): kind for kind in _kinds(Event)}
    return tuple((_read_event(run, known), int(run["count"])) for run in plain)


def _read_event(plain: dict[str, Any], known: dict[str, type[Event]]) -> Event:
    name = plain["event"]
    if name.startswith(f"{_ROOM}."):  # lines of the first format name the module
        name = _OWN + name.rpartition(":")[2]
    if name not in known:
        return Unread(name, json.dumps(plain["fields"], separators=(",", ":")))
    return known[name](**{n: _read(v, known) for n, v in plain["fields"].items()})


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
