"""Every price covers what its event stands for: two laws of an answer, worked out beside the event or elsewhere.

An event with a method `worst_pair(neighbors)` says there, outcome by outcome, how likely each is under the neighbours
that are told apart best. What any accountant says is held against it, once and twice in a row.
"""

import math

import numpy as np
import pytest
from event_samples import SAMPLES, kinds, name
from walls.checks import ROOT

from skdp.privacy import NEIGHBORS, accountants
from skdp.privacy._compose import reduced
from skdp.privacy._engines import ENGINES
from skdp.privacy.curves import currencies
from skdp.privacy.events import PureDP

# Events that are held against the truth by name: a file that knows a closed form, or integrates a density.
ELSEWHERE = {
    "test_true_delta.py": ("Gaussian", "Laplace", "PoissonGaussian", "PoissonPure", "PureDP"),
    "test_bounded_range.py": ("BoundedRange",),
    "test_moved_sums.py": ("MixtureOfGaussians",),
    "test_sampled_laplace.py": ("PoissonLaplace",),
    "true_delta_grid.py": ("BoundedRange", "WithoutReplacementGaussian"),
    "test_threshold.py": ("AboveThreshold", "GaussianAboveThreshold"),
    "test_objective_bruteforce.py": ("ObjectivePerturbation", "PureObjectivePerturbation"),
    "test_best_of.py": ("BestOf",),
    "test_bundles.py": ("PoissonBundle",),
    "test_random_allocation.py": ("RandomAllocation",),
    "test_rdp.py": ("RandomPosition",),
    "test_event_laws.py": ("RenyiDP", "ShuffledEpoch", "ZCDP"),
}
EPSILONS = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0)


def told_by_itself(event):
    """Whether the event says what it stands for."""
    return hasattr(event, "worst_pair")


def hockey_stick(p, q, epsilon):
    """How much more likely a set may be than e^epsilon times as likely, whoever comes first."""
    grown = math.exp(epsilon)
    return max(float(np.maximum(a - grown * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def composed(law, count):
    """The law of so many answers in a row."""
    out = law
    for _ in range(count - 1):
        out = np.multiply.outer(out, law).ravel()
    return out


def accountants_of(event, neighbors):
    """Those that price it."""
    counts = reduced(((event, 1),), neighbors)
    return ["auto", *(n for n in ENGINES if ENGINES[n].supports(counts, neighbors))]


def check_price(event, neighbors):
    """No accountant says less than the worst pair shows, and the pair shows half of what the best of them says."""
    pair = [np.asarray(law, float) for law in event.worst_pair(neighbors)]
    assert all(abs(law.sum() - 1.0) < 1e-9 and law.min() >= 0.0 for law in pair), "no law"
    shown = 0.0
    for count in (1, 2):
        p, q = (composed(law, count) for law in pair)
        for epsilon in EPSILONS:
            truth = hockey_stick(p, q, epsilon)
            for accountant in accountants_of(event, neighbors):
                said = accountants.delta(((event, count),), epsilon, neighbors, accountant)
                assert truth <= said * (1 + 1e-9) + 1e-12, f"{accountant} asks too little"
                shown = max(shown, truth / said if accountant == "auto" and said > 0 else 0.0)
    assert shown >= 0.5, f"the pair shows {shown:.3f} of what is charged"


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_event_says_what_it_stands_for_or_is_told_elsewhere(kind):
    files = [file for file, names in ELSEWHERE.items() if kind.__name__ in names]
    assert told_by_itself(kind) != bool(files), f"give {kind.__name__} a worst_pair"
    for file in files:
        assert kind.__name__ in (ROOT / "tests" / "privacy" / file).read_text(encoding="utf-8")


TOLD = [
    pytest.param(event, neighbors, id=f"{name(event)}-{neighbors}")
    for event in SAMPLES
    for neighbors in NEIGHBORS
    if told_by_itself(event) and currencies(event, neighbors)
]


@pytest.mark.parametrize(("event", "neighbors"), TOLD)
def test_a_price_covers_what_the_event_stands_for(event, neighbors):
    check_price(event, neighbors)


class Response:
    """A randomised response of some epsilon, which is told as one of another."""

    def __init__(self, really):
        self.really = really

    def __get__(self, event, kind):
        yes = 1.0 / (1.0 + math.exp(-self.really))
        return lambda neighbors: ([yes, 1.0 - yes], [1.0 - yes, yes])


@pytest.mark.parametrize(("really", "said"), [(0.31, "asks too little"), (0.1, "the pair shows")])
def test_a_price_below_the_truth_and_a_pair_that_shows_little_are_caught(monkeypatch, really, said):
    monkeypatch.setattr(PureDP, "worst_pair", Response(0.3), raising=False)
    check_price(PureDP(0.3), "replace_one")
    monkeypatch.setattr(PureDP, "worst_pair", Response(really))
    with pytest.raises(AssertionError, match=said):
        check_price(PureDP(0.3), "replace_one")
