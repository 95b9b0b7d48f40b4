"""The sparse engine: whatever form a table came in, rows are the same, each by itself, and nothing is made dense."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from laws import row_laws
from laws.sparse_layouts import SPARSE, sparse_laid_out
from scipy import sparse

from skdp.losses import QuantileHuber
from skdp.mechanisms import Noise, PerturbedObjective, Public, Records, _entries, _sparse_rows
from skdp.mechanisms._engine import engine_of
from skdp.mechanisms._entries import Entries
from skdp.mechanisms._kernels import PIECE, PIECES, ROUNDINGS, UNIT
from skdp.mechanisms._rows import DenseRows
from skdp.mechanisms._sparse_rows import SparseRows, entries_of
from skdp.penalties import L1, NonNegative, NoPenalty, ScaledPenalty

BOUND, INTERCEPT = 2.0, 0.25


def sparse_table(rng, n, d, most, dtype=np.float64):
    """Rows with up to `most` entries, shorter than the bound; some are empty."""
    X = np.zeros((n, d), dtype=dtype)
    for row in X:
        where = rng.choice(d, size=rng.integers(most + 1), replace=False)
        row[where] = rng.normal(size=len(where)) * 0.9 / most**0.5
    X[np.linalg.norm(X, axis=1) > 0.98 * BOUND] *= 0.5
    return X


def made(X, data_norm=BOUND, intercept=INTERCEPT):
    """Rows of a table in any form."""
    engine = engine_of(X)
    assert engine is SparseRows
    return engine.bounded(X, data_norm, intercept)


def rows_of(X):
    """The rows in rationals."""
    return [[Fraction(float(v)) / 2 for v in x] + [Fraction(INTERCEPT)] for x in X]


# ------------------------------------------------------------------------------ one form


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", SPARSE)
def test_what_a_row_is_does_not_depend_on_how_it_is_stored(layout, dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-9, 10, size=(40, 30)) * (rng.random((40, 30)) < 0.2) / 8.0).astype(dtype)
    table, plain = made(sparse_laid_out(X, layout)), made(sparse.csr_array(X))
    w, v = rng.normal(size=31), rng.normal(size=40)
    assert table.dtype == dtype and len(table) == 40
    for one, other in (
        (table.dot(w), plain.dot(w)),
        (table.tdot(v), plain.tdot(v)),
        (table.norms, plain.norms),
        (table.to_dense(), DenseRows.bounded(X, BOUND, INTERCEPT).to_dense()),
        (table.moment(), plain.moment()),
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", SPARSE)
def test_the_users_table_is_left_alone(layout):
    table = sparse_laid_out(np.diag([3.0, 0.5, 1e200]), layout)
    before = [np.copy(v) for v in vars(table).values() if isinstance(v, np.ndarray)]
    made(table)
    after = [v for v in vars(table).values() if isinstance(v, np.ndarray)]
    assert len(before) == len(after)
    for one, other in zip(before, after):
        np.testing.assert_array_equal(one, other)


def repeated_cells(rng, n=6, d=4, each=60):
    """Cells of many entries, whose sum depends on the order in which they are added."""
    row, column = np.repeat(np.arange(n), each), rng.integers(d, size=n * each)
    data = rng.normal(size=n * each) * 10.0 ** rng.uniform(-8, 0, n * each)
    return data, row, column


def by_rows(data, row, column, shape):
    """CSR of triplets that are sorted by row, as they stand."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return sparse.csr_array((data, column, indptr), shape=shape)


def disturbed(make):
    """Whether another row, stored from right to left, moves a bit of rows whose cells have many entries."""
    rng = np.random.default_rng(1)
    data, row, column = repeated_cells(rng)
    order = np.lexsort((column, row))  # sorted: the last row alone is turned round below
    data, column = data[order], column[order]
    sorted_ = by_rows(data, row, column, (6, 4))
    last = slice(int(sorted_.indptr[-2]), None)
    turned = by_rows(data.copy(), row, column.copy(), (6, 4))
    turned.data[last], turned.indices[last] = data[last][::-1], column[last][::-1]
    one, other = make(sorted_), make(turned)
    return not np.array_equal(one[:-1], other[:-1])


def test_a_cell_of_many_entries_is_no_function_of_other_rows():
    assert not disturbed(lambda table: made(table).to_dense())


def test_scipys_own_sum_of_them_is():
    def by_scipy(table):
        table.sum_duplicates()
        return table.toarray()

    assert disturbed(by_scipy)


