"""Persons with several lists: what they may move a sum by, what is kept of them, and what is refused."""

from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import pytest
from laws.listed import listed, owned, random_list
from laws.sensitivity_laws import check_never_exceeded, check_tight

from skdp import NotSupported
from skdp.losses import LIST_LOSSES, BayesRank, ListNet
from skdp.mechanisms import (
    Count,
    LabelGradient,
    ListGradient,
    ListTargets,
    Noise,
    Oracle,
    PoissonBatch,
    Public,
    Records,
    price,
    state,
)
from skdp.mechanisms.lists import lists_of, shares_of
from skdp.privacy.ledger import Recorder

RELATIONS = ("replace_one", "add_remove")
LOSSES = [*(kind() for kind in LIST_LOSSES.values()), BayesRank(kept=False)]
OPPOSITE = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
GOOD, BAD = (OPPOSITE, np.array([1.0, 0.0])), (OPPOSITE, np.array([0.0, 1.0]))


def question(loss=None, at=None, clip=0.3):
    return ListGradient(
        at=np.zeros(3) if at is None else at, loss=loss or ListNet(), clip=clip, multiplier=1.0
    )


def person(rng, most=5):
    """Several lists, often all alike."""
    lists = [random_list(rng, 3) for _ in range(int(rng.integers(1, most + 1)))]
    return [lists[0]] * len(lists) if rng.random() < 0.3 else lists


def neighbours(seed, relation, each):
    """Persons of whom one is another, with other lists and as many as may be; or is gone."""
    rng = np.random.default_rng([seed, each])
    persons = [person(rng) for _ in range(int(rng.integers(2, 5)))]
    other, place = list(persons), int(rng.integers(len(persons)))
    if relation == "replace_one":
        other[place] = person(rng)
    else:
        del other[place]
    return [owned(who, each, 4, relation, np.random.default_rng(seed)) for who in (persons, other)]


# ----------------------------------------------------------------------------------- sensitivity


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("each", [1, 2, 5])
def test_a_person_never_moves_the_sum_beyond_the_claim(relation, each):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        pair = neighbours(seed, relation, each)
        for loss in LOSSES:
            at = rng.normal(size=3) * 10.0 ** rng.integers(-2, 5)
            check_never_exceeded(question(loss, at, 10.0 ** rng.integers(-4, 1)), [pair])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("each", [1, 2, 5])
def test_the_worst_person_reaches_the_claim_with_any_number_of_lists(relation, each):
    for count in (1, each):
        persons = [[GOOD, BAD], [GOOD] * count]
        other = persons[:1] + ([[BAD] * each] if relation == "replace_one" else [])
        vaults = [owned(who, each, 2, relation) for who in (persons, other)]
        asked = question()
        check_tight(asked, *vaults, asked.sensitivity(vaults[0].public))


