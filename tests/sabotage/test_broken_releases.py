"""Releases with one thing wrong each: the worst pair that is there for them must reject them."""

from dataclasses import fields

import numpy as np
import pytest
from laws.sensitivity_laws import check_tight
from laws.worst_pairs import hidden_descent, noisy_minimiser, perturbed_objective

from skdp.mechanisms import HiddenDescent, NoisyMinimiser, PerturbedObjective, Schedule
from skdp.mechanisms._schedule import distances


def twin(question, cls, **given):
    """The worst pair's question as an instance of a broken class."""
    known = {f.name: getattr(question, f.name) for f in fields(question)}
    return cls(**{**known, **given})


class ForgetsThatARecordLeaves(NoisyMinimiser):
    def sensitivity(self, public):
        return super().sensitivity(public) / public.sensitivity_factor


class ClaimsTwice(NoisyMinimiser):
    def sensitivity(self, public):
        return 2 * super().sensitivity(public)


class ForgetsTheClip(PerturbedObjective):
    def answer(self, records, noise):
        return twin(self, PerturbedObjective, clip=None).answer(records, noise)


class PricesAnotherSchedule(HiddenDescent):
    """The published slip: the loop restarts its step, the price divides by all epochs so far."""

    def reach(self, public):
        steps = self.schedule.steps[0, 0] / np.arange(1, len(self.schedule.steps) + 1)
        forgotten = Schedule(
            np.repeat(steps[:, None], len(self.schedule.sizes), axis=1),
            self.schedule.sizes,
            self.schedule.period,
        )
        return distances(forgotten, self.clip, 0.0, self.convexity)


class PricesTheLargestBatch(HiddenDescent):
    """All batches taken to be as large as the largest."""

    def reach(self, public):
        sizes = (max(self.schedule.sizes),) * len(self.schedule.sizes)
        alike = Schedule(self.schedule.steps, sizes, self.schedule.period)
        return distances(alike, self.clip, 0.0, self.convexity)


def _checked(pairs, cls):
    question, records, neighbour, _ = pairs.worst_pair("replace_one")
    broken = twin(question, cls)
    if isinstance(broken, HiddenDescent):
        limit = float(broken.reach(records.public).max())
    elif isinstance(broken, NoisyMinimiser):
        limit = broken.sensitivity(records.public)
    else:
        limit = records.public.sensitivity_factor * broken.bound(records.public)
    check_tight(broken, records, neighbour, limit, distance=pairs.distance)


@pytest.mark.parametrize(
    "pairs, cls",
    [
        (noisy_minimiser, NoisyMinimiser),
        (perturbed_objective, PerturbedObjective),
        (hidden_descent, HiddenDescent),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_sound_releases_pass(pairs, cls):
    _checked(pairs, cls)


@pytest.mark.parametrize(
    "pairs, cls",
    [
        (noisy_minimiser, ForgetsThatARecordLeaves),
        (noisy_minimiser, ClaimsTwice),
        (perturbed_objective, ForgetsTheClip),
        (hidden_descent, PricesAnotherSchedule),
        (hidden_descent, PricesTheLargestBatch),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_broken_releases_are_rejected(pairs, cls):
    with pytest.raises(AssertionError, match="of the claim"):
        _checked(pairs, cls)