def test_cells_of_many_entries_are_added_up_in_their_order():
    rng = np.random.default_rng(2)
    data, row, column = repeated_cells(rng)
    wanted = np.zeros((6, 4))
    for value, i, j in zip(data, row, column):
        wanted[i, j] += value
    for table in (
        by_rows(data, row, column, (6, 4)),
        sparse.coo_array((data, (row, column)), shape=(6, 4)),
    ):
        found = entries_of(table)
        dense = sparse.csr_array((found.data, found.indices, found.indptr), shape=(6, 4)).toarray()
        np.testing.assert_array_equal(dense, wanted)


def test_norms_are_those_of_the_sums():
    X = by_rows(np.full(100, 1e-3), np.zeros(100, int), np.zeros(100, int), (1, 3))
    np.testing.assert_allclose(made(X, 1.0, 0.0).norms, 0.1, rtol=1e-12)
    far = by_rows(np.full(4, 1e308), np.repeat([0, 1], 2), np.zeros(4, int), (2, 1))
    public = Public(n=2, n_features=1, intercept=0.0, neighbors="replace_one")
    with pytest.raises(ValueError, match="too large to be scaled"):
        Records.admit(far, np.ones(2), public, 1.0)


BROKEN_TABLES = {
    "a column too far": ("indices", 0, 3),
    "a negative column": ("indices", 1, -1),
    "rows that go back": ("indptr", 1, 3),
    "rows that end too late": ("indptr", -1, 9),
    "rows that begin late": ("indptr", 0, 1),
}


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("fault", BROKEN_TABLES)
def test_tables_whose_arrays_do_not_fit_are_refused(fault, form):
    name, place, value = BROKEN_TABLES[fault]
    table = form(np.eye(3))
    getattr(table, name)[place] = value
    with pytest.raises(ValueError, match="its index arrays do not fit its shape; rebuild it"):
        made(table)


def test_triplets_out_of_bounds_are_refused():
    table = sparse.coo_array(np.eye(3))
    table.row[1] = 7
    with pytest.raises(ValueError, match="do not fit its shape"):
        made(table)


# ------------------------------------------------------------------------------ neighbours


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_of_a_row_is_moved_by_its_neighbours(dtype):
    """A full row, an empty one or one far away in front: scores, norms and images of the others keep their bits."""
    rng = np.random.default_rng(3)
    X = sparse_table(rng, 300, 64, 6, dtype)
    far = np.full(64, 1e38 if dtype == np.float32 else 1e300, dtype=dtype)
    w, A = rng.normal(size=(65, 2)), rng.normal(size=(65, 65))
    alone = made(sparse.csr_array(X))
    wanted = alone.dot(w), alone.norms, alone.image_norms(A, False), alone.max_abs()
    for front in (np.ones(64, dtype), np.zeros(64, dtype), far, X[7]):
        beside = made(sparse.csc_array(np.vstack([front, X])))
        found = beside.dot(w), beside.norms, beside.image_norms(A, False), beside.max_abs()
        for one, other in zip(found, wanted):
            np.testing.assert_array_equal(one[1:], other)


def test_a_way_that_the_whole_table_chooses_is_rejected(monkeypatch):
    """Were all rows mapped by the way that suits most of them, a full row could choose for the others."""

    def by_all(rows, last, square):
        return (
            honest(rows, last, square) if _entries.few_pairs(rows) else np.full(len(rows), np.inf)
        )

    honest = _entries._from_pairs
    monkeypatch.setattr(_entries, "_from_pairs", by_all)
    X = np.eye(64)[[3]] + np.eye(64)[[5]] * 0.3
    A = np.random.default_rng(0).normal(size=(65, 65))
    front = np.vstack([np.ones((3, 64)), X])
    assert not np.array_equal(
        made(sparse.csr_array(front)).image_norms(A, False)[3:],
        made(sparse.csr_array(X)).image_norms(A, False),
    )


# ------------------------------------------------------------------------------ sums


def exact_sum(X, v):
    """In rationals, column by column."""
    total = [Fraction(0)] * (X.shape[1] + 1)
    for x, weight in zip(X, v):
        weight = Fraction(float(weight))
        for j in np.flatnonzero(x):
            total[j] += weight * Fraction(float(x[j])) / 2
        total[-1] += weight * Fraction(INTERCEPT)
    return total


def far_off(computed, exact):
    """Distance in norm."""
    gaps = [Fraction(float(a)) - b for a, b in zip(np.ravel(computed), exact)]
    return float(sum(g * g for g in gaps)) ** 0.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, d", [(500, 40), (3000, 12), (700, 5000), (PIECE * PIECES + 300, 3)])
