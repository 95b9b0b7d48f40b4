"""Laws that no registered mechanism can be without: its noise is what it pays for, and of a size that is public."""

import re

import numpy as np
import pytest
from laws.ears import hear
from laws.registry_noise_law import check_noise
from laws.rounding_laws import admitted
from laws.sensitivity_laws import pair_of
from laws.vaults import RELATIONS, vault
from walls.checks import ROOT

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import (
    MECHANISMS,
    AllocatedBatch,
    BestCandidate,
    Gradient,
    PoissonBatch,
    RandomBatch,
)

EVERY = sorted(MECHANISMS, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_noise_has_the_law_that_is_paid_for(kind):
    check_noise(kind)


# Mechanisms that are nothing but another one, whose twins do for them.
WRAPPERS = {"Mapped", "RandomBatch"}


def twins_of(name):
    """Classes in the tests that are the mechanism but for one thing."""
    files = [
        *(ROOT / "tests" / "sabotage").glob("*.py"),
        *(ROOT / "tests" / "mechanisms").glob("*.py"),
    ]
    broken = re.compile(rf"^class (\w+)\((?:\w+, )*{name}\):", re.MULTILINE)
    return [twin for file in files for twin in broken.findall(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_mechanism_has_a_sabotaged_twin(kind):
    assert bool(twins_of(kind.__name__)) != (kind.__name__ in WRAPPERS)


# --------------------------------------------------------------------------- sizes that are public


def examples(kind, relation):
    """Questions of the kind, for rows of this many columns."""
    if kind is AllocatedBatch:
        gradient = Gradient(at=np.ones(2), loss=Logistic(), clip=0.3, multiplier=1.0)
        return [kind(gradient, 2, opens=True)], 1, 0.25
    if kind in (PoissonBatch, RandomBatch):
        gradient = Gradient(at=np.ones(2), loss=Logistic(), clip=0.3, multiplier=1.0)
        choice = BestCandidate(candidates=np.eye(2), loss=Logistic(), cap=0.3, epsilon=1.0)
        wrapped = (gradient, choice) if kind is PoissonBatch else (gradient,)
        return [kind(question, 0.5 if kind is PoissonBatch else 2) for question in wrapped], 1, 0.25
    question, records, *_ = pair_of(kind).worst_pair(relation)
    return [question], records.public.n_features, records.public.intercept


def scales(question, records):
    """All noise that an answer asks for, as plain numbers."""
    found = []
    for heard in hear(question, records):
        scale = heard.scale
        found.append(
            (scale.step, scale.bits) if hasattr(scale, "step") else np.array(scale).tolist()
        )
    return found


def tables(n, d, rng):
    """Very unlike data of one size."""
    yield np.zeros((n, d)), np.ones(n)
    yield rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], size=n)
    yield rng.normal(size=(n, d)) * 1e200, -np.ones(n)
    yield np.full((n, d), 1e-300), np.ones(n)


MEASURED = [kind for kind in EVERY if kind not in (AllocatedBatch, PoissonBatch, RandomBatch)]


def sizes(kind, relation):
    """Numbers of records to compare: several where n is private, the one that is public where it is not."""
    if relation == "add_remove":
        return (1, 2, 7, 8, 300)
    return (len(pair_of(kind).worst_pair(relation)[1]) if kind in MEASURED else 6,)


def check_public_noise(question, relation, d, intercept, counts):
    """Noise of one size for all data, and for all numbers of records that are compared."""
    rng, seen = np.random.default_rng(1), []
    for n in counts:
        for X, y in tables(n, d, rng):
            # A search may end early: its threshold and its first query tell of all.
            seen.append(scales(question, admitted(X, y, relation, 1.0, intercept))[:2])
    assert all(found == seen[0] for found in seen), "noise that tells of the records"


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_noise_depends_on_public_numbers_alone(kind, relation):
    """Not on how many records there are where that is private, and never on what is in them."""
    try:
        questions, d, intercept = examples(kind, relation)
    except NotSupported:
        return
    for question in questions:
        check_public_noise(question, relation, d, intercept, sizes(kind, relation))


MANY = (
    70_000  # records, beyond what a cap of a million would hide if it were taken of them times 16
)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_noise_depends_on_no_large_number_of_records_either(kind):
    try:
        questions, d, intercept = examples(kind, "add_remove")
    except NotSupported:
        return
    for question in questions:
        few, many = (
            scales(question, admitted(np.zeros((n, d)), np.ones(n), "add_remove", 1.0, intercept))
            for n in (1, MANY)
        )
        assert few[:2] == many[:2], "noise that tells of the records"


def test_the_cap_on_a_private_number_is_public():
    few, many = (vault(np.zeros((n, 1)), np.ones(n), "add_remove").public.most for n in (1, 5000))
    assert few == many
