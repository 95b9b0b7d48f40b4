"""The law of every registered mechanism's noise, held against the event that is paid for it.

A sum or a selection that leaves `answer` to its base class has that class's law. Every other mechanism is listed in
`BY_NAME`: one that is not fails by name, since nobody would know whether it draws what it pays for.
"""

import math
from dataclasses import replace

import numpy as np
from laws.batch_laws import _first_above
from laws.ears import Ear, hear
from laws.noise_laws import check_counts
from laws.rounding_laws import admitted
from laws.sample_laws import check_lattice, check_normal, check_radial
from laws.sensitivity_laws import pair_of
from laws.vaults import RELATIONS, random_vault
from scipy import stats

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import (
    AllocatedBatch,
    BestCandidate,
    Coordinates,
    Gradient,
    HiddenDescent,
    Mapped,
    Noise,
    NoisyMinimiser,
    PerturbedObjective,
    PoissonBatch,
    RandomBatch,
    Schedule,
)
from skdp.mechanisms._mechanism import Additive, Selection
from skdp.penalties import NoPenalty, ScaledPenalty

DRAWS, RELEASED = 1200, 400  # a release takes a fit for each draw
CLIP = 0.3


class Scripted(Noise):
    """Draws as always, but for a batch or a tilt that is given."""

    def __init__(self, seed, batch=None, linear=None):
        super().__init__(seed)
        self.batch, self.linear = batch, linear

    def poisson_batch(self, n, rate):
        """The batch that was given."""
        return self.batch

    def subset(self, n, size):
        """The batch that was given."""
        return self.batch

    def allocation(self, n, batches):
        """The batch that was given, as the first one."""
        return np.isin(np.arange(n), self.batch, invert=True).astype(int)

    def linear_term(self, shape, grid, pure=False):
        """The tilt that was given, or a real one."""
        return super().linear_term(shape, grid, pure) if self.linear is None else self.linear


def draws(question, records, noise, centre=None, times=DRAWS):
    """What is added to the statistic, many times; the statistic is what the question hands to the noise."""
    if centre is None:
        centre = question.answer(records, Ear())
    return np.array([question.answer(records, noise) - centre for _ in range(times)])


# ------------------------------------------------------------------------------- laws by mechanism


def additive(question, records):
    """Normal noise of the multiplier that is paid for, counted in how far the sum moves."""
    public = records.public
    paid = question.event(public).multiplier * question.sensitivity(public)
    check_normal(draws(question, records, Noise(7)), paid)
    answers = [question.answer(records, Noise(k)) for k in range(20)]
    if type(question).answer is Additive.answer:
        check_lattice(answers, question.grid(public))


def second_moment(question, records):
    """The same on the upper triangle, whose norm is the matrix's."""
    public = records.public
    paid = question.event(public).multiplier * question.sensitivity(public)
    added = draws(question, records, Noise(7))
    assert np.array_equal(added, added.transpose(0, 2, 1)), "a matrix that is not symmetric"
    upper = np.triu_indices(public.width)
    across = np.where(upper[0] == upper[1], 1.0, math.sqrt(2.0))
    check_normal(added[:, upper[0], upper[1]] * across, paid)


def joint_moments(question, records):
    """The same of three blocks, each in its own weight."""
    public = records.public
    paid = question.event(public).multiplier * question.sensitivity(public)
    added = draws(question, records, Noise(7))
    assert np.array_equal(added, added.transpose(0, 2, 1)), "a matrix that is not symmetric"
    upper = np.triu_indices(public.width + 1)
    across = np.where(upper[0] == upper[1], 1.0, math.sqrt(2.0))
    of_target = upper[1] == public.width
    across[of_target] = question.weights(public)[0]
    across[-1] = question.weights(public)[1]
    check_normal(added[:, upper[0], upper[1]] * across, paid)


def selection(question, records, noise=None, paid=None):
    """The exponential mechanism at the range that is paid for, counted in how far scores spread."""
    paid = question.event(records.public).epsilon if paid is None else paid
    scores = hear(question, records)[0].statistic * paid / question.spread(records.public)
    weights = np.exp(scores - scores.max())
    noise = noise or Noise(7)
    chosen = [question.answer(records, noise) for _ in range(4 * DRAWS)]
    check_counts(np.bincount(chosen, minlength=len(scores)), len(chosen) * weights / weights.sum())


