"""Rows in other coordinates: the algebra, the bound of every row as computed, what is refused, and twins that fail."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from laws.row_laws import left_of, stored_rows
from laws.sensitivity_laws import check_never_exceeded, neighbours
from laws.vaults import RELATIONS, random_vault, vault
from laws.worst_pairs import mapped as pairs
from laws.worst_pairs import row_norms

from skdp import NotSupported
from skdp.losses import Huber, Logistic
from skdp.mechanisms import (
    MECHANISMS,
    BestCandidate,
    ClassSums,
    Coordinates,
    Gradient,
    Mapped,
    Noise,
    PerturbedObjective,
    PoissonBatch,
    RowNorms,
    _mapped,
    _rows,
)
from skdp.mechanisms._mechanism import Mechanism
from skdp.penalties import NoPenalty, ScaledPenalty


def matrix_of(rng, width):
    """A map of any shape, with directions of very different size."""
    return rng.normal(size=(int(rng.integers(1, 6)), width)) * 10.0 ** rng.uniform(-3, 3, width)


def dense(records):
    """The bounded rows, the constant column among them, in double precision."""
    return records.rows.to_dense()


def shrunk(images):
    """Each row, at most 1 long."""
    return images / np.maximum(np.linalg.norm(images, axis=1), 1.0)[:, None]


def mapped_rows(records, matrix):
    """The rows that a mapped question sees."""
    images = records.rows.image_norms(matrix, records.in_place)
    return _mapped.MappedRows(records.rows, matrix, images)


def asked(at, clip=0.3, scale=1.0, matrix=None):
    """A gradient without noise in other coordinates."""
    gradient = Gradient(at=at, loss=Logistic(), clip=clip, multiplier=0.0)
    return Mapped(question=gradient, coordinates=Coordinates(matrix), scale=scale)


@pytest.mark.parametrize("intercept", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(8))
def test_products_are_those_of_the_rows_that_are_never_built(seed, intercept):
    rng = np.random.default_rng(seed)
    records = random_vault(seed, n=40, intercept=intercept)
    matrix = matrix_of(rng, records.rows.width)
    rows, z = mapped_rows(records, matrix), shrunk(dense(records) @ matrix.T)
    u, v, h = rng.normal(size=len(matrix)), rng.normal(size=40), rng.random(40)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(rows.dot(u), z @ u, **close)
    np.testing.assert_allclose(rows.dot(np.stack([u, -u], 1)), z @ np.stack([u, -u], 1), **close)
    np.testing.assert_allclose(rows.tdot(v), z.T @ v, **close)
    np.testing.assert_allclose(rows.gram(h), z.T @ (h[:, None] * z), **close)
    lengths = np.linalg.norm(z, axis=1).clip(_mapped.FLOOR)
    np.testing.assert_allclose(rows.norms, lengths, **close)
    part = rows.take(np.array([3, 7, 7]))
    np.testing.assert_allclose(part.dot(u), z[[3, 7, 7]] @ u, **close)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_row_is_longer_than_1_as_computed(dtype):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        records = random_vault(seed, n=20, d=6, dtype=dtype)
        # Nearly singular maps: images are small differences of large products.
        matrix = rng.normal(size=(4, 1)) @ rng.normal(size=(1, 7)) * 1e3
        matrix += 1e-2 * rng.normal(size=(4, 7))
        rows = mapped_rows(records, matrix)
        exact = np.array(stored_rows(rows.in_double()), dtype=np.longdouble).sum(axis=2)
        length = np.sqrt((exact**2).sum(axis=1))
        assert (length <= np.minimum(rows.norms * (1 + 1e-15), 1.0)).all()


def check_bounded(relation, dtype=np.float64):
    """Neighbours' exact answers are never further apart than the inner question pays for."""
    for seed in range(200):
        records, neighbour = neighbours(seed, relation, 3, 0.25, dtype=dtype)
        rng = np.random.default_rng(seed)
        matrix = matrix_of(rng, records.rows.width)
        at, clip = rng.normal(size=len(matrix)) * 10.0 ** rng.uniform(-2, 2), rng.uniform(0.01, 2)
        question = asked(at, clip, 10.0 ** rng.uniform(-2, 2), matrix)
        claim = question.question.sensitivity(question.coordinates.seen(records.public))
        slack = 1e-9 if dtype == np.float64 else 1e-5
        assert pairs.distance(question, records, neighbour) <= claim * (1 + slack)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("relation", RELATIONS)
def test_random_neighbours_never_exceed_the_claim(relation, dtype):
    check_bounded(relation, dtype)


def test_norms_that_are_too_small_are_rejected(monkeypatch):
    honest = _rows.image_norms
    monkeypatch.setattr(_rows, "image_norms", lambda rows, *how: 0.5 * honest(rows, *how))
    with pytest.raises(AssertionError):
        check_bounded("replace_one")


