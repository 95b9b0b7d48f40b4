"""Coins that prices count as secret, told by a fit or a search: the law over all promises finds each."""

import numpy as np
import pytest
from laws.answers_held import coins_stay_secret
from laws.promises import acts

from skdp import DPLogisticRegression
from skdp.entry import attempt
from skdp.fitting import release
from skdp.mechanisms import Noise, _exact
from skdp.model_selection._searches import PrivateSearch
from skdp.privacy.ledger import paid


def the(name):
    """The one act of a name under replace-one."""
    return next(act for act in acts(name) if act.relation == "replace_one")


def test_a_search_that_tells_how_many_runs_it_made_is_found(monkeypatch):
    act, sound, store = the("DPGridSearchCV: a number"), _exact.drawn, PrivateSearch._store
    drawn = []

    def kept(odds, source):
        drawn.append(sound(odds, source))
        return drawn[-1]

    def told(self, *given):
        store(self, *given)
        self.n_runs_ = 1 + drawn[0]
        drawn.clear()

    assert not list(coins_stay_secret(act))
    monkeypatch.setattr(_exact, "drawn", kept)
    monkeypatch.setattr(PrivateSearch, "_store", told)
    assert list(coins_stay_secret(act))


def test_a_search_whose_candidates_warn_is_found(monkeypatch):
    """Which settings were tried, and how often, is as secret as how many."""

    def aloud(call):
        with paid():
            return attempt(call)[0]

    monkeypatch.setattr(release, "quietly", aloud)
    assert list(coins_stay_secret(the("DPGridSearchCV: fits that warn")))


@pytest.mark.parametrize(
    "solver, draw",
    [
        ("sgd", "poisson_batch"),
        ("rsgd-ar", "permutation"),
        ("sgd, sampling=without", "subset"),
        ("sgd, sampling=allocation", "allocation"),
    ],
)
def test_a_fit_that_tells_of_its_batches_is_found(monkeypatch, solver, draw):
    act, sound, store = (
        the(f"DPLogisticRegression: solver={solver}"),
        getattr(Noise, draw),
        DPLogisticRegression._store,
    )
    taken = []

    def kept(self, *given):
        taken.append(sound(self, *given))
        return taken[-1]

    def told(self, *given):
        store(self, *given)
        self.last_ = int(np.sum(taken[-1][:3])) if taken else 0

    assert not list(coins_stay_secret(act))
    monkeypatch.setattr(Noise, draw, kept)
    monkeypatch.setattr(DPLogisticRegression, "_store", told)
    assert list(coins_stay_secret(act))
