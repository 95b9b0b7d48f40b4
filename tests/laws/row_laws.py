"""What the proofs need of an engine of rows, as laws that hold it against exact sums of rationals.

Tables of the exact laws have rows shorter than a bound that is a power of two, so what a row is follows from the
caller's numbers alone: no word of the engine is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from laws.rounding_laws import LAYOUTS, laid_out

from skdp.mechanisms._kernels import PIECE, ROUNDINGS, UNIT
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._shrunk import LEAST_SHRINK

DATA_NORM, INTERCEPT = 2.0, 0.25
DTYPES = (np.float64, np.float32)


@dataclass(frozen=True)
class Subject:
    """An engine as the laws ask for it.

    Parameters
    ----------
    make : callable
        From a dense table to bounded rows.
    exact : callable
        From one bounded row as rationals to the row that the engine stands for.
    depth : int
        Width of the rows below, 0 for a table.
    """

    make: Callable
    exact: Callable = list
    depth: int = 0


def table_of(engine, form=np.asarray):
    """An engine that admits tables in some form."""
    return Subject(lambda X: engine.bounded(form(X), DATA_NORM, INTERCEPT))


def form_of(engine):
    """From a dense table to one that the engine admits: `from_dense` beside it, or the table itself."""
    form = getattr(engine, "from_dense", np.asarray)
    assert engine.admits(form(np.eye(2))), (
        f"{engine.__name__} admits no dense table: give it from_dense"
    )
    return form


def mapped_over(engine, form=np.asarray, view=MappedRows):
    """The same seen in other coordinates, by a map that makes no row longer than 1."""
    below = table_of(engine, form)

    def matrix(d):
        return np.random.default_rng(d).integers(-8, 9, size=(3, d + 1)) / (64.0 * (d + 1))

    def make(X):
        rows, A = below.make(X), matrix(np.shape(X)[1])
        return view(rows, A, rows.image_norms(A, False))

    def exact(row):
        A = [[Fraction(v) for v in line] for line in matrix(len(row) - 1).tolist()]
        factor = 1 - Fraction(8 * UNIT)
        return [factor * _dot(line, row) for line in A]

    return Subject(make, exact, depth=1)


def _dot(a, b):
    return sum((x * y for x, y in zip(a, b)), Fraction(0))


def truth(subject, X):
    """The rows that an engine stands for, in rationals."""
    last = Fraction(INTERCEPT)
    rows = [[Fraction(float(v)) / Fraction(DATA_NORM) for v in x] + [last] for x in X]
    return [subject.exact(row) for row in rows]


def stored_rows(rows):
    """Rows in double precision as they lie in memory, as pairs of doubles whose sums they are: from single sums."""
    one = np.ones(1)
    each = [rows.take(slice(i, i + 1)).careful_tdot(one) for i in range(len(rows))]
    return [[(float(a), float(b)) for a, b in zip(high, low)] for high, low in each]


def stored_fractions(rows):
    """The same in rationals."""
    return [[Fraction(a) + Fraction(b) for a, b in row] for row in stored_rows(rows)]


def short_rows(rng, n, d, dtype=np.float64):
    """Rows with some zeros, none longer than the bound."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    X *= DATA_NORM * 0.98 * rng.random((n, 1)) ** 0.2 / np.maximum(_norms(X), 1e-9)
    return X.astype(dtype)


def _norms(X):
    return np.linalg.norm(X, axis=1, keepdims=True)


def points(rng, width, dtype):
    """Parameters, some so large that scores are all rounding; one output and two."""
    size = 1e6 if dtype == np.float64 else 1e3
    for shape in ((width,), (width, 2)):
        yield rng.normal(size=shape) * size


# ------------------------------------------------------------------------------------------ laws


def check_scores_belong_to_rows(subject):
    """Bits of a score depend on nothing but the row and the point."""
    for dtype in DTYPES:
        for n, d in ((67, 3), (67, 40), (9, 100)):
            rng = np.random.default_rng(d)
            X = short_rows(rng, n, d, dtype)
            rows = subject.make(X)
            far = X * np.where(rng.random((n, 1)) < 0.5, 1.0, 30.0).astype(dtype)
            for w in points(rng, rows.width, dtype):
                _check_places(subject, X, lambda rows, w=w: rows.dot(w))
                _check_places(subject, far, lambda rows, w=w: rows.whole_dot(w))
                whole, scores = rows.whole_dot(w), rows.dot(w)
                assert subject.depth or np.array_equal(whole, scores), "none was scaled down"


def _check_places(subject, X, scores_of):
    rows, n = subject.make(X), len(X)
    scores = scores_of(rows)
    order = np.random.default_rng(0).permutation(n)
    for layout in LAYOUTS:
        assert np.array_equal(scores_of(subject.make(laid_out(X, layout))), scores), layout
    for shift in (1, 2, 3, 5, 8):
        assert np.array_equal(scores_of(subject.make(X[shift:])), scores[shift:])
    assert np.array_equal(scores_of(subject.make(X[order])), scores[order])
    assert np.array_equal(scores_of(rows.take(order)), scores[order])
    assert np.array_equal(scores_of(rows.take(order).take(slice(1, 5))), scores[order][1:5])
    for part in (slice(i, i + 1) for i in range(0, n, 4)):
        assert np.array_equal(scores_of(rows.take(part)), scores[part])
    beside = X.copy()
    beside[0] = 1e30
    assert np.array_equal(scores_of(subject.make(beside))[1:], scores[1:])


