"""Functions outside the trusted rooms that hold one entry for each record while a fit, a figure or a search runs.

Python's profiler tells of each call and return. A function holds rows where a local of it, an argument, or what it
returns is an array, a sparse table, a frame or a list with as many entries as there are records: also inside a tuple, a
list, a dict, or an object of a class outside the trusted rooms.

Not counted are:

* the trusted rooms, and the formulas of models and losses, which are handed single blocks by them;
* the function that a user calls: `fit` and other doors have their user's table as an argument, and hand it on;
* what scikit-learn's interface shows a user of a user's own table, `predict`, `transform`, `score` and the like, and
  all that they call: these are no fits, and what they return is the user's.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
from laws.promises import N, promising_functions
from scipy.sparse import issparse

import skdp

__all__ = ["holders"]

ROOT = Path(skdp.__file__).parent
TRUSTED = {"entry", "mechanisms", "privacy"}
FORMULAS = {"models", "losses"}
OF_USERS = {
    "decision_function",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "score",
    "split",
    "transform",
}
DOORS = {"fit", "fit_transform"} | {name.rsplit(".", 1)[-1] for name in promising_functions()}
DEEP = 3  # levels of containers that are looked into


def holders(call):
    """Run a call, and return the functions that held rows: files inside the package, and qualified names.

    Parameters
    ----------
    call : callable
        Without arguments, about `N` records.

    Returns
    -------
    set of (str, str)
    """
    seen, before = _Watch(), sys.getprofile()
    sys.setprofile(seen.note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen.found


class _Watch:
    def __init__(self):
        self.found = set()
        self._open = []  # calls of what is a user's own, within which nothing counts

    def note(self, frame, event, result):
        """As `sys.setprofile` wants it."""
        if self._open:
            if event == "return" and frame is self._open[-1]:
                self._open.pop()
        elif event == "call":
            self._look(frame, None)
            if frame.f_back is not None:
                self._look(frame.f_back, None)
            code = frame.f_code
            if code.co_name in OF_USERS and _file(code.co_filename) is not None:
                self._open.append(frame)
        elif event == "return":
            self._look(frame, result)

    def _look(self, frame, result):
        code = frame.f_code
        if (
            not _counts(code)
            or (place := (_file(code.co_filename), code.co_qualname)) in self.found
        ):
            return
        if holds(result) or any(map(holds, frame.f_locals.values())):
            self.found.add(place)


def holds(value, deep=DEEP):
    """Whether a value has one entry for each record."""
    if isinstance(value, np.ndarray):
        return N in value.shape or (value.dtype == object and value.size < N and _any(value, deep))
    if issparse(value):
        return N in value.shape
    if hasattr(value, "columns") and hasattr(value, "shape"):
        return value.shape[0] == N
    if isinstance(value, list | tuple | dict | set):
        return len(value) == N or (len(value) < N and _any(value, deep))
    kind = type(value)
    ours = kind.__module__.split(".")[0] == "skdp"
    if not ours or isinstance(value, type) or kind.__module__.split(".")[1] in TRUSTED | FORMULAS:
        return hasattr(value, "dtype") and np.shape(value)[:1] == (N,)
    return deep > 0 and any(holds(one, deep - 1) for one in getattr(value, "__dict__", {}).values())


def _any(value, deep):
    inside = (
        value.values()
        if isinstance(value, dict)
        else np.ravel(value)
        if isinstance(value, np.ndarray)
        else value
    )
    return deep > 0 and any(holds(one, deep - 1) for one in inside)


@cache
def _file(name):
    """Place of a file inside the package; None for anybody else's."""
    path = Path(name)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else None


@cache
def _counts(code):
    """Whether a function must hold no rows."""
    file = _file(code.co_filename)
    if file is None or file.partition("/")[0] in TRUSTED | FORMULAS:
        return False
    return code.co_name not in DOORS | OF_USERS | {"<module>"}
