"""Penalties from names, as a user gives them and as a solver sees them."""

from dataclasses import fields, replace
from typing import Any

from . import PENALTIES
from ._penalty import Penalty
from ._scaled import ScaledPenalty
from .none import NoPenalty

__all__ = ["make", "make_scaled"]


def make_scaled(
    penalty: str | Penalty | None, scale: float, intercept: bool, over: float = 1.0, **given: Any
) -> ScaledPenalty:
    """`make`, as a solver sees it: on coefficients of rows that were divided by ``scale``.

    Parameters
    ----------
    penalty : str, None or Penalty
        As in `make`.
    scale : float > 0
        Bound that the rows were divided by.
    intercept : bool
        Whether the last coordinate is an intercept, which is not penalised.
    over : float > 0
        What all losses were divided by, so that the penalty is too.
    **given : float
        What else `make` takes.

    Returns
    -------
    ScaledPenalty

    See Also
    --------
    make : On the user's coefficients.

    Examples
    --------
    >>> from skdp.penalties import make_scaled
    >>> make_scaled("l2", scale=2.0, intercept=True, strength=4.0).convexity_of_coefficients
    1.0
    """
    return ScaledPenalty(_divided(make(penalty, **given), over), scale, intercept)


def _divided(penalty: Penalty, by: float) -> Penalty:
    """The penalty divided by a number; a constraint stays what it is."""
    if by == 1.0:
        return penalty
    if type(penalty) not in PENALTIES.values():
        raise ValueError(
            f"{type(penalty).__name__} is not a registered penalty, so it cannot be weighed against weighted losses; "
            "use one from skdp.penalties, or no weights."
        )
    kept = {f.name: getattr(penalty, f.name) for f in fields(penalty)}
    scaled = {name: kept[name] / by for name in ("strength", "weight") if name in kept}
    return replace(penalty, **scaled) if scaled else penalty


def make(
    penalty: str | Penalty | None,
    strength: float = 1.0,
    l1_ratio: float | None = None,
    weight: float = 1.0,
) -> Penalty:
    """Penalty that a name stands for; an instance stands for itself.

    Parameters
    ----------
    penalty : str, None or Penalty
        Name of a penalty that needs no more than a strength, or an instance of any; "auto" is named by ``l1_ratio``.
    strength : float
        Weight against the sum of the losses (1/C of scikit-learn), 0 for no penalty. An instance carries its own.
    l1_ratio : float in [0, 1], optional
        Share of L1 in the elastic net. For "auto", as in scikit-learn: 1 is L1, None or 0 is L2.
    weight : float
        Number of records, where it is public: it sets where SCAD and MCP stop to grow.

    Returns
    -------
    Penalty

    See Also
    --------
    Penalty : What an instance must be.

    Examples
    --------
    >>> from skdp.penalties import L1Ball, make
    >>> make("elasticnet", strength=2.0, l1_ratio=0.3)
    ElasticNet(strength=2.0, l1_ratio=0.3)
    >>> make(L1Ball(radius=5.0), strength=2.0)  # an instance carries its own numbers
    L1Ball(radius=5.0)
    >>> make("auto", strength=2.0), make("auto", strength=2.0, l1_ratio=1.0)
    (L2(strength=2.0), L1(strength=2.0))
    """
    if isinstance(penalty, Penalty):
        return penalty
    if penalty is None or penalty == "none":
        return NoPenalty()
    ends = penalty == "elasticnet" and l1_ratio in (
        0.0,
        1.0,
    )  # whose solvers see no corners, or no bowl
    if isinstance(penalty, str) and (penalty == "auto" or ends):
        penalty = _named_by(l1_ratio)
    kind = PENALTIES.get(penalty) if isinstance(penalty, str) else None
    takes = {field.name for field in fields(kind)} if kind else ()
    if kind is None or "strength" not in takes:
        raise ValueError(
            f"penalty={penalty!r} is not the name of a penalty with a strength; use 'l1', 'l2', "
            "'elasticnet', 'auto' or None, or an instance such as skdp.penalties.L1Ball(radius=1.0)."
        )
    if "l1_ratio" in takes and l1_ratio is None:
        raise ValueError(f"penalty={penalty!r} needs l1_ratio, got None; 0.5 is half and half.")
    if strength == 0.0:
        return NoPenalty()
    given = {"strength": strength, "l1_ratio": l1_ratio, "weight": weight}
    return kind(**{name: number for name, number in given.items() if name in takes})


def _named_by(l1_ratio: float | None) -> str:
    """Return the name of the penalty that scikit-learn means by a share of L1."""
    if l1_ratio is None or l1_ratio == 0.0:
        return "l2"
    return "l1" if l1_ratio == 1.0 else "elasticnet"
