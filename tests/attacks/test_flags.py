"""What is priced is what is answered: flags that change their mind, questions changed in between (B3, B4)."""

from dataclasses import replace

import numpy as np
import pytest
from laws.vaults import vault

from skdp.losses import Huber, Logistic
from skdp.mechanisms import (
    Gradient,
    HiddenDescent,
    Noise,
    NoisyMinimiser,
    Oracle,
    PerturbedObjective,
    PoissonBatch,
    Schedule,
)
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.privacy.events import PureDP, RandomPosition
from skdp.privacy.ledger import Recorder

N = 6


class Flipping:
    """True the first time it is asked, then false, and so on."""

    def __init__(self, first):
        self.now, self.asked = not first, 0

    def __bool__(self):
        self.now, self.asked = not self.now, self.asked + 1
        return self.now


def release(kind, **flags):
    given = {
        "loss": Logistic(),
        "penalty": ScaledPenalty(NoPenalty()),
        "shape": (4,),
        "multiplier": 2.0,
    }
    if kind is HiddenDescent:
        schedule = Schedule.constant(0.5, 2, (2, 4))
        return kind(**given, schedule=schedule, convexity=0.1, **flags)
    return kind(**given, strength=1.0, **flags)


def records():
    rng = np.random.default_rng(0)
    return vault(rng.normal(size=(N, 3)), rng.choice([-1.0, 1.0], N))


FLAGS = [
    (HiddenDescent, "pure"),
    (HiddenDescent, "shuffle"),
    (NoisyMinimiser, "pure"),
    (PerturbedObjective, "pure"),
]


class Watched(Noise):
    """Takes note of which noise is asked for."""

    def __init__(self):
        super().__init__(0)
        self.kinds = []

    def gaussian(self, statistic, grid):
        self.kinds.append("gaussian")
        return super().gaussian(statistic, grid)

    def radial(self, statistic, grid):
        self.kinds.append("radial")
        return super().radial(statistic, grid)

    def permutation(self, n):
        self.kinds.append("permutation")
        return super().permutation(n)


def asked_for(question):
    """What is paid for one answer, and the noise that it carries."""
    noise, account = Watched(), Recorder()
    Oracle(records(), account, noise).ask(question)
    ((event, _),) = account.script
    return event, sorted(noise.kinds)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind, flag", FLAGS)
def test_a_flag_is_settled_once(kind, flag, first):
    flips = Flipping(first)
    question = release(kind, **{flag: flips})
    assert getattr(question, flag) is first and flips.asked == 1
    plain, told = asked_for(release(kind, **{flag: first})), asked_for(question)
    assert repr(plain[0]) == repr(told[0]) and plain[1] == told[1] and flips.asked == 1


@pytest.mark.parametrize("kind, flag", FLAGS[:3])
def test_a_flag_that_is_not_settled_is_priced_as_one_thing_and_answered_as_another(kind, flag):
    # As it was: the object stays in the field.
    agreed = []
    for first in (True, False):
        question, noise = release(kind), Watched()
        object.__setattr__(question, flag, Flipping(first))
        event = question.event(records().public)
        question.answer(records(), noise)
        if flag == "pure":
            agreed.append(isinstance(event, PureDP) == ("radial" in noise.kinds))
        else:
            agreed.append(isinstance(event, RandomPosition) == ("permutation" in noise.kinds))
    assert False in agreed


# ------------------------------------------------------------- changed between price and answer


class Meddling(Recorder):
    """An account whose charge lets another thread in: it changes the question that was just priced."""

    def __init__(self, target, **fields):
        super().__init__()
        self.target, self.fields = target, fields

    def charge(self, event):
        super().charge(event)
        for name, value in self.fields.items():
            object.__setattr__(self.target, name, value)


def spread(question, meddled=None, runs=40, **fields):
    """Deviation of the answers, with a question that is changed while it is paid for."""
    told = []
    for seed in range(runs):
        fresh = question()
        target = fresh if meddled is None else meddled(fresh)
        account = Meddling(target, **fields) if fields else Recorder()
        told.append(Oracle(records(), account, Noise(seed)).ask(fresh))
    return float(np.std(told))


def gradient():
    return Gradient(at=np.zeros(4), loss=Logistic(), clip=1.0, multiplier=50.0)


def batch():
    return PoissonBatch(gradient(), 0.5)


@pytest.mark.parametrize("field, value", [("multiplier", 1e-6), ("clip", 1e-6)])
def test_a_question_changed_while_it_is_paid_for_is_answered_as_it_was_priced(field, value):
    assert spread(gradient, **{field: value}) == spread(gradient)
    inner = spread(batch, lambda question: question.question, **{field: value})
    assert inner == spread(batch)


def test_an_array_changed_in_place_while_it_is_paid_for_does_not_change_the_answer():
    def account_for(question):
        class Scribbling(Recorder):
            def charge(self, event):
                super().charge(event)
                question.at.setflags(write=True)
                question.at[:] = 7.0

        return Scribbling()

    question = gradient()
    told = Oracle(records(), account_for(question), Noise(0)).ask(question)
    assert (told == Oracle(records(), Recorder(), Noise(0)).ask(gradient())).all()


@pytest.mark.parametrize("kind", [HiddenDescent, NoisyMinimiser, PerturbedObjective])
def test_a_release_changed_while_it_is_paid_for_is_answered_as_it_was_priced(kind):
    for fields in ({"multiplier": 1e-9}, {"pure": True}, {"loss": None}):
        assert spread(lambda: release(kind), runs=3, **fields) == spread(
            lambda: release(kind), runs=3
        )


@pytest.mark.parametrize("kind", [HiddenDescent, NoisyMinimiser, PerturbedObjective])
def test_a_loss_changed_while_it_is_paid_for_is_answered_as_it_was_priced(kind):
    def made():
        return replace(release(kind), loss=Huber(0.5))

    changed = spread(made, lambda question: question.loss, runs=3, delta=50.0)
    assert changed == spread(made, runs=3)


def test_the_meddler_is_able_to_meddle():
    # A question that is not copied: what it is answered with is what it was changed to.
    question = gradient()
    Meddling(question, multiplier=1e-6).charge(question.event(records().public))
    told = question.answer(records(), Noise(0)) - question.measure(records())
    assert np.abs(told).max() < 1e-3
