"""Gradients of a release's objective made again, record by record and in longer numbers, from the losses' formulas.

The certificate that is demanded is not the one that the code aims at but the one that the price rests on: what the
noise on the answer covers.
"""

import numpy as np
from laws.ears import Ear
from laws.row_laws import left_of, stored_rows

from skdp.losses import (
    ClippedLogistic,
    Huber,
    HuberisedHinge,
    Logistic,
    Multinomial,
    QuantileHuber,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from skdp.mechanisms import Mapped, NoisyMinimiser, PerturbedObjective
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._schedule import ROUND_UP
from skdp.penalties import L1, L2, Box, ElasticNet, GroupLasso, NoPenalty

LONG = np.longdouble


def long(values):
    """The same numbers with 64 bits or more of mantissa."""
    return np.asarray(values, dtype=LONG)


def slopes(loss, z, y):
    """Derivative of each record's loss in its score."""
    if isinstance(loss, Multinomial):
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True) - np.eye(loss.outputs)[np.asarray(y, dtype=int)]
    y = long(y)
    if isinstance(loss, Logistic):
        return -y / (1 + np.exp(y * z))
    if isinstance(loss, ClippedLogistic):
        return -y * np.minimum(1 / (1 + np.exp(y * z)), long(loss.cap))
    if isinstance(loss, HuberisedHinge):
        return y * np.clip((y * z - 1 - long(loss.h)) / (2 * long(loss.h)), -1, 0)
    if isinstance(loss, SquaredHinge):
        return 2 * y * np.minimum(y * z - 1, 0)
    if isinstance(loss, Huber):
        return np.clip(z - y, -long(loss.delta), long(loss.delta))
    if isinstance(loss, QuantileHuber):
        return np.clip((z - y) / long(loss.k), -long(loss.tau), 1 - long(loss.tau))
    if isinstance(loss, SquaredEpsilonInsensitive):
        return 2 * np.sign(z - y) * np.maximum(np.abs(z - y) - long(loss.width), 0)
    assert isinstance(loss, Squared), f"{type(loss).__name__} has no formula here; give it one"
    return z - y


SMOOTH = [
    Logistic(),
    ClippedLogistic(0.3),
    HuberisedHinge(0.5),
    HuberisedHinge(1e-3),
    SquaredHinge(),
    Huber(0.7),
    QuantileHuber(0.3, 1e-2),
    Squared(),
    SquaredEpsilonInsensitive(0.2),
    Multinomial(outputs=3),
]


def true_rows(rows):
    """The rows that an engine stands for, exactly as they lie in memory and as they are scaled."""
    return long(stored_rows(rows)).sum(axis=2).reshape(len(rows), rows.width)


def slopes_of_whole_rows(rows, loss, z, y):
    """Slopes of the losses s^2 l(z / s), or l(z; s y), of rows of which s is left."""
    left = long(left_of(rows)).reshape((-1,) + (1,) * (z.ndim - 1))
    if isinstance(loss, Huber):
        return slopes(loss, z, left * long(y))
    return left * slopes(loss, z / left, y)


def losses_gradient(rows, y, loss, clip, w, share=None):
    """Sum over records of slope times row, each slope capped so that its gradient has norm at most `clip`.

    What a row weighs, if they have weights, multiplies what is capped.
    """
    with np.errstate(over="ignore"):
        x = true_rows(rows)
        s = slopes_of_whole_rows(rows, loss, x @ long(w), y)
        if clip is not None:
            cap = long(clip) / long(rows.norms)
            s = np.clip(s, -cap, cap)
    if share is not None:
        s = long(share).reshape((-1,) + (1,) * (s.ndim - 1)) * s
    return x.T @ s


def released(question, records, linear=None):
    """What a release computes before noise is added, the rows and public facts that it saw, and the bare question."""
    ear = Ear(linear=linear)
    w = question.answer(records, ear)
    if isinstance(question, Mapped):
        matrix, images = (
            question.coordinates.matrix,
            records.rows.image_norms(question.coordinates.matrix, records.in_place),
        )
        given = matrix / question.scale, images / question.scale
        rows = MappedRows(records.rows, *given, whole=question.whole)
        return w, rows.in_double(), question._seen(records.public), question.question
    return w, records.rows.in_double(), records.public, question


