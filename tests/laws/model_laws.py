"""What the proofs need of a model, as laws: brute-force gradients by differences, and exact sums of rationals."""

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from laws.row_laws import left_of

from skdp.losses import Logistic, Multinomial
from skdp.mechanisms import Gradient, Noise, Public, Records
from skdp.mechanisms._kernels import ROUNDINGS, UNIT

DTYPES = (np.float64, np.float32)
STEP = 1e-5  # of central differences


@dataclass(frozen=True)
class Case:
    """A model, and how many scores of a record are asked of it."""

    model: Any
    outputs: int = 1

    def records(self, X, data_norm=2.0, intercept=0.25):
        """A vault of the rows."""
        public = Public(len(X), np.shape(X)[1], intercept, "replace_one", 2.0, model=self.model)
        kinds = np.arange(len(X)) % max(self.outputs, 2)
        y = 2.0 * kinds - 1.0 if self.outputs == 1 else kinds.astype(float)
        return Records.admit(X, y, public, data_norm)

    def point(self, rng, public, size=1.0):
        """Parameters at random."""
        return size * rng.normal(size=self.model.shape(public, self.outputs))

    def slopes(self, rng, n):
        """Slopes at random, some small, some large."""
        shape = (n,) if self.outputs == 1 else (n, self.outputs)
        return rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 3, size=shape)

    @property
    def loss(self):
        """One that wants so many scores."""
        return Logistic() if self.outputs == 1 else Multinomial(outputs=self.outputs)


def cases_of(model):
    """What a model is asked for: one score, and several where its parameters are more for more of them."""
    one, public = model(), Public(10, 3, 0.25, "replace_one")
    several = one.shape(public, 3) != one.shape(public)
    return [Case(one, outputs) for outputs in ((1, 3) if several else (1,))]


def _table(rng, n, d, dtype=np.float64):
    return (rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 9.0], size=(n, 1))).astype(dtype)


def _alone(rows, i):
    return rows.take(slice(i, i + 1))


def check_passes_belong_to_records(case):
    """Scores and norms of a record have the same bits alone, elsewhere, and beside others."""
    for dtype in DTYPES:
        for d in (3, 40):
            rng = np.random.default_rng(d)
            rows = (records := case.records(_table(rng, 67, d, dtype))).rows
            w, dz = case.point(rng, records.public, 1e3), case.slopes(rng, 67)
            scores, tape = case.model.forward(w, rows)
            norms = case.model.norms(tape, dz)
            assert norms.shape == (67,) and norms.dtype == np.float64
            for index in (rng.permutation(67), np.arange(5, 60), *np.arange(0, 67, 9)[:, None]):
                there, tape = case.model.forward(w, rows.take(index))
                assert np.array_equal(there, scores[index]), "a score of where a record stands"
                assert np.array_equal(case.model.norms(tape, dz[index]), norms[index])


def brute_gradients(case, w, rows, dz):
    """Gradient of <slopes, scores> for each record, by central differences along every parameter."""
    columns = []
    for k in range(w.size):
        move = np.zeros(w.size)
        move[k] = STEP
        up, down = (case.model.forward(w + s * move.reshape(w.shape), rows)[0] for s in (1, -1))
        change = (up - down) / (2 * STEP) * dz
        columns.append(change if change.ndim == 1 else change.sum(axis=1))
    return np.stack(columns, axis=1) * _left(case, rows)[:, None]


def _left(case, rows):
    """How much less of a row there is in its gradient than in its score."""
    return left_of(rows) if case.model.of_whole_rows else np.ones(len(rows))


