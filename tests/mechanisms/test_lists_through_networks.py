"""Lists whose scores a network makes: gradients, bounds, roundings, twins and refusals."""

from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np
import pytest
from laws.hidden_layer import HiddenLayer
from laws.listed import labelled, listed, owned, random_list
from laws.sensitivity_laws import check_never_exceeded, check_tight
from laws.textbook_networks import gradients
from ranking.rankings import reference_slopes

from skdp import NotSupported
from skdp.losses import LIST_LOSSES, BayesRank, ListNet, Lists
from skdp.mechanisms import LabelGradient, ListGradient, ListTargets, Public, Records, price
from skdp.mechanisms.lists import lists_of
from skdp.models import Perceptron

RELATIONS = ("replace_one", "add_remove")
LOSSES = [*(kind() for kind in LIST_LOSSES.values()), BayesRank(kept=False)]
MODELS = [
    Perceptron((5,), "relu"),
    Perceptron((40,), "tanh"),
    Perceptron((4, 3), "logistic"),
    Perceptron((3,), "identity"),
]
BY_NAME = {"ids": lambda model: f"{model.activation}{model.hidden}"}


def through(vault, model):
    """The same vault, scored by a model."""
    public = replace(vault.public, model=model)
    return Records(vault.rows, vault.y, public, units=vault.units)


def start(model, seed=0, scale=1.0):
    public = Public(1, 3, 0.0, "replace_one", model=model)
    return scale * np.random.default_rng(seed).normal(size=model.shape(public))


def lists_at_random(seed, n=6):
    """Documents within the unit ball, one to six in a list, some without a relevant one."""
    rng = np.random.default_rng(seed)
    found = []
    for j in range(n):
        x = rng.uniform(-0.5, 0.5, (j % 6 + 1, 3))
        found.append((x, rng.integers(0, 3, len(x)) * float(j != 2)))
    return found


def public_labels(lists, model):
    x, y = (np.concatenate([part[i] for part in lists]) for i in (0, 1))
    return through(labelled(x, [len(part[1]) for part in lists], y), model)


# ------------------------------------------------------------------------------------ gradients


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("model", MODELS, **BY_NAME)
def test_unclipped_and_clipped_gradients_are_those_of_a_reference(model, loss):
    lists, w = lists_at_random(1), start(model)
    each = []
    for x, y in lists:
        z, jacobians = gradients(model, w, x)
        each.append(
            (reference_slopes(loss, z, y) @ jacobians, reference_slopes(loss, z, y), jacobians)
        )
    vault = through(listed(lists, most=6), model)
    asked = ListGradient(at=w, loss=loss, clip=1e6, multiplier=1.0)
    wanted = sum(g for g, _, _ in each)
    np.testing.assert_allclose(asked.measure(vault), wanted, rtol=0, atol=1e-10)
    clip = 0.5 * max(float(np.linalg.norm(g)) for g, _, _ in each)
    clipped = 0.0
    for g, slopes, jacobians in each:
        spread = np.abs(slopes) @ np.linalg.norm(jacobians, axis=1)
        clipped = clipped + g * clip / max(clip, np.linalg.norm(g) + spread / 1024.0)
    found = replace(asked, clip=clip).measure(vault)
    np.testing.assert_allclose(found, clipped, rtol=0, atol=1e-10)
    if loss == BayesRank():
        for paired in (False, True):
            tight = LabelGradient(at=w, loss=loss, clip=1e6, paired=paired, multiplier=1.0)
            found = tight.measure(public_labels(lists, model))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


# ---------------------------------------------------------------------------------- sensitivity

