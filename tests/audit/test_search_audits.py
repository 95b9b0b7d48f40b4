"""Whole searches under attack: how the promise is shared out, pilots or runs, scores, choice and refit together.

One record shows itself in all parts: its label is in every fit's sum, and one of the two settings always gets it right.
The base fit is one noisy sum at the price of its own quote, so that thousands of searches take seconds.
"""

from functools import cache, lru_cache
from itertools import count

import numpy as np
import pytest

from skdp import DPLogisticRegression
from skdp.audit import audit, worst_case_pair
from skdp.entry import SearchRecords
from skdp.fitting.release import Seeds
from skdp.model_selection import DPGridSearchCV, _candidates, _geometric
from skdp.model_selection._frame import marked
from skdp.privacy import epsilon as price_of
from skdp.privacy.events import merged
from skdp.solvers.gd import GD

pytestmark = pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
EPSILON, DELTA, N, SURE = 1.0, 0.01, 4, 100.0
RUNS = [160, pytest.param(6000, marks=pytest.mark.slow)]


def one_sum(self, X, y):
    """In the place of a fit: a noisy sum of one column, signed by labels, which a replaced record moves by 2.

    Which way the model points otherwise is the setting's, and public.
    """
    self.privacy_ = quoted(self.epsilon, self.delta, self.accountant, self.C)
    ((event, times),) = self.privacy_.script
    assert times == 1
    total = (2.0 * np.asarray(y) - 1.0) @ np.asarray(X)[:, 0]
    total += 2.0 * event.multiplier * np.random.default_rng(self.random_state).normal()
    self.classes_, self.n_features_in_ = np.array([0, 1]), 1
    self.coef_ = np.array([[total + (SURE if self.C > 1.0 else -SURE)]])
    self.intercept_ = np.zeros(1)
    return self


def base(**given):
    """The estimator of the search."""
    return DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver=GD(steps=1), **given)


@lru_cache
def quoted(epsilon, delta, accountant, C):
    """The receipt of a fit."""
    return base(epsilon=epsilon, delta=delta, accountant=accountant, C=C).quote(N, 1)


def runs_of(strategy, settings=2):
    """From a data set to all that leaves a search: the model, its setting, and its score, where there is one."""
    given = {"epsilon": EPSILON, "delta": DELTA, "scoring": "accuracy", "strategy": strategy}
    runs = {"mean_runs": 2, "max_runs": 3, "default_share": 0.0}
    search = DPGridSearchCV(base(), {"C": [0.5, 2.0] * (settings // 2)}, **given, **runs)
    made = search._planned(search._settings(), N, lambda found: ((1,),) * len(found))
    assert price_of(made.script, DELTA) <= EPSILON
    seeds = count()

    def run(data):
        best = made.run(SearchRecords(marked(base()), *data), Seeds(next(seeds)))
        side = 1.0 if best.model.C > 1.0 else -1.0
        score = 0.0 if best.score is None else best.score - 0.5
        return best.model.coef_[0, 0] - side * SURE, side, score, side * score

    return run


def without_noise(asked, spec, public, records, *, random_state):
    """In the place of a paid release: the exact score of a run, or the exact choice among pilots."""
    rows, losses = asked.outcome.of(records)
    if rows.shape[1] == 1:
        return (-losses.sum(), losses.mean()), None
    return int(rows.sum(axis=0).argmin()), None


def priced_as_one_run(self, mu):
    """In the place of the script of all: that of one pilot."""
    return merged(self.frame.script(0, self._pilot(mu), "gdp"))


TWINS = {
    "geometric, scores without noise": ("geometric", 2, _geometric, "release", without_noise),
    "pilot, a choice without noise": ("pilot", 2, _geometric, "release", without_noise),
    "pilot, the price of one run": ("pilot", 8, _geometric.Pilot, "_script", priced_as_one_run),
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Fits of one sum, and each conversion of a budget once: the same are asked for again and again."""
    names = DPLogisticRegression._get_param_names()
    monkeypatch.setattr(DPLogisticRegression, "_get_param_names", staticmethod(lambda: names))
    monkeypatch.setattr(DPLogisticRegression, "fit", one_sum)
    for name in ("gaussian_mu", "gaussian_epsilon"):
        monkeypatch.setattr(_candidates, name, cache(getattr(_candidates, name)))


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
def test_a_search_shows_no_more_than_it_claims(strategy, runs):
    found = audit(runs_of(strategy), worst_case_pair(n=N), DELTA, runs)
    assert found.epsilon <= EPSILON
    assert runs < 1000 or found.epsilon > 0.3 * EPSILON, "an attack that sees next to nothing"


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("name", TWINS)
def test_a_search_with_one_thing_wrong_is_caught(name, runs, monkeypatch):
    strategy, settings, place, what, wrong = TWINS[name]
    monkeypatch.setattr(place, what, wrong)
    found = audit(runs_of(strategy, settings), worst_case_pair(n=N), DELTA, runs)
    assert found.epsilon > EPSILON