def search(question, records, never):
    """Probabilities of each answer, from the noise that is paid for."""
    sensitivity_factor, event = records.public.sensitivity_factor, question.event(records.public)
    units = sensitivity_factor * question.bounds
    totals = np.array(list(never.measure(records)))
    gaps, count = (totals - question.demands) / units, len(units)
    if hasattr(event, "threshold_epsilon"):
        own, shared, law = 1 / event.query_epsilon, 1 / event.threshold_epsilon, stats.laplace
    else:
        assert event.max_queries >= count, "queries that nobody pays for"
        own, shared, law = event.query_multiplier, event.threshold_multiplier, stats.norm
    expected = _first_above(gaps, np.full(count, own), np.full(count, shared), law)
    noise = Noise(7)
    found = [question.answer(records, noise) for _ in range(4 * DRAWS)]
    check_counts(np.bincount(found, minlength=count + 1), len(found) * expected)


def searches(kind, twin=None):
    """Both searches on records whose losses two candidates lower by about what is asked."""
    for relation in RELATIONS:
        records = random_vault(3, n=12, d=1, neighbors=relation, intercept=0.0)
        for question in pair_of(kind).questions(records.public, np.random.default_rng(1)):
            if type(question) is kind and isinstance(question.loss, Logistic):
                given = {"bounds": np.full(4, 0.3), "demands": np.array([0.5, 0.2, 0.4, 0.1])}
                question = replace(question, **given)
                search(twin(question) if twin else question, records, question)


def release_noise(question, sample, unit, epsilon=None, multiplier=None):
    """Noise of a release: normal of so many units, or radial of one over epsilon units."""
    if question.pure:
        check_radial(sample, unit / epsilon)
    else:
        check_normal(sample, multiplier * unit)


def hidden_descent(twin=None):
    """The end of a descent, in how far two ends may lie apart; also where the order is secret."""
    records = random_vault(1, n=9, d=3, intercept=0.25)
    for pure, shuffle in ((False, False), (False, True), (True, False)):
        question = HiddenDescent(
            loss=Logistic(),
            penalty=ScaledPenalty(NoPenalty()),
            shape=(4,),
            schedule=Schedule.constant(0.5, 2, (4, 5)),
            convexity=0.1,
            multiplier=0.8,
            clip=CLIP,
            pure=pure,
            shuffle=shuffle,
        )
        reach = float(question.reach(records.public).max())
        question = twin(question) if twin else question
        event = question.event(records.public)
        if shuffle:  # the same records in any order, so that the order tells nothing
            alike = records.take(np.zeros(9, dtype=int))
            check_normal(draws(question, alike, Noise(7)), min(event.multipliers) * reach)
            continue
        paid = {"epsilon": event.epsilon} if pure else {"multiplier": event.multiplier}
        release_noise(
            question,
            draws(question, records, Noise(7), times=RELEASED),
            reach,
            **paid,
        )


def minimiser(twin=None):
    """The certified minimiser, in how far it moves."""
    for pure, relation in ((False, "replace_one"), (True, "replace_one"), (False, "add_remove")):
        records = random_vault(1, n=9, d=3, neighbors=relation)
        question = NoisyMinimiser(
            loss=Logistic(),
            penalty=ScaledPenalty(NoPenalty()),
            shape=(4,),
            multiplier=0.8,
            strength=20.0,
            clip=CLIP,
            pure=pure,
        )
        distance = question.sensitivity(records.public)
        question = twin(question) if twin else question
        event = question.event(records.public)
        paid = {"epsilon": event.epsilon} if pure else {"multiplier": event.multiplier}
        sample = draws(question, records, Noise(7), times=RELEASED)
        release_noise(question, sample, distance, **paid)


def tilted(pure, width):
    return PerturbedObjective(
        loss=Logistic(),
        penalty=ScaledPenalty(NoPenalty(), 1.0, False),
        shape=(width,),
        multiplier=0.8,
        strength=20.0,
        clip=CLIP,
        pure=pure,
    )


def perturbed_objective(twin=None, mapped=False):
    """The tilt, read off from minimisers over rows of zeros, and what is added to a minimiser of a known tilt."""
    for pure, relation in ((False, "replace_one"), (True, "replace_one"), (False, "add_remove")):
        records = admitted(np.zeros((5, 4)), np.ones(5), relation, 1.0, 0.0)
        bare = question = tilted(pure, 4)
        public = records.public
        if mapped:
            question = Mapped(question=question, coordinates=Coordinates(np.eye(4)))
            public = question._seen(public)
        bound, tolerance = bare.bound(public), bare.tolerance(public)
        question = twin(question) if twin else question
        event = question.event(records.public)
        paid = {"epsilon": event.shift} if pure else {"multiplier": 1.0 / event.shift}
        tilts = [question.answer(records, noise) for noise in [Noise(7)] for _ in range(RELEASED)]
        release_noise(bare, bare.strength * np.array(tilts), bound, **paid)
        # Last the noise on the minimiser: it covers that each of two certificates leaves this much open.
        open_ = (
            2.0 * (tolerance + 4.0 * 2.0**-53 * bare.longest_linear_term(public)) / bare.strength
        )
        fixed = np.full(4, 0.5)
        centre = question.answer(records, Ear(linear=fixed))
        sample = draws(question, records, Scripted(7, linear=fixed), centre, RELEASED)
        paid = {"epsilon": event.output} if pure else {"multiplier": 1.0 / event.output}
        release_noise(bare, sample, open_, **paid)


