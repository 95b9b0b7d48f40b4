"""Prices of questions: k of them cost k compositions, no noise is infinite, more noise never costs more."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from laws.vaults import RELATIONS, vault

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import (
    AllocatedBatch,
    BestCandidate,
    Count,
    Gradient,
    Noise,
    Oracle,
    PoissonBatch,
    RandomBatch,
)
from skdp.privacy import accountants
from skdp.privacy.ledger import Recorder

DELTA = 1e-6
GRADIENT = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=4.0)
CHOICE = BestCandidate(candidates=np.zeros((2, 2)), loss=Logistic(), cap=1.0, epsilon=0.3)
CASES = [
    pytest.param(question, relation, id=f"{name}-{relation}")
    for name, question, relations in [
        ("gradient", GRADIENT, RELATIONS),
        ("count", Count(multiplier=4.0), ("add_remove",)),
        ("choice", CHOICE, RELATIONS),
        ("poisson-gradient", PoissonBatch(GRADIENT, 0.1), RELATIONS),
        ("poisson-choice", PoissonBatch(CHOICE, 0.1), RELATIONS),
        ("random-gradient", RandomBatch(GRADIENT, 1), ("replace_one",)),
        ("allocated-gradient", AllocatedBatch(GRADIENT, 10, opens=True), RELATIONS),
    ]
    for relation in relations
]


def _vault(relation):
    return vault(np.full((10, 1), 0.1), np.ones(10), relation)


def _louder(question, factor):
    """The same question with its noise times factor."""
    inner = getattr(question, "question", None)
    if inner is not None:
        return replace(question, question=_louder(inner, factor))
    if hasattr(question, "epsilon"):
        return replace(question, epsilon=question.epsilon / factor if factor else math.inf)
    return replace(question, multiplier=question.multiplier * factor)


def _price(question, relation, times=1):
    """Epsilon of asking so often, as an account would be charged."""
    account, records = Recorder(), _vault(relation)
    oracle = Oracle(records, account, Noise(0))
    for _ in range(times):
        oracle.ask(question)
    return accountants.epsilon(account.script, DELTA, relation), account.script


@pytest.mark.parametrize("question, relation", CASES)
def test_k_repetitions_cost_k_compositions(question, relation):
    event = question.event(_vault(relation).public)
    asked, script = _price(question, relation, times=5)
    assert script == ((event, 5),)
    apart = ((event, 2), (_louder(question, 2.0).event(_vault(relation).public), 0), (event, 3))
    assert asked == pytest.approx(accountants.epsilon(apart, DELTA, relation), rel=1e-9)
    once = _price(question, relation)[0]
    assert once < asked <= 5 * _price_at_share(event, relation, 5) * (1 + 1e-9)


def _price_at_share(event, relation, k):
    """Basic composition, delta shared out: no theorem may charge more than that."""
    return accountants.epsilon(((event, 1),), DELTA / k, relation)


@pytest.mark.parametrize("question, relation", CASES)
def test_no_noise_costs_everything(question, relation):
    assert _price(_louder(question, 0.0), relation)[0] == math.inf


@pytest.mark.parametrize("question, relation", CASES)
def test_infinite_noise_is_free_and_refused_where_no_double_holds_it(question, relation):
    endless, account = _louder(question, math.inf), Recorder()
    if hasattr(getattr(question, "question", question), "epsilon"):
        assert _price(endless, relation)[0] == 0.0
        return
    with pytest.raises(NotSupported, match=r"noise of inf units on \d numbers"):
        Oracle(_vault(relation), account, Noise(0)).ask(endless)
    assert not account.script
    assert _price(_louder(question, 1e9), relation)[0] < 1e-6


@pytest.mark.parametrize("question, relation", CASES)
def test_more_noise_never_costs_more(question, relation):
    prices = [_price(_louder(question, factor), relation)[0] for factor in (0.3, 0.9, 1.0, 1.7, 9)]
    assert all(a >= b for a, b in pairwise(prices)) and prices[0] > prices[-1]


def test_replacing_costs_what_adding_costs_at_half_the_noise():
    doubled = _price(_louder(GRADIENT, 2.0), "replace_one")[0]
    assert doubled == pytest.approx(_price(GRADIENT, "add_remove")[0], rel=1e-9)


def test_a_batch_is_cheaper_than_everybody_and_a_whole_batch_is_not():
    for relation in RELATIONS:
        whole = _price(GRADIENT, relation)[0]
        assert _price(PoissonBatch(GRADIENT, 0.1), relation)[0] < 0.5 * whole
        assert _price(PoissonBatch(GRADIENT, 1.0), relation)[0] == pytest.approx(whole, rel=1e-9)
