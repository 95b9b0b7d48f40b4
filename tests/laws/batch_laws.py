"""Batches by enumeration: what they give on average, and what they cost against exact densities of their answers."""

import itertools
import math
from functools import lru_cache

import numpy as np
from laws.ears import Ear, hear
from laws.listed import listed
from laws.rounding_laws import admitted, plain
from laws.unit_laws import several
from scipy import stats

from skdp.losses import BayesRank, ListNet, Logistic
from skdp.mechanisms import (
    BestCandidate,
    ClassSums,
    Coordinates,
    Count,
    FirstDecrease,
    GaussianFirstDecrease,
    Gradient,
    GradientDifference,
    LabelGradient,
    ListGradient,
    RandomBatch,
    RowNorms,
    SecondMoment,
    SteepestCoordinate,
)
from skdp.mechanisms._mechanism import Additive, Selection
from skdp.mechanisms.threshold import LineSearch
from skdp.privacy import accountants

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.5)
STEPS = {
    "at": np.zeros(2),
    "candidates": np.array([[2.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 0.0]]),
    "demands": np.array([0.3, 0.2, 0.1, 0.2]),
    "bounds": np.full(4, 0.3),
    "loss": Logistic(),
}
SHORT = {k: v[:1] if k in ("candidates", "demands", "bounds") else v for k, v in STEPS.items()}
CHOICES = np.array([[5.0, 0.0], [-5.0, 0.0], [0.0, 3.0]])
CASES = {
    Count: [Count(multiplier=1.0)],
    Gradient: [
        Gradient(at=np.zeros(2), loss=Logistic(), clip=0.3, multiplier=m) for m in (0.6, 2.0)
    ],
    GradientDifference: [
        GradientDifference(
            at=np.array([0.0, 4e4]),
            anchor=np.zeros(2),
            loss=Logistic(),
            clip=1.0,
            reach=0.3,
            multiplier=1.0,
        )
    ],
    SecondMoment: [SecondMoment(multiplier=m) for m in (0.6, 1.5)],
    # Without counts: with them the answers of two records span more than a plane.
    ClassSums: [ClassSums(classes=2, counts=0.0, multiplier=m) for m in (0.6, 1.5)],
    RowNorms: [RowNorms(coordinates=Coordinates(np.eye(2)), cap=0.5, multiplier=1.0)],
    BestCandidate: [BestCandidate(candidates=CHOICES, loss=Logistic(), cap=0.4, epsilon=1.0)],
    SteepestCoordinate: [
        SteepestCoordinate(at=np.zeros(2), loss=Logistic(), bound=0.2, epsilon=1.0)
    ],
    FirstDecrease: [
        FirstDecrease(**given, threshold_epsilon=1.0, query_epsilon=0.7) for given in (STEPS, SHORT)
    ],
    GaussianFirstDecrease: [
        GaussianFirstDecrease(**given, threshold_multiplier=1.0, query_multiplier=1.5)
        for given in (STEPS, SHORT)
    ],
    ListGradient: [
        ListGradient(at=np.zeros(2), loss=ListNet(), clip=0.3, multiplier=m) for m in (0.6, 2.0)
    ],
    LabelGradient: [
        LabelGradient(at=np.zeros(2), loss=BayesRank(), clip=0.3, multiplier=m) for m in (0.6, 2.0)
    ],
}
LEAN = 1e-3
RECORDS = (
    (np.array([math.sqrt(1.0 - LEAN**2), LEAN]), 1.0),
    (np.array([math.sqrt(1.0 - LEAN**2), LEAN]), -1.0),
    (np.array([-math.sqrt(1.0 - LEAN**2), LEAN]), 1.0),
    (np.array([0.0, 1.0]), 1.0),
    (np.zeros(2), 1.0),
)


def units_of(sides, rows):
    """The same pairs where records are units: of as many equal rows as may be in one world, of fewer in the other."""
    if rows == 1:
        return sides
    return [several(s, [i, *[rows - i] * (len(s) - 1)], rows) for i, s in enumerate(sides, 1)]


def worlds(relation, rows=1):
    """Pairs of vaults of two records or one, of which one is nothing and the other whatever it likes."""
    for one, other in itertools.combinations(RECORDS, 2):
        sides = []
        for x, label in (one, other):
            X, y = np.array([np.zeros(2), x]), np.array([1.0, label])
            sides.append(admitted(X, y, relation, 1.0, 0.0))
        if relation == "add_remove":
            sides[1] = sides[0].take(slice(0, 1))
        yield units_of(sides, rows)


