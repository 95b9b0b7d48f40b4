"""Many equal charges at once are as many one after the other."""

from contextlib import suppress

import pytest

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import Ledger
from skdp.privacy.events import Gaussian, Laplace, PoissonGaussian, PureDP
from skdp.privacy.ledger._rules import Rules
from skdp.privacy.ledger._state import Entry


@pytest.mark.parametrize(
    "script",
    [
        ((PureDP(0.001), 3),),
        ((Gaussian(150.0), 1),),
        ((PoissonGaussian(30.0, 0.01), 20), (PureDP(0.0005), 1)),
        ((Laplace(900.0), 2),),
    ],
)
@pytest.mark.parametrize("kind", ["auto", "rdp", "pure", "shifted"])
def test_many_equal_charges_at_once_are_as_many_one_by_one(script, kind):
    """Totals of 700 charges, over levels and books that fill up; and who is refused is refused at the same number."""
    ledger = Ledger(1.0, 1e-6, "add_remove", kind)
    rules, entry = ledger._rules, Entry(script, ("",), "", "")
    steps = [ledger._state]
    with suppress(BudgetExceeded, NotSupported):
        for _ in range(700):
            steps.append(rules.charged(steps[-1], entry))
    for count in (1, 2, 249, 251, 700):
        if count < len(steps):
            found = rules._repeated(steps[0], entry, count)
            assert (found.totals, found.closed) == (steps[count].totals, steps[count].closed)
        else:
            with pytest.raises((BudgetExceeded, NotSupported)):
                rules._repeated(steps[0], entry, count)


def test_a_million_fits_are_announced_without_going_through_them(monkeypatch):
    taken = []
    charged = Rules.charged
    monkeypatch.setattr(Rules, "charged", lambda *asked: taken.append(1) or charged(*asked))
    Ledger(1.0, 1e-6).announce([(((Gaussian(1e5), 1),), 10**6)])
    assert len(taken) < 5
