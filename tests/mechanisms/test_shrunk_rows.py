"""A record whose row was scaled down by s counts with s^2 l(z / s), or with l(z; s y): slopes, sums, minimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skdp.losses import LOSSES, Hinge, Huber, Logistic, Squared, SquaredHinge
from skdp.mechanisms import (
    Coordinates,
    Gradient,
    JointMoments,
    Mapped,
    Noise,
    PerturbedObjective,
    Public,
    Records,
)
from skdp.mechanisms._bounds import losses_at, pass_forward
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._shrunk import curvatures_of, slopes_of, values_of
from skdp.penalties import NoPenalty, ScaledPenalty

ONE_SCORE = [loss for loss in (kind() for kind in LOSSES.values()) if loss.outputs == 1]
SMOOTH = [loss for loss in ONE_SCORE if loss.curvature is not None]


def targets(loss, n, rng):
    return rng.choice([-1.0, 1.0], n) if loss.kind == "binary" else rng.uniform(-1, 1, n)


@pytest.mark.parametrize("loss", ONE_SCORE, ids=repr)
def test_slopes_are_derivatives_of_values_and_no_steeper_than_the_loss(loss):
    rng = np.random.default_rng(0)
    z, y, s = rng.normal(0, 2, 4000), targets(loss, 4000, rng), rng.uniform(0.05, 1, 4000)
    step = 1e-6
    rise = (values_of(loss, s, z + step, y) - values_of(loss, s, z - step, y)) / (2 * step)
    slopes = slopes_of(loss, s, z, y)
    near = np.isclose(slopes, rise, rtol=1e-4, atol=1e-7)
    assert near.mean() > 0.99  # a kink may lie between
    if loss.slope is not None:
        steepest = loss.slope if loss.scales_targets else s * loss.slope
        assert (np.abs(slopes) <= steepest * (1 + 1e-12)).all()
    if loss.one_signed:
        assert (slopes * loss.dz(np.zeros(4000), y) >= 0).all()


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_curvatures_are_derivatives_of_slopes_and_no_larger_than_the_loss_says(loss):
    rng = np.random.default_rng(1)
    z, y, s = rng.normal(0, 2, 4000), targets(loss, 4000, rng), rng.uniform(0.05, 1, 4000)
    step = 1e-6
    rise = (slopes_of(loss, s, z + step, y) - slopes_of(loss, s, z - step, y)) / (2 * step)
    curvatures = curvatures_of(loss, s, z, y)
    assert np.isclose(curvatures, rise, rtol=1e-3, atol=1e-5).mean() > 0.99
    assert (curvatures <= loss.curvature * (1 + 1e-12)).all()


def table(rng, n=300, d=3):
    """Rows of very different lengths: most are beyond a bound of 1."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1.5, 1.5, size=(n, 1))
    return X, rng.choice([-1.0, 1.0], n)


def public_of(X, intercept, neighbors="replace_one"):
    return Public(n=len(X), n_features=X.shape[1], intercept=intercept, neighbors=neighbors)


def whole_rows(X, intercept):
    """Rows with their constant, as they were given, and how much of each is left within the bound 1."""
    Z = np.column_stack([X, np.full(len(X), intercept)]) if intercept else X
    return Z, 1.0 / np.maximum(np.linalg.norm(X, axis=1), 1.0)


@pytest.mark.parametrize("intercept", [0.0, 0.25])
@pytest.mark.parametrize(
    "loss", [Logistic(), Squared(), SquaredHinge(), Hinge(), Huber(0.5)], ids=repr
)
def test_a_gradient_is_that_of_whole_rows_weighed_by_what_is_left_squared(loss, intercept):
    rng = np.random.default_rng(2)
    X, y = table(rng)
    Z, s = whole_rows(X, intercept)
    w = rng.normal(size=Z.shape[1])
    vault = Records.admit(X, y, public_of(X, intercept), data_norm=1.0)
    question = Gradient(at=w, loss=loss, clip=1e6, multiplier=0.0)
    slopes, values = s**2 * loss.dz(Z @ w, y), s**2 * loss.value(Z @ w, y)
    if isinstance(loss, Huber):  # of rows and targets that are scaled down together
        slopes, values = s * loss.dz(s * (Z @ w), s * y), loss.value(s * (Z @ w), s * y)
    np.testing.assert_allclose(question.measure(vault), Z.T @ slopes, rtol=1e-9)
    np.testing.assert_allclose(losses_at(w, vault, loss), values, rtol=1e-9)


def test_labels_are_never_scaled():
    class Wrong(Logistic):
        scales_targets = True

    rng = np.random.default_rng(8)
    X, y = table(rng)
    vault, w = Records.admit(X, y, public_of(X, 0.0), data_norm=1.0), rng.normal(size=3)
    found = [pass_forward(w, vault, loss)[0] for loss in (Logistic(), Wrong())]
    assert np.array_equal(*found)


