"""What few receipts, risks and profiles have to say: other steps around, infinite odds, ranges, and what is none."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from privacy.receipt_samples import receipt_number

from skdp.exceptions import NotSupported
from skdp.privacy import (
    Accountant,
    Ledger,
    Receipt,
    Spec,
    _domination,
    accountants,
    breakdown,
    epsilon,
    risk,
)
from skdp.privacy._arithmetic import round_up
from skdp.privacy._domination import Profile, covering_mu, profile_down_to
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._receipts import _card, _words
from skdp.privacy._receipts._card import wrong_with
from skdp.privacy._receipts._check import complaints, risk_of
from skdp.privacy._receipts._plain import _number, plain
from skdp.privacy._risk import _renyi, risk_of_pair
from skdp.privacy._shifted import ShiftedBook, used
from skdp.privacy.events import (
    BestOf,
    Gaussian,
    ObjectivePerturbation,
    PoissonBundle,
    PoissonGaussian,
    PureDP,
    RandomPosition,
    RenyiDP,
)
from skdp.privacy.ledger import Scripted

risk_module = sys.modules[risk_of_pair.__module__]  # the function of that name hides it


def receipt_of(*script, epsilon=1.0, delta=1e-6):
    return Receipt(epsilon, delta, "replace_one", "auto", tuple(script), "GD()", proofs=("sums",))


GAUSSIAN = receipt_of((Gaussian(20.0), 3), epsilon=0.5)
FREE = receipt_of((Gaussian(0.0), 1), epsilon=math.inf)
BEST = BestOf((((Gaussian(8.0), 1),),), (1.0,), mean=3, cap=8)
UNPRICED = receipt_of((BEST, 1), (RenyiDP(8.0, 0.05), 1))


# Receipts in words.


@pytest.mark.parametrize("around", [("StandardScaler",), ("StandardScaler", "PCA")])
def test_the_promise_of_one_step_says_first_what_is_around_it(around):
    receipt = replace(GAUSSIAN, around=around)
    said = _words.promise(receipt, risk_of(receipt))
    assert said.startswith("NOT PRIVATE as a whole: the guarantee covers this step only; around it")
    assert ", ".join(around) in said
    assert ("which have no receipt" in said) == (len(around) > 1)
    assert said.endswith(_words.promise(GAUSSIAN, risk_of(GAUSSIAN)))


def test_words_for_tuples_and_for_numbers_that_have_no_digits():
    event = PoissonBundle(2.0, (0.25, 0.123456789), 0.1)
    assert "(0.25, 0.12346)" in _words.label(event)
    assert [round_up(v, 3) for v in (0.0, math.inf, 0.12341, 1234.1)] == [
        "0",
        "inf",
        "0.124",
        "1.24e+03",
    ]


def test_many_events_of_one_kind_are_told_by_what_they_have_in_common():
    events = tuple((PoissonBundle(2.0, (0.5, k / 100.0), 0.1), 1) for k in range(1, 30))
    (fold,) = _words.folded(events)
    assert fold.times == 29
    assert "multiplier=2.0" in fold.label and "29 values" in fold.label
    gaussians = tuple((Gaussian(float(k)), 2) for k in range(1, 30))
    assert "multiplier=1 to 29" in _words.folded(gaussians)[0].label


def test_nothing_that_was_promised_has_no_risk_and_no_bar():
    assert _card._numbers(FREE, None) == ""
    assert _card._budget(receipt_of()) == ""
    assert "any factor" in _words.odds(FREE, None) and complaints(FREE, None) == []


def test_a_receipt_that_no_accountant_can_price_is_that_of_its_promise():
    with pytest.raises(NotSupported):
        risk(UNPRICED.script, "replace_one")
    assert risk_of(UNPRICED) == risk_of_pair(Spec(1.0, 1e-6)) == UNPRICED.risk()
    (said,) = complaints(UNPRICED, None)
    assert "accountant" in said


def test_a_receipt_says_what_its_price_is_for_and_what_costs_what():
    adaptive = receipt_number(3)
    assert adaptive.unspent is not None and adaptive.priced != adaptive.script
    assert GAUSSIAN.priced == GAUSSIAN.script
    assert GAUSSIAN.breakdown() == breakdown(GAUSSIAN.script, 1e-6, "replace_one")


# Receipts as data.


def test_whatever_is_said_of_a_fit_is_plain_data():
    class Odd:
        def __str__(self):
            return "odd"

    given = {1: np.float32(0.5), "set": {3}, "odd": Odd(), "far": -math.inf, "a": np.arange(2)}
    assert plain(given) == {"1": 0.5, "set": [3], "odd": "odd", "far": "-inf", "a": [0, 1]}


@pytest.mark.parametrize("wrong", [True, None, [1.0], {}])
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(ValueError, match="is not a number"):
        _number(wrong)
    assert _number("inf") == math.inf and _number(3) == 3.0


def test_records_are_held_against_their_schema():
    schema = {
        "type": "object",
        "properties": {"tags": {"type": "array", "minItems": 1}},
        "additionalProperties": False,
    }
    assert list(wrong_with({"tags": []}, schema)) == ["record.tags is empty"]
    assert list(wrong_with({"tags": [1], "more": 1}, schema)) == [
        "record.more is not a field of the registry"
    ]
    assert list(wrong_with({"more": 1}, {"type": "object"})) == []
    assert list(wrong_with(3, {"type": "string"})) == ["record is 3, not of type string"]


# Risks.


def test_the_risk_of_pure_steps_that_no_pure_accountant_prices():
    """Without a pure price the odds are those of the curve, which are at least those of a Gaussian beside."""
    mixed = ((PureDP(0.3), 1), (Gaussian(20.0), 1))
    with_noise, alone = risk(mixed), risk(((PureDP(0.3), 1),))
    assert alone.odds == pytest.approx(math.exp(0.3)) and with_noise.odds > alone.odds


def test_a_script_of_no_use_allows_everything():
    found = risk(((Gaussian(1e-3), 1),))
    assert found.odds == math.inf and found.advantage == pytest.approx(1.0)
    unbounded = risk(((PoissonGaussian(1e-2, 0.5), 5), (PureDP(0.1), 1)))
    assert 0.9 < unbounded.advantage <= 1.0


def test_without_a_price_at_delta_zero_a_risk_is_still_a_bound(monkeypatch):
    """What a pure price adds is one more point of the profile: without it the rest is no smaller."""
    script = ((PureDP(0.31), 1), (PoissonGaussian(4.0, 0.05), 3))
    known, honest = risk(script, "add_remove"), accountants.epsilon

    def no_pure(script, delta, *given):
        if delta == 0:
            raise NotSupported("nothing is known at delta 0.")
        return honest(script, delta, *given)

    monkeypatch.setattr(accountants, "epsilon", no_pure)
    found = risk_module._risk.__wrapped__(script, "add_remove")
    for one, other in zip(found.power.values(), known.power.values()):
        assert one >= other - 1e-12
    assert found.odds >= known.odds - 1e-12


def test_a_part_without_a_price_of_its_own_is_infinite():
    """Under add/remove a random position is composed by nobody; the rest is."""
    script = ((RandomPosition((0.5, 0.5), (2.0, 3.0)), 1), (Gaussian(3.0), 1))
    parts = {type(part.event): part for part in breakdown(script, 1e-6, "add_remove")}
    assert math.isinf(parts[RandomPosition].alone) and math.isinf(parts[Gaussian].without)
    assert parts[Gaussian].alone == epsilon(((Gaussian(3.0), 1),), 1e-6)


def test_an_accountant_says_how_many_events_it_has_seen():
    account = Accountant("add_remove").compose(((Gaussian(3.0), 4),))
    assert repr(account) == "Accountant('add_remove', 4 events)" and len(account) == 4


def test_parts_of_what_cannot_be_priced_are_infinite_or_left_out():
    assert _renyi(((Gaussian(3.0), 1),), 0.0, "replace_one") is None
    parts = breakdown(((Gaussian(0.0), 1), (PureDP(0.1), 1)), 1e-6, "replace_one")
    assert parts[0].share == 1.0 and math.isinf(parts[0].alone)


# Profiles and books.


def test_a_profile_that_never_falls_is_none_and_no_mu_covers_what_is_missed():
    assert profile_down_to(((Gaussian(1e-3), 1),), "replace_one", 1e-10) is None
    nodes = np.linspace(0.0, 1.0, 25)
    known = Profile(nodes, gaussian_delta(nodes, 0.5))
    assert known.deltas[-1] > 1e-9
    assert covering_mu(known, 0.0, 1e-9) == math.inf
    assert covering_mu(known, 0.0, known.deltas[-1]) < 0.5  # what is missed takes its part


def test_what_never_happens_is_covered_by_anything():
    nodes = np.linspace(0.0, 1.0, 25)
    assert covering_mu(Profile(nodes, np.zeros(25)), 0.0, 1e-9) <= 1e-12


def test_no_gaussian_covers_a_script_that_tells_two_records_apart_for_certain():
    """Of total variation 1: no mu is enough, however large."""
    nodes = np.linspace(0.0, 60.0, 25)
    certain = Profile(nodes, np.append(np.ones(24), 0.0))
    assert covering_mu(certain, 0.0, 1e-10) == math.inf


def test_a_search_for_mu_that_gets_nowhere_covers_nothing(monkeypatch):
    nodes = np.linspace(0.0, 3.0, 25)
    known = Profile(nodes, gaussian_delta(nodes, 0.5))
    monkeypatch.setattr(_domination, "_least", lambda excess, low: low)
    assert covering_mu(known, 0.0, known.deltas[-1]) == math.inf


def test_accountants_that_contradict_each_other_cover_nothing(monkeypatch):
    """Epsilon at a delta, and at that epsilon another delta: the profile keeps what is said of it."""
    monkeypatch.setattr(accountants, "delta", lambda script, at, neighbors: 0.5)
    monkeypatch.setattr(accountants, "profile", lambda script, at, neighbors: 0.5 + 0.0 * at)
    known = profile_down_to(((Gaussian(3.21), 1),), "replace_one", 1e-7)
    assert known.deltas[-1] == 0.5 and covering_mu(known, 0.0, 1e-7) == math.inf


def test_what_a_triple_leaves_is_above_the_profile_at_the_right_end_of_every_step():
    """Both fall: held against the left end, a Gaussian would be too small within a step."""
    nodes = np.linspace(0.0, 3.0, 25)
    known = Profile(nodes, gaussian_delta(nodes, 0.5))
    for shift in (0.0, 0.2):
        mu = covering_mu(known, shift, known.deltas[-1])
        own = known.deltas[-1] + gaussian_delta(known.points[1:] - shift, mu)
        assert (known.highest <= own).all()
        assert (
            known.highest > known.deltas[-1] + gaussian_delta(known.points[1:] - shift, 0.99 * mu)
        ).any()


def test_a_script_that_no_triple_covers_has_no_way_in():
    book = ShiftedBook(Spec(1.0, 1e-6), 150)
    for script in (((Gaussian(0.0), 1),), ((PureDP(math.inf), 1),)):
        assert book.ways(script) == () and used(book, [script]) == math.inf


def test_a_script_without_a_promise_is_priced_by_nobody():
    account = Scripted(Spec(math.inf, 0.0), ((Gaussian(0.0), 2),))
    account.charge(Gaussian(0.0), 2)
    assert account.complete and account.cost == math.inf


def test_a_named_accountant_is_the_one_that_prices_a_script():
    script = ((Gaussian(50.0), 4),)
    cost = Scripted(Spec(1.0, 1e-6), script, "zcdp").cost
    assert (
        cost
        == epsilon(script, 1e-6, "replace_one", "zcdp")
        > Scripted(Spec(1.0, 1e-6), script).cost
    )


# Files.


def test_a_transaction_that_an_interrupt_left_open_is_rolled_back(tmp_path):
    ledger = Ledger(1.0, 0.0, path=tmp_path / "left.db")
    ledger.reserve(((PureDP(0.25), 1),))
    connection = ledger._store._file._open()
    connection.execute("BEGIN IMMEDIATE")
    ledger.reserve(((PureDP(0.25), 1),))
    assert ledger.spent == 0.5 and not connection.in_transaction


def test_curves_of_one_order_are_known_where_it_is():
    """A Renyi price at one order is a bound at every delta, and so a profile that falls."""
    known = profile_down_to(((RenyiDP(20.0, 0.01), 1),), "replace_one", 1e-8)
    assert known is not None and known.deltas[-1] <= 1e-8
    curved = profile_down_to(((ObjectivePerturbation(0.03, 0.05), 1),), "replace_one", 1e-8)
    assert curved is not None and (np.diff(curved.deltas) <= 0).all()