class HalfTheCap(RowNorms):
    """Claims that a norm is about its middle."""

    def sensitivity(self, public):
        return 0.5 * self.cap


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_sensitivity_of_norms_is_rejected(relation):
    question, records, neighbour, _ = row_norms.worst_pair(relation)
    check_never_exceeded(question, [(records, neighbour)])
    twin = HalfTheCap(coordinates=question.coordinates, cap=question.cap, multiplier=1.0)
    with pytest.raises(AssertionError):
        check_never_exceeded(twin, [(records, neighbour)])


def test_norms_for_another_matrix_are_never_used():
    records = random_vault(0)
    question = asked(np.ones(2), matrix=np.eye(4)[:2])
    before = question.answer(records, Noise(0))
    matrix = question.coordinates.matrix
    matrix.setflags(write=True)
    matrix *= 1e6
    np.testing.assert_array_equal(question.answer(records, Noise(0)), before)


def test_a_matrix_is_copied():
    matrix = np.eye(3)
    coordinates = Coordinates(matrix)
    matrix[:] = 1e9
    assert np.array_equal(coordinates.matrix, np.eye(3)) and not coordinates.matrix.flags.writeable


def test_rows_that_overflow_are_shrunk_to_nothing_in_silence():
    X = np.array([[3e38, -3e38], [1e37, 0.0]], dtype=np.float32)
    records = vault(X, [1, -1], data_norm=1e38, dtype=np.float32)
    matrix = 1e20 * np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    norms = RowNorms(coordinates=Coordinates(matrix), cap=2.0, multiplier=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(asked(np.ones(2), matrix=matrix).answer(records, Noise(0))).all()
        assert norms.answer(records, Noise(0)) == 4.0


def test_images_that_underflow_in_single_precision_are_not_taken_for_short():
    X = np.array([[1e-30, 0.0]], dtype=np.float32)
    records = vault(X, [1], data_norm=1e-30, intercept=0.0, dtype=np.float32)
    question = asked(np.ones(2), 0.5, 1e-30, 1e-22 * np.eye(2))
    assert np.linalg.norm(question.answer(records, Noise(0))) <= 0.5


def objective(loss, **given):
    """A perturbed objective over two coordinates."""
    given = {"multiplier": 1.0, "strength": 1.0, **given}
    return PerturbedObjective(
        loss=loss, penalty=ScaledPenalty(NoPenalty(), 1.0, False), shape=(2,), **given
    )


def test_coordinates_that_leave_no_digits_are_refused():
    # Scores of rows that nearly cancel cannot be certified: whether the minimiser raised told which record was there.
    public = random_vault(0, d=1).public
    steep = Coordinates(1e10 * np.array([[1.0, -1.0], [0.0, 1.0]]))
    with pytest.raises(NotSupported, match="stretch rows"):
        Mapped(question=objective(Logistic()), coordinates=steep).event(public)
    assert Mapped(question=objective(Logistic()), coordinates=steep, scale=1e8).event(public)
    records = random_vault(0, d=1)
    RowNorms(coordinates=steep, cap=1.0, multiplier=1.0).answer(records, Noise(0))
    matrix = steep.matrix
    matrix.setflags(write=True)
    matrix /= 1e10  # norms and images are still those of the steep one, and so is the price
    with pytest.raises(NotSupported, match="stretch rows"):
        Mapped(question=objective(Logistic()), coordinates=steep).event(public)
    flat = Coordinates(np.array([[1.0, -1.0], [0.0, 1.0]]))
    flat.matrix.setflags(write=True)
    hidden = Mapped(question=objective(Logistic()), coordinates=flat)
    assert hidden.event(public)
    flat.matrix[:] *= 1e10  # priced as flat
    with pytest.raises(NotSupported, match="stretch rows"):
        hidden.answer(records, Noise(0))
    with pytest.raises(ValueError, match="at most 1e"):
        objective(Logistic(), multiplier=1e149)


def test_slopes_of_both_signs_are_priced_for_every_angle_that_answers_could_choose():
    plain, public = Coordinates(np.eye(2)), random_vault(0, d=1).public
    asked = objective(Huber(1.0))
    assert asked.event(public).rule == "two_signed"
    assert Mapped(question=asked, coordinates=plain).event(public).rule == "two_signed_anywhere"
    one = Mapped(question=objective(Logistic(), clip=0.1), coordinates=plain).event(public)
    assert one.rule == "one_signed"


def test_a_tilted_objective_is_that_of_the_new_rows():
    records = random_vault(1, n=60)
    matrix = matrix_of(np.random.default_rng(1), 4)
    k = len(matrix)
    question = PerturbedObjective(
        loss=Logistic(),
        penalty=ScaledPenalty(NoPenalty(), 1.0, False),
        shape=(k,),
        multiplier=0.0,
        strength=0.1,
        ridge=np.arange(k) / 10,
    )
    coordinates = Coordinates(matrix)
    w = Mapped(question=question, coordinates=coordinates, scale=2.0).answer(records, Noise(0))
    images = dense(records) @ matrix.T / 2.0
    z = shrunk(images)
    left = left_of(records.rows) / np.maximum(np.linalg.norm(images, axis=1), 1.0)
    slopes = left * Logistic().dz(z @ w / left, records.y)
    np.testing.assert_allclose(z.T @ slopes + (0.1 + question.ridge) * w, 0.0, atol=1e-6)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_costs_what_the_question_costs_about_rows_of_norm_1(neighbors):
    public = random_vault(0, neighbors=neighbors).public
    question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=3.0)
    wrapped = Mapped(question=question, coordinates=Coordinates(np.ones((2, 4))))
    assert wrapped.event(public) == question.event(wrapped.coordinates.seen(public))
    assert wrapped.proofs() == ("mapped", "clipped_gradient")
    seen = wrapped.coordinates.seen(public)
    assert seen.row_bound == 1.0 and seen.width == 2 and seen.n == public.n


