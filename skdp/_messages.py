"""Messages: values in a sentence, which shows no data, and the user's line that a warning points to.

However deep in the packages a warning is raised, it points to the line of the user's own.
"""

import inspect
import math
import os
from importlib.util import find_spec
from itertools import takewhile

import numpy as np

__all__ = ["as_text", "frames_to_caller"]

# scikit-learn's too, whose pipelines and searches call fits, also by joblib, and which wraps each fit since 1.9.
_PACKAGES = tuple(
    os.path.join(os.path.abspath(folder), "")
    for name in ("skdp", "sklearn", "joblib")
    if (found := find_spec(name)) is not None
    for folder in found.submodule_search_locations or ()
)


def as_text(value: object) -> str:
    """A value in a sentence: a number, a short word or None as it is, anything else by its type.

    Parameters
    ----------
    value : object
        Whatever a user gave.

    Returns
    -------
    str
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**30:
        return f"{'-' if value < 0 else ''}1e+{int(math.log10(abs(value)))} or so"
    if isinstance(value, str) and len(value) > 60:
        return repr(value[:60] + "...")
    if value is None or isinstance(value, str | bool | int | float | np.number | np.bool_):
        return repr(value.item() if isinstance(value, np.generic) else value)
    return f"<{type(value).__name__}>"


def frames_to_caller() -> int:
    """The ``stacklevel`` of the first frame outside these packages, for a warning raised by the caller of this.

    Python 3.12 has ``skip_file_prefixes`` for that and 3.11 has nothing; only where a warning points depends on it.
    """
    files = [frame.filename for frame in inspect.stack(context=0)[1:]]
    inside = sum(1 for _ in takewhile(lambda name: name.startswith(_PACKAGES), files))
    return min(inside + 1, len(files))
