"""The event of a search: the best of a random number of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ._event import Event, fraction, shown, whole_number
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
    weights: tuple[float, ...] = fraction()
    mean: int = 10
    cap: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = self.weights
        if isinstance(self.scripts, str) or not isinstance(self.scripts, Iterable):
            raise ValueError(
                f"BestOf was given scripts={shown(self.scripts)}; give a tuple of scripts."
            )
        scripts = tuple(checked(script) for script in self.scripts)
        for script in scripts:
            tally(script)
        if len(scripts) != len(weights):
            raise ValueError(f"BestOf was given {len(scripts)} scripts and weights={weights!r}.")
        if not abs(math.fsum(weights) - 1.0) < 1e-9:
            raise ValueError(f"weights={weights!r} must sum to 1.")
        for name, least in (("mean", 2), ("cap", 1)):
            value = whole_number("BestOf", name, getattr(self, name), least, 10**4)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "scripts", scripts)
