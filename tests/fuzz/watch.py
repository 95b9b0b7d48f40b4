"""What a fit does while nobody asks: charges, rows that are read, rounds of inner minimisers, processor time."""

from __future__ import annotations

import contextlib
import signal
import weakref
from dataclasses import dataclass, field

from skdp.fitting import run
from skdp.mechanisms import Records
from skdp.mechanisms._objective import Objective, SampledCurvature
from skdp.mechanisms._rows import DenseRows

__all__ = ["Endless", "Seen", "limited", "watched"]

READ = (
    *(
        "dot",
        "whole_dot",
        "tdot",
        "careful_dot",
        "careful_tdot",
        "in_double",
        "moment",
        "gram",
        "take",
        "max_abs",
    ),
    *("chunks", "reach"),
)


class Endless(BaseException):
    """A fit used more processor time than any fit should: no library code may catch it."""


@dataclass
class Seen:
    """The events charged to the fit's own account, reads of rows before the first, and rounds by objective."""

    charged: list = field(default_factory=list)
    read_unpaid: list = field(default_factory=list)
    admitted: bool = False
    rounds: weakref.WeakKeyDictionary = field(default_factory=weakref.WeakKeyDictionary)
    most_rounds: int = 0


class _Account:
    """The fit's account, which also writes down."""

    def __init__(self, account, seen):
        self._account, self._seen = account, seen

    def charge(self, event):
        self._account.charge(event)
        self._seen.charged.append(event)

    def __getattr__(self, name):
        return getattr(self._account, name)


@contextlib.contextmanager
def watched():
    """Write down what fits do; yields a `Seen`."""
    seen = Seen()
    with contextlib.ExitStack() as undo:

        def put(owner, name, value):
            undo.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, value)

        bar, admit, curvature = run.with_progress_bar, Records.admit, Objective.curvature
        propose = SampledCurvature.direction

        def admitting(*args, **kwargs):
            records = admit(*args, **kwargs)
            seen.admitted = True
            return records

        def counting(objective, *args, **kwargs):
            seen.rounds[objective] = seen.rounds.get(objective, 0) + 1
            seen.most_rounds = max(seen.most_rounds, seen.rounds[objective])
            return curvature(objective, *args, **kwargs)

        def proposing(sampled, *args, **kwargs):
            seen.rounds[sampled] = seen.rounds.get(sampled, 0) + 1
            seen.most_rounds = max(seen.most_rounds, seen.rounds[sampled])
            return propose(sampled, *args, **kwargs)

        put(run, "with_progress_bar", lambda account, *rest: _Account(bar(account, *rest), seen))
        put(Records, "admit", staticmethod(admitting))
        put(Objective, "curvature", counting)
        put(SampledCurvature, "direction", proposing)
        for name in READ:
            put(DenseRows, name, _reading(name, seen))
        yield seen


def _reading(name, seen):
    plain = getattr(DenseRows, name)

    def read(rows, *args, **kwargs):
        if seen.admitted and len(rows) and not seen.charged:
            seen.read_unpaid.append(name)
        return plain(rows, *args, **kwargs)

    return read


@contextlib.contextmanager
def limited(seconds):
    """Raise `Endless` after so much processor time of this process (the clock of others does not count)."""

    def stop(number, frame):
        raise Endless(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