@dataclass(frozen=True, eq=False, kw_only=True)
class SumsThePerson(ListGradient):
    """Each list is clipped, and a person's lists are added: he counts for as many clips as he has lists."""

    def _clipped(self, records):
        lists = lists_of(records)
        ends = lists.offsets
        x, y = records.rows.to_dense(), records.y
        return sum(
            super(SumsThePerson, self)._clipped(listed([(x[a:b], y[a:b])]))
            for a, b in pairwise(ends)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsAllLists(ListGradient):
    """A person's lists have the weight that all lists have: who has few of them counts for little, others for more."""

    def _clipped(self, records):
        return super()._clipped(records) * len(records) / 1.5


@pytest.mark.parametrize("twin", [SumsThePerson, CountsAllLists])
def test_a_twin_in_which_a_person_counts_more_than_once_is_rejected(twin):
    sound = question()
    broken = twin(**{f.name: getattr(sound, f.name) for f in fields(sound)})
    pair = [owned(who, 3, 2) for who in ([[GOOD], [GOOD] * 3], [[GOOD], [BAD] * 3])]
    check_never_exceeded(sound, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken, [pair])


# ---------------------------------------------------------------------------------- who enters


@pytest.mark.parametrize("each", [1, 2, 5])
def test_a_person_contributes_the_average_of_the_first_lists(each):
    """Wherever these stand in the table, whatever ids they have, and whoever uses the same ids."""
    for seed in range(20):
        rng = np.random.default_rng([seed, each])
        persons = [person(rng) for _ in range(4)]
        vault = owned(persons, each, 3, rng=rng, shared=(0, 2))
        at = rng.normal(size=3)
        asked = question(at=at)
        wanted = sum(
            np.mean([asked.measure(listed([(X[:3], y[:3])])) for X, y in who[:each]], axis=0)
            for who in persons
        )
        np.testing.assert_allclose(asked.measure(vault), wanted, rtol=0, atol=1e-12)
        assert len(vault) == 4 and Count(multiplier=1.0).measure(vault) == 4.0
        shares = shares_of(vault, lists_of(vault))
        assert shares.sum() == pytest.approx(4.0, abs=1e-12)
        assert lists_of(vault).sizes.max() <= 3


def test_batches_draw_persons_with_all_of_their_lists():
    rng = np.random.default_rng(1)
    persons = [person(rng) for _ in range(6)]
    vault, asked = owned(persons, 3, 6, rng=rng), question(at=np.ones(3))
    for index in (np.array([4, 1]), slice(2, 5), np.array([], dtype=int)):
        batch = vault.take(index)
        chosen = [persons[i] for i in np.arange(6)[index]]
        wanted = asked.measure(owned(chosen, 3, 6)) if chosen else np.zeros(3)
        np.testing.assert_allclose(asked.measure(batch), wanted, rtol=0, atol=1e-12)


def test_sums_in_parts_are_within_their_rounding_of_single_persons():
    rng = np.random.default_rng(2)
    persons = [person(rng) for _ in range(300)]
    vault, asked = owned(persons, 3, 6, rng=rng), question(at=np.ones(3), clip=0.05)
    alone = [asked.measure(owned([who], 3, 6)) for who in persons]
    exact = np.array(alone, dtype=np.longdouble).sum(axis=0)
    assert np.linalg.norm(asked.measure(vault) - exact) <= asked.rounding(vault.public)


# ----------------------------------------------------------------------------------- refusals


def test_what_has_no_proof_for_persons_is_refused():
    vault = owned([[GOOD], [BAD]], 2, 2)
    for asked in (
        LabelGradient(at=np.zeros(3), loss=BayesRank(), clip=1.0, multiplier=1.0),
        ListTargets(multiplier=1.0),
    ):
        for one in (asked, PoissonBatch(asked, 0.5)):
            with pytest.raises(NotSupported, match="no proof for units of several lists"):
                price(one, vault.public)
            with pytest.raises(NotSupported, match="no proof for units of several lists"):
                Oracle(vault, Recorder(), Noise(0)).ask(one)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lists_each": 2, "lists": "labels"}, "only where lists='documents'"),
        ({"lists_each": 2, "lists": None}, "only where lists='documents'"),
        ({"lists_each": 4}, "lists_each=4 must be 0, or a whole number that divides rows"),
        ({"lists_each": -1}, "lists_each=-1 must be"),
        ({"lists_each": 2.0}, r"lists_each=2\.0 must be"),
    ],
)
def test_public_facts_that_make_no_persons_are_refused(given, said):
    usual = {"n": 2, "n_features": 3, "intercept": 0.0, "neighbors": "replace_one", "rows": 6}
    with pytest.raises(ValueError, match=said):
        Public(**{**usual, "lists": "documents", **given})


def test_a_vault_of_persons_wants_lists_and_no_other_does():
    x, y, who = np.zeros((2, 3)), np.zeros(2), np.array([0, 1])
    facts = {"n": 2, "n_features": 3, "intercept": 0.0, "neighbors": "replace_one", "rows": 2}
    persons = Public(**facts, lists="documents", lists_each=1)
    with pytest.raises(ValueError, match="give lists, the id of each row's list"):
        Records.admit(x, y, persons, 1.0, who)
    with pytest.raises(ValueError, match="give lists, the id of each row's list"):
        Records.admit(x, y, Public(**facts, lists="documents"), 1.0, who, lists=who)
    with pytest.raises(ValueError, match="groups must be an array of one id for each row"):
        Records.admit(x, y, persons, 1.0, who, lists=who[:1])


def test_a_price_says_whose_lists_are_protected():
    facts = {"n": 5, "n_features": 3, "intercept": 0.0, "neighbors": "replace_one", "rows": 6}
    persons = Public(**facts, lists="documents", lists_each=2)
    stated = state([(question(), 1)], persons)
    assert "units" in stated.proofs and "list_gradient" in stated.proofs
    assert any(
        "all lists of one person; at most the first 2 lists" in note for note in stated.notes
    )
    alone = state([(question(), 1)], Public(**facts, lists="documents"))
    assert "units" not in alone.proofs and not any("person" in note for note in alone.notes)