def test_a_target_that_is_scaled_with_its_row_biases_no_coefficient():
    """Symmetric errors: the gradient of the whole population vanishes at the coefficients that made them."""
    rng = np.random.default_rng(7)
    X, _ = table(rng, n=400_000)
    w = np.array([1.0, -0.5, 0.25])
    kept = np.linalg.norm(X, axis=1) < 10.0  # targets have a bound as well
    X = X[kept]
    y = (X @ w + rng.uniform(-2, 2, size=len(X))) / 16.0
    w /= 16.0
    vault = Records.admit(X, y, public_of(X, 0.0), data_norm=1.0)
    one = Gradient(at=w, loss=Huber(0.05), clip=1e6, multiplier=0.0).measure(vault)
    off = Gradient(at=1.5 * w, loss=Huber(0.05), clip=1e6, multiplier=0.0).measure(vault)
    sure = 5.0 * 0.05 * np.sqrt(len(X))  # five deviations of it at most
    assert np.linalg.norm(one) < sure < 0.3 * np.linalg.norm(off)


@pytest.mark.parametrize("whole", [0.0, 0.4, 1.0])
def test_in_other_coordinates_as_well_as_far_as_scores_are_to_be_whole(whole):
    rng = np.random.default_rng(3)
    X, y = table(rng)
    Z, s = whole_rows(X, 0.25)
    A = rng.normal(size=(2, 4)) * 2.0
    cut = 1.0 / np.maximum(np.linalg.norm((s[:, None] * Z) @ A.T, axis=1), 1.0)
    undone, left = s * (cut + (1.0 - whole) * (1.0 - cut)), s * cut
    u = rng.normal(size=2)
    vault = Records.admit(X, y, public_of(X, 0.25), data_norm=1.0)
    inner = Gradient(at=u, loss=Logistic(), clip=1e6, multiplier=0.0)
    asked = Mapped(question=inner, coordinates=Coordinates(A), whole=whole)
    images = left[:, None] * (Z @ A.T)
    slopes = undone * Logistic().dz(images @ u / undone, y)
    np.testing.assert_allclose(asked.answer(vault, Noise(seed=0)), images.T @ slopes, rtol=1e-9)


