"""Who calls whom across rooms: what a fit goes through, as a list that can be counted.

``PYTHONPATH=tests python tests/walls/traffic.py default`` prints what one fit runs through in a new interpreter.
"""

import json
import sys
from pathlib import Path

import skdp

__all__ = ["Traffic", "traffic"]

ROOT = Path(skdp.__file__).parent


class Traffic:
    """Calls from one room into another, and runs of solvers.

    Attributes
    ----------
    names : set of (str, str)
        Room and qualified name of everything that was called from another room.
    solves : int
        How often a solver was run.
    functions : set of (str, str)
        File and qualified name of everything of the package that ran: comprehensions and lambdas are functions too.
    """

    def __init__(self):
        self.names, self.solves, self.functions = set(), 0, set()
        self._loading = 0  # modules that are being imported: what they call to come into being is no part of a fit

    def note(self, frame, event, _):
        """As `sys.setprofile` wants it."""
        called = frame.f_code
        if called.co_name == "<module>":
            self._loading += {"call": 1, "return": -1}.get(event, 0)
        if event != "call" or self._loading:
            return
        if called.co_filename.startswith(str(ROOT)):
            self.functions.add((called.co_filename, called.co_qualname))
        room = _room(called.co_filename)
        if room is None:
            return
        self.solves += room == "solvers" and called.co_name == "solve"
        caller = frame.f_back
        while caller is not None and _room(caller.f_code.co_filename) is None:
            caller = caller.f_back
        if caller is not None and _room(caller.f_code.co_filename) != room:
            self.names.add((room, called.co_qualname))


def _room(file):
    """The folder of the package that a file is in; None for anybody else's."""
    path = Path(file)
    if not path.is_relative_to(ROOT) or path.parent == ROOT:
        return None
    return path.relative_to(ROOT).parts[0]


def traffic(call):
    """Count while something is done.

    Parameters
    ----------
    call : callable
        Without arguments.
    """
    seen, before = Traffic(), sys.getprofile()
    sys.setprofile(seen.note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen


def run_fit(what):
    """Fit a small table with everything left at its default, or gradient descent with a declared norm."""
    import numpy as np

    X = np.random.default_rng(0).normal(size=(600, 5))
    declared = {"solver": "gd", "data_norm": 1.0, "classes": [0, 1]} if what == "gd" else {}
    given = {"epsilon": 1.0, "delta": 1e-6, "random_state": 0, **declared}
    skdp.DPLogisticRegression(**given).fit(X, (X[:, 0] > 0).astype(int))


if __name__ == "__main__":
    ran = traffic(lambda: run_fit(sys.argv[1])).functions
    print(json.dumps([len(ran), len({file for file, _ in ran})]))