def test_sums_of_narrow_and_wide_tables(n, d, dtype):
    """Few columns are summed in pieces, many by column; a column that every row has is as near as the rest."""
    rng = np.random.default_rng(d)
    X = sparse_table(rng, n, d, 3, dtype)
    X[:, 0] = 0.1
    rows, v = made(sparse.csr_array(X)), rng.normal(size=n)
    allowed = ROUNDINGS * UNIT * float(np.abs(v) @ rows.norms)
    exact = exact_sum(X, v)
    both = rows.tdot(np.stack([v, -v], axis=1))
    for total in (rows.tdot(v), both[:, 0], -both[:, 1]):
        assert far_off(total, exact) <= allowed


@pytest.mark.parametrize("wide", [False, True])
def test_a_long_column_is_no_single_chain(wide):
    """A hundred thousand equal numbers added one by one are off by thousands of units each."""
    n, d = 100_000, 50_000 if wide else 3
    table = sparse.csr_array((np.full(n, 0.2), np.zeros(n, int), np.arange(n + 1)), shape=(n, d))
    total = made(table, BOUND, 0.0).tdot(np.ones(n))
    off = abs(Fraction(float(total[0])) - n * Fraction(0.2) / 2)
    assert float(off) <= 300 * UNIT * n * 0.1
    in_a_row = Entries(table.data / 2, table.indices, table.indptr, d)._added(d, np.ones(n))
    assert abs(Fraction(float(in_a_row[0])) - n * Fraction(0.2) / 2) > 300 * UNIT * n * 0.1


def exact_moment(X, h=None):
    """In rationals, upper triangle and lower."""
    d = X.shape[1] + 1
    total = [[Fraction(0)] * d for _ in range(d)]
    for k, row in enumerate(rows_of(X)):
        weight = Fraction(1) if h is None else Fraction(float(h[k]))
        where = [j for j, v in enumerate(row) if v]
        for i in where:
            for j in where:
                total[i][j] += weight * row[i] * row[j]
    return [v for line in total for v in line]


