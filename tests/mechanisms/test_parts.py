"""Sums are made part by part, so that rows are fetched once: the same sum, and the same clip for each record."""

import itertools

import numpy as np
import pytest
from laws.vaults import RELATIONS, random_vault, vault

from skdp.losses import Logistic
from skdp.mechanisms import (
    BestCandidate,
    Gradient,
    GradientDifference,
    SteepestCoordinate,
    _rows,
    selections,
)
from skdp.mechanisms._kernels import PIECE, PIECES

AT = np.array([0.5, -1.0, 2.0, 0.1])
MECHANISMS = {
    "gradient": Gradient(at=AT, loss=Logistic(), clip=0.3, multiplier=1.0),
    "difference": GradientDifference(
        at=AT, anchor=-AT, loss=Logistic(), clip=0.3, reach=0.2, multiplier=1.0
    ),
    "coordinate": SteepestCoordinate(at=AT, loss=Logistic(), bound=0.1, epsilon=1.0),
    "candidates": BestCandidate(
        candidates=np.stack([AT, -AT, 3 * AT]), loss=Logistic(), cap=0.5, epsilon=1.0
    ),
}


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of one or two records."""
    monkeypatch.setattr(_rows, "PART", 1)
    monkeypatch.setattr(_rows, "PIECE", 1)
    monkeypatch.setattr(selections, "BLOCK", 2)
    monkeypatch.setattr(_rows, "FEW", 1)


def one_by_one(question, records):
    """The measure of every record alone, summed."""
    return sum(question.measure(records.take(slice(i, i + 1))) for i in range(len(records)))


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_parts_add_up(name, neighbors, small_parts):
    records = random_vault(3, n=31, neighbors=neighbors)
    assert {len(part) for part in records.chunks(1)} == {1}
    expected = one_by_one(MECHANISMS[name], records)
    np.testing.assert_allclose(MECHANISMS[name].measure(records), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_record_that_overflows_spoils_no_part(name, small_parts):
    X = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    y = np.tile([1.0, -1.0, 1.0], 3)
    X[4] = 3e38
    far = vault(X, y, data_norm=1e38, dtype=np.float32)
    assert np.isfinite(MECHANISMS[name].measure(far)).all()


def test_parts_cover_the_records_once_and_are_even():
    records = random_vault(0, n=10_007)
    for least in (1, 100, 4096, 20_000):
        parts = list(records.rows.chunks(least))
        assert parts[0].start == 0 and parts[-1].stop == len(records)
        assert all(a.stop == b.start for a, b in itertools.pairwise(parts))
        sizes = [part.stop - part.start for part in parts]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("n", [PIECE * PIECES + 1, 49_151, 81_920])
def test_no_part_has_more_pieces_than_a_sum_is_bounded_for(n):
    records = random_vault(0, n=n)
    assert max(len(part) for part in records.chunks(1)) <= PIECE * PIECES


def test_an_empty_vault_is_one_part():
    records = random_vault(0).take(slice(0, 0))
    assert [len(part) for part in records.chunks(1)] == [0]
    assert np.array_equal(MECHANISMS["gradient"].measure(records), np.zeros(4))
