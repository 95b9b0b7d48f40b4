"""The laws of a loss, each a function that raises AssertionError where the law is broken."""

import numpy as np
from laws.examples import examples

from skdp.losses import (
    LOSSES,
    ClippedLogistic,
    Huber,
    HuberisedHinge,
    Multinomial,
    QuantileHuber,
    SquaredEpsilonInsensitive,
)

VARIANTS = [
    ClippedLogistic(cap=0.2),
    ClippedLogistic(cap=np.float64(0.8)),
    ClippedLogistic(cap=1.0),
    HuberisedHinge(h=np.float64(2.0)),
    Huber(delta=np.float64(0.3)),
    QuantileHuber(tau=np.float64(0.3), k=np.float64(1.7)),
    SquaredEpsilonInsensitive(width=np.float64(0.0)),
    SquaredEpsilonInsensitive(width=1.3),
    Multinomial(outputs=2),
    Multinomial(outputs=5),
]
EXAMPLES = examples(LOSSES.values(), VARIANTS)

WIDTH = 1e-6


def targets(loss):
    """Every label, or targets across [-1, 1]."""
    if loss.kind == "binary":
        return np.array([-1.0, 1.0])
    if loss.kind == "multiclass":
        return np.arange(loss.outputs)
    return np.array([-1.0, -0.31, 0.0, 1.0])


def points(loss, reach=9.0, seed=0):
    """Scores across [-reach, reach], targets, and unit directions to move the scores in."""
    if loss.kind == "multiclass":
        return _many_scores(loss, reach, np.random.default_rng(seed))
    # The odd number of steps keeps kinks, which sit at round numbers, off the grid.
    grid = np.linspace(-reach, reach, 4003) + 1e-4 * np.sqrt(2.0)
    z, y = (part.ravel() for part in np.meshgrid(grid, targets(loss)))
    return z, y, np.ones_like(z)


def _many_scores(loss, reach, random):
    z = random.uniform(-reach, reach, size=(2000, loss.outputs))
    v = random.normal(size=z.shape)
    # Where theory puts the extremes: one class takes all, and two share it and trade.
    z[:20], z[20:40] = -reach, -reach
    z[:20, 0] = reach
    z[20:40, :2] = 0.0
    v[20:40] = 0.0
    v[20:40, 0], v[20:40, 1] = 1.0, -1.0
    y = random.integers(loss.outputs, size=len(z))
    return z, y, v / np.linalg.norm(v, axis=1, keepdims=True)


def norms(vectors):
    """Norm of each record's entry."""
    return np.abs(vectors) if vectors.ndim == 1 else np.linalg.norm(vectors, axis=1)


def along(vectors, v):
    """Inner product of each record's entry with its direction."""
    return vectors * v if v.ndim == 1 else (vectors * v).sum(axis=1)


def dz_is_derivative(loss):
    """``dz`` is the derivative of ``value``."""
    z, y, v = points(loss)
    numeric = (loss.value(z + WIDTH * v, y) - loss.value(z - WIDTH * v, y)) / (2 * WIDTH)
    np.testing.assert_allclose(along(loss.dz(z, y), v), numeric, atol=2e-7 * z.max())


def d2z_is_derivative(loss):
    """``d2z`` is the derivative of ``dz``, and is missing exactly where the loss has a kink."""
    assert (loss.d2z is None) == (loss.curvature is None)
    if loss.d2z is None:
        return
    z, y, v = points(loss)
    numeric = (loss.dz(z + WIDTH * v, y) - loss.dz(z - WIDTH * v, y)) / (2 * WIDTH)
    second = loss.d2z(z, y)
    exact = second * v if v.ndim == 1 else np.einsum("nij,nj->ni", second, v)
    np.testing.assert_allclose(exact, numeric, atol=1e-7)


def is_convex(loss):
    """``dz`` is monotone along every segment, and the loss lies above its tangents."""
    z, y, v = points(loss)
    for length in (1e-3, 0.1, 3.0):
        further = loss.dz(z + length * v, y)
        assert along(further - loss.dz(z, y), v).min() >= -1e-12
        tangent = loss.value(z, y) + length * along(loss.dz(z, y), v)
        assert (loss.value(z + length * v, y) - tangent).min() >= -1e-12


def slope_is_supremum(loss):
    """``slope`` bounds ``dz`` and is attained within 1 %; None means that nothing bounds it."""
    z, y, _ = points(loss, reach=200.0)
    largest = norms(loss.dz(z, y)).max()
    if loss.slope is None:
        assert largest > 150.0
    else:
        assert 0.99 * loss.slope <= largest <= loss.slope * (1 + 1e-12)


def curvature_is_supremum(loss):
    """``curvature`` bounds the Lipschitz constant of ``dz`` and is attained within 1 %."""
    z, y, v = points(loss)
    if loss.curvature is None:
        jump = np.diff(loss.dz(np.array([1.0 - 1e-9, 1.0 + 1e-9]), 1.0))
        assert jump.max() > 0.5, "a smooth loss has a curvature"
        return
    moved = norms(loss.dz(z + WIDTH * v, y) - loss.dz(z - WIDTH * v, y)) / (2 * WIDTH)
    assert 0.99 * loss.curvature <= moved.max() <= loss.curvature * (1 + 1e-6)


