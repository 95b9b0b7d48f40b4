"""Counts, sums and squares of classes: against plain sums, and against the largest move that a search finds."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from laws.unit_laws import grouped
from laws.vaults import RELATIONS, vault
from scipy.sparse import csr_array

from skdp import NotSupported
from skdp.mechanisms import ClassSums, Coordinates, Mapped, Noise, Oracle, Public, Records, price
from skdp.privacy.ledger import Recorder

RNG = np.random.default_rng(0)


def rows_of(n, d, classes, relation="replace_one", dtype=np.float64, given=np.asarray):
    """Records of classes 0, 1, ... and the rows as they are bounded."""
    X = RNG.normal(size=(n, d)).astype(dtype)
    X[RNG.random(X.shape) < 0.4] = 0.0
    y = RNG.integers(0, classes, n).astype(float)
    public = Public(n, d, 0.0, relation, target_bound=classes - 1.0)
    return Records.admit(given(X), y, public, 1.0), X, y


@pytest.mark.parametrize(
    "given", [np.asarray, np.asfortranarray, csr_array], ids=lambda g: g.__name__
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 255, 256, 700])
def test_sums_are_those_of_each_class(n, dtype, given):
    records, X, y = rows_of(n, 4, 5, dtype=dtype, given=given)
    question = ClassSums(classes=5, counts=0.7, squares=0.3, cap=0.6, multiplier=1.0)
    counts, sums, squares = question.split(question.measure(records))
    X = X / np.maximum(np.linalg.norm(X.astype(float), axis=1, keepdims=True), 1.0)
    X = np.clip(X, -0.6, 0.6)  # where squares are asked
    for k in range(5):
        mine = y == k
        assert counts[k] == pytest.approx(mine.sum(), abs=1e-10)
        assert sums[k] == pytest.approx(X[mine].sum(axis=0), abs=1e-6)
        assert squares[k] == pytest.approx(np.square(X[mine]).sum(axis=0), abs=1e-6)


@pytest.mark.parametrize("counts", [0.0, 0.5])
@pytest.mark.parametrize("squares", [0.0, 2.0])
def test_what_is_left_out_takes_no_place(counts, squares):
    records, *_ = rows_of(50, 3, 2)
    question = ClassSums(classes=2, counts=counts, squares=squares, multiplier=1.0)
    answer = question.measure(records)
    assert answer.size == question.size(records.public)
    found = [part.size for part in question.split(answer)]
    assert found == [2 * (counts > 0), 6, 6 * (squares > 0)]


def test_sums_are_as_near_as_is_said():
    """As Fractions add them, over records whose sizes differ by many powers of ten."""
    n = 3000
    X = RNG.normal(size=(n, 2)) * 10.0 ** RNG.integers(-12, 0, (n, 1))
    y = RNG.integers(0, 3, n).astype(float)
    records = Records.admit(X, y, Public(n, 2, 0.0, "replace_one", target_bound=2.0), 1.0)
    question = ClassSums(classes=3, multiplier=1.0)
    _, found, _ = question.split(question.measure(records))
    off = 0.0
    for k, j in itertools.product(range(3), range(2)):
        exact = sum(map(Fraction, records.rows.to_dense()[y == k, j].tolist()))
        off += float(abs(Fraction(found[k, j]) - exact)) ** 2
    assert off**0.5 <= question.rounding(records.public) < 1e-9


def test_targets_of_no_class_count_in_the_nearest():
    records = vault([[1.0], [1.0]], [-1, 1], intercept=0.0)
    found = ClassSums(multiplier=1.0).measure(records)
    assert found == pytest.approx(np.ones((2, 2)))


# ------------------------------------------------------------------------------- sensitivity, by search


def moves(question, public, pairs):
    """Largest move between rows of one class, and between rows of two."""
    x, other = (np.ascontiguousarray(part) for part in pairs)
    one, two = question._contributions(x), question._contributions(other)
    same = np.square(one - two).sum(axis=1).max()
    apart = np.square(one).sum(axis=1).max() + np.square(two).sum(axis=1).max()
    return float(np.sqrt(max(same, apart)))


def ball(n, d, cap):
    """Rows of norm 1 and less, many of which have entries at the cap, and mirrored twins that share signs or not."""
    rows = RNG.normal(size=(2, n, d))
    rows[:, : n // 2] = (
        np.sign(rows[:, : n // 2]) * RNG.choice([0.0, 0.6, 0.9, 1.0], (2, n // 2, d)) * cap
    )
    rows[1, ::3] = -rows[0, ::3] * RNG.choice([0.8, 0.95, 1.0], (len(rows[1, ::3]), d))
    return rows / np.maximum(np.linalg.norm(rows, axis=2, keepdims=True), 1.0)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("counts", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("squares", [0.0, 0.5, 0.9, 1.665, 4.0])
@pytest.mark.parametrize("cap", ["box", 0.6, 1.0])
def test_no_pair_of_rows_moves_further(cap, squares, counts, d):
    cap = (1.0 - 1e-15) / np.sqrt(d) if cap == "box" else cap
    question = ClassSums(classes=2, counts=counts, squares=squares, cap=cap, multiplier=1.0)
    public = Public(10, d, 0.0, "replace_one")
    found = max(moves(question, public, ball(4000, d, cap)) for _ in range(3))
    assert found <= question.sensitivity(public) * (1 + 1e-9)


def opposite_corners(d, cap):
    """A row with all entries at the cap, and its opposite."""
    return np.full((1, d), cap), np.full((1, d), -cap)


@pytest.mark.parametrize("squares", [0.0, 0.6, 1.0, 1.6])
@pytest.mark.parametrize("counts", [0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize("d", [1, 4])
def test_the_claim_of_a_box_is_reached(d, counts, squares):
    cap = (1.0 - 1e-15) / np.sqrt(d)
    question = ClassSums(classes=2, counts=counts, squares=squares, cap=cap, multiplier=1.0)
    public = Public(10, d, 0.0, "replace_one")
    reached = moves(question, public, opposite_corners(d, cap))
    assert reached == pytest.approx(question.sensitivity(public), rel=1e-9)


def beyond(squares):
    """How far the rows of the page move, whose norms bind, over the sensitivity of sums alone."""
    t = 1.0 - 1e-3
    r, a = np.sqrt(1.0 - t * t), np.sqrt(0.5)
    x, other = a * np.array([[1.0, -t, r]]), a * np.array([[-t, 1.0, -r]])
    question = ClassSums(counts=0.0, squares=squares, cap=a, multiplier=1.0)
    one, two = question._contributions(x.copy()), question._contributions(other.copy())
    return np.linalg.norm(one - two) / 2.0


def test_a_half_is_the_largest_free_weight_where_norms_bind():
    assert beyond(0.49) < 1.0 < beyond(0.51)


def test_the_price_knows_no_number_of_classes():
    for relation in RELATIONS:
        public = Public(100, 7, 0.25, relation)
        prices = {price(ClassSums(classes=k, multiplier=3.0), public) for k in (2, 10, 1000)}
        assert len(prices) == 1
    public = Public(100, 7, 0.0, "replace_one")
    asked = ClassSums(classes=9, multiplier=3.0)
    paid = price(asked, public).multiplier
    assert paid == pytest.approx(3.0 / np.sqrt(2.0))  # sqrt(1 + 1) over 2


# --------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "wrong",
    [{"classes": 1}, {"classes": 2.0}, {"counts": -1.0}, {"counts": np.inf}, {"squares": np.nan}]
    + [{"squares": 1e4}, {"cap": 0.0}, {"cap": np.inf}, {"multiplier": -1.0}],
    ids=str,
)
def test_wrong_fields_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ClassSums(**{"multiplier": 1.0, **wrong})


def test_squares_are_refused_in_other_coordinates():
    asked = Mapped(
        question=ClassSums(squares=0.5, multiplier=1.0), coordinates=Coordinates(np.eye(2))
    )
    with pytest.raises(NotSupported):
        price(asked, Public(10, 2, 0.0, "replace_one"))


@pytest.mark.parametrize("given", [np.asarray, csr_array], ids=lambda g: g.__name__)
def test_sums_in_other_coordinates_are_of_shrunk_images(given):
    records, X, y = rows_of(700, 4, 5, given=given)
    matrix = RNG.normal(size=(3, 4))
    asked = Mapped(
        question=ClassSums(classes=5, multiplier=0.0), coordinates=Coordinates(matrix), scale=0.7
    )
    counts, sums, _ = asked.question.split(asked.answer(records, Noise(seed=0)))
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    Z = X @ matrix.T / 0.7
    Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1.0)
    for k in range(5):
        assert counts[k] == (y == k).sum()
        assert sums[k] == pytest.approx(Z[y == k].sum(axis=0), abs=1e-9)


def test_rounding_in_other_coordinates_grows_with_their_stretch():
    public = Public(10, 2, 0.25, "replace_one")
    question = ClassSums(multiplier=1.0)
    far = Mapped(question=question, coordinates=Coordinates(1e6 * np.eye(3)))._seen(public)
    assert question.rounding(far) > 1e5 * question.rounding(public)


def test_persons_count_once():
    """Three rows of one person weigh a third each, in whichever classes they are."""
    one = np.array([[0.6, 0.8], [0.6, 0.8], [0.0, 1.0]]), np.array([1.0, 1.0, -1.0])
    records = grouped([one], 3, "replace_one", intercept=0.0)
    counts, sums, _ = (q := ClassSums(multiplier=1.0)).split(q.measure(records))
    assert counts == pytest.approx([1 / 3, 2 / 3])
    assert sums == pytest.approx(np.array([[0.0, 1 / 3], [0.4, 1.6 / 3]]))


def test_the_oracle_sells_it():
    records, _, y = rows_of(400, 3, 4)
    account = Recorder()
    question = ClassSums(classes=4, multiplier=2.0)
    answer = Oracle(records, account, Noise(seed=0)).ask(question)
    assert answer.shape == (4, 4) and account.script == ((price(question, records.public), 1),)
    assert np.abs(answer[:, 0] - np.bincount(y.astype(int))).max() < 8.0 * 2.0 * 1.5
