"""Batches: their answers on average, and their prices against exact densities, for every mechanism that has one."""

import numpy as np
import pytest
from laws.batch_laws import (
    CASES,
    check_as_many_as_paid,
    check_average,
    check_fixed_price,
    check_sampled_price,
    check_whole_price,
    worlds,
)
from laws.sensitivity_laws import MEASURED, pair_of
from laws.vaults import RELATIONS, random_vault

from skdp import NotSupported
from skdp.mechanisms import (
    Count,
    FirstDecrease,
    GaussianFirstDecrease,
    Gradient,
    Noise,
    PoissonBatch,
    RandomBatch,
    SecondMoment,
)
from skdp.mechanisms._mechanism import Additive

ADDITIVE = [kind for kind in CASES if issubclass(kind, Additive)]
SHARP = {Count, Gradient}  # whose worst pair is among the worlds, and whose theorem is exact
FREE = {"Count": ("add_remove",)}  # where n is public it is not sold


def relations(kind):
    return FREE.get(kind.__name__, RELATIONS)


def _sampled(kind):
    """Whether the mechanism has a price on a batch, by its own word."""
    for relation in RELATIONS:
        try:
            question, records, *_ = pair_of(kind).worst_pair(relation)
            question.sampled_event(records.public, 0.1)
        except NotSupported:
            continue
        return True
    return False


def test_every_mechanism_with_a_price_on_batches_is_held_against_exact_densities():
    sampled = {kind.__name__ for kind in MEASURED if _sampled(kind)}
    assert sampled <= {kind.__name__ for kind in CASES}, "give the missing ones a case in CASES"


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda kind: kind.__name__)
def test_a_poisson_batch_gives_its_share_on_average(kind, rate):
    for relation in relations(kind):
        records = random_vault(2, n=6, d=2, neighbors=relation, intercept=0.0)
        check_average(PoissonBatch(CASES[kind][0], rate), records, rate, rate=rate)


@pytest.mark.parametrize("size", [0, 1, 3, 6])
@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda kind: kind.__name__)
def test_a_batch_of_fixed_size_gives_its_share_on_average(kind, size):
    if "replace_one" in relations(kind):
        records = random_vault(2, n=6, d=2, intercept=0.0)
        check_average(RandomBatch(CASES[kind][0], size), records, size / 6, size=size)


@pytest.mark.parametrize("relation", RELATIONS)
def test_batches_that_are_really_drawn_give_their_share_too(relation):
    records, rate = random_vault(2, n=40, d=2, neighbors=relation, intercept=0.0), 0.2
    question = CASES[Gradient][0]
    answers = [PoissonBatch(question, rate).answer(records, Noise(s)) for s in range(3000)]
    sd = np.std(answers, axis=0) / np.sqrt(len(answers))
    assert np.all(np.abs(np.mean(answers, axis=0) - rate * question.measure(records)) < 6 * sd)


@pytest.mark.parametrize("rate", [0.05, 0.5])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_prices_on_poisson_batches_cover_the_true_delta(kind, relation, rate):
    if relation in relations(kind):
        nearest = max(check_sampled_price(question, rate, relation) for question in CASES[kind])
        assert nearest > (0.8 if kind in SHARP else 0.05), "pairs that never come near show little"


@pytest.mark.parametrize("question", [CASES[Gradient][1], CASES[SecondMoment][1]])
def test_prices_on_batches_of_fixed_size_cover_the_true_delta(question):
    assert check_fixed_price(question, 1) > 0.3


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [FirstDecrease, GaussianFirstDecrease], ids=lambda k: k.__name__)
def test_searches_cost_no_less_than_their_answers_tell(kind, relation):
    for question in CASES[kind]:
        check_whole_price(question, relation)


@pytest.mark.parametrize("relation", RELATIONS)
def test_searches_pay_for_all_that_they_may_ask(relation):
    records = next(worlds(relation))[0]
    for question in CASES[GaussianFirstDecrease]:
        check_as_many_as_paid(question, records)
