"""Questions about lists with one thing wrong each: the laws of sensitivity, and of public noise, reject them."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from laws.ears import hear
from laws.listed import labelled, listed, random_list
from laws.sensitivity_laws import check_never_exceeded, pair_of
from scipy import stats

from skdp.losses import BayesRank, ListNet
from skdp.mechanisms import LabelGradient, ListGradient, ListTargets, PoissonBatch
from skdp.mechanisms.lists import lists_of
from skdp.privacy import accountants


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipsDocuments(ListGradient):
    """Each document is clipped, and the list is not: it counts for as many clips as it has documents."""

    def _clipped(self, records):
        slopes = self.loss.slopes(records.rows.dot(self.at), records.y, lists_of(records))
        weights = np.minimum(
            1.0, self.clip / np.maximum(np.abs(slopes) * records.rows.norms, 1e-99)
        )
        return records.rows.tdot(weights * slopes)


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheSpan(LabelGradient):
    """As if the vectors of a list were half as far apart."""

    def measure(self, records):
        return 2.0 * super().measure(records)


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheDiameter(ListTargets):
    """As if labels could move a list from its middle alone."""

    def bound(self, public):
        return 0.5 * super().bound(public)


@pytest.mark.parametrize(
    ("kind", "twin"),
    [
        (ListGradient, ClipsDocuments),
        (LabelGradient, HalfTheSpan),
        (ListTargets, HalfTheDiameter),
    ],
)
def test_a_twin_that_claims_too_little_is_rejected(kind, twin):
    question, *pair, _ = pair_of(kind).worst_pair("replace_one")
    broken = twin(**{f.name: getattr(question, f.name) for f in fields(question)})
    check_never_exceeded(question, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken, [pair])


# ------------------------------------------------------------------ noise by the lists of a batch


@dataclass(frozen=True, eq=False, kw_only=True)
class WidestOfTheBatch(LabelGradient):
    """Noise by the widest list of the batch, as published: it depends on no label, and tells which lists were drawn."""

    def answer(self, records, noise):
        lists = lists_of(records)
        p = self._chances(records.rows.dot(self.at), lists)
        x = records.rows.to_dense()
        middles = np.array([p[lists.owner == j] @ x[lists.owner == j] for j in range(len(lists))])
        reach = float((p * np.linalg.norm(x - middles[lists.owner], axis=1)).max())
        return LabelGradient.answer(replace(self, clip=reach), records, noise)


WIDE, NARROW = [[1.0, 0.0], [-1.0, 0.0]], [[0.02, 0.0], [-0.02, 0.0]]
VAULT = labelled([*WIDE, *NARROW, *NARROW], [2, 2, 2], [1, 0, 0, 1, 1, 0])


def scale_of(question, batch):
    """Deviation of the noise on a batch."""
    (heard,) = hear(PoissonBatch(question, 0.1), VAULT, batch=np.array(batch))
    return heard.scale.scale


def check_noise_tells_no_batch(question):
    """The noise is the same, whoever was drawn."""
    assert scale_of(question, [0, 1]) == scale_of(question, [1, 2]), "noise that tells of the batch"


def test_noise_by_the_widest_list_of_the_batch_is_rejected():
    given = {"at": np.zeros(2), "loss": BayesRank(), "clip": 0.5, "multiplier": 2.0}
    check_noise_tells_no_batch(LabelGradient(**given))
    with pytest.raises(AssertionError, match="noise that tells"):
        check_noise_tells_no_batch(WidestOfTheBatch(**given))


def delta_of_a_step(epsilon, rate, wide, narrow, multiplier):
    """Of one number of a batch that holds the wide list with probability `rate`, for opposite labels of it."""
    z = np.linspace(-12.0, 12.0, 400_001) * multiplier * wide
    calm = (1.0 - rate) * stats.norm.pdf(z, 0.0, multiplier * narrow)
    one, other = (rate * stats.norm.pdf(z, s * wide, multiplier * wide) for s in (1.0, -1.0))
    gap = np.maximum(calm + one - np.exp(epsilon) * (calm + other), 0.0)
    return float(gap.sum() * (z[1] - z[0]))


def test_what_a_batch_costs_is_not_what_it_would_cost_if_its_noise_told_its_lists():
    """Amplification counts on noise that hides who was drawn: with the published scale delta is 1,000 times more."""
    rate, multiplier, epsilon = 0.02, 4.0, 0.3
    event = LabelGradient(
        at=np.zeros(2), loss=BayesRank(), clip=1.0, multiplier=multiplier
    ).sampled_event(VAULT.public, rate)
    paid = accountants.delta(((event, 1),), epsilon, "replace_one")
    assert delta_of_a_step(epsilon, rate, 1.0, 1.0, multiplier) <= paid * 1.01 + 1e-12
    assert delta_of_a_step(epsilon, rate, 1.0, 0.04, multiplier) > 1000.0 * max(paid, 1e-12)


# ------------------------------------------------------------------------------ labels that clip


def test_a_factor_in_which_labels_have_a_say_would_be_noticed():
    """Clipping by the labels' own gradient keeps its norm, and not the distance of two of them."""
    rng = np.random.default_rng(0)
    question = LabelGradient(
        at=np.ones(3), loss=BayesRank(), clip=0.05, paired=True, multiplier=1.0
    )
    clipped = ListGradient(at=np.ones(3), loss=BayesRank(), clip=0.05, multiplier=1.0)
    worst = 0.0
    for _ in range(50):
        X, _ = random_list(rng, 3)
        ends = [labelled(X, [len(X)], np.eye(len(X))[i]) for i in range(len(X))]
        moves = [(a, b) for a in ends for b in ends]
        check_never_exceeded(question, moves)
        worst = max(
            worst, *(np.linalg.norm(clipped.measure(a) - clipped.measure(b)) for a, b in moves)
        )
    assert worst > 1.5 * question.clip


def test_whole_lists_never_move_the_clipped_sum_beyond_the_claim():
    question = ListGradient(at=np.ones(3), loss=ListNet(), clip=0.05, multiplier=1.0)
    for seed in range(50):
        rng = np.random.default_rng(seed)
        lists = [random_list(rng, 3) for _ in range(4)]
        other = [*lists[:3], random_list(rng, 3)]
        check_never_exceeded(question, [(listed(lists, most=6), listed(other, most=6))])
