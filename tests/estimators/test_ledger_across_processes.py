"""A ledger guards one process: a copy in another could spend the same budget a second time."""

import os
import pickle

import numpy as np
import pytest

from skdp import DPLogisticRegression, NotSupported
from skdp.privacy import Ledger

X, Y = np.array([[0.5], [-0.5], [0.25]]), np.array([1, 0, 1])


def _model(ledger):
    return DPLogisticRegression(
        epsilon=0.5, delta=1e-5, data_norm=1.0, classes=[0, 1], ledger=ledger, solver="gd"
    )


def test_a_pickled_ledger_pays_for_nothing():
    ledger = Ledger(1.0, 1e-5)
    twin = pickle.loads(pickle.dumps(_model(ledger)))
    with pytest.raises(NotSupported, match="read-only"):
        twin.fit(X, Y)
    assert not hasattr(twin, "coef_") and ledger.spent == 0.0
    assert _model(ledger).fit(X, Y).privacy_.epsilon <= 0.5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_ledger_pays_for_nothing_in_the_child():
    ledger = Ledger(1.0, 1e-5)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _model(ledger).fit(X, Y)
        except NotSupported:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, "the child spent a budget that the parent spends too"
    assert _model(ledger).fit(X, Y).privacy_.epsilon <= 0.5