def check_constants(whole):
    """One record's slope and curvature in the score of what is left of it are within those of the loss."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        records = Records.admit(*table(rng), public_of(np.empty((300, 3)), 0.25), data_norm=1.0)
        matrix = 10.0 ** rng.uniform(-1, 1.5) * rng.normal(size=(3, 4))
        images = records.rows.image_norms(matrix, records.in_place)
        rows = MappedRows(records.rows, matrix, images, whole=whole)
        z, h = rows.dot(rng.normal(size=3) * 10.0 ** rng.uniform(-1, 1.5)), 1e-5
        for loss in (Logistic(), SquaredHinge()):
            given = loss, rows.shrink
            slopes = slopes_of(*given, z, records.y)
            rise = slopes_of(*given, z + h, records.y) - slopes_of(*given, z - h, records.y)
            if loss.slope is not None:
                assert (np.abs(slopes) <= loss.slope).all()
            assert (np.abs(rise) <= 2.0 * h * loss.curvature * (1 + 1e-4) + 1e-9).all()


@pytest.mark.parametrize("whole", [0.0, 0.3, 0.999, 1.0])
def test_no_constant_changes_however_whole_scores_are(whole):
    check_constants(whole)


def test_scores_of_longer_rows_than_were_given_are_noticed():
    """A twin that undoes the shrinking the wrong way round: losses of it are steeper than was paid for."""
    with pytest.raises(AssertionError):
        check_constants(-1.0)


@pytest.mark.parametrize("whole", [-0.1, 1.1, np.nan])
def test_no_other_part_is_taken(whole):
    inner = Gradient(at=np.zeros(2), loss=Logistic(), clip=1.0, multiplier=1.0)
    with pytest.raises(ValueError, match="whole="):
        Mapped(question=inner, coordinates=Coordinates(np.eye(2)), whole=whole)


def test_rows_that_are_not_cut_count_the_same_however_whole_scores_are():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 3)) / 10, rng.choice([-1.0, 1.0], 40)
    vault = Records.admit(X, y, public_of(X, 0.25), data_norm=1.0)
    inner = Gradient(at=rng.normal(size=4), loss=Logistic(), clip=1e6, multiplier=0.0)
    answers = [
        Mapped(question=inner, coordinates=Coordinates(np.eye(4)), whole=whole).answer(
            vault, Noise(seed=0)
        )
        for whole in (0.0, 1.0)
    ]
    np.testing.assert_allclose(*answers, rtol=1e-13)


@pytest.mark.parametrize("coordinates", [None, np.diag([3.0, 0.5, 1.0, 2.0])], ids=str)
def test_a_minimiser_is_that_of_whole_rows_weighed(coordinates):
    rng = np.random.default_rng(4)
    X, y = table(rng)
    Z, s = whole_rows(X, 0.25)
    vault = Records.admit(X, y, public_of(X, 0.25), data_norm=1.0)
    question = PerturbedObjective(
        loss=Logistic(), penalty=ScaledPenalty(NoPenalty(), intercept=False), shape=(4,),
        multiplier=0.0, strength=0.5,
    )  # fmt: skip
    if coordinates is None:
        found = question.answer(vault, Noise(seed=0))
    else:
        found = Mapped(question=question, coordinates=Coordinates(coordinates)).answer(
            vault, Noise(seed=0)
        )
        s = s / np.maximum(np.linalg.norm(s[:, None] * Z @ coordinates.T, axis=1), 1.0)
        Z = Z @ coordinates.T

    def objective(w):
        z = Z @ w
        gradient = Z.T @ (s**2 * Logistic().dz(z, y)) + 0.5 * w
        return (s**2 * Logistic().value(z, y)).sum() + 0.25 * w @ w, gradient

    best = minimize(objective, np.zeros(4), jac=True, options={"gtol": 1e-10}).x
    np.testing.assert_allclose(found, best, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_far_row_changes_no_bit_of_another_records_slope(dtype):
    rng = np.random.default_rng(5)
    X = (0.3 * rng.normal(size=(50, 3)) / 3).astype(dtype)
    y = rng.choice([-1.0, 1.0], 50)
    beside = X.copy()
    beside[0] *= 1e4
    w = rng.normal(size=4)
    for loss in (Logistic(), Squared(), SquaredHinge(), Huber(0.5)):
        given = [
            pass_forward(w, Records.admit(rows, y, public_of(X, 0.25), data_norm=1.0), loss)[0]
            for rows in (X, beside)
        ]
        assert np.array_equal(given[0][1:], given[1][1:])


@pytest.mark.parametrize("far", [1e3, 1e8, 1e200])
def test_the_farthest_rows_stay_within_the_clip(far):
    X, y = np.array([[far, 0.0], [0.5, 0.5]]), np.array([1.0, -1.0])
    vault = Records.admit(X, y, public_of(X, 0.25), data_norm=1.0)
    for loss in (Logistic(), Squared(), SquaredHinge(), Huber(0.5)):
        for at in (np.zeros(3), np.array([-1e18, 3.0, 1e18])):
            with np.errstate(all="ignore"):
                total = Gradient(at=at, loss=loss, clip=0.5, multiplier=0.0).measure(vault)
            assert np.linalg.norm(total) <= 1.0


@pytest.mark.parametrize("data_norm", [0.7, 1.5])
def test_coefficients_of_a_model_that_holds_stay_what_they_are_where_rows_are_cut(data_norm):
    # With the loss of the shortened row they come out 1.2 to 2 times as large.
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100_000, 3))
    truth = np.array([3.0, -2.0, 1.0]) / 4
    y = X @ truth + 0.1 * rng.normal(size=len(X))
    public = Public(
        n=len(X), n_features=3, intercept=0.0, neighbors="replace_one", target_bound=20.0
    )
    vault = Records.admit(X, y, public, data_norm=data_norm)
    question = PerturbedObjective(
        loss=Huber(1e3), penalty=ScaledPenalty(NoPenalty(), intercept=False), shape=(3,),
        multiplier=0.0, strength=1e-3,
    )  # fmt: skip
    found = question.answer(vault, Noise(seed=0)) / data_norm
    np.testing.assert_allclose(found, truth, atol=0.005)


def test_moments_are_those_of_whole_rows_and_targets_weighed():
    rng = np.random.default_rng(7)
    X, _ = table(rng)
    y = rng.uniform(-1, 1, len(X))
    Z, s = whole_rows(X, 0.25)
    vault = Records.admit(X, y, public_of(X, 0.25), data_norm=1.0)
    found = JointMoments(multiplier=0.0).answer(vault, Noise(seed=0))
    both = s[:, None] * np.column_stack([Z, y])
    np.testing.assert_allclose(found, both.T @ both, rtol=1e-9, atol=1e-9)


def test_parts_of_mapped_rows_and_their_doubles_are_as_whole():
    rng = np.random.default_rng(10)
    records = Records.admit(*table(rng), public_of(np.empty((300, 3)), 0.25), data_norm=1.0)
    matrix = 5.0 * rng.normal(size=(3, 4))
    images = records.rows.image_norms(matrix, records.in_place)
    rows, index = MappedRows(records.rows, matrix, images, whole=0.4), np.array([5, 17, 200])
    assert (rows.shrink < 1.0).any() and not np.array_equal(
        rows.shrink, MappedRows(records.rows, matrix, images).shrink
    )
    assert np.array_equal(rows.take(index).shrink, rows.shrink[index])
    assert np.array_equal(rows.take(slice(3, 9)).shrink, rows.shrink[3:9])
    for other in (rows.in_double(), rows.rough()):
        assert other.shrink is rows.shrink and other.norms is rows.norms  # held once
    double, rough = (r.units_of_scores(np.ones(3)) for r in (rows.in_double(), rows.rough()))
    assert double < rough == rows.units_of_scores(np.ones(3))  # a form for releases, and it alone
