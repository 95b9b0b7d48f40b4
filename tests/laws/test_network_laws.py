"""Products whose bits belong to records are exact ones on a grid; networks of all kinds keep the laws of models."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from laws import model_laws
from laws.model_laws import Case

from skdp.mechanisms import Public, Records
from skdp.models import Perceptron, _arithmetic, perceptron
from skdp.models._arithmetic import NARROW, OPEN, UNIT, lengths, products
from skdp.models.perceptron import ACTIVATIONS

WIDE = NARROW + 9


def grid_of(a, w):
    """The grid that the page speaks of, row by row."""
    error = (len(w) + 8.0) * UNIT * lengths(a) * lengths(w.T).max()
    return np.exp2(np.floor(np.log2(error / OPEN)) + 1.0)


def nearest(a, w, grid):
    """Exact products at the point of the grid that is nearest, the lower of two."""
    exact = sum(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), w.tolist()))
    spacing = Fraction(float(grid))
    return float(-((Fraction(1, 2) - exact / spacing).__floor__()) * spacing)


def tables(rng):
    """Rows and matrices: of ordinary numbers, of all sizes, of cancelling pairs, of zeros."""
    for d in (WIDE, 300):
        a, w = rng.normal(size=(6, d)), rng.normal(size=(d, 7))
        yield a, w
        yield a * 10.0 ** rng.uniform(-60, 60, size=(6, 1)), w * 10.0 ** rng.uniform(-9, 9, (1, 7))
        yield a * 10.0 ** rng.uniform(-30, 30, size=a.shape), w
        yield (
            np.concatenate([a, -a], axis=1),
            np.concatenate([w, w + 1e-13 * rng.normal(size=w.shape)]),
        )
        yield 0.0 * a, w


@pytest.mark.parametrize("seed", range(2))
def test_products_are_the_exact_ones_on_their_grid(seed):
    for a, w in tables(np.random.default_rng(seed)):
        found, grid = products(a, w), grid_of(a, w)
        for i in range(len(a)):
            if lengths(a[i : i + 1]) * lengths(w.T).max() < 2.0**-500:
                assert (found[i] == 0.0).all()
                continue
            for k in range(w.shape[1]):
                assert found[i, k] == nearest(a[i], w[:, k], grid[i])


def near_midpoints(rng, off):
    """A row of 1.0 and one tiny number, and columns whose products with it lie `off` grids beside a midpoint."""
    a = np.zeros((1, WIDE))
    a[0, 0], a[0, 1] = 1.0, 2.0**-60
    w = np.zeros((WIDE, 50))
    w[2] = 1.0  # of columns of one length, nearly
    grid = float(grid_of(a, np.eye(WIDE)[:, :1] * np.sqrt(1.25))[0])
    w[0] = (rng.integers(-1000, 1000, size=50) + 0.5) * grid
    w[1] = off * grid * 2.0**60
    return a, w


@pytest.mark.parametrize("off", [2.0**-30, -(2.0**-30), 2.0**-70, -(2.0**-70), 0.0])
def test_what_lies_at_a_midpoint_is_settled_by_exact_signs(off):
    a, w = near_midpoints(np.random.default_rng(1), off)
    grid = grid_of(a, w)
    wanted = [nearest(a[0], w[:, k], grid[0]) for k in range(w.shape[1])]
    assert products(a, w)[0].tolist() == wanted


def test_rows_that_are_far_too_long_have_no_products_and_leave_others_alone():
    rng = np.random.default_rng(2)
    for d in (3, WIDE):
        a, w = rng.normal(size=(5, d)), rng.normal(size=(d, 4))
        alone = products(a[[0, 2, 4]], w)
        a[1, 0], a[3, 1] = 1e160, np.inf
        with np.errstate(all="ignore"):
            found = products(a, w)
        assert np.isnan(found[[1, 3]]).all() and np.array_equal(found[[0, 2, 4]], alone)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_units_say_the_same_wherever_a_score_stands(name):
    scores = np.random.default_rng(3).normal(size=509) * 3.0
    said, steep = ACTIVATIONS[name](scores.copy())
    for start in range(17):
        for size in (1, 2, 3, 5, 8, 31):
            part = slice(start, start + size)
            there, slope = ACTIVATIONS[name](scores[part].copy())
            assert np.array_equal(there, said[part]) and np.array_equal(slope, steep[part])


NETWORKS = [
    *(Perceptron((9,), activation) for activation in ACTIVATIONS),
    Perceptron((NARROW + 3, 4)),
    Perceptron((5, 4, 3), "tanh"),
]
LAWS = (
    model_laws.check_passes_belong_to_records,
    model_laws.check_gradients,
    model_laws.check_norms_bound_what_is_added,
    model_laws.check_sums,
    model_laws.check_start,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("model", NETWORKS, ids=repr)
def test_networks_of_all_kinds_keep_the_laws(model, law):
    if law is model_laws.check_gradients and max(model.hidden) > NARROW:
        pytest.skip(
            "differences show the grid; tests/estimators/test_networks.py has the gradients"
        )
    for outputs in (1, 3):
        law(Case(model, outputs))


# --------------------------------------------------------------------------------------- networks that are wrong


@dataclass(frozen=True)
class ForgetsTheConstant(Perceptron):
    """Norms without the weights of the hidden layers' constants."""

    def norms(self, tape, dz):
        entered = [tape.entered[0], *(a[:, :-1] for a in tape.entered[1:])]
        return super().norms(tape._replace(entered=entered), dz)


