"""Displays hold what the functions behind them say, draw it, and need matplotlib only where they draw."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdp import DPLogisticRegression
from skdp.inspection import LedgerDisplay, PrivacyDisplay, TradeoffDisplay
from skdp.privacy import Ledger, breakdown, epsilon, tradeoff
from skdp.privacy.events import RenyiDP

X = np.random.default_rng(0).normal(size=(80, 3))
Y = (X[:, 0] > 0).astype(int)
DISPLAYS = [PrivacyDisplay, TradeoffDisplay, LedgerDisplay]


@pytest.fixture
def model():
    ledger = Ledger(3.0, 1e-6)
    given = {"data_norm": 3.0, "classes": [0, 1], "solver": "white-objective", "ledger": ledger}
    return DPLogisticRegression(**given).fit(X, Y)


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_shares_are_those_of_the_breakdown(model):
    shown = PrivacyDisplay.from_estimator(model, plot=False)
    parts = breakdown(model.privacy_.script, 1e-6)
    assert [share for _, share in shown.shares] == [part.share for part in parts]
    assert PrivacyDisplay.from_estimator(model.privacy_, plot=False).shares == shown.shares


def test_the_curve_is_the_tradeoff(model):
    shown = TradeoffDisplay.from_estimator(model, plot=False)
    truth = tradeoff(model.privacy_.script, shown.false_rates)
    assert (
        np.array_equal(shown.true_rates, 1 - truth) and (np.diff(shown.true_rates) >= -1e-12).all()
    )


def test_behind_a_filter_the_curve_is_that_of_all_it_allows():
    model = DPLogisticRegression(data_norm=3.0, classes=[0, 1], solver="blgd").fit(X, Y)
    shown = TradeoffDisplay.from_estimator(model, plot=False)
    receipt = model.privacy_
    ((event, times),) = receipt.priced
    assert isinstance(event, RenyiDP) and times == 1 != len(receipt.script)
    assert np.array_equal(shown.true_rates, 1 - tradeoff(receipt.priced, shown.false_rates))


def test_a_ledger_shows_every_fit(model):
    model.fit(X, Y)
    shown = LedgerDisplay.from_estimator(model, plot=False)
    assert shown.spent == model.ledger.spent and shown.total == 3.0
    assert shown.alone == [epsilon(script, 1e-6) for script in model.ledger.scripts]
    assert len(shown.alone) == 2


def test_what_cannot_be_shown_is_refused(model):
    with pytest.raises(NotFittedError):
        PrivacyDisplay.from_estimator(DPLogisticRegression())
    with pytest.raises(ValueError, match="ledger=None"):
        LedgerDisplay.from_estimator(DPLogisticRegression())
    from sklearn.dummy import DummyClassifier

    with pytest.raises(ValueError, match="DummyClassifier has no receipt"):
        TradeoffDisplay.from_estimator(DummyClassifier().fit(X, Y))


@pytest.mark.parametrize("Display", DISPLAYS)
def test_without_matplotlib_the_remedy_is_named(Display, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = Display.from_estimator(model, plot=False)
    with pytest.raises(ImportError, match=r"skdp\[plot\]"):
        shown.plot()


@pytest.mark.parametrize("Display", DISPLAYS)
def test_they_draw_on_new_and_on_given_axes(Display, model, plt):
    shown = Display.from_estimator(model)
    assert shown.figure_ is shown.ax_.figure and shown.ax_.get_legend() is not None
    own = plt.subplots()[1]
    assert shown.plot(own).ax_ is own and own.get_xlabel()


def test_bars_are_as_wide_as_shares(model, plt):
    shown = PrivacyDisplay.from_estimator(model)
    widths = [bar.get_width() for bar in shown.ax_.patches]
    assert widths == pytest.approx([share for _, share in shown.shares]) and sum(
        widths
    ) == pytest.approx(1.0)


def test_the_drawn_curve_is_the_curve(model, plt):
    shown = TradeoffDisplay.from_estimator(model)
    assert np.array_equal(shown.line_.get_ydata(), shown.true_rates)
