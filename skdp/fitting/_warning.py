"""Warnings point to the user's line, however deep in the packages they were raised."""

import inspect
import os
from importlib.util import find_spec
from itertools import takewhile

__all__ = ["frames_to_caller"]

# scikit-learn's too, whose pipelines and searches call fits, also by joblib, and which wraps each fit since 1.9.
_PACKAGES = tuple(
    os.path.join(os.path.abspath(folder), "")
    for name in ("skdp", "sklearn", "joblib")
    if (found := find_spec(name)) is not None
    for folder in found.submodule_search_locations or ()
)


def frames_to_caller() -> int:
    """The ``stacklevel`` of the first frame outside these packages, for a warning raised by the caller of this.

    Python 3.12 has ``skip_file_prefixes`` for that and 3.11 has nothing; only where a warning points depends on it.
    """
    files = [frame.filename for frame in inspect.stack(context=0)[1:]]
    inside = sum(1 for _ in takewhile(lambda name: name.startswith(_PACKAGES), files))
    return min(inside + 1, len(files))