@dataclass(frozen=True)
class ForgetsALayer(Perceptron):
    """Norms of all layers but the last."""

    def norms(self, tape, dz):
        entered = [*tape.entered[:-1], 0.0 * tape.entered[-1]]
        return super().norms(tape._replace(entered=entered), dz)


@dataclass(frozen=True)
class MeanNorm(Perceptron):
    """All records are given the mean norm of the batch."""

    def norms(self, tape, dz):
        norms = super().norms(tape, dz)
        return np.full_like(norms, norms.mean())


@dataclass(frozen=True)
class WeighsWhatComesIn(Perceptron):
    """Slopes are weighted before the way back: what they meet there rounds by another grid than in the norms."""

    def pullback(self, tape, dz, weights):
        weighted = dz * (weights if dz.ndim == 1 else weights[:, None])
        return super().pullback(tape, weighted, np.ones_like(weights))


BROKEN = [
    (ForgetsTheConstant, model_laws.check_norms_bound_what_is_added),
    (ForgetsTheConstant, model_laws.check_gradients),
    (ForgetsALayer, model_laws.check_norms_bound_what_is_added),
    (MeanNorm, model_laws.check_passes_belong_to_records),
    (MeanNorm, model_laws.check_norms_bound_what_is_added),
    (WeighsWhatComesIn, model_laws.check_norms_bound_what_is_added),
]


@pytest.mark.parametrize("small", [0.99 * 2.0**-27, 1e-170])
def test_lengths_are_bounds_where_every_square_is_lost(small):
    """Beside ones that takes 76 units from a norm of 20,000 terms, and by themselves all of it."""
    a = np.full((2, 20_000), small)
    a[0, :64] = 1.0
    for row, bound in zip(a, lengths(a)):
        exact = sum(Fraction(v) ** 2 * np.count_nonzero(row == v).item() for v in set(row.tolist()))
        assert exact <= Fraction(float(bound)) ** 2 <= exact * 2 + Fraction(1, 10**290)


@pytest.mark.parametrize("kind, law", BROKEN)
def test_each_law_catches_a_network_with_one_thing_wrong(kind, law):
    with pytest.raises(AssertionError):
        law(Case(kind((5, NARROW + 8), "tanh")))


def test_a_product_of_blas_alone_is_caught(monkeypatch):
    monkeypatch.setattr(perceptron, "products", lambda a, w: a @ w)
    with pytest.raises(AssertionError, match="where a record stands"):
        model_laws.check_passes_belong_to_records(Case(Perceptron((64,))))


