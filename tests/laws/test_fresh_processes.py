"""Whatever is asked for first in an interpreter is there, and whole: no registry is filled by an import elsewhere."""

import base64
import inspect
import json
import os
import pickle

import numpy as np
import pytest
from laws import fresh
from laws.fresh import in_fresh_interpreters, some_of
from privacy.event_samples import GIVEN
from walls.checks import modules, name_of
from walls.sizes import rooms
from walls.test_cycles import module_of

from skdp import DPLogisticRegression
from skdp.losses import LIST_LOSSES, LOSSES
from skdp.mechanisms import MECHANISMS
from skdp.models import MODELS
from skdp.penalties import PENALTIES
from skdp.privacy import Ledger, Receipt
from skdp.privacy._currencies import CURRENCIES
from skdp.privacy._receipts._check import is_page
from skdp.privacy.curves import registered
from skdp.privacy.events import written_script
from skdp.solvers import CLASS_SOLVERS, LIST_SOLVERS, SOLVERS
from skdp.utils import all_estimators

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
# An interpreter for each of some hundred names takes a minute: by default each fourth has one.
some = pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])

REGISTRIES = {
    "skdp.losses:LOSSES": LOSSES,
    "skdp.losses:LIST_LOSSES": LIST_LOSSES,
    "skdp.models:MODELS": MODELS,
    "skdp.penalties:PENALTIES": PENALTIES,
    "skdp.solvers:SOLVERS": SOLVERS,
    "skdp.solvers:LIST_SOLVERS": LIST_SOLVERS,
    "skdp.solvers:CLASS_SOLVERS": CLASS_SOLVERS,
}


def names(kinds):
    """Modules and names, in order."""
    return sorted(f"{kind.__module__}:{kind.__qualname__}" for kind in kinds)


NAMES = "def names(kinds): return sorted(f'{k.__module__}:{k.__qualname__}' for k in kinds)\n"


@some
def test_every_public_name_can_be_the_first_that_is_asked_for(every):
    firsts = {}  # names that one module of one room defines are loaded alike
    for room in rooms():
        for name in room.__all__:
            home = getattr(getattr(room, name), "__module__", name)
            firsts.setdefault((room.__name__, home), f"from {room.__name__} import {name}")
    pieces = {code: code for code in firsts.values()}
    assert len(pieces) > 100 and in_fresh_interpreters(some_of(pieces, every)) == {}


def test_every_public_name_is_an_attribute_of_its_room_and_of_what_dir_lists():
    pieces = {
        room.__name__: (
            f"import {room.__name__} as room\n"
            "assert set(room.__all__) <= set(dir(room))\n"
            "for name in room.__all__: getattr(room, name)\n"
            f"names = {[n for n in room.__all__ if inspect.ismodule(getattr(room, n))]}\n"
            "assert [n for n in room.__all__ if type(getattr(room, n)) is type(room)] == names\n"
        )
        for room in rooms()
    }
    assert in_fresh_interpreters(pieces) == {}


def test_rooms_are_attributes_of_the_package():
    below = {room.__name__.removeprefix("skdp.") for room in rooms()} - {"skdp"}
    pieces = {
        path: f"import skdp\nassert skdp.{path}.__name__ == 'skdp.{path}'"
        for path in sorted(below | {"privacy.curves", "privacy.accountants", "solvers.gd"})
    }
    pieces["nowhere"] = "import skdp\nassert not hasattr(skdp, 'nowhere')\nskdp.gd"
    failed = in_fresh_interpreters(pieces)
    assert list(failed) == ["nowhere"] and "has no attribute 'gd'" in failed["nowhere"]


def test_threads_may_ask_for_different_names_at_once():
    piece = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import skdp, skdp.solvers, skdp.preprocessing, skdp.metrics\n"
        "rooms = (skdp, skdp.solvers, skdp.preprocessing, skdp.metrics)\n"
        "names = [(room, name) for room in rooms for name in reversed(room.__all__)]\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(lambda pair: getattr(*pair), names))\n"
        "assert found == [getattr(*pair) for pair in names]"
    )
    assert in_fresh_interpreters({f"try {k}": piece for k in range(3)}) == {}


@pytest.mark.slow
def test_every_module_can_be_the_first_that_is_imported():
    pieces = {
        name: f"import {name}"
        for name in (module_of(name_of(path)) for path in modules())
        if not name.endswith("__main__")
    }
    assert len(pieces) > 400 and in_fresh_interpreters(pieces) == {}


# --------------------------------------------------------------------------- registries