# Two opposite documents or a single one, which has nothing to say.
ALONG, ACROSS = (np.array([x, -np.array(x)]) for x in ([1.0, 0.0], [0.0, 1.0]))
NOTHING = np.ones((1, 2)), np.ones(1)
LISTS = (
    (ALONG, np.array([1.0, 0.0])),
    (ALONG, np.array([0.0, 1.0])),
    (ACROSS, np.array([2.0, 1.0])),
    NOTHING,
)


def worlds_of_lists(relation):
    """Pairs of vaults of two lists or one, of which one is nothing and the other whatever it likes."""
    for one, other in itertools.combinations(LISTS, 2):
        sides = [listed([NOTHING, part], relation, most=2) for part in (one, other)]
        if relation == "add_remove":
            sides[1] = sides[0].take(slice(0, 1))
        yield sides


# ------------------------------------------------------------------------------------- averages


def batches(n, rate=None, size=None):
    """All batches of n records and their probabilities."""
    for k in range(n + 1) if size is None else (size,):
        share = 1.0 / math.comb(n, k) if rate is None else rate**k * (1.0 - rate) ** (n - k)
        for chosen in itertools.combinations(range(n), k):
            yield np.array(chosen, dtype=np.intp), share


def average(question, records, **given):
    """The mean of a batch's answers, noise left out, over all batches that may be drawn."""
    answers = (
        p * question.answer(records, Ear(batch=b)) for b, p in batches(len(records), **given)
    )
    return sum(answers)


def check_average(wrapped, records, share, **given):
    """A batch's answer is on average its share of what single records give: nothing is scaled by what was drawn."""
    inner = wrapped.question
    alone = [inner.answer(records.take(np.array([i])), Ear()) for i in range(len(records))]
    np.testing.assert_allclose(
        average(wrapped, records, **given), share * sum(alone), rtol=1e-10, atol=1e-12
    )


# --------------------------------------------------------------------------------------- prices


def means(question, records, weights):
    """Where the noisy numbers are centred for each batch, in deviations of their noise, and the batch's probability."""
    found = []
    for batch, share in weights:
        heard = hear(question, records.take(batch))
        if isinstance(question, GaussianFirstDecrease):
            heard = heard[1:]
        centre = np.concatenate([np.ravel(h.statistic) / h.scale.scale for h in heard])
        found.append((centre, share))
    return found


def true_deltas(one, other, cells=361):
    """sup over events of P - e^eps Q, and of Q - e^eps P, for mixtures of unit Gaussians in a plane at most."""
    centres = np.array([c for c, _ in (*one, *other)])
    origin = centres[0]
    _, sizes, axes = np.linalg.svd(centres - origin, full_matrices=False)
    assert np.all(sizes[2:] < 1e-6), "centres that span more than a plane"
    axes = axes[: 1 if len(sizes) < 2 or sizes[1] < 1e-6 else 2]
    flat = [[((c - origin) @ axes.T, p) for c, p in side] for side in (one, other)]
    low, high = (f([c for side in flat for c, _ in side], axis=0) for f in (np.min, np.max))
    grids = [np.linspace(a - 8.0, b + 8.0, cells) for a, b in zip(low, high)]
    P, Q = (
        sum(p * _outer([stats.norm.pdf(g - x) for g, x in zip(grids, c)]) for c, p in side)
        for side in flat
    )
    area = math.prod(g[1] - g[0] for g in grids)
    for epsilon in EPSILONS:
        yield epsilon, float(np.maximum(P - math.exp(epsilon) * Q, 0.0).sum() * area)
        yield epsilon, float(np.maximum(Q - math.exp(epsilon) * P, 0.0).sum() * area)


def _outer(parts):
    return parts[0] if len(parts) == 1 else np.multiply.outer(*parts)


def index_law(question, records):
    """Exact probabilities of a selection's or a search's answers, from the noise that it asks for."""
    heard = hear(plain(question) if isinstance(question, LineSearch) else question, records)
    if isinstance(question, Selection):
        scores = heard[0].statistic / heard[0].scale
        weights = np.exp(scores - scores.max())
        return weights / weights.sum()
    if isinstance(question, FirstDecrease):
        own, shared = heard[0].scale
        gaps, law = heard[0].statistic - question.demands, stats.laplace
    else:
        units = records.public.sensitivity_factor * question.bounds
        gaps = np.array([float(h.statistic[0]) for h in heard[1:]]) - question.demands / units
        own, shared = heard[1].scale.scale * np.ones(len(gaps)), heard[0].scale.scale
        shared, law = shared * np.ones(len(gaps)), stats.norm
    return _first_above(gaps, own, shared, law)