def test_a_grid_that_rounding_leaves_open_is_caught(monkeypatch):
    monkeypatch.setattr(_arithmetic, "_nearest", lambda a, w, grid, open_: 0.0)
    with pytest.raises(AssertionError):
        test_what_lies_at_a_midpoint_is_settled_by_exact_signs(2.0**-30)


# ------------------------------------------------------------------------------------------------------- a start


def test_a_start_spreads_over_all_weights_alike_and_differs_by_seed():
    public = Public(None, 200, 0.25, "add_remove")
    starts = [Perceptron((300, 200), seed=seed, heard=3.0).start(public, 2) for seed in (0, 1)]
    first, other = (Perceptron((300, 200)).matrices(start, 201, True) for start in starts)
    for wide in (first[0], first[1][:, :100], first[2][:100] / 3.0):
        free = wide[:-1]
        assert abs(free.mean()) < 0.1 and abs(free.var() - 1.0) < 0.2
    assert abs(np.corrcoef(first[0][:-1].ravel(), other[0][:-1].ravel())[0, 1]) < 0.01
    assert all((matrix[-1] == 0.0).all() for matrix in first)
    singular = np.linalg.svd(first[0][:-1], compute_uv=False)
    assert singular[0] < 1.05 * (np.sqrt(300) + np.sqrt(200))  # as of independent numbers


@pytest.mark.parametrize("units", [1, 2, 400, 401])
def test_all_scores_begin_at_zero_of_units_that_say_as_much_as_rows(units):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 40))
    for activation in ACTIVATIONS:
        case = Case(Perceptron((400, units), activation))
        records = case.records(X, data_norm=6.0)
        w = case.model.start(records.public)
        scores, tape = case.model.forward(w, records.rows)
        assert not scores.any()
        said = np.linalg.norm(tape.entered[1], axis=1)
        assert (said > 0.3).all() and (said < 3.0).all()
        assert (case.model.norms(tape, np.ones(50)) < 8.0).all()
        *_, before, last = case.model.matrices(w, records.rows.width, True)
        half = units // 2
        assert np.array_equal(before[:, :half], before[:, half : 2 * half])
        assert np.array_equal(last[:half], -last[half : 2 * half]) and not last[2 * half :].any()


def test_what_came_back_is_that_of_the_slopes_that_are_asked_for():
    """It is kept between two questions: never for other slopes, and not what the caller makes of its own."""
    rng = np.random.default_rng(0)
    public = Public(6, 4, 0.25, "replace_one", model=Perceptron((5, 3)))
    records = Records.admit(rng.normal(size=(6, 4)), np.ones(6), public, 1.0)
    w = rng.normal(size=public.model.shape(public))
    one, other = rng.normal(size=(2, 6))

    def pulled(dz, tape=None):
        tape = public.model.forward(w, records.rows)[1] if tape is None else tape
        return public.model.pullback(tape, dz, np.ones(6))

    tape = public.model.forward(w, records.rows)[1]
    given = one.copy()
    public.model.norms(tape, given)
    assert np.array_equal(pulled(other, tape), pulled(other))
    public.model.norms(tape, given)
    given *= 1000.0
    assert np.array_equal(pulled(one, tape), pulled(one))
    assert np.array_equal(pulled(given, tape), pulled(given))


def test_a_row_of_ties_has_its_bits_in_every_block():
    """Products at midpoints of the grid are settled by hand, wherever in a long table they stand."""
    n, d, k, rng = 3000, 40, 8, np.random.default_rng(0)
    row = np.zeros((1, d))
    row[0, :3] = 1.0
    w = np.zeros((d, k))
    w[0] = 1.0
    reach = lengths(row)[0] * lengths(w.T).max()
    grid = np.ldexp(1.0, int(np.frexp((d + 8.0) * UNIT * reach / OPEN)[1]))
    w[1] = rng.integers(-9, 9, size=k) * grid + grid / 2
    w[2] = rng.choice([1e-30, -1e-30], size=k)  # which side: BLAS loses it
    alone = products(row, w)
    assert np.array_equal(products(np.repeat(row, n, axis=0), w), np.repeat(alone, n, axis=0))
