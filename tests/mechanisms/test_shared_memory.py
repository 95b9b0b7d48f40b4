"""A vault holds no memory that others may write: tables that are sparse, part by part."""

import numpy as np
import pytest
from scipy import sparse

from skdp.losses import Logistic
from skdp.mechanisms import Gradient, Public, Records
from skdp.mechanisms._shared_memory import copy_if_shared

FORMS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}
PARTS = [(form, part) for form, parts in FORMS.items() for part in parts]
ROWS = np.array([[0.5, 0.0, 0.1], [0.0, 0.25, 0.0], [0.0, 0.0, -0.5], [0.1, 0.2, 0.3]])


def with_shared(form, part):
    """A table one of whose parts lies in memory that somebody else holds, and that memory."""
    table = getattr(sparse, f"{form}_matrix")(ROWS)
    own = getattr(table, part)
    memory = bytearray(own.tobytes())
    setattr(table, part, np.frombuffer(memory, own.dtype))
    return table, memory


def overwritten(memory):
    memory[:] = bytes(len(memory))


@pytest.mark.parametrize(("form", "part"), PARTS)
def test_one_shared_part_is_enough_for_a_copy(form, part):
    table, memory = with_shared(form, part)
    kept = copy_if_shared(table)
    overwritten(memory)
    assert (kept.format, kept.shape) == (form, ROWS.shape)
    assert np.array_equal(kept.toarray(), ROWS) and not getattr(table, part).any()


@pytest.mark.parametrize("form", [*FORMS, "lil", "dok"])
def test_a_table_of_ones_own_is_not_copied(form):
    table = getattr(sparse, f"{form}_matrix")(ROWS)
    assert copy_if_shared(table) is table


@pytest.mark.parametrize(("form", "part"), PARTS)
def test_an_answer_is_about_the_rows_that_were_admitted(form, part):
    """The sum that a question measures stays where it was when the table is written afterwards."""
    public, y = Public(len(ROWS), ROWS.shape[1], 0.0, "replace_one"), np.ones(len(ROWS))
    question = Gradient(at=np.zeros(3), loss=Logistic(), clip=1.0, multiplier=0.0)
    table, memory = with_shared(form, part)
    records = Records.admit(table, y, public, data_norm=1.0)
    overwritten(memory)
    truth = -0.5 * ROWS.sum(axis=0)  # no row is longer than 1, and the slope at 0 is a half
    np.testing.assert_allclose(question.measure(records), truth, rtol=1e-6)
