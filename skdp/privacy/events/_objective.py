"""Events of objective perturbation: what is known of one unit's loss, and how much noise there was."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ._event import (
    Event,
    Script,
    checked,
    fraction,
    inverse_noise_field,
    shown,
    tally,
    whole_number,
)

__all__ = ["BestOf", "ObjectivePerturbation", "PureObjectivePerturbation"]


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


_RULES = ("logistic", "one_signed", "two_signed", "two_signed_anywhere", "multinomial", "label_dp")
_MOST_COUNTED = 2**53  # doubles count so far


@dataclass(frozen=True)
class _Perturbed(Event):
    scalable: ClassVar[bool] = False  # the noise scale also decides how much convexity is added

    shift: float = inverse_noise_field()
    jacobian: float = inverse_noise_field(0)
    rule: str = "one_signed"
    classes: int = 2
    output: float = field(default=0.0, metadata={"power": -1, "high": math.inf})
    rounds: int = 1
    rows: int = 1
    width: int | None = None
    equal_weights: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        if not isinstance(self.rule, str) or self.rule not in _RULES:
            raise ValueError(
                f"{owner} was given rule={shown(self.rule)}; use one of {', '.join(_RULES)}."
            )
        for name, least in (("classes", 2), ("rounds", 1), ("rows", 1), ("width", 1)):
            value = getattr(self, name)
            if not (value is None and name == "width"):
                object.__setattr__(self, name, whole_number(owner, name, value, least))
        if not isinstance(self.equal_weights, bool):
            raise ValueError(
                f"{owner} was given equal_weights={shown(self.equal_weights)}; use True or False."
            )


@dataclass(frozen=True)
class ObjectivePerturbation(_Perturbed):
    """The minimiser of an objective with a Gaussian linear term.

    Parameters
    ----------
    shift : float
        Bound L on the norm of one record's gradient, over the standard deviation s of the noise.
    jacobian : float
        Bound beta on the norm of one record's Hessian, over the strong convexity lam.
    rule : {"logistic", "one_signed", "two_signed", "two_signed_anywhere", "multinomial", "label_dp"}
        What is known of one record's gradient. ``"logistic"``: the logistic loss, neither clipped
        nor capped. ``"one_signed"``: a slope of known sign times a fixed direction.
        ``"two_signed"``: a slope of either sign. ``"two_signed_anywhere"``: the same where the
        directions may depend on earlier answers. ``"multinomial"``: the softmax loss of
        ``classes`` scores. ``"label_dp"``: binary logistic loss where neighbours differ in one
        label and rows are public; priced under no relation on rows, only ``neighbors="label"``.
    classes : int
        Number of classes of the multinomial rule.
    output : float
        How far the released approximation moves beside the exact minimiser, over the standard
        deviation of the output noise: 2 tau / (lam s_o) for a certificate |gradient| <= tau.
    rounds : int
        How many equal releases were made from the same records, adaptively.
    rows : int
        Most rows of a unit, which enters the objective with a weighted sum of their losses: weights
        of 0 or more that sum to at most 1. ``shift`` and ``jacobian`` stay the bounds of one row.
    width : int or None
        Columns of a row, the intercept's among them: of more rows than that, the Hessian has no
        higher rank. None if not known.
    equal_weights : bool
        Whether all rows that enter of a unit have the same weight, which allows a second bound for
        units of few rows.

    Examples
    --------
    >>> from skdp.privacy import epsilon
    >>> from skdp.privacy.events import ObjectivePerturbation
    >>> row = ObjectivePerturbation(shift=0.1, jacobian=0.01)
    >>> person = ObjectivePerturbation(shift=0.1, jacobian=0.01, rows=10)
    >>> round(epsilon(((row, 1),), 1e-6), 4), round(epsilon(((person, 1),), 1e-6), 4)
    (0.8441, 0.845)
    """

    def repeated(self, times: int) -> Event:
        """Return the composition of so many equal releases on the same records."""
        return replace(self, rounds=self.rounds * times)


@dataclass(frozen=True)
class PureObjectivePerturbation(_Perturbed):
    """The minimiser of an objective with a linear term of density exp(-|b|/s).

    Fields as in `ObjectivePerturbation`, with s the scale of the noise; ``output`` is the epsilon
    of the output noise, whose density is exp(-|z| output lam / (2 tau)). Repetitions compose as
    those of any pure release, better than their epsilons add.
    """