def residual(question, records, linear=None):
    """Distance of 0 from the subgradients of the whole objective at the point that a release computes."""
    w, rows, public, bare = released(question, records, linear)
    g = losses_gradient(rows, records.y, bare.loss, bare.clip, w, records.share)
    g = g + long(bare.strength) * long(w)
    if isinstance(bare, PerturbedObjective):
        drawn = (
            Ear().linear_term(bare.shape, bare.linear_term(public), bare.pure)
            if linear is None
            else linear
        )
        g = g + long(drawn)
        if bare.center is not None:
            g = g - long(bare.strength) * long(bare.center).reshape(w.shape)
        if bare.ridge is not None:
            g = g + long(bare.ridge) * long(w)
    return float(np.sqrt(np.square(_with_penalty(bare.penalty, g, long(w))).sum()))


def _with_penalty(placed, g, w):
    """The element of least norm of g plus the subgradients of the penalty."""
    covered = slice(None, -1) if placed.intercept else slice(None)
    scale, g = long(placed.scale), g.copy()
    g[covered] = _least(placed.penalty, g[covered] * scale, w[covered] / scale) / scale
    return g


def _least(penalty, g, w):
    if isinstance(penalty, NoPenalty):
        return g
    if isinstance(penalty, L2):
        return g + long(penalty.strength) * w
    if isinstance(penalty, ElasticNet):
        ratio, strength = long(penalty.l1_ratio), long(penalty.strength)
        return _soft(g + (1 - ratio) * strength * w, w, ratio * strength)
    if isinstance(penalty, L1):
        return _soft(g, w, long(penalty.strength))
    if isinstance(penalty, GroupLasso):
        size = np.sqrt(np.square(w).sum(axis=1)) if w.ndim > 1 else np.abs(w)
        assert not penalty.groups or w.ndim == 1, "groups of several rows have no formula here"
        return (
            _soft(g, w, long(penalty.strength)) if w.ndim == 1 else _soft_rows(g, w, size, penalty)
        )
    assert isinstance(penalty, Box), f"{type(penalty).__name__} has no formula here; give it one"
    near = long(1e-15)
    g = np.where(w >= long(penalty.high) * (1 - near), np.maximum(g, 0), g)
    return np.where(w <= long(penalty.low) * (1 - near), np.minimum(g, 0), g)


def _soft(g, w, level):
    inside = np.sign(g) * np.maximum(np.abs(g) - level, 0)
    return np.where(w == 0, inside, g + level * np.sign(w))


def _soft_rows(g, w, size, penalty):
    out = np.empty_like(g)
    for j, length in enumerate(size):
        norm = np.sqrt(np.square(g[j]).sum())
        kept = max(1 - long(penalty.strength) / norm, long(0)) if norm else long(0)
        out[j] = g[j] + long(penalty.strength) * w[j] / length if length else g[j] * kept
    return out


def paid_tolerance(question, public):
    """The certificate that the noise on the answer was made for."""
    if isinstance(question, Mapped):
        return paid_tolerance(question.question, question._seen(public))
    lam = question.limits(public).convexity
    if isinstance(question, NoisyMinimiser):
        bound = question.limits(public).bound
        return (
            question.sensitivity(public) / ROUND_UP * lam - public.sensitivity_factor * bound
        ) / 2.0
    output = question.event(public).output
    return output * lam * question.output_noise(public) / 2.0


def check_certificate(question, records, linear=None):
    """What a release computes is as near to stationary as was paid for."""
    allowed, found = paid_tolerance(question, records.public), residual(question, records, linear)
    assert found <= allowed, f"|gradient| is {found:.3g}, and {allowed:.3g} was paid for"


def rounding_shares(objective, limits, w):
    """Error of the quick and of the careful gradient at w, each over its bound."""
    exact = losses_gradient(objective.rows, objective.y, objective.loss, objective.clip, w)
    exact = exact + long(objective.strength) * long(w) + long(objective.linear)
    away, pull = float(np.linalg.norm(w)), float(np.linalg.norm(objective.linear))
    slopes = objective.slopes(objective.rows.dot(w))
    quick = objective.gradient(w, slopes)
    careful = objective.careful_gradient(w)
    errors = [float(np.sqrt(np.square(long(g) - exact).sum())) for g in (quick, careful)]
    return errors[0] / limits.quick(objective.rows, slopes, w, pull), errors[1] / limits.careful(
        away, pull
    )
