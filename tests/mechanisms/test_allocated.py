"""Batches of an epoch of random allocation: each record in one of them, uniformly; each is asked once, as paid for."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from laws.ears import Ear
from laws.noise_laws import check_counts
from laws.vaults import RELATIONS, vault

from skdp import NotSupported, OffScript
from skdp.losses import Logistic
from skdp.mechanisms import AllocatedBatch, BestCandidate, Count, Gradient, Noise, Oracle, price
from skdp.privacy import epsilon
from skdp.privacy.events import PureDP, RandomAllocation
from skdp.privacy.ledger import Filter, Recorder
from skdp.privacy.spec import Spec

N, T = 6, 3
X = 0.9 * np.eye(N)  # each record has a coordinate of its own


def gradient(multiplier=1.0):
    return Gradient(at=np.zeros(N + 1), loss=Logistic(), clip=0.1, multiplier=multiplier)


def records(relation="replace_one"):
    return vault(X, np.ones(N), relation)


def epoch(seed, kind=AllocatedBatch, batches=T):
    """Who was in which batch of an epoch, seen through sums without noise."""
    held, ear = records(), Ear(seed)
    return np.array(
        [kind(gradient(), batches, opens=k == 0).answer(held, ear)[:N] != 0 for k in range(batches)]
    )


def check_allocation(kind=AllocatedBatch, epochs=3000):
    """Each record is in exactly one batch, each batch is as likely, and records are independent."""
    found = np.array([epoch(seed, kind) for seed in range(epochs)])
    assert (found.sum(axis=1) == 1).all(), "a record that is in no batch, or in several"
    where = found.argmax(axis=1)
    for record in range(N):
        check_counts(np.bincount(where[:, record], minlength=T), np.full(T, epochs / T))
    pairs = [(where[:, i] == where[:, j]).mean() for i in range(N) for j in range(i)]
    spread = np.sqrt(1 / T * (1 - 1 / T) / epochs)
    assert np.abs(np.array(pairs) - 1 / T).max() < 6 * spread, "records that keep together"


def test_each_record_is_in_one_random_batch():
    check_allocation()


@dataclass(frozen=True, eq=False)
class Dealt(AllocatedBatch):
    """Batches of equal size."""

    def answer(self, records, noise):
        noise.allocation = lambda n, batches: noise.permutation(n) % batches
        return super().answer(records, noise)


@dataclass(frozen=True, eq=False)
class ByContent(AllocatedBatch):
    """The batch of a record follows from what it holds."""

    def answer(self, records, noise):
        content = records.rows.norms + np.arange(len(records))
        noise.allocation = lambda n, batches: content.astype(int) % batches
        return super().answer(records, noise)


@dataclass(frozen=True, eq=False)
class DrawnAnew(AllocatedBatch):
    """Every batch is the first of an allocation of its own: a Poisson batch at the price of an epoch."""

    def answer(self, records, noise):
        return AllocatedBatch(self.question, self.batches, opens=True).answer(records, noise)


@pytest.mark.parametrize("broken", [Dealt, ByContent, DrawnAnew])
def test_batches_that_are_not_allocated_at_random_are_rejected(broken):
    with pytest.raises(AssertionError):
        check_allocation(broken, epochs=400)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_first_batch_pays_for_the_epoch(relation):
    account = Recorder()
    oracle = Oracle(records(relation), account, Noise(0))
    for k in range(2 * T):
        oracle.ask(AllocatedBatch(gradient(2.0), T, opens=k % T == 0))
    whole = (RandomAllocation(2.0, T), 1), (PureDP(0.0), T - 1)
    assert account.script == 2 * whole
    assert "random_allocation" in oracle.proofs


def refused(held, *questions):
    """Whether the last of the questions gets no answer."""
    *asked, last = questions
    noise = Noise(0)
    for question in asked:
        question.answer(held, noise)
    with pytest.raises(OffScript, match="opens=True"):
        last.answer(held, noise)


def test_nothing_is_asked_that_no_epoch_has_paid_for():
    def first(z=1.0, batches=T):
        return AllocatedBatch(gradient(z), batches, opens=True)

    def other(z=1.0, batches=T):
        return AllocatedBatch(gradient(z), batches, opens=False)

    refused(records(), other())  # no epoch
    refused(records(), first(), *[other()] * T)  # one batch too many
    refused(records(), first(2.0), other(1.0))  # less noise than was paid for
    refused(records(), first(batches=T), other(batches=2 * T))
    refused(records().take(np.arange(3)), other())  # a batch of a vault is another vault
    held = records()
    first().answer(held, Noise(0))
    refused(held.take(slice(None)), other())


def test_a_refusal_tells_nothing_of_the_records():
    said = []
    for X_, n in ((X, N), (np.zeros((2, N)), 2)):
        held = vault(X_, np.ones(n), "add_remove")
        AllocatedBatch(gradient(), 1, opens=True).answer(held, Noise(0))
        with pytest.raises(OffScript) as refusal:
            AllocatedBatch(gradient(), 1, opens=False).answer(held, Noise(0))
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_threads_never_get_the_same_batch():
    held, batches = records(), 40
    AllocatedBatch(gradient(), batches, opens=True).answer(held, Ear(0))
    found, go = [], threading.Barrier(8)

    def ask():
        go.wait()
        try:
            while True:
                question = AllocatedBatch(gradient(), batches, opens=False)
                found.append(question.answer(held, Ear(0))[:N] != 0)
        except OffScript:
            pass

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == batches - 1 and np.sum(found, axis=0).max() <= 1


def test_more_batches_than_records_leave_some_empty():
    found = epoch(0, batches=50)
    assert found.sum() == N and (found.sum(axis=1) == 0).any()


def test_a_billion_batches_take_no_memory_and_have_a_price():
    held = records()
    question = AllocatedBatch(gradient(), 10**9, opens=True)
    question.answer(held, Noise(0))
    assert 0 < epsilon(((question.event(held.public), 1),), 1e-6) < 0.05


def test_what_has_no_price_there_is_refused():
    choice = BestCandidate(candidates=np.zeros((2, N + 1)), loss=Logistic(), cap=1.0, epsilon=1.0)
    with pytest.raises(NotSupported, match="no price on an allocated batch"):
        AllocatedBatch(choice, T, opens=True)
    for batches in (0, 2**32):
        with pytest.raises(ValueError, match="from 1 to"):
            AllocatedBatch(gradient(), batches, opens=True)
    assert price(AllocatedBatch(Count(multiplier=2.0), T, True), records("add_remove").public) == (
        RandomAllocation(2.0, T)
    )


def test_a_filter_charges_an_epoch_as_a_batch_that_all_know():
    account = Filter(Spec(1.0, 1e-6, "add_remove"), "gdp")
    oracle = Oracle(records("add_remove"), account, Noise(0))
    oracle.ask(AllocatedBatch(gradient(20.0), T, opens=True))
    spent = account.spent
    oracle.ask(AllocatedBatch(gradient(20.0), T, opens=False))
    assert account.spent == spent > 0
