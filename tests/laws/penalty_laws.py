"""The laws of a penalty, each a function that raises AssertionError where the law is broken."""

import itertools

import numpy as np
from laws.examples import examples

from skdp.penalties import (
    L1,
    L2,
    MCP,
    PENALTIES,
    SCAD,
    Box,
    ElasticNet,
    GroupLasso,
    L1Ball,
    L2Ball,
    L2Blocks,
    NonNegative,
    Nuclear,
    ScaledPenalty,
    SpectralBalls,
)

VARIANTS = [
    L1(strength=np.float64(0.7)),
    L2(strength=np.float64(1.3)),
    ElasticNet(strength=1.5, l1_ratio=np.float64(0.4)),
    ElasticNet(strength=1.5, l1_ratio=0.0),
    NonNegative(strength=1.5, l1_ratio=np.float64(0.4)),
    NonNegative(),
    SCAD(strength=np.float64(0.5), a=2.5),
    SCAD(strength=2.0, weight=4.0),
    MCP(strength=np.float64(0.5), gamma=1.5),
    MCP(strength=2.0, weight=4.0),
    GroupLasso(strength=np.float64(0.8), groups=(0, 0, 1, 1)),
    GroupLasso(strength=0.8),
    Box(low=-0.5, high=1.5),
    Box(low=0.0, high=np.inf),
    L1Ball(radius=np.float64(1.5)),
    L2Ball(radius=np.float64(1.5)),
    Nuclear(strength=np.float64(0.6)),
    L2Blocks(strengths=(np.float64(0.7), 0.0, 2.0), sizes=(1, 2, 1)),
    SpectralBalls(radii=(np.float64(1.5),)),
    SpectralBalls(radii=(0.8,), shapes=((2, 2),)),
    SpectralBalls(radii=(0.5, 2.0), shapes=((1, 2), (2, 1)), strengths=(np.float64(0.7), 0.3)),
]
EXAMPLES = examples(PENALTIES.values(), VARIANTS)

PLACED = [
    ScaledPenalty(penalty, scale, intercept)
    for penalty, scale, intercept in itertools.product(
        [L1(0.7), L2(1.3), SCAD(), GroupLasso(0.8, (0, 0, 1, 1)), L1Ball(1.5), Nuclear(0.6)],
        [1.0, 3.0],
        [True, False],
    )
]


def coefficients(penalty, count, spread=2.0, seed=0):
    """Arrays of four features (and an intercept), with several outputs where that is needed."""
    inner = penalty.penalty if isinstance(penalty, ScaledPenalty) else penalty
    width = 5 if isinstance(penalty, ScaledPenalty) and penalty.intercept else 4
    scale = float(penalty.scale) if isinstance(penalty, ScaledPenalty) else 1.0
    shape = (width, 3) if _of_matrices(inner) else (width,)
    return scale * spread * np.random.default_rng(seed).normal(size=(count, *shape))


def _of_matrices(penalty):
    """Whether it refuses a vector, or makes a group of each row."""
    try:
        penalty.value(np.zeros(4))
    except ValueError:
        return True
    return isinstance(penalty, GroupLasso) and not penalty.groups


def steps(penalty):
    """Steps that have a prox, up to just below the largest."""
    top = penalty.largest_step
    return [0.3, 1.0, 5.0] if np.isinf(top) else [0.1 * top, 0.5 * top, 0.97 * top]


def objective(penalty, u, w, step):
    """What the prox minimises."""
    return penalty.value(u) + np.square(u - w).sum() / (2.0 * step)


def inner_product(a, b):
    """Of vectors or matrices."""
    return float((a * b).sum())


def prox_is_minimiser(penalty):
    """No rival beats the prox: it moved a little or far, the origin, the feasible and the kept."""
    random = np.random.default_rng(1)
    for step in steps(penalty):
        for w in coefficients(penalty, 25):
            u = penalty.prox(w, step)
            best = objective(penalty, u, w, step)
            for v in _rivals(penalty, u, w, step, random):
                assert best <= objective(penalty, v, w, step) + 1e-9 * (1.0 + best)


def _rivals(penalty, u, w, step, random):
    yield from (w, np.zeros_like(w), 0.9 * u, w - 0.5 * (w - u), penalty.prox(-w, step))
    for size in (1e-3, 0.03, 1.0):
        for _ in range(4):
            nudge = size * random.normal(size=w.shape)
            yield u + nudge
            yield u + nudge * (u != 0)
            towards = penalty.prox(w + nudge, step)
            yield towards
            yield 0.5 * (u + towards)


def separable_prox_beats_a_grid(penalty):
    """Coordinate by coordinate against brute force: no local minimum is mistaken for the least."""
    if not penalty.separable:
        return
    u = np.linspace(-10.0, 10.0, 8001)
    values = np.array([penalty.value(u[i : i + 1]) for i in range(u.size)])
    for step in steps(penalty):
        for w in np.linspace(-6.0, 6.0, 97):
            w = np.array([w])
            least = (values + (u - w) ** 2 / (2.0 * step)).min()
            assert objective(penalty, penalty.prox(w, step), w, step) <= least + 1e-9


