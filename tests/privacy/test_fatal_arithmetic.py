"""Every public name of `skdp.privacy` does the same where a program has made floating-point errors fatal.

A price underflows in its tails and is rounded up for it; that is no error of the caller's. A law over what is public:
a name that is not told here fails.
"""

import copy
import importlib
import json
import pkgutil
from contextlib import suppress

import numpy as np
import pytest
from privacy.event_samples import SAMPLES, name
from privacy.receipt_samples import receipt_number

import skdp.privacy
from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import (
    Accountant,
    Enclosure,
    Filter,
    Ledger,
    Receipt,
    Spec,
    breakdown,
    budget,
    calibrate,
    certificate,
    choose,
    delta,
    enclose,
    epsilon,
    epsilon_spent,
    for_rows,
    from_dp_event,
    noise_multiplier,
    profile,
    proof_page,
    risk,
    selection_delta,
    selection_epsilon,
    to_dp_event,
    tradeoff,
)
from skdp.privacy.events import Gaussian, Laplace, PoissonGaussian, PureDP
from skdp.privacy.selection import (
    CappedGeometricRuns,
    PoissonRuns,
    base_curves,
)

RELATIONS = ("replace_one", "add_remove")
SCRIPTS = {name(event): ((event, 3),) for event in SAMPLES}
SCRIPTS |= {
    "far sampled": ((PoissonGaussian(0.6, 1e-3), 500),),
    "near sampled": ((PoissonGaussian(40.0, 0.3), 4),),
    "mixed": ((PoissonGaussian(3.0, 0.02), 50), (Laplace(9.0), 3), (Gaussian(30.0), 2)),
    "quiet": ((Gaussian(1e60), 1), (PureDP(1e-60), 2)),
    "loud": ((Gaussian(1e-3), 9),),
    "louder": ((PureDP(400.0), 9),),
}
GRID = np.linspace(0.0, 0.5, 5)


def filled(kind, script):
    found = Filter(Spec(3.0, 1e-6), kind)
    with suppress(BudgetExceeded):
        found.charge_all(script)
    return found.spent, found.unspent, found.total, found.allowance


def booked(accountant, script, neighbors):
    ledger = Ledger(3.0, 1e-6, neighbors=neighbors, accountant=accountant)
    for _ in range(2):
        try:
            ledger.reserve(script, "a fit")
        except BudgetExceeded:
            break
    parts = Ledger(3.0, 1e-6, neighbors=neighbors).partition(["north", "south"])
    with suppress(BudgetExceeded):
        parts["north"].reserve(script, "of a part")
    return ledger.spent, ledger.remaining, len(ledger), str(ledger.report()), parts["south"].spent


def scoped(script):
    with budget(3.0, 1e-6) as ledger:
        with suppress(BudgetExceeded):
            ledger.reserve(script, "a fit")
        return ledger.spent


def accounted(script, neighbors):
    account = Accountant(neighbors).compose(script)
    found = account.epsilon(1e-6), account.delta(1.0), str(account.risk()), account.tradeoff([0.1])
    return (*found, account.breakdown(1e-6))


def of_receipt(script, neighbors):
    price = epsilon(script, 1e-6, neighbors)
    by = choose(script, neighbors, 1e-6)
    receipt = Receipt(price, 1e-6, neighbors, by, script, "A release", proofs=("sums",))
    back = Receipt.from_dict(json.loads(json.dumps(receipt.to_dict())))
    told = str(receipt), receipt._repr_html_(), receipt.statement(), receipt.to_model_card()
    return (*told, str(receipt.risk()), receipt.breakdown(), receipt.complaints(), back == receipt)


def of_a_run(script, neighbors):
    one_run, divergence = base_curves(script, neighbors)
    laws = CappedGeometricRuns(3, 5), PoissonRuns(5.0)
    return [
        (selection_epsilon(one_run, divergence, 1e-6, law), selection_delta(one_run, 1.0, law))
        for law in laws
    ]


def to_google_and_back(script, neighbors):
    return from_dp_event(to_dp_event(script, neighbors), neighbors)