@some
def test_registries_are_whole_where_nothing_else_was_imported(every):
    pieces = {}
    for place, registry in REGISTRIES.items():
        room, name = place.split(":")
        head = f"{NAMES}from {room} import {name} as registry\n"
        pieces[f"{place} keys"] = f"{head}assert list(registry) == {list(registry)}"
        kinds = names(registry.values())
        pieces[f"{place} values"] = f"{head}assert names(registry.values()) == {kinds}"
        for key, kind in registry.items():
            held = f"kind = registry[{key!r}]\nassert names([kind]) == {names([kind])}"
            pieces[f"{place} {key}"] = f"{head}{held}\nassert kind in registry.values()"
    everything = (
        f"assert names(MECHANISMS) == {names(MECHANISMS)} and len(MECHANISMS) == {len(MECHANISMS)}"
    )
    pieces["questions"] = f"{NAMES}from skdp.mechanisms import MECHANISMS\n{everything}"
    for kind in MECHANISMS:
        pieces[kind.__name__] = (
            f"from {kind.__module__} import {kind.__name__} as kind\n"
            "from skdp.mechanisms import _registry\n"
            "assert kind in _registry.questions()\n"
            "assert type(kind.__name__, (kind,), {}) not in _registry.questions()"
        )
    assert in_fresh_interpreters(some_of(pieces, every)) == {}


@some
def test_costs_are_whole_and_cannot_be_taken_where_nothing_else_was_imported(every):
    known = sorted(f"{kind.__name__} {rest}" for kind, *rest in registered())
    listed = "sorted(f'{kind.__name__} {rest}' for kind, *rest in registered())"
    pieces = {"all": f"from skdp.privacy.curves import registered\nassert {listed} == {known!r}"}
    for kind, currency, relation in registered():
        pieces[f"{kind.__name__} {currency} {relation}"] = (
            "from skdp.privacy.curves import register\n"
            f"from {kind.__module__} import {kind.__name__} as kind\n"
            f"try:\n    register(kind, {currency!r}, ({relation!r},))(lambda *_: 0.0)\n"
            "except ValueError as error:\n    assert 'already' in str(error)\nelse:\n    1 / 0"
        )
    currencies = f"from skdp.privacy._currencies import CURRENCIES\nassert list(CURRENCIES) == {list(CURRENCIES)}"
    assert in_fresh_interpreters(some_of(pieces, every) | {"currencies": currencies}) == {}


def test_estimators_are_all_found_where_nothing_else_was_imported():
    told = [f"{name} {kind.__module__}" for name, kind in all_estimators()]
    piece = (
        "from skdp.utils import all_estimators\n"
        f"assert [f'{{name}} {{kind.__module__}}' for name, kind in all_estimators()] == {told}"
    )
    assert in_fresh_interpreters({"all": piece}) == {}


# --------------------------------------------------------------------------- what comes from another process


def pickled():
    """Label -> what a process may send: classes, and instances of those that need nothing."""
    public = [
        getattr(room, name)
        for room in rooms()
        for name in room.__all__
        if inspect.isclass(getattr(room, name)) and getattr(room, name).__module__ != "builtins"
    ]
    registered_kinds = [kind for registry in REGISTRIES.values() for kind in registry.values()]
    kinds = {*public, *registered_kinds, *MECHANISMS, *(kind for _, kind in all_estimators())}
    found = {f"{kind.__module__}:{kind.__qualname__}": kind for kind in kinds}
    found |= {f"solver {name}": kind() for name, kind in SOLVERS.items()}
    found |= {f"loss {name}": kind() for name, kind in (*LOSSES.items(), *LIST_LOSSES.items())}
    found |= {f"penalty {name}": kind() for name, kind in PENALTIES.items()}
    return found | {f"event {event}": event for event in GIVEN} | {"scripts": GIVEN}


@some
def test_what_was_pickled_elsewhere_is_read(every):
    pieces = {}
    for label, thing in pickled().items():
        text = base64.b64encode(pickle.dumps(thing)).decode()
        told = repr(thing)
        pieces[label] = (
            f"import base64, pickle\nfound = pickle.loads(base64.b64decode({text!r}))\n"
            f"assert repr(found) == {told!r}"
        )
    assert len(pieces) > 200 and in_fresh_interpreters(some_of(pieces, every)) == {}


def test_fitted_estimators_are_read_and_predict():
    X, y = table()
    pieces = {}
    for solver in ("auto", "gd", "agd"):
        model = DPLogisticRegression(solver=solver, **PLAIN).fit(X, y)
        text = base64.b64encode(pickle.dumps(model)).decode()
        pieces[solver] = (
            f"import base64, pickle\nfound = pickle.loads(base64.b64decode({text!r}))\n"
            f"assert found.predict([[0.0, 1.0], [2.0, -1.0]]).tolist() == "
            f"{model.predict([[0.0, 1.0], [2.0, -1.0]]).tolist()}\n"
            "assert found.privacy_.verify()"
        )
    assert in_fresh_interpreters(pieces) == {}