def separable_means_a_sum(penalty):
    """``separable`` holds exactly where value and prox act on each coefficient by itself."""
    sums = [
        np.allclose(_one_by_one(penalty, w), penalty.prox(w, 0.5)) for w in coefficients(penalty, 9)
    ]
    assert penalty.separable == all(sums)


def _one_by_one(penalty, w):
    alone = np.array(w)
    for at in np.ndindex(w.shape):
        by_itself = np.zeros_like(w)
        by_itself[at] = w[at]
        alone[at] = penalty.prox(by_itself, 0.5)[at]
    return alone


def convexity_is_modulus(penalty):
    """Second differences are at least ``convexity`` and come within 1 % of it."""
    least = np.inf
    for direction in coefficients(penalty, 12, spread=1.0, seed=2):
        for line in (
            direction,
            _only(direction, np.argmax(np.abs(direction))),
            _only(direction, -1),
        ):
            least = min(least, _least_bend(penalty, line / np.linalg.norm(line)))
    assert least >= penalty.convexity - 1e-6
    assert least <= penalty.convexity + 0.01 * abs(penalty.convexity) + 1e-6
    assert penalty.convex == (penalty.convexity >= 0)


def _only(direction, at):
    kept = np.zeros_like(direction)
    kept.flat[at] = direction.flat[at]
    return kept


def _least_bend(penalty, unit):
    reach = np.linspace(-9.0, 9.0, 601)
    values = np.array([penalty.value(t * unit) for t in reach])
    assert values[300] == 0.0, "every penalty is 0 at the origin"
    values = values[np.isfinite(values)]
    if values.size < 3:
        return np.inf
    width = reach[1] - reach[0]
    return ((values[2:] - 2 * values[1:-1] + values[:-2]) / width**2).min()


def prox_is_firmly_nonexpansive(penalty):
    """<Pa - Pb, a - b> >= (1 + step convexity) |Pa - Pb|^2, expansion being that of the modulus."""
    pairs = coefficients(penalty, 200, seed=3).reshape(2, 100, *coefficients(penalty, 1).shape[1:])
    for step, (a, b) in itertools.product(steps(penalty), zip(*pairs, strict=True)):
        for other in (b, a + 0.01 * b):
            moved = penalty.prox(a, step) - penalty.prox(other, step)
            least = (1.0 + step * penalty.convexity) * inner_product(moved, moved)
            assert inner_product(moved, a - other) >= least - 1e-9


def gradient_is_derivative(penalty):
    """Smooth penalties have the gradient of their value; the others refuse."""
    w = coefficients(penalty, 1)[0]
    if not penalty.smooth:
        try:
            penalty.gradient(w)
        except NotImplementedError:
            return
        raise AssertionError("a penalty with kinks gave a gradient")
    for v in coefficients(penalty, 10, seed=4):
        numeric = (penalty.value(w + 1e-6 * v) - penalty.value(w - 1e-6 * v)) / 2e-6
        np.testing.assert_allclose(inner_product(penalty.gradient(w), v), numeric, atol=1e-6)


def vertex_is_minimiser(penalty):
    """The vertex is in the set and no feasible point goes further against the direction."""
    directions = coefficients(penalty, 30, seed=5)
    if not penalty.bounded:
        try:
            penalty.vertex(directions[0])
        except (NotImplementedError, ValueError):
            return
        raise AssertionError("a set without end gave a vertex")
    feasible = [penalty.prox(w, 1.0) for w in coefficients(penalty, 60, spread=9.0, seed=6)]
    for direction in directions:
        corner = penalty.vertex(direction)
        assert penalty.value(corner) == 0.0
        least = min(inner_product(direction, u) for u in feasible)
        assert inner_product(direction, corner) <= least + 1e-12
        assert penalty.vertex(direction.astype(np.float32)).dtype == np.float32


def constraint_is_indicator(penalty):
    """A set is 0 inside and infinite outside, where outside is what a projection moves."""
    if not penalty.bounded:
        return
    for w in coefficients(penalty, 50, seed=7):
        u = penalty.prox(w, 1.0)
        assert penalty.value(u) == 0.0
        assert (penalty.value(w) == 0.0) == np.allclose(u, w, rtol=1e-12)


def precision_is_kept(penalty):
    """float32 in, float32 out, close to float64; the argument is left as it was, none returned."""
    for w in coefficients(penalty, 20, seed=8):
        small = w.astype(np.float32)
        before = small.copy()
        for ask in _answers(penalty):
            got = ask(small)
            assert got.dtype == np.float32
            assert got.shape == small.shape
            assert not np.shares_memory(got, small)
            np.testing.assert_allclose(got, ask(small.astype(np.float64)), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(small, before)
        assert isinstance(penalty.value(small), float)


def _answers(penalty):
    for step in steps(penalty)[:2]:
        yield lambda w, step=step: penalty.prox(w, np.float64(step))
    if penalty.smooth:
        yield penalty.gradient


LAWS = [
    prox_is_minimiser,
    separable_prox_beats_a_grid,
    separable_means_a_sum,
    convexity_is_modulus,
    prox_is_firmly_nonexpansive,
    gradient_is_derivative,
    vertex_is_minimiser,
    constraint_is_indicator,
    precision_is_kept,
]
