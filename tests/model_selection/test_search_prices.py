"""What the parts of a search really ask, one by one, against what was paid for all of it."""

import numpy as np
import pytest

from skdp import DPLogisticRegression
from skdp.model_selection import DPGridSearchCV, _geometric
from skdp.model_selection._frame import Frame
from skdp.privacy._compose import exact_mu, reduced
from skdp.privacy.events import BestOf, merged

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (300, 3))
Y = (X[:, 0] > 0).astype(int)
# The accountant of the second setting is looser, so that its fits are given less.
GRID = {"accountant": ["auto", "zcdp"]}


def search(strategy, **given):
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    return DPGridSearchCV(
        model, GRID, epsilon=4.0, strategy=strategy, mean_runs=2, max_runs=4, **given
    )


@pytest.fixture
def asked(monkeypatch):
    """Scripts of the fits and of the other releases, in the order in which they are made."""
    heard = []
    fitted = Frame.fitted

    def fit(self, index, *given):
        model = fitted(self, index, *given)
        heard.append(("fit", model.privacy_.script))
        return model

    monkeypatch.setattr(Frame, "fitted", fit)
    monkeypatch.setattr(_geometric, "release", _heard(_geometric.release, heard))
    return heard


def _heard(release, heard):
    def released(*given, **named):
        found, receipt = release(*given, **named)
        heard.append(("release", receipt.script))
        return found, receipt

    return released


def test_every_run_asks_one_of_the_scripts_that_were_priced(asked):
    ((event, _),) = search("geometric").fit(X, Y).privacy_.script
    assert isinstance(event, BestOf) and len(event.scripts) == 2
    runs = [merged((*fit, *score)) for (_, fit), (_, score) in zip(asked[::2], asked[1::2])]
    assert len(runs) == 4 and set(runs) <= set(event.scripts)


def test_pilots_and_the_choice_are_priced_and_the_costliest_of_all_refits(asked):
    found = search("pilot")
    priced = found.fit(X, Y).privacy_.script
    kinds, scripts = zip(*asked)
    assert kinds == ("fit", "fit", "release", "fit")
    before = merged(run for script in scripts[:3] for run in script)
    *paid, (refit, _) = priced
    assert merged(paid) == before
    frame = found._planned(found._settings(), len(Y), lambda all_: ((3,),) * len(all_))
    mus = [
        exact_mu(reduced(frame.frame.script(i, frame._refit(frame._mu), "gdp"), "replace_one"))
        for i in range(2)
    ]
    assert mus[1] < 0.99 * mus[0], "the settings differ in what their fits cost"
    assert 1.0 / refit.multiplier == pytest.approx(max(mus))
    assert exact_mu(reduced(scripts[3], "replace_one")) <= max(mus)


@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
def test_a_fit_that_asks_more_than_it_was_priced_for_is_not_released(strategy, monkeypatch):
    fit = DPLogisticRegression.fit

    def greedy(self, *given):
        return fit(self.set_params(epsilon=2.0 * self.epsilon), *given)

    monkeypatch.setattr(DPLogisticRegression, "fit", greedy)
    with pytest.raises(ValueError, match="ended without a model, but its cost"):
        search(strategy).fit(X, Y)