def check_gradients(case):
    """The way back is the way there, turned round: weighted sums and single norms are the brute-force ones."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = (records := case.records(_table(rng, 12, 3))).rows
        w, dz = case.point(rng, records.public), case.slopes(rng, 12)
        weights = rng.random(12)
        weights[3] = 0.0
        brute = brute_gradients(case, w, rows, dz)
        scores, tape = case.model.forward(w, rows)
        assert scores.shape == ((12,) if case.outputs == 1 else (12, case.outputs))
        kept = weights.copy()
        total = case.model.pullback(tape, dz.copy(), weights)
        assert total.shape == w.shape and total.dtype == np.float64
        assert np.array_equal(weights, kept), "weights that were written into"
        largest = np.linalg.norm(brute, axis=1)
        near = 1e-7 * (1 + largest.sum())
        np.testing.assert_allclose(total.ravel(), weights @ brute, rtol=1e-6, atol=near)
        norms = case.model.norms(tape, dz)
        assert (norms >= largest * (1 - 1e-6)).all(), "a norm below the brute-force one"
        assert (norms <= largest * (1 + 1e-6) + 1e-9).all(), "a norm that cuts what need not be"


def check_norms_bound_what_is_added(case):
    """The doubles that a record adds, in rationals, are within its weight times its norm."""
    for dtype in DTYPES:
        rng = np.random.default_rng(9)
        X = _table(rng, 60, 12, dtype)
        X[:30] = X[:30, :1]  # squares that round alike
        rows = (records := case.records(X)).rows
        w, dz = case.point(rng, records.public), case.slopes(rng, 60)
        norms = case.model.norms(case.model.forward(w, rows)[1], dz)
        slack = 1 + Fraction((24 + case.outputs) * UNIT)
        for i, weight in zip(np.repeat(np.arange(60), 2), [1.0, *rng.random(119)]):
            given = _single(case, w, _alone(rows, i), dz[i : i + 1], weight)
            square = sum((v * v for v in given), Fraction(0))
            bound = Fraction(float(norms[i])) * Fraction(weight)
            assert square <= (bound * slack) ** 2, "longer than its norm"


def _single(case, w, row, dz, weight):
    _, tape = case.model.forward(w, row)
    given = case.model.pullback(tape, dz.copy(), np.array([weight]))
    return [Fraction(v) for v in given.ravel().tolist()]


def check_sums(case):
    """Sums are within their rounding of what records give one by one."""
    for dtype in DTYPES:
        rng = np.random.default_rng(2)
        X = _table(rng, 7, 2, dtype)[np.arange(2000) % 7]
        rows = (records := case.records(X)).rows
        w, dz = case.point(rng, records.public), case.slopes(rng, 7)[np.arange(2000) % 7]
        weights = rng.random(7)[np.arange(2000) % 7]
        _, tape = case.model.forward(w, rows)
        total = case.model.pullback(tape, dz.copy(), weights).ravel()
        exact = [Fraction(0)] * len(total)
        for i in range(7):
            given = _single(case, w, _alone(rows, i), dz[i : i + 1], weights[i])
            exact = [e + v * len(range(i, 2000, 7)) for e, v in zip(exact, given)]
        gap = sum((Fraction(float(a)) - b) ** 2 for a, b in zip(total, exact))
        allowed = ROUNDINGS * UNIT * float(weights @ case.model.norms(tape, dz))
        assert float(gap) ** 0.5 <= allowed, "a sum is too far off"


def check_overflow_is_silent(case):
    """A record whose pass overflows adds nothing, warns of nothing, and leaves the others' sum as it is."""
    found = where_one_overflows(case)
    if found is None:  # of a model of bounded units, none can
        return
    at, records = found
    question = Gradient(at=at, loss=case.loss, clip=0.5, multiplier=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = question.answer(records, Noise(0))
        others = question.answer(records.take(np.delete(np.arange(9), 4)), Noise(0))
    assert np.isfinite(answer).all() and np.linalg.norm(others) > 0.0
    np.testing.assert_allclose(answer, others, rtol=1e-13, atol=1e-13)


def where_one_overflows(case):
    """Parameters at which only the fifth record overflows: products of single precision, or those of two layers."""
    rng = np.random.default_rng(4)
    X = (1e8 * rng.normal(size=(9, 3))).astype(np.float32)
    X[4] = 1e19  # just short of what is scaled in a copy
    for size, intercept in ((1e25, 0.25), (1e77, 0.0)):
        records = case.records(X, 1e19, intercept)
        at = case.point(rng, records.public, size)
        with np.errstate(all="ignore"):
            scores = case.model.forward(at, records.rows)[0]
        if np.isnan(scores[4]).any():
            return at, records
    return None


def check_curvature(case):
    """Where a bound is given, gradients of a record change by no more than it says."""
    rng = np.random.default_rng(5)
    rows = (records := case.records(_table(rng, 40, 3), data_norm=1.0)).rows
    bound, steepest = case.model.curvature(case.loss, records.public), 0.0
    if bound is None:
        return
    for size in (0.0, 1.0, 3.0):
        w, p = case.point(rng, records.public, size), case.point(rng, records.public)
        p *= 1e-4 / np.linalg.norm(p)
        for i in range(40):
            row, y = _alone(rows, i), records.y[i : i + 1]
            p_ = _along(case, row, records.public, rng) if i % 2 else p
            ends = [_gradient(case, v, row, y) for v in (w + p_, w - p_)]
            steepest = max(steepest, np.linalg.norm(ends[0] - ends[1]) / (2 * np.linalg.norm(p_)))
    assert steepest <= bound * (1 + 1e-6), "a gradient changes faster"
    assert steepest >= 0.5 * bound, "a bound that is far too large"


def _along(case, row, public, rng):
    """A direction in which the record's scores change most at the start."""
    _, tape = case.model.forward(case.model.start(public, case.outputs), row)
    dz = np.ones(1) if case.outputs == 1 else rng.normal(size=(1, case.outputs))
    if case.outputs > 1:
        dz -= dz.mean()
    g = case.model.pullback(tape, dz, np.ones(1))
    return g * 1e-4 / np.linalg.norm(g)


def _gradient(case, w, row, y):
    scores, tape = case.model.forward(w, row)
    slopes = np.asarray(case.loss.dz(scores, y), dtype=float) * _left(case, row)
    return case.model.pullback(tape, slopes, np.ones(1))


def check_start(case):
    """A function of public numbers, of the shape that questions are held to."""
    public = Public(None, 3, 0.25, "add_remove", model=case.model)
    start, again = (case.model.start(public, case.outputs) for _ in range(2))
    assert start.shape == case.model.shape(public, case.outputs) and np.isfinite(start).all()
    assert np.array_equal(start, again)
    question = Gradient(at=start, loss=case.loss, clip=1.0, multiplier=1.0)
    assert question.event(public)
