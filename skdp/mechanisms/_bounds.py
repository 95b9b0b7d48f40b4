"""Bounds on the gradient of one record, and the penalties known to be convex: what a release may rely on.

Scores and slopes of records at parameters that a solver chose, refused unless each record has its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..losses import Logistic, Loss
from ..models import Linear, Model
from ..penalties import L2, PENALTIES, NoPenalty, ScaledPenalty
from ._engine import Rows
from ._kernels import UNIT
from ._public import Public
from ._records import Records
from ._rows import Array
from ._shrunk import slopes_at, values_at

__all__ = [
    "Convexity",
    "cap",
    "convexity_note",
    "gradient_bound",
    "linear_rows",
    "losses_at",
    "pass_forward",
    "rebuild_penalty",
    "refuse_shape",
    "refuse_unless_linear",
    "rule_of",
    "split_penalty",
]


def gradient_bound(loss: Loss, clip: float | None, public: Public) -> float:
    """Bound L on the norm of one record's gradient: the loss's own, or the clip if that is less; for linear models."""
    refuse_unless_linear(public)
    if loss.curvature is None:
        raise NotSupported(
            f"{type(loss).__name__} is not smooth, so neither its minimiser nor a hidden descent has a bound; use a "
            "smooth loss such as HuberisedHinge."
        )
    if clip is not None and loss.outputs > 1:
        raise NotSupported(
            f"clip={clip:g} with {loss.outputs} scores per record is no longer the gradient of a "
            "convex function; use clip=None."
        )
    own = math.inf if loss.slope is None else loss.slope * public.row_bound
    bound = own if clip is None else min(float(clip), own)
    if math.isinf(bound):
        raise NotSupported(
            f"{type(loss).__name__} has no bounded slope; give clip=, which bounds it."
        )
    return bound


def refuse_shape(shape: tuple[int, ...], loss: Loss, public: Public) -> None:
    """Refuse parameters that do not give each record its own scores.

    With (width, 1) or (width, n) the loss would broadcast targets across records, and the answer could have columns
    that share their noise: its differences would be exact.
    """
    wanted = public.model.shape(public, loss.outputs)
    if shape != wanted:
        raise ValueError(
            f"{type(loss).__name__} over rows of width {public.width} needs parameters of shape "
            f"{wanted}, not {shape}; ask with that shape."
        )


def rule_of(loss: Loss, clip: float | None, public: Public) -> str:
    """Return the rule of objective perturbation that covers the loss; see `skdp.privacy._objective`."""
    if loss.outputs > 1:
        return "multinomial"
    if type(loss) is Logistic and (clip is None or clip >= public.row_bound):
        return "logistic"
    if loss.one_signed:
        return "one_signed"
    # Where answers chose coordinates, or how columns are seen, the angle between two records depends on them.
    return "two_signed_anywhere" if public.depth or public.bought else "two_signed"


def rebuild_penalty(penalty: Any) -> ScaledPenalty:
    """Rebuild a registered convex penalty from plain numbers.

    The penalty's prox meets the exact minimiser, so neither an unregistered type nor a field with
    operators of its own may come near it.
    """
    inner = penalty.penalty if type(penalty) is ScaledPenalty else None
    if (
        inner is None
        or type(inner) not in PENALTIES.values()
        or not vars(inner).keys() <= _names(inner)
    ):
        raise NotSupported(
            f"{type(inner if inner is not None else penalty).__name__} is not a registered penalty; "
            "register it in skdp.penalties."
        )
    plain = type(inner)(**{f.name: _plain(getattr(inner, f.name)) for f in fields(inner)})
    if not plain.convex:
        raise NotSupported(
            f"{type(plain).__name__} is not convex, and the proofs need that; use 'l1' or 'l2', or "
            "a solver of noisy gradients such as 'ssadmm'."
        )
    return ScaledPenalty(plain, float(penalty.scale), bool(penalty.intercept))


def _names(instance: Any) -> set[str]:
    return {field.name for field in fields(instance)}


def _plain(value: Any) -> Any:
    """A number, a tuple of such, or an array of the base class."""
    if isinstance(value, tuple):
        return tuple(int(v) if isinstance(v, int | np.integer) else _plain(v) for v in value)
    array = np.array(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def refuse_unless_linear(public: Public) -> None:
    """Refuse a model whose scores are not linear in its parameters."""
    if type(public.model) is not Linear:
        raise NotSupported(
            f"{type(public.model).__name__} is not linear, so a record's gradient does not lie along its row and its "
            "loss need not be convex; use a solver of noisy gradients such as 'sgd'."
        )


def linear_rows(records: Records) -> Rows:
    """Rows of a linear model: the proofs are for scores that are linear in the parameters."""
    refuse_unless_linear(records.public)
    rows: Rows = records.rows
    return rows


@dataclass(frozen=True)
class Convexity:
    """Strong convexity of the common part of an objective, by coordinate.

    Parameters
    ----------
    features, intercept : float
        Modulus on the coefficients, and on the intercept's coordinate (unused where size is 0).
    size : float
        The intercept's constant column, 0 for none.
    """

    features: float
    intercept: float
    size: float

    @classmethod
    def of(cls, strength: float, penalty: ScaledPenalty, public: Public) -> Convexity:
        """Return the convexity of half a squared norm on every coordinate, plus the penalty's where it acts."""
        added = max(penalty.convexity_of_coefficients, 0.0)
        last = strength if penalty.intercept else strength + added
        # Without a constant column, what such a penalty leaves alone is the last feature.
        features = strength + added if public.intercept > 0 else last
        return cls(features, last, public.intercept)

    def modulus(self) -> float:
        """Strong convexity of the whole."""
        return min(self.features, self.intercept) if self.size else self.features

    def leverage(self) -> float:
        """Largest x' Lambda^-1 x over rows of norm at most 1 beside the constant column."""
        total = _over(1.0, self.features)
        return total + _over(self.size**2, self.intercept) if self.size else total


