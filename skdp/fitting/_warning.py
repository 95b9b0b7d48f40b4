"""Warnings point to the user's line, however deep in the package they were raised."""

import sys
from types import FrameType

__all__ = ["frames_to_caller"]

_PACKAGE = __name__.split(".")[0]


def frames_to_caller() -> int:
    """The ``stacklevel`` of the first frame outside the package, for a warning raised by the caller of this."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _inside(frame):
        frame, level = frame.f_back, level + 1
    return level


def _inside(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE
