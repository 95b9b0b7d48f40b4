"""The clip that solvers choose by themselves: it shortens no record where a fit begins."""

import math
from itertools import pairwise

import numpy as np
import pytest

from skdp.losses import LOSSES
from skdp.mechanisms import Public
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.solvers import Task
from skdp.solvers._rules import clip_rule

LEVELS = 10.0 ** np.arange(-6.0, 5.0)
BOUNDED = sorted(
    name
    for name, kind in LOSSES.items()
    if kind.kind in ("binary", "regression") and kind().slope is not None
)


def clips(name, row_bound=1.0):
    loss = LOSSES[name]()
    public = Public(n=1000, n_features=3, intercept=0.0, neighbors="replace_one")
    task = Task(loss, ScaledPenalty(NoPenalty(), 1.0, False), (3,))
    return loss, public, [clip_rule(task, public, level) for level in (*LEVELS, math.inf)]


@pytest.mark.parametrize("name", BOUNDED)
def test_no_record_is_shortened_at_the_start(name):
    loss, public, found = clips(name)
    targets = np.linspace(-1.0, 1.0, 41) if loss.kind == "regression" else np.array([-1.0, 1.0])
    steepest = np.abs(loss.dz(np.zeros(len(targets)), targets)).max() * public.row_bound
    assert min(found) >= steepest


@pytest.mark.parametrize("name", BOUNDED)
def test_no_clip_is_wider_than_the_loss_is_steep_and_less_noise_never_narrows_it(name):
    loss, public, found = clips(name)
    assert max(found) <= loss.slope * public.row_bound * (1 + 1e-12)
    assert all(quiet >= loud for quiet, loud in pairwise(found))