def convexity_note(
    strength: float, penalty: ScaledPenalty, curvature: float, convexity: Convexity
) -> str:
    """Return a receipt's note on the strong convexity of a release: its parts, and the bound that it gives."""
    user = max(penalty.convexity_of_coefficients, 0.0)
    return (
        f"strong convexity of the sum of losses: lam = {convexity.modulus():.6g}, with {strength:.6g} added on "
        f"every coordinate and {user:.6g} from the penalty on the coefficients; one record's share of the Hessian "
        f"is at most {curvature * convexity.leverage():.6g} of the whole"
    )


def _over(a: float, b: float) -> float:
    return math.inf if b == 0 else a / b


def split_penalty(
    penalty: ScaledPenalty, strength: float, shape: tuple[int, ...]
) -> tuple[Array, Any]:
    """Strength of half the squared norm by coordinate, and what of the penalty needs its prox."""
    weights = np.full(shape[:1], float(strength))
    rest: Any = penalty
    if isinstance(penalty.penalty, (L2, NoPenalty)):
        covered = slice(None, -1) if penalty.intercept else slice(None)
        weights[covered] += penalty.convexity_of_coefficients
        rest = None
    return (weights if len(shape) == 1 else weights[:, None]), rest


def losses_at(w: Array, records: Records, loss: Loss) -> Array:
    """Loss of each record at w, in double precision."""
    scores, _ = _forward(records.model, w, records.rows, loss)
    return values_at(loss, _left(records), scores, records.y)


def _forward(model: Model, w: Array, rows: Any, loss: Loss) -> tuple[Array, Any]:
    """Scores of shape (n,) or (n, loss.outputs), and the tape.

    With another shape the loss would broadcast targets across records: every record's slope would then depend on
    every label, and clipping records one by one would bound nothing.
    """
    scores, tape = model.forward(w, rows)
    wanted = () if loss.outputs == 1 else (loss.outputs,)
    if scores.shape[1:] != wanted:
        raise ValueError(
            f"{type(loss).__name__} needs {loss.outputs} score(s) per record, but parameters of shape {w.shape} "
            f"give {scores.shape[1:]}; use parameters of shape (width,) or (width, outputs)."
        )
    return scores, tape


def pass_forward(w: Array, records: Records, loss: Loss) -> tuple[Array, Any]:
    """Slopes in double precision, a fresh array, and the model's tape.

    Scores and the loss may be in single precision, sums are not.
    """
    scores, tape = _forward(records.model, w, records.rows, loss)
    return slopes_at(loss, _left(records), scores, records.y), tape


def _left(records: Records) -> Array | None:
    """Return the factors by which rows were scaled down, where scores are those of the whole rows."""
    left: Array | None = records.rows.shrink if records.model.of_whole_rows else None
    return left


def cap(norms: Array, bound: float, outputs: int = 1) -> Array:
    """Weights that bring contributions of these norms within the bound, also as computed; `norms` is overwritten.

    Seven roundings lie between a slope and its contribution, and the norm of K slopes is off by K/2 + 1; norms of rows
    are upper bounds as they stand. A norm that is not finite gives no weight above 0.
    """
    np.maximum(norms, bound, out=norms)
    np.divide(bound * (1.0 - (24.0 + outputs) * UNIT), norms, out=norms)
    return norms
