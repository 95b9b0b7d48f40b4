"""Vaults of units of several rows, adversarial ones among them, and what holds of every mechanism that claims them."""

import itertools
from dataclasses import replace

import numpy as np
from laws.ears import hear
from laws.sensitivity_laws import moved, pair_of

from skdp import NotSupported
from skdp.mechanisms import MECHANISMS, Mapped, Public, Records
from skdp.mechanisms._mechanism import Additive, Release, Selection
from skdp.mechanisms._units import Units
from skdp.mechanisms.threshold import LineSearch
from skdp.privacy._objective import log_jacobian

CLAIMING = sorted((q for q in MECHANISMS if q.covers_units), key=lambda q: q.__name__)
BATCHES = {"AllocatedBatch", "PoissonBatch", "RandomBatch"}
SUMS = [q for q in CLAIMING if q.__name__ not in BATCHES and not issubclass(q, Release)]
RELEASES = [q for q in CLAIMING if issubclass(q, Release)]
SIZES = (2, 3, 10)


# --------------------------------------------------------------------------------------- vaults


def grouped(units, rows, relation="add_remove", data_norm=1.0, intercept=0.25, rng=None):
    """A vault of units, each (X, y) or (X, y, weights); with `rng` their rows are mixed in the table.

    The units' first rows stay in order.
    """
    owner = np.repeat(np.arange(len(units)), [len(unit[1]) for unit in units])
    X, y, *weights = (np.concatenate(parts) for parts in zip(*units))
    order = np.arange(len(y)) if rng is None else mixed(owner, rng)
    names = np.array([str(7919 * (u + 1) % 104729) for u in range(len(units))])  # in no order
    n = len(units) if relation == "replace_one" else None
    public = Public(n, X.shape[1], intercept, relation, rows=rows, weighted=bool(weights))
    weights = [given[order] for given in weights]
    return Records.admit(X[order], y[order], public, data_norm, names[owner[order]], *weights)


def mixed(owner, rng):
    """An order of rows that keeps that of each unit's rows, and that of the units' first ones."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    rest = np.delete(np.arange(len(owner)), first)
    rng.shuffle(rest)
    places = np.empty_like(rest)
    places[np.argsort(owner[rest], kind="stable")] = np.sort(rest)
    slots = np.empty(len(rest), dtype=int)
    slots[np.argsort(owner[rest], kind="stable")] = np.arange(len(rest))
    return np.concatenate([first, np.sort(rest)[slots]])


def several(records, counts, rows):
    """The same records, of which record i is a unit of ``counts[i]`` equal rows."""
    index, units = np.repeat(np.arange(len(counts)), counts), Units.of(np.array(counts))
    public = replace(records.public, rows=rows)
    return Records(records.rows.take(index), records.y.take(index), public, units=units)


def random_unit(rng, most, d, data_norm):
    """Rows within, at and far beyond the bound, often all alike, of any number from 1; labels alike or not."""
    j = int(rng.integers(1, most + 1))
    X = rng.normal(size=(j, d)) * data_norm * 10.0 ** rng.integers(-8, 9, size=(j, 1))
    if rng.random() < 0.5:
        X[:] = X[0]
    X[rng.random(X.shape) < 0.2] = 0.0
    y = rng.choice([-1.0, 1.0], size=j)
    return X, np.full(j, y[0]) if rng.random() < 0.5 else y


def weighted_unit(rng, most, d, data_norm):
    """The same with a weight for each row, of which one is often 0 or 1."""
    X, y = random_unit(rng, most, d, data_norm)
    weights = rng.random(len(y))
    weights[rng.integers(len(y))] = rng.choice([0.0, 1.0, 0.3])
    return X, y, weights


def neighbours(seed, relation, rows, d, intercept, unit=random_unit):
    """Neighbours at random: a unit is replaced by one with another number of rows, or is gone."""
    rng = np.random.default_rng([seed, rows])
    data_norm = float(10.0 ** rng.integers(-3, 4))
    units = [unit(rng, 2 * rows, d, data_norm) for _ in range(int(rng.integers(2, 5)))]
    other, place = list(units), int(rng.integers(len(units)))
    if relation == "replace_one":
        other[place] = unit(rng, 2 * rows, d, data_norm)
    else:
        del other[place]
    given = {"relation": relation, "data_norm": data_norm, "intercept": intercept}
    return grouped(units, rows, **given), grouped(other, rows, **given)


# ------------------------------------------------------------------------------------- movement


def asked(kind, public, rng):
    """Questions of a kind, as its worst pair's module makes them."""
    module = pair_of(kind)
    made = module.questions(public, rng) if hasattr(module, "questions") else [module.QUESTION]
    return [question for question in made if type(question) is kind]


def used(question, records, neighbour):
    """How far neighbours move, over what is claimed."""
    public = records.public
    if isinstance(question, (Additive, Selection)):
        claim = question.sensitivity if isinstance(question, Additive) else question.spread
        return moved(question, records, neighbour) / claim(public)
    move = statistic(question, records) - statistic(question, neighbour)
    if isinstance(question, LineSearch):
        return float((np.abs(move) / question.sensitivity(public)).max())
    return float(np.linalg.norm(move) / question.question.sensitivity(question._seen(public)))


def statistic(question, records):
    """What the question adds up over records: nothing is hidden by noise or by an early yes."""
    if isinstance(question, LineSearch):
        return np.array(list(question.measure(records)))
    if isinstance(question, Mapped):
        return hear(question, records)[0].statistic
    return np.asarray(question.measure(records))


