"""Refuse, charge, touch, noise, in that order: what cannot be paid touches nothing and draws nothing."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.oracle_laws import Broke, Order, asked_order, check_broke_touches_nothing
from laws.sensitivity_laws import MEASURED, pair_of
from laws.vaults import RELATIONS, vault

from skdp import BudgetExceeded, NotSupported, OffScript
from skdp.losses import Logistic
from skdp.mechanisms import (
    AllocatedBatch,
    Count,
    Gradient,
    Noise,
    Oracle,
    PoissonBatch,
    RandomBatch,
)
from skdp.privacy.events import Gaussian
from skdp.privacy.ledger import Filter, Recorder, Scripted
from skdp.privacy.spec import Spec

GRADIENT = Gradient(at=np.zeros(2), loss=Logistic(), clip=1.0, multiplier=2.0)


def _questions():
    for kind in MEASURED:
        for relation in RELATIONS:
            try:
                question, records, *_ = pair_of(kind).worst_pair(relation)
            except (NotSupported, ModuleNotFoundError):
                continue  # the sensitivity law complains of a missing pair
            yield pytest.param(question, records, id=f"{kind.__name__}-{relation}")
    records = vault([[0.1], [0.2], [0.3]], [1, -1, 1])
    yield pytest.param(PoissonBatch(GRADIENT, 0.5), records, id="PoissonBatch")
    yield pytest.param(RandomBatch(GRADIENT, 2), records, id="RandomBatch")
    yield pytest.param(AllocatedBatch(GRADIENT, 2, opens=True), records, id="AllocatedBatch")


@pytest.mark.parametrize("question, records", list(_questions()))
def test_what_cannot_be_paid_touches_nothing(question, records):
    check_broke_touches_nothing(Oracle, question, records)


@pytest.mark.parametrize("question, records", list(_questions()))
def test_charge_comes_before_touch_and_touch_is_seen(question, records):
    order = asked_order(Oracle, question, records)
    assert order[0] == "charge" and order.count("charge") == 1
    assert "touch" in order and "draw" in order


@pytest.mark.parametrize("question, records", list(_questions()))
def test_prices_are_of_the_vaults_own_facts(question, records):
    """Whatever a solver writes over what it was shown."""
    account = Recorder()
    oracle = Oracle(records, account, Noise(0))
    asked = oracle.affords(question), oracle.share(question), oracle.rests_on()
    oracle.ask(question)
    other = "add_remove" if records.public.neighbors == "replace_one" else "replace_one"
    public = records.public
    lies = {
        "n": 10**9,
        "neighbors": other,
        "rows": 1,
        "weighted": False,
        "target_bound": 1e-9,
        "intercept": 0.0,
        "lists": None,
        "documents": None,
        "lists_each": 0,
    }
    oracle.public = replace(public, **lies)
    assert (oracle.affords(question), oracle.share(question)) == asked[:2]
    oracle.ask(question)
    assert account.script == ((question.event(public), 2),)
    assert records.public is public


def test_each_question_is_charged_what_it_says():
    records, account = vault([[0.1], [0.2]], [1, -1]), Recorder()
    oracle = Oracle(records, account, Order([]).noise)
    for _ in range(3):
        oracle.ask(GRADIENT)
    oracle.ask(PoissonBatch(GRADIENT, 0.5))
    batch = PoissonBatch(GRADIENT, 0.5).event(records.public)
    assert account.script == ((Gaussian(1.0), 3), (batch, 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class Unregistered(Gradient):
    """A gradient that was never reviewed."""


class Lying(Logistic):
    """A loss that nobody registered."""


@pytest.mark.parametrize("wrap", [lambda q: q, lambda q: PoissonBatch(q, 0.5)])
@pytest.mark.parametrize(
    "question",
    [
        Unregistered(at=np.zeros(2), loss=Logistic(), clip=1.0, multiplier=1.0),
        Gradient(at=np.zeros(2), loss=Lying(), clip=1.0, multiplier=1.0),
    ],
    ids=["question", "loss"],
)
def test_the_unregistered_is_refused_before_it_is_paid_for(question, wrap):
    order = Order([])
    with pytest.raises(NotSupported, match="registered"):
        Oracle(vault([[0.1]], [1]), order.account, order.noise).ask(wrap(question))
    assert order.log == []


@pytest.mark.parametrize("change", [{"multiplier": 2.0000001}, {"multiplier": 0.0}])
def test_a_question_that_is_not_on_the_script_is_refused(change):
    spec = Spec(10.0, 1e-5)
    oracle = Oracle(vault([[0.1]], [1]), Scripted(spec, ((Gaussian(1.0), 2),)), Order([]).noise)
    oracle.ask(GRADIENT)
    with pytest.raises(OffScript):
        oracle.ask(replace(GRADIENT, **change))


def test_a_question_after_the_end_of_the_script_is_refused():
    log = []
    spec = Spec(10.0, 1e-5)
    oracle = Oracle(vault([[0.1]], [1]), Scripted(spec, ((Gaussian(1.0), 1),)), Order(log).noise)
    oracle.ask(GRADIENT)
    log.clear()
    with pytest.raises(OffScript):
        oracle.ask(GRADIENT)
    assert log == []


def test_a_filter_admits_what_it_affords_and_nothing_more():
    account = Filter(Spec(1.0, 1e-5), "zcdp")
    oracle = Oracle(vault([[0.1]], [1]), account, Order([]).noise)
    question, asked = replace(GRADIENT, multiplier=40.0), 0
    while oracle.affords(question):
        oracle.ask(question)
        asked += 1
    price = (1 / 20.0) ** 2 / 2
    assert asked == int(account.total / price)
    with pytest.raises(BudgetExceeded):
        oracle.ask(question)
    assert not oracle.affords(question, question) and account.spent <= account.total


def test_affording_looks_at_no_record():
    order = Order([])
    oracle = Oracle(order.vault(vault([[0.1]], [1])), Broke(), order.noise)
    assert not oracle.affords(GRADIENT)
    assert order.log == []


def test_a_public_count_is_not_bought():
    order = Order([])
    with pytest.raises(NotSupported):
        Oracle(vault([[0.1]], [1]), order.account, order.noise).ask(Count(multiplier=1.0))
    assert order.log == []
