"""Maps in front of a fit, a metric or a stack are made row by row, to the last bit, by every public estimator."""

import numpy as np
import pandas as pd
import pytest
from laws.map_laws import (
    FAR,
    LAYOUTS,
    MAPS,
    bits,
    check_rows_are_mapped_alone,
    fitted,
    mappers,
    table,
)
from scipy.sparse import csc_array, csr_array
from threadpoolctl import threadpool_limits

from skdp.entry import numbers_of
from skdp.fitting import _scores
from skdp.preprocessing import moment_transformers
from skdp.preprocessing._transformer import BoughtTransformer

CASES = list(mappers())
NAMES = [f"{name}-{width}-{'-'.join(more) or 'plain'}" for name, _, width, more in CASES]


@pytest.mark.parametrize("name, kind, width, more", CASES, ids=NAMES)
def test_rows_are_mapped_alone(name, kind, width, more):
    model = fitted(name, kind, width, **more)
    row, *others = table(name, width, 4, seed=1)
    asked = [what for what in MAPS if hasattr(model, what)]
    assert asked, "it maps nothing; leave it out of the cases"
    for what in asked:
        check_rows_are_mapped_alone(getattr(model, what), row, np.array(others))


def check_no_bit_hangs_on_memory(of, rows, wanted):
    """Raise where the same numbers, in another layout or container, become other ones."""
    for layout, laid in LAYOUTS.items():
        assert bits(of(laid(rows))) == wanted, f"rows differ in the layout {layout}"
    assert bits(of(rows.tolist())) == wanted, "rows of a list differ"
    assert bits(of(pd.DataFrame(rows).to_numpy())) == wanted, "rows of a frame's numbers differ"


@pytest.mark.parametrize("name, kind, width, more", CASES, ids=NAMES)
def test_threads_and_containers_change_no_bit(name, kind, width, more):
    model = fitted(name, kind, width, **more)
    rows = table(name, width, 1001, seed=2)
    rows[::2] *= FAR
    for what in MAPS:
        if not hasattr(model, what):
            continue
        of = getattr(model, what)
        with threadpool_limits(1, user_api="blas"):
            one = bits(of(rows))
        with threadpool_limits(2, user_api="blas"):
            assert bits(of(rows)) == one, f"{what} hangs on the number of threads"
        check_no_bit_hangs_on_memory(of, rows, one)


def of_a_whole_table(rows, matrix):
    return rows @ matrix


@pytest.mark.parametrize(
    "room, wanted",
    [
        (moment_transformers, "DPWhitener"),
        (moment_transformers, "DPPCA"),
        (_scores, "DPLogisticRegression"),
    ],
)
def test_one_product_of_the_whole_table_is_found(monkeypatch, room, wanted):
    planted = of_a_whole_table
    monkeypatch.setattr(room, "rows_times", planted)
    name, kind, width, more = next(c for c in CASES if c[0] == wanted and c[2] == 33)
    model = fitted(name, kind, width, **more)
    row, *others = table(name, width, 4, seed=1)
    what = "transform" if hasattr(model, "transform") else "decision_function"
    with pytest.raises(AssertionError, match="differ"):
        check_rows_are_mapped_alone(getattr(model, what), row, np.array(others))


def test_norms_that_hang_on_the_layout_are_found(monkeypatch):
    def planted(self, X):
        return self._mapped(numbers_of(self, X, self._cells, reset=False))

    monkeypatch.setattr(BoughtTransformer, "transform", planted)
    name, kind, width, more = next(c for c in CASES if c[0] == "DPStandardScaler" and c[2] == 33)
    model = fitted(name, kind, width, **more)
    rows = FAR * table(name, width, 1001, seed=2)
    with pytest.raises(AssertionError, match="differ in the layout F"):
        check_no_bit_hangs_on_memory(model.transform, rows, bits(model.transform(rows)))


@pytest.mark.parametrize("name, kind, width, more", CASES, ids=NAMES)
def test_rows_of_a_sparse_table_are_mapped_alone(name, kind, width, more):
    model = fitted(name, kind, width, **more)
    if not model.__sklearn_tags__().input_tags.sparse or more.get("data_norm", 1.0) is None:
        pytest.skip("it takes no sparse tables")
    row, *others = table(name, width, 4, seed=1)
    for what in MAPS:
        for form in (csr_array, csc_array):
            if hasattr(model, what):
                of = getattr(model, what)
                given = {"counts": (1, 2, 3, 16, 33, 101), "layouts": ("C",)}
                check_rows_are_mapped_alone(
                    lambda x, of=of, form=form: of(form(x)), row, np.array(others), **given
                )


def of_long_rows():
    """Dot products that BLAS may cut among threads, by the number of threads."""
    rng = np.random.default_rng(0)
    rows, matrix = rng.normal(size=(20, 60_000)), rng.normal(size=(60_000, 2))
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            yield _scores.rows_times(rows, matrix).tobytes()


def test_long_rows_are_multiplied_on_one_thread():
    one, two = of_long_rows()
    assert one == two


def test_others_leave_the_threads_of_the_process_alone(monkeypatch):
    monkeypatch.setattr(_scores, "one_thread", lambda: pytest.fail("threads were set"))
    _scores.rows_times(np.ones((3, _scores.LONG)), np.ones(_scores.LONG))
    with pytest.raises(pytest.fail.Exception):
        _scores.rows_times(np.ones((3, _scores.LONG + 1)), np.ones(_scores.LONG + 1))
