"""A quote is what a fit would cost, before any data: the same script, the same noise, nothing spent."""

import numpy as np
import pytest
from estimators.of_rows import of_rows
from laws.faces import face_for

from skdp import DPLogisticRegression, NotSupported
from skdp.privacy import Ledger
from skdp.solvers import SOLVERS

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))
Y = (X[:, 0] > 0).astype(int)
SCRIPTED = [name for name, solver in SOLVERS.items() if not solver.adaptive]


def _model(Estimator=DPLogisticRegression, **given):
    return Estimator(
        **{"epsilon": 1.0, "delta": 1e-5, "data_norm": 2.0, "classes": [0, 1], **given}
    )


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("solver", SCRIPTED)
def test_a_quote_is_the_receipt_of_the_fit(solver, neighbors):
    given = {"classes": [0, 1], "data_norm": 2.0, "neighbors": neighbors}
    model = face_for(solver, DPLogisticRegression, epsilon=1.0, delta=1e-5, **given)
    try:
        quote = model.quote(50, 3)
    except NotSupported:
        with pytest.raises(NotSupported):
            model.fit(X, Y)
        return
    receipt = model.fit(X, Y).privacy_
    assert quote.script == receipt.script and quote.epsilon == receipt.epsilon
    assert quote.proofs == receipt.proofs and quote.solver == receipt.solver
    assert 0.0 < quote.epsilon <= 1.0


@pytest.mark.parametrize("Estimator", dict(of_rows("classifier")).values())
def test_a_quote_spends_nothing_and_fits_nothing(Estimator):
    ledger = Ledger(1.0, 1e-5)
    model = _model(Estimator, ledger=ledger)
    model.quote(50, 3)
    assert ledger.spent == 0.0 and not hasattr(model, "coef_") and not hasattr(model, "privacy_")


def test_a_private_count_does_not_enter_a_quote():
    model = _model(neighbors="add_remove", solver="sgd")
    assert model.quote(50, 3).script == model.quote(5_000_000, 3).script
    assert model.set_params(neighbors="replace_one").quote(50, 3).declared["n"] == 50


def test_a_quote_for_many_records_costs_no_array_of_that_size():
    assert _model(solver="sgd").quote(10**15, 3).epsilon <= 1.0


def test_a_quote_of_no_promise_is_infinite():
    assert _model(epsilon=np.inf).quote(50, 3).epsilon == np.inf


@pytest.mark.parametrize("given", [{"data_norm": 0.0}, {"epsilon": -1}, {"solver": "magic"}])
def test_a_quote_refuses_what_a_fit_would(given):
    with pytest.raises(ValueError):
        _model(**given).quote(50, 3)
