"""Laws that drawn noise must have, as functions that accept a sample or complain."""

import numpy as np
from scipy import stats

SAMPLES = 20_000
# Seeded tests are deterministic, so this is no rate of false alarms; those that draw from the operating system
# raise one in ten million runs.
ALPHA = 1e-7


def accepts(sample, law):
    """Whether a Kolmogorov-Smirnov test lets the sample pass as drawn from the law."""
    return stats.kstest(np.ravel(sample), law.cdf).pvalue > ALPHA


def check_law(sample, law):
    """The sample has the law."""
    assert accepts(sample, law), f"no sample of {law.dist.name}{law.args}"


def check_can_tell(sample, law):
    """The test would reject two thirds and three halves of the scale."""
    assert not accepts(sample * (2 / 3), law) and not accepts(sample * 1.5, law)


def additive_noise(question, records, noise, repetitions):
    """Noise of a sum over the bound of a record's contribution: standard normal times the multiplier."""
    exact = np.asarray(question.measure(records), dtype=np.float64)
    answers = np.array([question.answer(records, noise) for _ in range(repetitions)])
    return (answers - exact) / question.bound(records.public)


def check_additive_noise(question, records, noise, repetitions=4000):
    """A sum carries normal noise of the size that its event was priced for."""
    paid = question.event(records.public).multiplier * question.sensitivity(records.public)
    noise = additive_noise(question, records, noise, repetitions) * question.bound(records.public)
    check_law(noise / paid, stats.norm())
    centred = noise.reshape(repetitions, -1)
    if centred.shape[1] > 1:
        correlation = np.corrcoef(centred.T)[0, 1]
        assert abs(correlation) < 6 / np.sqrt(repetitions), "coordinates share their noise"
    serial = np.corrcoef(centred[:-1, 0], centred[1:, 0])[0, 1]
    assert abs(serial) < 6 / np.sqrt(repetitions), "answers share their noise"


def check_selection_noise(question, records, noise, repetitions=4000):
    """A selection has the probabilities of the exponential mechanism at the epsilon that was paid."""
    scores = np.asarray(question.measure(records))
    scale = question.spread(records.public) / question.event(records.public).epsilon
    weights = np.exp((scores - scores.max()) / scale)
    chosen = [question.answer(records, noise) for _ in range(repetitions)]
    counts = np.bincount(chosen, minlength=len(scores))
    expected = repetitions * weights / weights.sum()
    assert expected.min() > 5, "a test of probabilities that are never seen shows nothing"
    assert stats.chisquare(counts, expected).pvalue > ALPHA


def check_softmax(choose, scores, scale, repetitions=6000):
    """Index k is chosen with probability proportional to exp(score / scale)."""
    weights = np.exp((scores - scores.max()) / scale)
    chosen = np.bincount([choose(scores, scale) for _ in range(repetitions)], minlength=len(scores))
    check_counts(chosen, repetitions * weights / weights.sum())


def check_poisson_batch(draw, n, rate, repetitions=4000):
    """Independent coins: sizes are binomial, every record is taken equally often, pairs are independent."""
    batches = [np.asarray(draw(n, rate)) for _ in range(repetitions)]
    taken = np.zeros((repetitions, n))
    for row, batch in zip(taken, batches):
        assert np.all(np.diff(batch) > 0) and (batch.size == 0 or 0 <= batch[0] <= batch[-1] < n)
        row[batch] = 1.0
    hits = taken.sum(axis=0)
    spread = np.sqrt(repetitions * rate * (1 - rate))
    assert np.all(np.abs(hits - repetitions * rate) < 6 * spread), "some record is taken too often"
    sizes = np.bincount(taken.sum(axis=1).astype(int), minlength=n + 1)
    check_counts(sizes, repetitions * stats.binom(n, rate).pmf(np.arange(n + 1)))
    pairs = (taken.T @ taken)[np.triu_indices(n, 1)]
    spread = np.sqrt(repetitions * rate**2 * (1 - rate**2))
    assert np.all(np.abs(pairs - repetitions * rate**2) < 6 * spread), "records come in pairs"


def check_geometric(gaps, rate):
    """Gaps between successes of independent coins: counted one by one where they are often seen, pooled beyond."""
    last = int(np.log(100 / len(gaps)) / np.log1p(-rate))
    last = min(max(last, 1), 5000)
    counts = np.bincount(np.minimum(gaps, last + 1), minlength=last + 2)
    assert counts[0] == 0, "a record would be taken twice"
    below = stats.geom(rate).pmf(np.arange(last + 1))
    check_counts(counts, len(gaps) * np.append(below, stats.geom(rate).sf(last)))


def check_subset(draw, n, size, repetitions=4000):
    """Every record, and every pair of records, is as likely as any other."""
    taken = np.zeros((repetitions, n))
    for row in taken:
        batch = np.asarray(draw(n, size))
        assert batch.size == size and np.all(np.diff(batch) > 0)
        row[batch] = 1.0
    rate, both = size / n, size * (size - 1) / (n * (n - 1))
    hits, pairs = taken.sum(axis=0), (taken.T @ taken)[np.triu_indices(n, 1)]
    assert np.all(np.abs(hits - repetitions * rate) < 6 * np.sqrt(repetitions * rate * (1 - rate)))
    assert np.all(
        np.abs(pairs - repetitions * both) <= 6 * np.sqrt(repetitions * both * (1 - both))
    )


def check_permutation(draw, n=4, repetitions=6000):
    """All n! orders come equally often."""
    codes = [tuple(draw(n)) for _ in range(repetitions)]
    orders, counts = np.unique(codes, axis=0, return_counts=True)
    assert all(sorted(order) == list(range(n)) for order in orders)
    everything = np.zeros(np.prod(np.arange(1, n + 1)))
    everything[: len(counts)] = counts
    check_counts(everything, np.full(everything.size, repetitions / everything.size))


def check_counts(counts, expected):
    """Chi-squared, with rare outcomes pooled."""
    rare = expected < 5
    seen = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    keep = wanted > 0
    assert seen[~keep].sum() == 0
    wanted = wanted[keep] * (seen.sum() / wanted[keep].sum())
    assert stats.chisquare(seen[keep], wanted).pvalue > ALPHA
