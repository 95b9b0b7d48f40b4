"""A sparse table gives the fit of the dense one, to ten digits and by every solver, with the same noise."""

import numpy as np
import pytest
from laws.runs import plan_for, run, short
from scipy.sparse import csr_array

from skdp import NotSupported
from skdp.mechanisms import Records
from skdp.solvers import SOLVERS


def both(plan):
    """The same records as a dense and as a sparse table, with rows beyond the bound among them."""
    rng = np.random.default_rng(0)
    X = (
        rng.normal(size=(60, 3))
        * (rng.random((60, 3)) < 0.5)
        * rng.choice([0.5, 3.0], size=(60, 1))
    )
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    return [
        Records.admit(form(X), y, plan.public, plan.data_norm) for form in (np.asarray, csr_array)
    ]


def apart(plan, tables):
    """How far the fits of two tables lie from each other, in parts of their length."""
    one, other = (np.asarray(run(plan, records)[0]) for records in tables)
    return np.linalg.norm(one - other) / np.linalg.norm(one)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_sparse_table_gives_the_fit_of_the_dense_one(name, relation):
    given = {} if relation == "replace_one" else {"n_public": 60}
    try:
        plan = plan_for(short(name), relation, **given)
    except NotSupported:
        pytest.skip("refused under this relation")
    assert apart(plan, both(plan)) <= 1e-10


def test_another_table_is_seen():
    plan = plan_for(short("gd"), "replace_one")
    dense, sparse = both(plan)
    sparse.rows.norms[:] *= 1.01
    assert apart(plan, (dense, sparse)) > 1e-6
