"""Where a record stands, and who stands beside it, changes no bit of its score (review A4)."""

import numpy as np
import pytest
from attacks.tables import LOSSES, admitted, asked, moved

from skdp.losses import Logistic
from skdp.mechanisms import _rows
from skdp.mechanisms._bounds import pass_forward
from skdp.mechanisms._rows import DenseRows

WIDTHS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 34, 50, 63, 64, 65, 100, 101, 200, 333, 500)
SHIFTS = (1, 2, 3, 4, 5, 7, 8, 63)
DTYPES = (np.float64, np.float32)


def table(seed, n, d, dtype):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(dtype)


def check_steady(scores_of, X, y):
    """Scores of a table without its first rows, or its last, or of rows in another place, are those of the whole."""
    whole = scores_of(X, y)
    for shift in (s for s in SHIFTS if s < len(X)):
        for part in (slice(shift, None), slice(None, -shift), slice(shift, shift + 1)):
            assert (scores_of(X[part], y[part]) == whole[part]).all(), f"{X.shape}, {part}"
            assert (scores_of(X[part].copy(), y[part].copy()) == whole[part]).all()
    order = np.random.default_rng(0).permutation(len(X))
    assert (scores_of(X[order], y[order]) == whole[order]).all()


def scores_at(w, intercept=0.0):
    return lambda X, y: DenseRows.bounded(X, 0.7, intercept).dot(w)


def slopes_at(w, loss):
    def slopes(X, y):
        records = admitted(X, y, "add_remove", intercept=0.25, data_norm=0.7)
        return pass_forward(w, records, loss)[0]

    return slopes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("outputs", [1, 5])
def test_scores_are_those_of_the_record_alone(dtype, outputs):
    for d in WIDTHS:
        rng = np.random.default_rng(d)
        w = rng.normal(size=(d, outputs)[: 1 + (outputs > 1)]) * 1e6
        for n in (3, 4, 67):
            check_steady(scores_at(w), table(d, n, d, dtype), np.ones(n))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("outputs", [1, 5])
def test_scores_of_all_widths_are_those_of_the_record_alone(dtype, outputs):
    for d in range(1, 501):
        w = np.random.default_rng(d).normal(size=(d, outputs)[: 1 + (outputs > 1)])
        for n in (3, 257, 1030):
            check_steady(scores_at(w), table(d, n, d, dtype), np.ones(n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_those_of_the_record_alone(loss, dtype):
    rng = np.random.default_rng(2)
    for d in (1, 3, 20, 40):
        w = rng.normal(size=(d + 1, loss.outputs)[: 1 + (loss.outputs > 1)]) * rng.choice(
            [1.0, 1e3]
        )
        X = table(d, 70, d, dtype)
        y = rng.integers(0, 5, 70) if loss.outputs > 1 else rng.choice([-1.0, 1.0], 70)
        check_steady(slopes_at(w, loss), X, y.astype(float))


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_a_matrix_hang_on_where_a_row_stands(dtype):
    """The old scores: the law sees them, at some width."""

    def product(w):
        def scores(X, y):
            with np.errstate(all="ignore"):  # flags that BLAS raises in lanes that it throws away
                return X @ w.astype(X.dtype)

        return scores

    seen = 0
    for d in WIDTHS:
        w = np.random.default_rng(d).normal(size=d)
        for lay in (np.ascontiguousarray, np.asfortranarray):
            try:
                check_steady(
                    lambda X, y, d=d, w=w, lay=lay: product(w)(lay(X), y),
                    table(d, 67, d, dtype),
                    np.ones(67),
                )
            except AssertionError:
                seen += 1
    assert seen > 5


# ---------------------------------------------------------------------------------- sums


def steep(d, seed):
    """Rows that are nearly orthogonal to huge parameters: scores are made of rounding alone."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=d)
    at = rng.normal(size=d)
    at -= x * (x @ at) / (x @ x)
    return x / (2 * np.linalg.norm(x)), at * 1e18


def insertions(n):
    return sorted({0, 1, n // 2, n - 1, n})


def check_insertion(question, X, y, new):
    for place in insertions(len(X)):
        more = np.insert(X, place, new, axis=0)
        pair = admitted(X, y, "add_remove"), admitted(more, np.insert(y, place, 1.0), "add_remove")
        assert moved(question, *pair) <= 1.0, f"n = {len(X)}, at {place}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 255, 256, 383, 384, 1023])
def test_one_record_more_moves_what_it_may(n, dtype):
    for d in (2, 7, 20, 40, 100):
        for seed in range(3):
            x, at = steep(d, seed)
            X = np.tile(x, (n, 1)).astype(dtype)
            at = at if dtype is np.float64 else at * 1e-9
            y = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
            for loss in (Logistic(), LOSSES[4], LOSSES[2]):
                check_insertion(asked(at, loss, clip=0.4), X, y, -x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_record_more_moves_what_it_may_over_several_parts(dtype, monkeypatch):
    monkeypatch.setattr(_rows, "PART", 1)
    monkeypatch.setattr(_rows, "FEW", 16)
    for seed in range(3):
        x, at = steep(20, seed)
        X = np.tile(x, (700, 1)).astype(dtype)
        check_insertion(asked(at, Logistic(), clip=0.4), X, np.ones(700), -x)


@pytest.mark.slow
def test_one_record_more_moves_what_it_may_among_many():
    for seed in range(3):
        x, at = steep(20, seed)
        check_insertion(
            asked(at, Logistic(), clip=0.4), np.tile(x, (300_000, 1)), np.ones(300_000), x
        )


def old_moved(X, y, place, new, question):
    """Sums of products, whose last rows are rounded in another way."""

    def total(X, y):
        scores = X @ question.at.astype(X.dtype)
        return X.T.astype(float) @ question.loss.dz(scores, y.astype(X.dtype)).astype(float)

    gap = total(np.insert(X, place, new, axis=0), np.insert(y, place, 1.0)) - total(X, y)
    return np.linalg.norm(gap) / 0.5


def test_one_record_more_moved_others_before():
    worst = 0.0
    for n, d, seed in [(n, d, s) for n in (3, 255, 383) for d in (7, 20, 40) for s in range(20)]:
        x, at = steep(d, seed)
        for dtype, scale in ((np.float64, 1.0), (np.float32, 1e-9)):
            X = np.tile(x, (n, 1)).astype(dtype)
            for lay in (np.ascontiguousarray, np.asfortranarray):
                question = asked(at * scale, Logistic())
                X_ = lay(X)
                for place in (0, n):
                    worst = max(worst, old_moved(X_, np.ones(n), place, x.astype(dtype), question))
    assert worst > 2.0