def sign_is_as_declared(loss):
    """``one_signed`` holds exactly where the target alone gives the sign of ``dz``."""
    if loss.kind == "multiclass":
        assert not loss.one_signed
        return
    z, y, _ = points(loss)
    slopes = loss.dz(z, y)
    one_signed = all(
        slopes[y == target].min() >= 0 or slopes[y == target].max() <= 0 for target in targets(loss)
    )
    assert loss.one_signed == one_signed


def scaled_targets_bias_nothing(loss):
    """A loss that scales targets with their rows is one of residuals, and takes both signs alike."""
    if not loss.scales_targets:
        return
    z, y, _ = points(loss)
    for same in (loss.value(z + 0.5, y + 0.5), loss.value(-z, -y)):
        np.testing.assert_allclose(same, loss.value(z, y), atol=1e-12)


def value_bound_is_supremum(loss):
    """``value`` lies in [0, ``value_bound``] and reaches both ends."""
    for radius in (0.1, 1.0, 6.0):
        bound = loss.value_bound(radius, target_bound=1.0)
        assert isinstance(bound, float)
        values = np.concatenate([loss.value(z, y) for z, y in _extremes(loss, radius)])
        assert values.min() >= 0.0
        np.testing.assert_allclose(values.max(), bound, rtol=1e-12)
    z, y, _ = points(loss, reach=200.0)
    assert loss.value(z, y).min() <= 1e-6


def _extremes(loss, radius):
    if loss.kind != "multiclass":
        grid = np.linspace(-radius, radius, 1001)
        return [(grid, np.full_like(grid, target)) for target in targets(loss)]
    codes = np.arange(loss.outputs)
    corners = np.where(np.eye(loss.outputs, dtype=bool), -radius, radius)
    scores = np.random.default_rng(1).uniform(-radius, radius, size=(500, loss.outputs))
    return [(corners, codes), (scores, np.resize(codes, 500))]


def precision_is_kept(loss):
    """float32 in, float32 out, close to float64; the arguments are left as they were."""
    z, y, _ = points(loss)
    small = z.astype(np.float32)
    before = small.copy()
    for target in (y, y.astype(np.float32)):
        for ask in (loss.value, loss.dz, loss.d2z):
            if ask is not None:
                got, exact = ask(small, target), ask(small.astype(np.float64), target)
                assert got.dtype == np.float32
                np.testing.assert_allclose(got, exact, rtol=2e-5, atol=2e-5)
    assert loss.predict(small).dtype == np.float32
    np.testing.assert_array_equal(small, before)


def large_scores_are_safe(loss):
    """Scores of a thousand give finite answers, with the asymptote of the loss, and no warning."""
    for dtype in (np.float32, np.float64):
        z, y, _ = points(loss, reach=1e3)
        z = z.astype(dtype)
        with np.errstate(all="raise", under="ignore"):
            answers = [loss.value(z, y), loss.dz(z, y), loss.predict(z)]
        assert all(np.isfinite(answer).all() for answer in answers)
        if loss.slope is not None:
            steepest = 1e3 * loss.slope
            assert 0.9 * steepest <= answers[0].max() <= 2.0 * steepest


def belongs_to_its_record(loss):
    """Bit for bit the same alone, in another order, and beside a record whose scores are far away."""
    z, y, _ = points(loss)
    some = np.arange(0, len(z), max(len(z) // 200, 1))[::-1]
    asks = [ask for ask in (loss.value, loss.dz, loss.d2z) if ask is not None]
    for dtype in (np.float32, np.float64):
        for far in (40.0, 1e3):
            stranger = np.zeros_like(z[:1])
            stranger.flat[0] = far
            beside = np.concatenate([z[some], stranger]).astype(dtype)
            targets_beside = np.append(y[some], y[0])
            for ask in asks:
                together = ask(beside, targets_beside)[:-1]
                alone = [
                    ask(beside[k : k + 1], targets_beside[k : k + 1]) for k in range(len(some))
                ]
                np.testing.assert_array_equal(together, np.concatenate(alone))


def prediction_is_calibrated(loss):
    """At the predicted probabilities the expected loss is stationary; regression predicts z."""
    z, _, _ = points(loss)
    response = loss.predict(z)
    if loss.kind == "regression":
        np.testing.assert_array_equal(response, z)
        return
    if loss.kind == "binary":
        assert np.diff(loss.predict(np.sort(z))).min() >= -1e-12
        assert loss.predict(np.array([-50.0])) < 1e-3
        response = np.stack([1 - response, response], axis=1)
    np.testing.assert_allclose(response.sum(axis=1), 1.0)
    assert response.min() >= 0.0
    chosen = [
        _scaled(response[:, k], loss.dz(z, np.full(len(z), c))) for k, c in enumerate(targets(loss))
    ]
    np.testing.assert_allclose(sum(chosen), 0.0, atol=1e-12)


def _scaled(weights, vectors):
    return weights * vectors if vectors.ndim == 1 else weights[:, None] * vectors


LAWS = [
    dz_is_derivative,
    d2z_is_derivative,
    is_convex,
    slope_is_supremum,
    curvature_is_supremum,
    sign_is_as_declared,
    scaled_targets_bias_nothing,
    value_bound_is_supremum,
    precision_is_kept,
    large_scores_are_safe,
    belongs_to_its_record,
    prediction_is_calibrated,
]