class Longer(Coordinates):
    """Coordinates with a method of their own."""

    def seen(self, public):
        """Nothing is checked."""
        return replace(public, n_features=2, intercept=0.0)


GRADIENT = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=3.0)
SELECTION = BestCandidate(candidates=np.zeros((2, 2)), loss=Logistic(), cap=1.0, epsilon=1.0)


@pytest.mark.parametrize("question", [SELECTION, PoissonBatch(GRADIENT, 0.5)])
def test_questions_without_a_proof_here_are_refused(question):
    records = random_vault(0, d=1)
    asked = Mapped(question=question, coordinates=Coordinates(np.eye(2)))
    with pytest.raises(NotSupported, match="no proof in other coordinates"):
        asked.event(records.public)
    with pytest.raises(NotSupported, match="no proof in other coordinates"):
        asked.answer(records, Noise(0))


@pytest.mark.parametrize("kind", sorted(MECHANISMS, key=lambda kind: kind.__name__))
def test_a_mechanism_refuses_other_coordinates_unless_its_page_says_why_not(kind):
    proved = kind in (ClassSums, Gradient, PerturbedObjective)
    assert (kind.refuse_in is not Mechanism.refuse_in) == proved


def test_wrong_coordinates_are_refused():
    public = random_vault(0).public
    with pytest.raises(NotSupported, match="plain Coordinates, not Longer"):
        Mapped(question=GRADIENT, coordinates=Longer(np.eye(2)))
    with pytest.raises(NotSupported, match="not Longer"):
        RowNorms(coordinates=Longer(np.eye(2)), cap=1.0, multiplier=1.0)
    for one in (
        Mapped(question=GRADIENT, coordinates=Coordinates(np.eye(2))),
        RowNorms(coordinates=Coordinates(np.eye(2)), cap=1.0, multiplier=1.0),
    ):
        with pytest.raises(ValueError, match="2 columns do not fit rows of width 4"):
            one.event(public)
    for matrix in (np.ones(3), np.ones((0, 3)), np.full((1, 3), 1e31), np.full((1, 3), math.nan)):
        with pytest.raises(ValueError):
            Coordinates(matrix)
    with pytest.raises(NotSupported, match="Mapped has no price on a Poisson batch"):
        PoissonBatch(Mapped(question=GRADIENT, coordinates=Coordinates(np.eye(4))), 0.5).event(
            public
        )
    with pytest.raises(ValueError, match="ridge"):
        PerturbedObjective(
            loss=Logistic(),
            penalty=ScaledPenalty(NoPenalty()),
            shape=(2,),
            multiplier=1.0,
            strength=1.0,
            ridge=[-1.0, 0.0],
        )


@pytest.mark.parametrize("field, value", [("whole", -1e3), ("whole", 2.0), ("scale", -0.01)])
def test_what_no_price_follows_is_looked_at_again_when_it_counts(field, value):
    """A solver that changes its question between two doors: slopes would be a thousand times what was paid for."""
    inner = Gradient(at=np.zeros(3), loss=Logistic(), clip=1.0, multiplier=1.0)
    question = Mapped(question=inner, coordinates=Coordinates(np.eye(3)))
    records = vault([[0.5, 0.2], [3.0, 1.0]], [1, -1], "replace_one")
    object.__setattr__(question, field, value)
    with pytest.raises(ValueError, match=field):
        question.event(records.public)
    with pytest.raises(ValueError, match=field):
        question.answer(records, Noise(0))