def mapped(twin=None):
    """Its question's own law, in the new coordinates."""
    for relation in RELATIONS:
        question, records, *_ = pair_of(Mapped).worst_pair(relation)
        inner, seen = question.question, question.coordinates.seen(records.public)
        question = twin(question) if twin else question
        paid = question.event(records.public).multiplier * inner.sensitivity(seen)
        check_normal(draws(question, records, Noise(7)), paid)
    if not twin:
        perturbed_objective(mapped=True)


def batch(wrap, twin=None):
    """Given the batch, its question's noise, counted in what one record adds."""
    records, drawn = random_vault(1, n=9, d=3), np.array([0, 3, 4])
    question = Gradient(at=np.ones(4), loss=Logistic(), clip=CLIP, multiplier=1.5)
    wrapped = twin(wrap(question)) if twin else wrap(question)
    paid = wrapped.event(records.public).multiplier * CLIP
    centre = wrapped.answer(records, Ear(batch=drawn))
    check_normal(draws(wrapped, records, Scripted(7, batch=drawn), centre), paid)


def poisson_batch(twin=None):
    """Sums, and selections too."""
    batch(lambda question: PoissonBatch(question, 0.3), twin)
    records, drawn = random_vault(1, n=9, d=3), np.array([0, 3, 4, 7])
    candidates = np.array([[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0]])
    choice = BestCandidate(candidates=candidates, loss=Logistic(), cap=0.5, epsilon=0.8)
    wrapped = PoissonBatch(choice, 0.3)
    taken, noise = records.take(drawn), Scripted(7, batch=drawn)
    if not twin:
        selection(
            _On(wrapped, choice, records, taken),
            taken,
            noise,
            wrapped.event(records.public).epsilon,
        )


class _On:
    """A batch's question that looks like the question itself on the records that were drawn."""

    def __init__(self, wrapped, inner, records, taken):
        self.wrapped, self.inner, self.records, self.taken = wrapped, inner, records, taken

    def spread(self, public):
        return self.inner.spread(public)

    def answer(self, records, noise):
        if isinstance(noise, Ear):
            return self.inner.answer(self.taken, noise)
        return self.wrapped.answer(self.records, noise)


BY_NAME = {
    "SecondMoment": lambda kind, twin: _on_worst_pairs(kind, second_moment, twin),
    "JointMoments": lambda kind, twin: _on_worst_pairs(kind, joint_moments, twin),
    "FirstDecrease": searches,
    "GaussianFirstDecrease": searches,
    "HiddenDescent": lambda kind, twin: hidden_descent(twin),
    "NoisyMinimiser": lambda kind, twin: minimiser(twin),
    "PerturbedObjective": lambda kind, twin: perturbed_objective(twin),
    "Mapped": lambda kind, twin: mapped(twin),
    "AllocatedBatch": lambda kind, twin: batch(
        lambda question: AllocatedBatch(question, 3, opens=True), twin
    ),
    "PoissonBatch": lambda kind, twin: poisson_batch(twin),
    "RandomBatch": lambda kind, twin: batch(lambda question: RandomBatch(question, 3), twin),
}


def _on_worst_pairs(kind, law, twin=None):
    held = 0
    for relation in RELATIONS:
        try:
            question, records, *_ = pair_of(kind).worst_pair(relation)
        except NotSupported:
            continue
        law(twin(question) if twin else question, records)
        held += 1
    assert held, f"{kind.__name__} was refused under all relations"


def check_noise(kind, twin=None):
    """Hold a mechanism, or a twin that is made of its questions, against the law that belongs to it."""
    law_of(kind)(kind, twin)


def law_of(kind):
    """The law that belongs to a mechanism; one with an answer of its own that is not listed fails by name."""
    if kind.__name__ in BY_NAME:
        return BY_NAME[kind.__name__]
    for base, law in ((Additive, additive), (Selection, selection)):
        if issubclass(kind, base) and kind.answer is base.answer:
            return lambda k, twin: _on_worst_pairs(k, law, twin)
    raise AssertionError(
        f"{kind.__name__} draws its noise by itself and has no law: give it one in BY_NAME."
    )
