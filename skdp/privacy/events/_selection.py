"""The event of a search: the best of a random number of runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ._event import Event
from ._script import Script, checked, tally

__all__ = ["BestOf"]


@dataclass(frozen=True)
class BestOf(Event):
    """The best of K runs by a score that is part of what a run releases; the others stay secret.

    Each run draws one of the scripts and asks it. K is geometric of this mean, conditioned on being at most `cap`,
    and as secret as the draws (docs/proofs/selection.md).

    Parameters
    ----------
    scripts : tuple of Script
        What a run may release, its score among it.
    weights : tuple of float
        How likely each of them is drawn; they sum to 1.
    mean : int
        Mean of the geometric law without the cap, 2 or more.
    cap : int
        Most runs, known to everybody.

    Examples
    --------
    >>> from skdp.privacy import epsilon
    >>> from skdp.privacy.events import BestOf, Gaussian
    >>> run = ((Gaussian(20.0), 1),)
    >>> once, best = epsilon(run, 1e-6), epsilon(((BestOf((run,), (1.0,), mean=10, cap=30), 1),), 1e-6)
    >>> 1.0 < best / once < 2.0  # thirty runs published: 6.7
    True
    """

    scalable: ClassVar[bool] = False
    scripts: tuple[Script, ...]
    weights: tuple[float, ...]
    mean: int = 10
    cap: int = 30

    def __post_init__(self) -> None:
        scripts = tuple(checked(script) for script in self.scripts)
        weights = tuple(float(weight) for weight in self.weights)
        for script in scripts:
            tally(script)
        if len(scripts) != len(weights) or not all(weight >= 0 for weight in weights):
            raise ValueError(f"BestOf was given {len(scripts)} scripts and weights={weights!r}.")
        if not abs(math.fsum(weights) - 1.0) < 1e-9:
            raise ValueError(f"weights={weights!r} must sum to 1.")
        for name, least in (("mean", 2), ("cap", 1)):
            _refuse_unless_whole(name, getattr(self, name), least)
        object.__setattr__(self, "scripts", scripts)
        object.__setattr__(self, "weights", weights)


def _refuse_unless_whole(name: str, value: Any, least: int) -> None:
    if type(value) is not int or not least <= value <= 10**4:
        raise ValueError(f"{name}={value!r} must be a whole number from {least} to 10000.")