@pytest.mark.parametrize("size", [1.0, 1e-40, 1e-7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_second_moments_from_pairs(dtype, size):
    rng = np.random.default_rng(4)
    X = (sparse_table(rng, 900, 64, 3) * rng.choice([1.0, size], (900, 1))).astype(dtype)
    rows, h = made(sparse.csr_array(X)), rng.random(900)
    assert _entries.few_pairs(rows._rows)
    found = rows.moment()
    np.testing.assert_array_equal(found, found.T)
    allowed = ROUNDINGS * UNIT * float(np.square(rows.norms).sum())
    assert far_off(found, exact_moment(X)) <= allowed
    wanted = np.array([float(v) for v in exact_moment(X, h)]).reshape(65, 65)
    np.testing.assert_allclose(rows.gram(h), wanted, rtol=1e-12, atol=1e-12)


def test_second_moments_of_fuller_rows_are_made_of_blocks():
    X = sparse_table(np.random.default_rng(5), 600, 12, 9)
    rows, h = made(sparse.csr_array(X)), np.random.default_rng(6).random(600)
    assert not _entries.few_pairs(rows._rows)
    dense = DenseRows.bounded(X, BOUND, INTERCEPT)
    np.testing.assert_allclose(rows.moment(), dense.moment(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows.gram(h), dense.gram(h), rtol=0, atol=1e-12)


def images(X, A):
    """Norms of images in long numbers."""
    rows = np.array([[float(v) for v in row] for row in rows_of(X)], dtype=np.longdouble)
    return np.sqrt(np.square(rows @ A.T.astype(np.longdouble)).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("intercept", [0.0, INTERCEPT])
def test_norms_of_images_are_bounds_and_near(dtype, intercept):
    """Rows with few entries and with many, and rows that a map nearly takes away."""
    rng = np.random.default_rng(7)
    X = np.vstack([sparse_table(rng, 200, 80, 3, dtype), sparse_table(rng, 40, 80, 60, dtype)])
    for A in (
        rng.normal(size=(81, 81)),
        np.diag(10.0 ** rng.uniform(-3, 3, 81)),
        rng.normal(size=(2, 81)),
        np.tile(rng.normal(size=81), (3, 1)) + 1e-9 * rng.normal(size=(3, 81)),
    ):
        wanted = images(X, np.where(np.arange(81) < 80, A, A * (intercept > 0)))
        matrix = A if intercept else A[:, :-1]
        bounds = made(sparse.csr_array(X), BOUND, intercept).image_norms(matrix, False)
        assert (bounds >= wanted * (1 - 1e-16)).all()
        reach = np.abs(X) @ np.linalg.norm(A[:, :-1], axis=0) / 2 + INTERCEPT * np.linalg.norm(
            A[:, -1]
        )
        assert (bounds <= wanted * (1 + 1e-12) + 1e-13 * reach).all()


# ------------------------------------------------------------------------------ nothing is made dense


def test_no_table_of_all_cells_is_built():
    """40,000 rows of 5,000 columns are 1.6 GB; of the sparse ones 40 MB are enough for all that a fit asks."""
    rng, n, d = np.random.default_rng(8), 40_000, 5000
    columns = np.sort(rng.integers(d, size=(n, 5)), axis=1)
    table = sparse.csr_array((np.ones(5 * n), columns.ravel(), np.arange(0, 5 * n + 1, 5)), (n, d))
    w, v = rng.normal(size=d + 1), rng.normal(size=n)
    tracemalloc.start()
    try:
        rows = made(table, 3.0)
        rows.dot(w), rows.tdot(v), rows.max_abs()
        double = rows.in_double()
        double.careful_dot(w, 0.0 * w), double.careful_tdot(v)
        for part in rows.chunks(1):
            rows.take(part).tdot(v[part])
        rows.take(rng.integers(n, size=1000)).dot(w)
        rows.image_norms(rng.normal(size=(3, d + 1)), False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40e6


def test_batches_take_the_time_of_their_entries(monkeypatch):
    """No array as long as the table is made for a batch."""
    n = 100_000
    table = sparse.csr_array((np.ones(n), np.zeros(n, int), np.arange(n + 1)), shape=(n, 4))
    rows = made(table)
    tracemalloc.start()
    try:
        part = rows.take(np.arange(0, n, 5000))
        part.dot(np.ones(5)), part.tdot(np.ones(len(part)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000


def test_products_with_a_part_copy_none_of_its_entries():
    """A constructor of scipy's would copy them: that takes longer than the product."""
    n, each = 100_000, 10
    ends = np.arange(0, n * each + 1, each)
    columns = np.tile(np.arange(each), n)
    rows = made(sparse.csr_array((np.ones(n * each), columns, ends), shape=(n, each)), 4.0)
    part = rows.take(slice(1000, 21_000))
    w, v = np.ones(each + 1), np.ones(len(part))
    entries = part._rows.size * 8.0
    assert most_memory(lambda: part.dot(w)) < 0.5 * entries
    assert most_memory(lambda: part.tdot(v)) < 0.9 * entries  # columns of each piece: half of them


def most_memory(do):
    """Bytes that were taken at once."""
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_products_look_at_lengths_first():
    rows = made(sparse.csr_array(np.eye(3)))
    data, indices, indptr = rows._rows.data, rows._rows.indices, rows._rows.indptr
    for short in (Entries(data[:2], indices, indptr, 3), Entries(data, indices[:2], indptr, 3)):
        for product in (short.dot, short.tdot):
            with pytest.raises(ValueError):
                product(np.ones(3))
    for wrong in (np.ones(2), np.ones(9)):
        with pytest.raises(ValueError):
            rows.dot(wrong)
        with pytest.raises(ValueError):
            rows.tdot(wrong)


def test_laws_of_engines_hold_in_every_form():
    for layout in ("csc", "unsorted", "halved", "cancelling", "read-only"):
        subject = row_laws.table_of(SparseRows, lambda X, k=layout: sparse_laid_out(X, k))
        for law in (row_laws.check_scores_belong_to_rows, row_laws.check_nothing_is_lost):
            law(subject)


def test_what_scipy_calls_canonical_is_not_believed():
    table = sparse_laid_out(np.arange(6.0).reshape(2, 3), "unsorted")
    assert table.has_canonical_format
    assert not _sparse_rows._canonical(entries_unsettled(table))
    np.testing.assert_array_equal(
        made(table).dot(np.arange(4.0)), made(sparse.csr_array(table.toarray())).dot(np.arange(4.0))
    )


def entries_unsettled(table):
    """Its own arrays."""
    return Entries(table.data, table.indices, table.indptr, table.shape[1])


@pytest.mark.parametrize("penalty", [NoPenalty(), L1(1.0), NonNegative(1.0, 0.5)], ids=repr)
@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray], ids=["sparse", "dense"])
def test_no_records_are_answered_as_one_would_be(form, penalty):
    """A table without a record has a neighbour with one: an error would tell them apart."""
    public = Public(n=None, n_features=3, intercept=0.0, neighbors="add_remove")
    question = PerturbedObjective(
        loss=QuantileHuber(0.5, 1e-2), penalty=ScaledPenalty(penalty, intercept=False),
        shape=(3,), multiplier=50.0, strength=3e5,
    )  # fmt: skip
    for n in (0, 1):
        vault = Records.admit(form(np.eye(n, 3)), np.ones(n), public, data_norm=1.0)
        assert np.isfinite(question.answer(vault, Noise(0))).all()
