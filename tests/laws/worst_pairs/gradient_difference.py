"""Points far apart, and two nearly opposite rows that both lean a little along the way between them.

The gradient of a convex loss never falls along the way, so the differences of two records cannot be quite opposite.
"""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import GradientDifference

LEAN = 1e-3
QUESTION = GradientDifference(
    at=np.array([0.0, 40.0 / LEAN]),
    anchor=np.zeros(2),
    loss=Logistic(),
    clip=1.0,
    reach=0.3,
    multiplier=1.0,
)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common, across = [[0.2, -0.1], [0.0, 0.5]], np.sqrt(1.0 - LEAN**2)
    given = {"neighbors": relation, "intercept": 0.0}
    records = vault([*common, [across, LEAN]], [1, -1, 1], **given)
    if relation == "replace_one":
        neighbour = vault([*common, [-across, LEAN]], [1, -1, 1], **given)
    else:
        neighbour = vault(common, [1, -1], **given)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size, clip = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    for loss in [loss() for loss in LOSSES.values() if loss is not Multinomial]:
        at, anchor = rng.normal(size=(2, public.width)) * size
        given = {"loss": loss, "clip": clip, "multiplier": 1.0}
        yield GradientDifference(at=at, anchor=anchor, reach=clip * rng.uniform(0.01, 2), **given)