OPPOSITE = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("model", MODELS, **BY_NAME)
def test_whole_lists_never_move_the_sum_beyond_the_claim(model, relation):
    """Tiny and huge weights and documents, copies whose gradients cancel, single documents."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        lists = [random_list(rng, 3) for _ in range(4)]
        other = [*lists[:3], *([random_list(rng, 3)] if relation == "replace_one" else [])]
        pair = [through(listed(part, relation, most=6), model) for part in (lists, other)]
        at = start(model, seed, 10.0 ** rng.integers(-3, 5))
        loss = LOSSES[seed % len(LOSSES)]
        asked = ListGradient(at=at, loss=loss, clip=10.0 ** rng.integers(-6, 3), multiplier=1.0)
        check_never_exceeded(asked, [pair])


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_worst_list_reaches_the_claim(relation):
    model = Perceptron((6,), "identity")
    first = (OPPOSITE, np.array([0.0, 1.0]))
    other = [(OPPOSITE, np.array([1.0, 0.0]))] if relation == "replace_one" else []
    pair = [through(listed([first, *last], relation, most=2), model) for last in ([first], other)]
    asked = ListGradient(at=start(model), loss=ListNet(), clip=0.05, multiplier=1.0)
    check_tight(asked, *pair, asked.sensitivity(pair[0].public))


def test_a_person_moves_the_sum_by_one_clip_through_a_network():
    model = MODELS[0]
    for seed in range(15):
        rng = np.random.default_rng(seed)
        persons = [[random_list(rng, 3) for _ in range(1 + j)] for j in range(3)]
        other = [*persons[:2], [random_list(rng, 3)] * 4]
        pair = [through(owned(who, 2, 4, rng=rng), model) for who in (persons, other)]
        asked = ListGradient(at=start(model, seed), loss=ListNet(), clip=0.01, multiplier=1.0)
        check_never_exceeded(asked, [pair])


LISTS = {
    "random": np.random.default_rng(1).normal(size=(4, 3)) / 3.0,
    "one document": [[0.5, 0.5, 0.5]],
    "two documents": [[0.6, 0.0, 0.8], [-0.6, 0.0, 0.0]],
    "all alike": [[0.1, 0.2, 0.3]] * 3,
    "beyond the bound": [[30.0, 0.0, 0.0], [0.0, 1e200, 0.0], [0.0, 0.0, -1e-200]],
    "zeros": np.zeros((3, 3)),
}
OTHER = [[0.3, 0.1, 0.0], [0.0, -0.2, 0.4]]


def sums(question, x, model):
    """What is measured for all labels of the list, beside one that stays; and the claim."""
    x, found = np.asarray(x, dtype=float), []
    for y in product((0, 1, 2), repeat=len(x)):
        vault = through(labelled(np.vstack([OTHER, x]), [2, len(x)], [0, 1, *y]), model)
        found.append(question.measure(vault))
    found = np.array(found)
    moves = np.linalg.norm(found[:, None] - found[None], axis=2)
    return moves.max(), question.sensitivity(vault.public)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize("model", MODELS, **BY_NAME)
@pytest.mark.parametrize("name", LISTS)
def test_labels_move_the_gradient_by_the_widest_pair_and_no_further(name, model, scale):
    at = start(model, 3, scale)
    wide = LabelGradient(at=at, loss=BayesRank(), clip=1e9, paired=True, multiplier=1.0)
    free, _ = sums(wide, LISTS[name], model)
    rows = labelled(LISTS[name], [len(LISTS[name])], np.zeros(len(LISTS[name]))).rows.to_dense()
    z, jacobians = gradients(model, at, rows)
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    v = p[:, None] * (jacobians - p @ jacobians)
    apart = np.linalg.norm(v[:, None] - v[None], axis=2).max()
    assert free == pytest.approx(apart, rel=1e-7, abs=1e-12)
    longest = np.linalg.norm(jacobians, axis=1).max()
    for clip in (0.5 * apart + 1e-12, 1e-3):
        moved, claim = sums(replace(wide, clip=clip), LISTS[name], model)
        assert moved <= claim
        assert moved >= 0.97 * min(clip, apart) or apart < longest / 8.0


@pytest.mark.parametrize("model", MODELS, **BY_NAME)
def test_by_norms_every_contribution_is_within_the_clip(model):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, _ = random_list(rng, 3, longest=4)
        at = start(model, seed, 10.0 ** rng.integers(-2, 3))
        asked = LabelGradient(at=at, loss=BayesRank(), clip=0.02, multiplier=1.0)
        for y in np.eye(len(x)):
            alone = asked.measure(through(labelled(x, [len(x)], y), model))
            assert np.linalg.norm(alone) <= asked.clip


def test_long_lists_are_bounded_without_their_pairs():
    model, rng = MODELS[0], np.random.default_rng(0)
    x = rng.normal(size=(600, 3)) / 3.0
    asked = LabelGradient(at=start(model), loss=BayesRank(), clip=1e-4, paired=True, multiplier=1.0)
    ends = [
        asked.measure(through(labelled(x, [600], np.eye(600)[i]), model)) for i in range(0, 600, 60)
    ]
    moves = np.linalg.norm(np.array(ends)[:, None] - np.array(ends)[None], axis=2)
    assert 0.0 < moves.max() <= asked.clip


@pytest.mark.parametrize(
    "question",
    [
        LabelGradient(at=[0.0], loss=BayesRank(), clip=0.1, paired=True, multiplier=1.0),
        LabelGradient(at=[0.0], loss=BayesRank(), clip=0.1, multiplier=1.0),
        ListGradient(at=[0.0], loss=ListNet(), clip=0.1, multiplier=1.0),
    ],
    ids=lambda q: f"{type(q).__name__}{getattr(q, 'paired', '')}",
)
@pytest.mark.parametrize("model", MODELS[1:3], **BY_NAME)
def test_computed_sums_are_within_their_rounding_of_single_lists(question, model):
    """Of many lists, where the vault is read in parts and documents stand elsewhere, against lists alone."""
    rng = np.random.default_rng(3)
    question = replace(question, at=start(model))
    lists = [random_list(rng, 3, longest=30) for _ in range(120)]
    make = public_labels if isinstance(question, LabelGradient) else None
    vaults = [
        make(part, model) if make else through(listed(part, most=30), model)
        for part in ([one] for one in lists)
    ]
    alone = np.array([question.measure(vault) for vault in vaults], dtype=np.longdouble)
    whole = make(lists, model) if make else through(listed(lists, most=30), model)
    off = float(np.linalg.norm(question.measure(whole) - alone.sum(axis=0)))
    assert off <= question.rounding(whole.public) < 1e-3 * question.clip


@pytest.mark.parametrize("kind", [ListGradient, LabelGradient])
def test_a_list_whose_pass_overflows_adds_nothing_and_says_nothing(kind):
    model = Perceptron((4,), "identity")
    calm = (np.zeros((2, 3)), np.array([1.0, 0.0]))
    loud = (np.array([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0]]), np.array([0.0, 1.0]))
    near = (np.array([[0.0, 0.0, 1e-200], [0.0, 0.0, 0.0]]), np.array([0.0, 1.0]))
    at = np.full(16, 1e152)
    asked = kind(at=at, loss=BayesRank(), clip=0.5, multiplier=1.0)
    with np.errstate(all="raise"):
        vaults = [
            public_labels(part, model)
            if kind is LabelGradient
            else through(listed(part, "add_remove", most=2), model)
            for part in ([near, loud, calm], [near, calm], [loud])
        ]
        found, wanted, nothing = (asked.measure(vault) for vault in vaults)
    assert np.isfinite(found).all() and not nothing.any()
    np.testing.assert_array_equal(found, wanted)


# ------------------------------------------------------------------------------------- sabotage


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipsDocuments(ListGradient):
    """Each document's gradient is clipped, and the list is not."""

    def measure(self, records):
        scores, tape = records.model.forward(self.at, records.rows)
        slopes = self.loss.slopes(scores, records.y, lists_of(records))
        norms = np.maximum(records.model.norms(tape, slopes), 1e-99)
        return records.model.pullback(tape, slopes, np.minimum(1.0, self.clip / norms))