PLAIN = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 3.0, "classes": [0, 1], "random_state": 0}


def table(n=500):
    """Rows and labels."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


def quoted(solver):
    """The receipt of a fit, as plain data."""
    return DPLogisticRegression(solver=solver, **PLAIN).quote(2000, 3).to_dict()


def adaptive():
    """Names of solvers that run under a filter, and whose receipts can be had for a classifier of two classes."""
    return [name for name in sorted(SOLVERS) if SOLVERS[name].adaptive]


READ = """
import json
from skdp.privacy import Receipt
receipt = Receipt.from_dict(json.loads({text!r}))
assert receipt.complaints() == {complaints}, receipt.complaints()
"""


def test_receipts_are_read_and_checked_where_only_the_room_of_prices_was_imported():
    pieces = {}
    for name in ("auto", "gd", "sgd", "objective-perturbation", *adaptive()):
        text = json.dumps(quoted(name))
        pieces[name] = READ.format(text=text, complaints=[])
        pieces[f"{name} by a ledger"] = (
            f"from skdp.privacy.ledger import Ledger\n{READ.format(text=text, complaints=[])}"
        )
    assert adaptive() and in_fresh_interpreters(pieces) == {}


def test_a_receipt_that_hides_a_filter_is_refused_where_no_solver_was_imported():
    """What a filtered solver did has no price by its script; who reads the receipt may never have seen the solver."""
    pieces = {}
    honest = Receipt.from_dict(quoted("gd"))
    for name in adaptive():
        forged = honest.__class__(**{**vars_of(honest), "solver": repr(SOLVERS[name]())})
        complaints = forged.complaints()
        assert any("filter" in complaint for complaint in complaints)
        pieces[name] = READ.format(text=json.dumps(forged.to_dict()), complaints=complaints)
    assert adaptive() and in_fresh_interpreters(pieces) == {}


def vars_of(receipt):
    """Fields of a receipt."""
    return {name: getattr(receipt, name) for name in receipt.__dataclass_fields__}


def test_scripts_of_all_events_are_read_where_only_events_were_imported():
    pieces = {}
    for event in GIVEN:
        plain = json.dumps(written_script(((event, 3),)))
        pieces[type(event).__name__] = (
            f"import json\nfrom skdp.privacy.events import read_script\n"
            f"((event, count),) = read_script(json.loads({plain!r}))\n"
            f"assert count == 3 and repr(event) == {repr(event)!r}"
        )
    assert in_fresh_interpreters(pieces) == {}


@pytest.mark.parametrize("accountant", ["auto", "rdp"])
def test_a_file_of_a_ledger_is_read_where_only_ledgers_were_imported(accountant, tmp_path):
    path = str(tmp_path / "ledger.db")
    given = f"8.0, 1e-6, 'add_remove', accountant={accountant!r}, path={path!r}"
    ledger = Ledger(8.0, 1e-6, "add_remove", accountant=accountant, path=path)
    for event in GIVEN:
        try:
            ledger.reserve(((event, 1),), type(event).__name__)
        except Exception as refused:  # a ledger of this currency has no price of it
            assert type(refused).__module__.startswith("skdp")
    assert len(ledger) > 3
    said = f"assert (len(ledger), ledger.spent) == {(len(ledger), ledger.spent)!r}, ledger.spent"
    pieces = {
        start: f"from {start} import Ledger\nledger = Ledger({given})\n{said}\nstr(ledger.report())"
        for start in ("skdp.privacy", "skdp.privacy.ledger", "skdp.privacy.ledger._ledger")
    }
    assert in_fresh_interpreters(pieces) == {}


def test_proof_pages_are_shown_where_nothing_else_was_imported():
    pages = sorted({name for kind in SOLVERS for name in quoted_pages(kind)})
    pieces = {
        page: f"from skdp.privacy import proof_page\nassert len(proof_page({page!r})) > 200"
        for page in pages
    }
    assert pages and all(map(is_page, pages)) and in_fresh_interpreters(pieces) == {}


def quoted_pages(name):
    """Those that a receipt of the solver would name, where it has one for these numbers."""
    return quoted(name)["proofs"] if name in ("gd", "sgd", *adaptive()) else ()


def test_what_does_not_end_is_told(monkeypatch):
    monkeypatch.setattr(fresh, "LONGEST", 1)
    assert in_fresh_interpreters({"a": "while True: pass"}) == {"a": "it did not end"}


def test_what_fails_is_told():
    found = in_fresh_interpreters({"a": "import skdp", "b": "import skdp.nowhere", "c": "1 / 0"})
    assert list(found) == ["b", "c"] and "ZeroDivisionError" in found["c"]
