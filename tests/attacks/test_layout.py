"""One long record, or another layout, changes no other record's rounding (review A1)."""

import itertools

import numpy as np
import pytest
from attacks.tables import LAYOUTS, admitted, asked, moved

from skdp.losses import Hinge, HuberisedHinge, Logistic, Squared

D = 20
CASES = {
    "hinge": (Hinge(), 1.0),
    "sharp hinge": (HuberisedHinge(1e-12), 1.0),
    "logistic": (Logistic(), 0.0),
    "squared": (Squared(), 0.0),
}
FAR = {np.float64: 1e200, np.float32: 1e30}
AWAY = {np.float64: 1e18, np.float32: 1e9}


def hung_on_order(dtype, corner, tries=4000):
    """A row and parameters whose score falls on either side of the corner by the order of its sum alone."""
    rng = np.random.default_rng(0)
    for _ in range(tries):
        x = rng.uniform(0.5, 1.0, D).astype(dtype)
        x /= 2 * np.linalg.norm(x)
        at = rng.normal(size=D).astype(dtype)
        at = (at - x * (x @ at) / (x @ x)) * (1e6 if corner else AWAY[dtype])
        at = (at + corner * x / (x @ x)).astype(dtype)
        table = np.tile(x, (1000, 1))
        scores = [np.einsum("ij,j->i", X, at)[500] for X in (table, np.asfortranarray(table))]
        products = [(X @ at)[500] for X in (table, np.asfortranarray(table))]
        if all((a - corner) * (b - corner) < 0 for a, b in (scores, products)):
            return x, at.astype(np.float64)
    raise AssertionError("no such row was found")


def worlds(dtype, case, n):
    """Equal rows beside a corner, one of them replaced by a far one; and the question."""
    loss, corner = CASES[case]
    x, at = hung_on_order(dtype, corner)
    X = np.tile(x, (n, 1))
    other = X.copy()
    other[0] = FAR[dtype]
    return X, other, asked(at, loss, clip=0.4)


def old_sum(X, y, question):
    """The sum as it was: a far row, and none but that, turned the whole table into another layout."""
    raw = np.sqrt((X.astype(np.longdouble) ** 2).sum(axis=1)).astype(float)
    scale = 1.0 / np.maximum(raw, 1.0)
    far = np.flatnonzero(raw > np.sqrt(np.finfo(X.dtype).max))
    if far.size:
        X = X.copy()
        X[far] = X[far] * scale[far, None]
        scale[far] = 1.0
    at = question.at.astype(X.dtype)
    by_row = type(question.loss) is Hinge
    scores = (np.einsum("ij,j->i", X, at) if by_row else X @ at) * scale.astype(X.dtype)
    slopes = question.loss.dz(scores, y.astype(X.dtype)).astype(float)
    norms = np.abs(slopes) * np.minimum(raw, 1.0)
    slopes *= question.clip / np.maximum(norms, question.clip)
    return X.T.astype(float) @ (slopes * scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_far_record_moved_all_others_before(case, dtype):
    X, other, question = worlds(dtype, case, 1000)
    y = np.ones(1000)
    sums = [old_sum(np.asfortranarray(table), y, question) for table in (X, other)]
    claimed = question.sensitivity(admitted(X, y).public)
    assert np.linalg.norm(sums[0] - sums[1]) / claimed > 100


@pytest.mark.parametrize("n", [8, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_far_record_moves_what_it_may_in_any_layout(case, dtype, n):
    X, other, question = worlds(dtype, case, n)
    y = np.ones(n)
    sums, scores = {}, {}
    for name, lay in LAYOUTS.items():
        pair = [admitted(lay(table), y) for table in (X, other)]
        assert moved(question, *pair) <= 1.0, name
        sums[name] = [question.measure(records) for records in pair]
        scores[name] = [records.rows.dot(question.at) for records in pair]
    # The layout itself changes not a bit of a score.
    for a, b in itertools.pairwise(scores.values()):
        assert (a[0] == b[0]).all() and (a[1] == b[1]).all()
    for (_, a), (name, b) in itertools.pairwise(sums.items()):
        if name != "not aligned":  # whose products BLAS makes in another order, within the bound
            assert (a[0] == b[0]).all() and (a[1] == b[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_far_record_moves_what_it_may_among_many(case, dtype):
    X, other, question = worlds(dtype, case, 200_000)
    y = np.ones(len(X))
    for lay in (np.ascontiguousarray, np.asfortranarray):
        assert moved(question, *(admitted(lay(table), y) for table in (X, other))) <= 1.0


@pytest.mark.parametrize("size", [1e3, 1e9, 1e18, 1e100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_random_layouts_and_parameters_move_what_they_may(size, dtype):
    rng = np.random.default_rng(1)
    losses = [loss for loss, _ in CASES.values()]
    for case in range(60):
        d, n = int(rng.integers(1, 40)), int(rng.integers(2, 300))
        X = np.tile(rng.normal(size=d), (n, 1)).astype(dtype)
        other = X.copy()
        other[rng.integers(n)] = rng.choice([0.0, 1e-30, 1.0, FAR[dtype]]) * rng.normal(size=d)
        question = asked(rng.normal(size=d) * min(size, 1e30), losses[case % 4])
        lay = [LAYOUTS[name] for name in rng.choice(list(LAYOUTS), 2)]
        y = np.ones(n)
        pair = [admitted(move(table), y) for move, table in zip(lay, (X, other))]
        assert moved(question, *pair) <= 1.0
