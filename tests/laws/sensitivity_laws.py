"""How far an answer really moves between neighbours, held against what is claimed and paid for."""

import importlib
import re

import numpy as np
from laws.vaults import vault

from skdp.mechanisms import MECHANISMS
from skdp.mechanisms._mechanism import Additive, Selection

FAMILIES = {"FirstDecrease": "LineSearch", "GaussianFirstDecrease": "LineSearch"}  # of one pair

# A batch measures nothing of its own.
WRAPPERS = {"AllocatedBatch", "PoissonBatch", "RandomBatch"}
MEASURED = sorted((q for q in MECHANISMS if q.__name__ not in WRAPPERS), key=lambda q: q.__name__)


def pair_of(question):
    """The worst-case pair that belongs to a mechanism: laws/worst_pairs/<name_of_the_class>.py."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", FAMILIES.get(question.__name__, question.__name__))
    return importlib.import_module(f"laws.worst_pairs.{name.lower()}")


def claimed(question, public):
    """What the price rests on."""
    if isinstance(question, Selection):
        return question.spread(public)
    return question.sensitivity(public)


def paid(question, public):
    """Movement over noise that the event is priced for; noise is of size multiplier * bound."""
    return question.multiplier * question.bound(public) / question.event(public).multiplier


def moved(question, records, neighbour):
    """Norm of the move of a sum; range of the moves of scores."""
    move = np.asarray(question.measure(records)) - np.asarray(question.measure(neighbour))
    return float(np.ptp(move) if isinstance(question, Selection) else np.linalg.norm(move))


def check_never_exceeded(question, pairs, slack=1e-9):
    """Neighbours never move further apart than claimed, nor than what was paid for."""
    for records, neighbour in pairs:
        limit = claimed(question, records.public)
        assert moved(question, records, neighbour) <= limit * (1 + slack)
        if isinstance(question, Additive):
            assert limit <= paid(question, records.public) * (1 + 1e-12)


def check_tight(question, records, neighbour, limit, distance=moved):
    """The mechanism's own worst pair reaches the claim: it is not loose, and not exceeded."""
    ratio = distance(question, records, neighbour) / limit
    assert 0.99 <= ratio <= 1 + 1e-9, f"the worst pair moves by {ratio:.6f} of the claim"


def neighbours(seed, relation, d, intercept, dtype=np.float64, target_bound=1.0):
    """Two neighbouring vaults at random: rows within, at and far beyond the bound, tiny and huge."""
    rng = np.random.default_rng(seed)
    n, data_norm = int(rng.integers(1, 6)), float(10.0 ** rng.integers(-3, 4))
    X = rng.normal(size=(n + 1, d)) * data_norm * 10.0 ** rng.integers(-8, 9, size=(n + 1, 1))
    X[rng.random(X.shape) < 0.2] = 0.0
    y = rng.choice([-1.0, 1.0], size=n + 1) * target_bound
    given = {
        "neighbors": relation,
        "data_norm": data_norm,
        "intercept": intercept,
        "dtype": dtype,
    }
    if relation == "replace_one":
        swapped = [*range(n - 1), n]
        return vault(X[:n], y[:n], **given), vault(X[swapped], y[swapped], **given)
    return vault(X, y, **given), vault(X[:n], y[:n], **given)
