"""For every mechanism: neighbours never exceed the claim, and its own worst pair reaches it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laws.sensitivity_laws import (
    MEASURED,
    check_never_exceeded,
    check_tight,
    moved,
    neighbours,
    pair_of,
)
from laws.vaults import RELATIONS, vault

from skdp import NotSupported
from skdp.losses import Logistic, Multinomial
from skdp.mechanisms import Gradient
from skdp.mechanisms._mechanism import Additive, Selection

PAIRS = 300  # for each question, relation and kind of vault: some thousands in all
SUMS = [q for q in MEASURED if issubclass(q, Additive | Selection)]


def _worst(question, relation):
    try:
        return pair_of(question).worst_pair(relation)
    except NotSupported as refusal:
        return refusal


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("question", MEASURED, ids=lambda q: q.__name__)
def test_worst_pair_reaches_the_claim(question, relation):
    pair = _worst(question, relation)
    if isinstance(pair, NotSupported):
        other = next(r for r in RELATIONS if r != relation)
        assert not isinstance(_worst(question, other), NotSupported), "refused under both relations"
        return
    check_tight(*pair, distance=getattr(pair_of(question), "distance", moved))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("question", SUMS, ids=lambda q: q.__name__)
def test_random_neighbours_never_exceed_the_claim(question, relation, intercept):
    pair = _worst(question, relation)
    if isinstance(pair, NotSupported):
        assert "neighbors=" in str(pair)
        return
    asked = getattr(pair_of(question), "questions", None)
    d = pair[1].public.n_features
    for seed in range(PAIRS):
        records, neighbour = neighbours(seed, relation, d, intercept)
        rng = np.random.default_rng(seed)
        for one in asked(records.public, rng) if asked else [pair[0]] * (intercept == 0.25):
            check_never_exceeded(one, [(records, neighbour)])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("question", SUMS, ids=lambda q: q.__name__)
def test_single_precision_vaults_exceed_the_claim_by_their_rounding_only(question, relation):
    pair = _worst(question, relation)
    if isinstance(pair, NotSupported):
        assert "neighbors=" in str(pair)
        return
    intercept, d = pair[1].public.intercept, pair[1].public.n_features
    for seed in range(PAIRS):
        both = neighbours(seed, relation, d, intercept, dtype=np.float32)
        check_never_exceeded(pair[0], [both], slack=1e-6)


_coordinates = st.floats(-1e300, 1e300, allow_nan=False, width=64)


@given(
    rows=arrays(np.float64, (3, 2), elements=_coordinates),
    other=arrays(np.float64, 2, elements=_coordinates),
    at=arrays(np.float64, 3, elements=st.floats(-1e9, 1e9)),
    labels=st.tuples(*[st.sampled_from([-1.0, 1.0])] * 4),
    data_norm=st.floats(1e-6, 1e6),
    clip=st.floats(1e-6, 1e6),
    relation=st.sampled_from(RELATIONS),
)
def test_clipped_gradient_of_any_row_stays_within_the_claim(
    rows, other, at, labels, data_norm, clip, relation
):
    question = Gradient(at=at, loss=Logistic(), clip=clip, multiplier=1.0)
    given = {"neighbors": relation, "data_norm": data_norm}
    records = vault(rows, labels[:3], **given)
    if relation == "replace_one":
        neighbour = vault([*rows[:2], other], [*labels[:2], labels[3]], **given)
    else:
        neighbour = vault(rows[:2], labels[:2], **given)
    check_never_exceeded(question, [(records, neighbour)])


@pytest.mark.parametrize("relation", RELATIONS)
def test_gradient_of_many_outputs_reaches_and_keeps_the_claim(relation):
    loss = Multinomial(outputs=3)
    question = Gradient(at=np.zeros((3, 3)), loss=loss, clip=0.3, multiplier=1.0)
    rows, codes = [[0.6, 0.8], [0.0, 0.1]], [0.0, 1.0]
    records = _coded(rows, codes, relation)
    if relation == "replace_one":
        other = _coded([[-0.6, -0.8], [0.0, 0.1]], codes, relation, intercept=0.0)
        records = _coded(rows, codes, relation, intercept=0.0)
        question = Gradient(at=np.zeros((2, 3)), loss=loss, clip=0.3, multiplier=1.0)
    else:
        other = _coded(rows[1:], codes[1:], relation)
    check_tight(question, records, other, question.sensitivity(records.public))


def _coded(rows, codes, relation, intercept=0.25):
    return vault(rows, codes, relation, intercept=intercept)