def check_norms_bound(subject):
    """No row is longer than its norm, which is no looser than costs noise."""
    for dtype in DTYPES:
        for d in (1, 2, 12, 50):
            rng = np.random.default_rng(d)
            X = short_rows(rng, 60, d, dtype)
            X[0] = 0.0
            X[1:9] = X[1:9, :1] / (2.0 * d**0.5)  # equal entries: their squares round alike
            norms, least = subject.make(X).norms.tolist(), 1.0 / 16.0 if subject.depth else 0.0
            for bound, row in zip(norms, truth(subject, X)):
                square = sum((v * v for v in row), Fraction(0))
                assert square <= Fraction(bound) ** 2, "a row is longer than its norm"
                assert bound <= max(float(square) ** 0.5 * (1 + 1e-12), least), "too loose"


def check_sums(subject):
    """Sums are as near to the exact ones as is proved, in double precision."""
    for dtype in DTYPES:
        for n, d in ((1, 2), (300, 5), (2 * PIECE + 3, 1), (9 * PIECE + 7, 2)):
            rng = np.random.default_rng(n)
            X = short_rows(rng, n, d, dtype)
            rows, exact = subject.make(X), truth(subject, X)
            for v in (rng.normal(size=n), np.ones(n), 1e6 ** rng.normal(size=n)):
                allowed = (ROUNDINGS + subject.depth * (d + 1)) * UNIT * np.abs(v) @ rows.reach()
                both = rows.tdot(np.stack([v, -v], axis=1))
                for total in (rows.tdot(v), both[:, 0], -both[:, 1]):
                    assert total.dtype == np.float64
                    assert _distance(total, _sum(exact, v)) <= allowed, "a sum is too far off"


def _sum(exact, v):
    terms = [Fraction(float(k)) for k in v]
    return [_dot(terms, column) for column in zip(*exact)]


def _distance(computed, exact):
    gaps = [Fraction(float(a)) - b for a, b in zip(np.ravel(computed), exact)]
    return float(sum(g * g for g in gaps)) ** 0.5


def check_in_double(subject):
    """Rows in double precision are: quick products within their units, careful ones within units of the score."""
    for dtype in DTYPES:
        for n, d in ((40, 3), (2 * PIECE + 5, 6)):
            rng = np.random.default_rng(d)
            X = short_rows(rng, n, d, dtype)
            rows, exact = subject.make(X).in_double(), truth(subject, X)
            assert rows.dtype == np.float64
            for w in (rng.normal(size=rows.width), *_cancelling(rng, exact)):
                _check_scores_in_double(subject, rows, exact, w)
            _check_careful_sum(subject, rows, exact, rng.normal(size=n))


def _cancelling(rng, exact):
    """Points at which the first row's score is all rounding."""
    x = np.array([float(v) for v in exact[0]])
    w = rng.normal(size=len(x)) * 1e9
    yield w - x * (x @ w) / (x @ x)


def _check_scores_in_double(subject, rows, exact, w):
    parts = [Fraction(float(v)) for v in w]
    true = [_dot(parts, row) for row in exact]
    size, depth = float(np.linalg.norm(w)), subject.depth * 7 + rows.width + 8
    quick = rows.units_of_scores(w) * UNIT * rows.reach()
    careful = rows.careful_dot(w, np.zeros_like(w))
    assert len(careful) == len(true)
    for i, score in enumerate(true):
        assert abs(Fraction(float(rows.dot(w)[i])) - score) <= quick[i], "a quick score is off"
        allowed = UNIT * (12 * abs(float(score)) + depth**2 * UNIT * size * rows.reach()[i] * 4)
        assert abs(Fraction(float(careful[i])) - score) <= allowed, "a careful score is off"


def _check_careful_sum(subject, rows, exact, v):
    high, low = rows.careful_tdot(v)
    total = [Fraction(a) + Fraction(b) for a, b in zip(high.tolist(), low.tolist())]
    gaps = [a - b for a, b in zip(total, _sum(exact, v))]
    error = float(sum(g * g for g in gaps)) ** 0.5
    allowed = (len(v) / PIECE + ROUNDINGS) ** 2 * UNIT**2 * float(np.abs(v) @ rows.reach())
    # A view's factor meets the weight first: a unit of one record's contribution, as any slope may be off.
    allowed += subject.depth * 2 * UNIT * float(np.abs(v) @ rows.norms)
    assert error <= allowed, "a careful sum is off"