def _first_above(gaps, own, shared, law):
    t = law.ppf((np.arange(20_000) + 0.5) / 20_000)  # the threshold's noise, by its quantiles
    passes = law.sf((shared[:, None] * t - gaps[:, None]) / own[:, None])
    missed = np.cumprod(np.vstack([np.ones_like(t), 1.0 - passes]), axis=0)
    return np.append((missed[:-1] * passes).mean(axis=1), missed[-1].mean())


def sampled_index_law(question, records, rate):
    """The same on a Poisson batch."""
    drawn = batches(len(records), rate)
    return sum(share * index_law(question, records.take(batch)) for batch, share in drawn)


def discrete_deltas(p, q):
    """The same for laws of an index."""
    for epsilon, (a, b) in itertools.product(EPSILONS, ((p, q), (q, p))):
        yield epsilon, float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum())


@lru_cache(maxsize=512)
def _priced(event, epsilon, relation):
    return accountants.delta(((event, 1),), epsilon, relation)


def check_price(event, relation, found):
    """No (epsilon, delta) that was found lies above the price; returns how near the nearest comes."""
    nearest = 0.0
    for epsilon, delta in found:
        price = _priced(event, epsilon, relation)
        assert delta <= price * (1.0 + 2e-3) + 1e-8, f"{delta:.6g} is more than {price:.6g}"
        nearest = max(nearest, delta / price if delta > 1e-6 else 0.0)
    return nearest


def check_sampled_price(question, rate, relation, rows=1):
    """No pair of vaults has a larger delta than the price says; returns how near the worst one comes."""
    nearest = 0.0
    for sides in worlds_of_lists(relation) if question.of_lists else worlds(relation, rows):
        event = question.sampled_event(sides[0].public, rate)
        if isinstance(question, (Additive, GaussianFirstDecrease)):
            # Of a search, all queries at once, as the theorem has it.
            drawn = [list(batches(len(side), rate)) for side in sides]
            laws = [means(plain(question), side, b) for side, b in zip(sides, drawn)]
            found = check_price(event, relation, true_deltas(*laws))
        else:
            laws = [sampled_index_law(question, side, rate) for side in sides]
            check_price(event, relation, discrete_deltas(*laws))
            found = check_pure(event, relation, *laws)
        nearest = max(nearest, found)
    return nearest


def check_pure(event, relation, p, q):
    """No outcome is e^epsilon times as likely in the other world; returns which part of epsilon is used."""
    loss = float(np.abs(np.log(p / q)).max())
    price = accountants.epsilon(((event, 1),), 0.0, relation)
    assert loss <= price * (1.0 + 1e-3), f"{loss:.6g} is more than {price:.6g}"
    return loss / price


def check_fixed_price(question, size, n=2, rows=1):
    """The same for batches of a fixed size, the others all alike and opposite to the one that changes, or not."""
    nearest = 0.0
    for common, (one, other) in itertools.product(RECORDS, itertools.combinations(RECORDS, 2)):
        sides = []
        for x, label in (one, other):
            X, y = np.array([common[0]] * (n - 1) + [x]), np.array([common[1]] * (n - 1) + [label])
            sides.append(admitted(X, y, "replace_one", 1.0, 0.0))
        sides = units_of(sides, rows)
        event = RandomBatch(question, size).event(sides[0].public)
        laws = [means(question, side, batches(n, size=size)) for side in sides]
        nearest = max(nearest, check_price(event, "replace_one", true_deltas(*laws)))
    return nearest


def check_whole_price(question, relation):
    """Index laws of a search on all records against its own price."""
    for sides in worlds(relation):
        laws = [index_law(question, side) for side in sides]
        check_price(question.event(sides[0].public), relation, discrete_deltas(*laws))


def check_as_many_as_paid(question, records):
    """A search with Gaussian noise pays for every query that it may ask, each with the noise that is paid for."""
    never, event = plain(question), question.event(records.public)
    threshold, *queries = hear(never, records)
    assert len(queries) == event.max_queries, "queries that nobody pays for"
    for query in queries:
        assert query.scale.scale >= event.query_multiplier
    assert threshold.scale.scale >= event.threshold_multiplier
