"""Rows in single precision are asked in doubles without a copy of the table."""

import tracemalloc

import numpy as np
import pytest

from skdp.mechanisms._rows import DenseRows


@pytest.mark.parametrize("outputs", [(), (3,)])
def test_rows_in_double_are_no_copy(outputs):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 64), dtype=np.float32)
    rows, w = DenseRows.bounded(X, 4.0, 0.25), rng.normal(size=(65, *outputs))
    tracemalloc.start()
    double = rows.in_double()
    scores = double.dot(w)
    total = double.tdot(scores)
    careful = double.careful_dot(w, np.zeros_like(w))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 0.6 * X.nbytes + 4 * scores.nbytes
    exact = DenseRows.bounded(X.astype(np.float64), 4.0, 0.25)
    assert scores.dtype == total.dtype == double.dtype == np.float64
    np.testing.assert_allclose(scores, exact.dot(w), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(careful, exact.dot(w), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total, exact.tdot(exact.dot(w)), rtol=1e-10)
    np.testing.assert_array_equal(double.take(slice(5, 9)).dot(w).shape, (4, *outputs))