def check_nothing_is_lost(subject):
    """Parts are all rows in order; what is taken is what was there, in precision, norms and bits."""
    for dtype in DTYPES:
        for n in (0, 1, 255, 1030):
            X = short_rows(np.random.default_rng(n), n, 4, dtype)
            rows = subject.make(X)
            assert len(rows) == n == len(rows.norms) == len(rows.reach())
            for least in (1, 300, 5000):
                parts = list(rows.chunks(least))
                ends = [part.start for part in parts] + [parts[-1].stop]
                assert ends == sorted({*ends, 0, n} if n else [0, 0]), "parts that miss rows"
                assert all(a.stop == b.start for a, b in pairwise(parts))
            _check_taken(rows, n)


def _check_taken(rows, n):
    w = np.random.default_rng(1).normal(size=rows.width)
    index = np.random.default_rng(2).integers(max(n, 1), size=min(n, 30))
    for pick in (index, np.sort(index), slice(n // 3, n), slice(0, 0)):
        part = rows.take(pick)
        assert (part.width, part.dtype, part.intercept) == (rows.width, rows.dtype, rows.intercept)
        assert np.array_equal(part.norms, rows.norms[pick])
        assert np.array_equal(part.reach(), rows.reach()[pick])
        assert np.array_equal(part.dot(w), rows.dot(w)[pick])
        assert np.array_equal(left_of(part), left_of(rows)[pick])
        assert part.take(slice(None)).in_double().dtype == np.float64
    h = np.random.default_rng(3).random(n)
    apart = sum((rows.take(p).gram(h[p]) for p in rows.chunks(1)), np.zeros((rows.width,) * 2))
    np.testing.assert_allclose(rows.gram(h), apart, rtol=1e-11, atol=1e-12 * (n + 1))


def check_features(subject):
    """What a table adds: entries, their largest, and the second moment."""
    for dtype in DTYPES:
        X = short_rows(np.random.default_rng(4), 600, 3, dtype)
        rows, exact = subject.make(X), truth(subject, X)
        dense, top = rows.to_dense(), rows.max_abs()
        assert dense.dtype == top.dtype == np.float64
        for row, computed, most in zip(exact, dense, top):
            assert [Fraction(v) for v in computed.tolist()] == row, "an entry is another"
            assert Fraction(float(most)) == max(map(abs, row[:-1])), "another largest entry"
        moment = rows.moment()
        wanted = [_dot(a, b) for a in zip(*exact) for b in zip(*exact)]
        allowed = ROUNDINGS * UNIT * float(np.square(rows.norms).sum())
        assert _distance(moment, wanted) <= allowed, "a second moment is too far off"


def check_long_rows_are_bounded(subject):
    """Whatever a caller gives is brought to norm 1 beside the constant column, in its own direction."""
    for dtype, far in ((np.float64, 1e300), (np.float32, 1e38)):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(40, 6)) * 10.0 ** rng.uniform(-3, 6, size=(40, 1))
        X[0], X[1] = far * np.sign(X[0]), 1e-30
        X = X.astype(dtype)
        rows = subject.make(X)
        assert (rows.norms <= np.hypot(1.0, INTERCEPT) * (1 + 1e-14)).all()
        for x, row, bound in zip(X, rows.to_dense().astype(np.longdouble), rows.norms):
            x = x.astype(np.longdouble)
            top = np.abs(x).max()
            norm = top * np.sqrt(np.square(x / top).sum())
            left = max(DATA_NORM / max(norm, DATA_NORM), LEAST_SHRINK)
            wanted = np.append(x / max(norm, DATA_NORM), INTERCEPT * left)
            eps = 1e-14 if dtype == np.float64 else 1e-6
            assert np.sqrt(np.square(row - wanted).sum()) <= eps, "another row than was given"
            assert np.sqrt(np.square(row).sum()) <= bound * (1 + 4 * UNIT)


def check_what_is_left_is_known(subject):
    """Divided by what is left of it, a row is the one that was given; alone it is what it is among others."""
    for dtype, eps in ((np.float64, 1e-14), (np.float32, 1e-6)):
        rng = np.random.default_rng(6)
        X = (rng.normal(size=(40, 6)) * 10.0 ** rng.uniform(-2, 4, size=(40, 1))).astype(dtype)
        rows = subject.make(X)
        left, norms = left_of(rows), _norms(X.astype(np.float64))[:, 0]
        assert ((left > 0.0) & (left <= 1.0)).all()
        assert (left[norms < DATA_NORM] == 1.0).all() and (left[norms > DATA_NORM] < 1.0).all()
        whole = rows.to_dense() / left[:, None]
        wanted = np.column_stack([X.astype(np.float64) / DATA_NORM, np.full(len(X), INTERCEPT)])
        np.testing.assert_allclose(whole, wanted, rtol=eps, atol=0, err_msg="another row")
        for w in (np.linspace(-1.0, 2.0, rows.width), np.ones((rows.width, 2))):
            scores, reach = rows.whole_dot(w), np.abs(whole) @ np.abs(w)
            off = np.abs(scores - whole @ w)
            assert (off <= 10 * eps * reach).all(), "a score of another row"
        for i in range(len(X)):
            assert left_of(subject.make(X[i : i + 1])) == left[i], "it depends on others"


def left_of(rows):
    """How much of each row is left, ones where all are whole."""
    return np.ones(len(rows)) if rows.shrink is None else rows.shrink
