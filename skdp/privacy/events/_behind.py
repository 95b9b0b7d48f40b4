"""Replace events whose rows may have been chosen by earlier answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ._event import Event
from ._script import Script
from ._selection import BestOf

__all__ = ["after_answers"]


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
