"""No refusal of an estimator shows a cell, nor what hangs on the exception (review D1)."""

import inspect
import logging
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

from skdp.utils import all_estimators

CANARY, NUMBER = "Alice-4711", 4711.0815
N = 30


def good():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 2)), np.arange(N) % 2


def tables():
    """Tables with one cell that is no number, or no table at all, each with a canary."""
    X, _ = good()
    cells = X.astype(object)
    cells[3, 1] = CANARY
    yield "text among numbers", cells
    yield "text", cells.astype(str)
    yield "bytes", cells.astype("S")
    yield "frame", pd.DataFrame(cells)
    yield "frame of categories", pd.DataFrame({"a": X[:, 0], "b": pd.Categorical([CANARY] * N)})
    yield "list", cells.tolist()
    yield "complex", X + NUMBER * 1j
    yield "flat", np.full(N, NUMBER)
    yield "one number", NUMBER
    yield "one text", CANARY
    yield "deep", np.full((N, 2, 2), NUMBER)
    yield "infinite", np.where(X[3, 1] == X, np.inf, X)
    yield "ragged", [[NUMBER]] * (N - 1) + [[NUMBER, CANARY]]
    yield "records", np.array([(NUMBER, CANARY)] * N, dtype=[("a", float), ("b", "U12")])


def targets():
    _, y = good()
    labels = y.astype(object)
    labels[3] = CANARY
    yield "a third label", labels
    yield "a label of text", np.where(np.arange(N) == 3, CANARY, y.astype(str))
    yield "a number", np.where(np.arange(N) == 3, NUMBER, y)
    yield "complex", y + NUMBER * 1j
    yield "two columns", np.full((N, 2), NUMBER)
    yield "not a number", np.where(np.arange(N) == 3, np.nan, y)


def everything_said(call, caplog):
    """The chain of exceptions as a log collector prints it, with arguments and notes; warnings; logs."""
    said, found = [], None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            found = error
            logging.getLogger("collector").exception("fit failed")
            said += traceback.format_exception(error)
    said += [str(warning.message) for warning in caught]
    said.append(caplog.text)
    while found is not None:
        said += [repr(found), str(found.args), str(getattr(found, "__notes__", ""))]
        found = found.__cause__ or found.__context__
    return "\n".join(said)


def with_progress_bar(said):
    """Lines of these tests are printed with a traceback; cells are not allowed anywhere."""
    lines = [line for line in said.splitlines() if __file__ not in line]
    return [line for line in lines if CANARY in line or "4711" in line]


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("Estimator", dict(all_estimators("classifier")).values())
@pytest.mark.parametrize("classes", [[0, 1], None])
def test_no_refusal_shows_a_cell(Estimator, neighbors, classes, caplog):
    X, y = good()
    declared = {"data_norm": 1.0, "classes": classes, "neighbors": neighbors, "random_state": 0}
    declared |= {"declaration": (-1.0, 1.0)}
    known = inspect.signature(Estimator).parameters
    declared = {name: value for name, value in declared.items() if name in known}
    refused = 0
    for name, table in tables():
        said = everything_said(lambda table=table: Estimator(**declared).fit(table, y), caplog)
        assert not with_progress_bar(said), name
        refused += "Error" in said
    for name, target in targets():
        said = everything_said(lambda target=target: Estimator(**declared).fit(X, target), caplog)
        assert not with_progress_bar(said), name
        refused += "Error" in said
    assert refused >= (15 if "data_norm" in known else 14)  # tables may hold text


def test_what_was_shown_before_is_seen(caplog):
    def old():
        try:
            np.array([[1.0, CANARY]], dtype=object).astype(float)
        except ValueError:
            raise ValueError("X holds text that is no number.") from None

    assert with_progress_bar(everything_said(old, caplog))
