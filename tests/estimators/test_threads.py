"""BLAS threads: one while a solver runs, the user's own afterwards, and the same bits for any number of them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skdp import DPLogisticRegression
from skdp.fitting import program


def threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def problem():
    X = np.random.default_rng(0).normal(size=(3000, 40)) / 7.0
    return X, (X[:, 0] > 0).astype(int)


def fitted(solver):
    model = DPLogisticRegression(
        epsilon=1.0, delta=1e-6, solver=solver, data_norm=1.0, classes=[0, 1], random_state=0
    )
    return model.fit(*problem()).coef_


@pytest.mark.parametrize("solver", ["gd", "sgd", "white-objective", "output-perturbation"])
def test_the_number_of_threads_changes_no_bit(solver):
    both = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            both.append(fitted(solver))
    np.testing.assert_array_equal(*both)


def test_a_solver_runs_on_one_thread_and_the_setting_is_restored(monkeypatch):
    seen, solve = [], program.Oracle.ask

    def watching(self, question):
        seen.append(threads())
        return solve(self, question)

    monkeypatch.setattr(program.Oracle, "ask", watching)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        fitted("gd")
        assert threads() == before
    assert seen and all(set(counts) <= {1} for counts in seen)