# One call for each public name, of a script and a relation.
CALLS = {
    "Enclosure": lambda s, n: Enclosure(1.0, 1.0 + 1e-300).width,
    "certificate": lambda s, n: certificate(s, delta=1e-6, neighbors=n),
    "enclose": lambda s, n: vars(enclose(s, delta=1e-6, neighbors=n)),
    "Accountant": accounted,
    "Filter": lambda s, n: [filled(kind, s) for kind in ("rdp", "zcdp", "gdp", "pure")],
    "Ledger": lambda s, n: [booked(kind, s, n) for kind in ("auto", "rdp", "zcdp", "gdp", "pure")],
    "Partition": lambda s, n: booked("auto", s, n),
    "Receipt": of_receipt,
    "Risk": lambda s, n: vars(risk(s, n)),
    "Share": lambda s, n: [vars(share) for share in breakdown(s, 1e-6, n)],
    "Spec": lambda s, n: Spec(epsilon(s, 1e-6, n), 1e-6, n),
    "breakdown": lambda s, n: breakdown(s, 1e-6, n),
    "budget": lambda s, n: scoped(s),
    "calibrate": lambda s, n: calibrate(
        lambda x: tuple((event.scaled(x), count) for event, count in s), Spec(1.0, 1e-6, n)
    ),
    "choose": lambda s, n: choose(s, n, 1e-6),
    "delta": lambda s, n: [delta(s, e, n) for e in (0.0, 0.5, 7.0)],
    "epsilon": lambda s, n: [epsilon(s, d, n) for d in (1e-3, 1e-6, 1e-12)],
    "epsilon_spent": lambda s, n: epsilon_spent(
        noise_multiplier=1.1, steps=100, sample_rate=0.01, delta=1e-6
    ),
    "for_rows": lambda s, n: for_rows(s, Spec(epsilon(s, 1e-6, n), 1e-6, n), 3),
    "from_dp_event": to_google_and_back,
    "noise_multiplier": lambda s, n: noise_multiplier(
        epsilon=1.0, delta=1e-6, steps=100, sample_rate=0.01
    ),
    "profile": lambda s, n: profile(s, GRID, n),
    "proof_page": lambda s, n: proof_page("sums"),
    "risk": lambda s, n: str(risk(s, n)),
    "selection_delta": of_a_run,
    "selection_epsilon": of_a_run,
    "to_dp_event": to_google_and_back,
    "tradeoff": lambda s, n: tradeoff(s, [0.0, 0.01, 0.5, 1.0], n),
}
CONSTANTS = {"ACCOUNTANTS", "NEIGHBORS"}
# What every script passes through; the rest is made of these, and sees scripts that underflow.
EVERYWHERE = {"epsilon", "delta", "Filter", "calibrate", "breakdown"}
FEW = ("near sampled", "loud", "Laplace")
CASES = [
    (public, script)
    for public in CALLS
    for script in SCRIPTS
    if (script in FEW and not public.startswith("selection")) or public in EVERYWHERE
]
CASES += [("selection_delta", "Gaussian"), ("selection_epsilon", "Gaussian")]


MEMORIES = {
    id(thing): thing
    for module in pkgutil.walk_packages(skdp.privacy.__path__, "skdp.privacy.")
    for thing in vars(importlib.import_module(module.name)).values()
    if hasattr(thing, "cache_clear")
}


def forget():
    """Empty every memory of the package, so that what is asked is computed."""
    for memory in MEMORIES.values():
        memory.cache_clear()


def outcome(call, script, neighbors, **errors):
    """What a call returns, or refuses, with these floating-point errors."""
    forget()
    with np.errstate(**errors):
        try:
            return repr(call(copy.copy(script), neighbors))
        except (NotSupported, ValueError, ImportError) as error:
            return f"{type(error).__name__}: {error}"


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    """Certificates on few grid points: those of a page take the checker seconds."""
    monkeypatch.setattr(skdp.privacy._certificate, "_EDGES", 400)
    monkeypatch.setattr(skdp.privacy._certificate, "_CELLS", 4000)


def test_every_public_name_has_a_call():
    assert set(skdp.privacy.__all__) == set(CALLS) | CONSTANTS


@pytest.mark.parametrize("public, script", CASES)
def test_it_is_the_same_where_errors_are_fatal(public, script):
    call = CALLS[public]
    relation = RELATIONS[(len(public) + len(script)) % 2]
    fatal = outcome(call, SCRIPTS[script], relation, all="raise")
    assert fatal == outcome(call, SCRIPTS[script], relation, all="ignore")
    assert "FloatingPointError" not in fatal


@pytest.mark.parametrize("number", range(4))
def test_receipts_of_filters_hold_where_errors_are_fatal(number):
    receipt = receipt_number(4 * number + 3)
    forget()
    with np.errstate(all="raise"):
        assert receipt.complaints() == [] and str(receipt) and receipt._repr_html_()