@dataclass(frozen=True, eq=False, kw_only=True)
class LastLayerOnly(ListGradient):
    """As if the last layer's gradient were all of it."""

    def measure(self, records):
        model, hidden = records.model, records.model.hidden[-1]
        total = 0.0
        for a, b in zip(lists_of(records).offsets, lists_of(records).offsets[1:]):
            part = records.rows.take(slice(a, b))
            scores, tape = model.forward(self.at, part)
            slopes = self.loss.slopes(scores, records.y[a:b], Lists(np.array([0, b - a])))
            g = model.pullback(tape, slopes, np.ones(b - a))
            total = total + g * min(1.0, self.clip / max(np.linalg.norm(g[-hidden:]), 1e-99))
        return total


@dataclass(frozen=True, eq=False, kw_only=True)
class NormsForPairs(LabelGradient):
    """Norms are bounded where the price counts in distances."""

    def _by_pairs(self, public):
        return False

    def sensitivity(self, public):
        return self.clip


def opposite(model, first, last):
    return [through(listed([(OPPOSITE, np.array(y))], most=2), model) for y in (first, last)]


@pytest.mark.parametrize("twin", [ClipsDocuments, LastLayerOnly])
def test_a_twin_that_bounds_less_than_a_list_is_rejected(twin):
    model = Perceptron((6,), "identity")
    pair = opposite(model, [0.0, 1.0], [1.0, 0.0])
    sound = ListGradient(at=start(model), loss=ListNet(), clip=0.05, multiplier=1.0)
    broken = twin(**{f.name: getattr(sound, f.name) for f in fields(sound)})
    check_never_exceeded(sound, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken, [pair])


def test_norms_in_the_place_of_distances_are_rejected():
    model = Perceptron((6,), "identity")
    sound = LabelGradient(at=start(model), loss=BayesRank(), clip=0.01, paired=True, multiplier=1.0)
    broken = NormsForPairs(**{f.name: getattr(sound, f.name) for f in fields(sound)})
    pair = [public_labels([(OPPOSITE, np.array(y))], model) for y in ([0, 1], [1, 0])]
    check_never_exceeded(sound, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken, [pair])


def test_questions_refuse_models_and_relations_without_a_proof():
    label = LabelGradient(at=np.zeros(16), loss=BayesRank(), clip=1.0, multiplier=1.0)
    whole = ListGradient(at=np.zeros(16), loss=ListNet(), clip=1.0, multiplier=1.0)
    facts = Public(5, 3, 0.0, "replace_one", rows=4, lists="documents", model=Perceptron((4,)))
    with pytest.raises(NotSupported, match="through a network has a proof for public documents"):
        price(label, facts)
    price(whole, facts)
    price(label, replace(facts, lists="labels"))
    for question in (label, whole):
        with pytest.raises(NotSupported, match="HiddenLayer has no proof for lists"):
            price(question, replace(facts, model=HiddenLayer(), lists="labels"))
    vault = through(labelled(OPPOSITE, [2], [0, 1]), Perceptron((4,)))
    with pytest.raises(NotSupported, match="not linear"):
        price(ListTargets(multiplier=1.0), vault.public)