def check_units_never_exceed(
    kind, relation, rows, seeds=range(40), intercept=0.25, made=asked, unit=random_unit
):
    """Neighbours that differ in a unit never move further apart than claimed; how much of it they use at most."""
    most, d = 0.0, 2
    for seed in seeds:
        one, other = neighbours(seed, relation, rows, d, intercept, unit)
        for question in made(kind, one.public, np.random.default_rng(seed)):
            most = max(most, used(question, one, other))
    assert most <= 1.0 + 1e-9, f"a unit moves {most:.6g} times what is claimed"
    return most


def check_worst_unit(kind, relation, rows):
    """A unit of copies of the worst record moves as far as that record: the claim is reached, by units of all sizes."""
    try:
        question, records, neighbour, claim = pair_of(kind).worst_pair(relation)
    except NotSupported as refusal:
        assert "neighbors" in str(refusal)
        return None
    distance = getattr(pair_of(kind), "distance", moved)
    found = []
    for last in {1, 2, rows}:
        one = several(records, [1] * (len(records) - 1) + [last], rows)
        other = several(neighbour, [1] * (len(neighbour) - 1) + [rows], rows)
        found.append(distance(question, one, other) / claim)
    assert max(found) <= 1.0 + 1e-6, f"a unit moves {max(found):.6f} of the claim"
    assert min(found) >= 0.99, f"the worst unit moves by {min(found):.6f} of the claim"
    return max(found)


# ------------------------------------------------------------------------------------- averages


def random_units(rng, rows, d=2, unit=random_unit):
    """A few units, of which some have more rows than are kept."""
    return [unit(rng, 2 * rows, d, 1.0) for _ in range(int(rng.integers(1, 6)))]


def mean_of_rows(question, units, rows, intercept):
    """Sum over units of the average of what their first rows give, each alone in a vault, times its weight."""
    total = 0.0
    for X, y, *weights in units:
        kept = range(min(rows, len(y)))
        alone = [
            statistic(question, grouped([(X[i : i + 1], y[i : i + 1])], rows, intercept=intercept))
            for i in kept
        ]
        if weights:
            alone = [weights[0][i] * alone[i] for i in kept]
        total = total + sum(alone) / len(alone)
    return total


def check_average(kind, rows, seeds=range(20), intercept=0.25, made=asked, unit=random_unit):
    """A unit contributes the average of what its first rows contribute, wherever they stand in the table."""
    for seed in seeds:
        rng = np.random.default_rng([seed, rows])
        units = random_units(rng, rows, unit=unit)
        whole = grouped(units, rows, intercept=intercept, rng=rng)
        for question in made(kind, whole.public, np.random.default_rng(seed)):
            question = replace(question, offsets=0.0) if hasattr(question, "offsets") else question
            wanted = mean_of_rows(question, units, rows, intercept)
            scale = 1.0 + np.abs(wanted).max()
            assert np.abs(statistic(question, whole) - wanted).max() <= 1e-9 * scale


def check_batches_take_units(records, units, rows, question):
    """A batch of units is the vault of these units: no row of another, and none is left behind."""
    for index in (np.array([1]), np.array([2, 0]), slice(1, 3), np.array([], dtype=int)):
        chosen = [units[i] for i in np.arange(len(units))[index]]
        batch = records.take(index)
        assert len(batch) == len(chosen)
        wanted = mean_of_rows(question, chosen, rows, 0.25) if chosen else 0.0
        assert np.abs(statistic(question, batch) - wanted).max() <= 1e-9


def check_kept(units, rows, rng):
    """What is kept of a unit is its first rows, at most so many, and nothing of it depends on anybody else."""
    whole = grouped(units, rows, rng=rng)
    cut = grouped([(X[:rows], y[:rows]) for X, y in units], rows)
    assert len(whole) == len(units) == len(whole.units)
    counts = np.diff(whole.units.offsets)
    assert counts.max() <= rows, "a unit of more rows than were declared"
    np.testing.assert_array_equal(counts, [min(rows, len(y)) for _, y in units])
    np.testing.assert_array_equal(whole.rows.to_dense(), cut.rows.to_dense())
    np.testing.assert_array_equal(whole.y, cut.y)


def check_bend_of_a_unit(question, rows, d, intercept):
    """The price counts the largest ratio of Jacobians: log det(I + Hessian of one unit over all else), at w = 0.

    Of all units of so many rows, each along an axis on either side; how near the price is to the worst of them.
    """
    axes = np.vstack([np.eye(d), -np.eye(d)])
    public = Public(1, d, intercept, "replace_one", rows=rows)
    counted = log_jacobian(question.event(public))
    common = question.convexity(public)
    whole = np.append(np.full(d, common.features), [common.intercept] * (intercept > 0))
    worst = 0.0
    for chosen in itertools.combinations_with_replacement(axes, rows):
        one = Records.admit(np.array(chosen), np.ones(rows), public, 1.0, np.zeros(rows, dtype=int))
        bend = one.share * question.loss.d2z(np.zeros(rows), one.y)
        x = one.rows.to_dense()
        worst = max(worst, np.linalg.slogdet(np.eye(len(whole)) + (x.T * bend) @ x / whole)[1])
    assert worst <= counted * (1.0 + 1e-12), f"{worst:.6g} where {counted:.6g} is counted"
    return worst / counted
