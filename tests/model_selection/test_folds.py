"""A neighbour never changes the part of another record: of our splitters, and not of scikit-learn's."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score

from skdp import DPLogisticRegression
from skdp.exceptions import NotSupported
from skdp.model_selection import KeyFold, PositionFold
from skdp.model_selection._folds import parts_of


def parts(cv, n, y=None, groups=None):
    """The part of every record."""
    found = np.full(n, -1)
    for part, (train, test) in enumerate(cv.split(np.zeros((n, 1)), y, groups)):
        assert not set(train) & set(test) and len(train) + len(test) == n
        found[test] = part
    assert (found >= 0).all()
    return found


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("n", [10, 11, 1000])
def test_positions_are_divided_evenly_and_read_nothing_but_their_number(n, k):
    rng = np.random.default_rng(0)
    found = parts(PositionFold(k, seed=5), n, rng.integers(2, size=n))
    assert np.ptp(np.bincount(found, minlength=k)) <= 1
    assert np.array_equal(found, parts(PositionFold(k, seed=5), n, rng.normal(size=n)))


def test_seeds_shuffle():
    one, other = (parts(PositionFold(2, seed=s), 1000) for s in (0, 1))
    assert 400 < (one == other).sum() < 600 and 400 < (one == np.arange(1000) % 2).sum() < 600


@pytest.mark.parametrize("k", [2, 5])
def test_who_leaves_moves_nobody(k):
    keys = np.array([f"person {i % 700}" for i in range(1000)])
    whole = parts(KeyFold(k), 1000, groups=keys)
    for out in range(0, 1000, 97):
        rest = np.delete(np.arange(1000), out)
        assert np.array_equal(parts(KeyFold(k), 999, groups=keys[rest]), whole[rest])
    assert np.array_equal(whole[700:], whole[:300])  # one person, one part
    assert np.bincount(whole, minlength=k).min() > 0.8 * 1000 / k


@pytest.mark.parametrize("more", ["x", 2**70, -1])
def test_no_key_decides_how_others_are_read(more):
    keys = [2**63, *range(40)]
    whole = parts(KeyFold(2), 41, groups=keys)
    assert np.array_equal(parts(KeyFold(2), 42, groups=[*keys, more])[:41], whole)


def test_those_of_scikit_learn_move_others():
    y = np.random.default_rng(0).integers(2, size=1000)
    flipped = np.where(np.arange(1000) == 0, 1 - y, y)
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    assert (parts(cv, 1000, y) != parts(cv, 1000, flipped))[1:].sum() > 100
    assert (parts(KFold(5), 1000)[1:] != parts(KFold(5), 999)).sum() == 4


@pytest.mark.parametrize(
    "cv, neighbors",
    [
        (KFold(2), "replace_one"),
        (StratifiedKFold(2), "replace_one"),
        (GroupKFold(2), "add_remove"),
        (PositionFold(2), "add_remove"),
        (KeyFold(2), "replace_one"),
        (3, "add_remove"),
        (None, "replace_one"),
        (True, "replace_one"),
        ([(0, 1)], "replace_one"),
    ],
)
def test_what_breaks_the_theorem_is_refused(cv, neighbors):
    with pytest.raises(
        NotSupported, match="PositionFold" if neighbors == "replace_one" else "KeyFold"
    ):
        parts_of(cv, neighbors)


def test_a_subclass_may_do_anything_and_is_refused():
    class Mine(PositionFold):
        """Reads labels."""

    with pytest.raises(NotSupported, match="Mine"):
        parts_of(Mine(2), "replace_one")


@pytest.mark.parametrize("Fold", [PositionFold, KeyFold])
def test_numbers_that_are_none(Fold):
    for wrong in (1, 2.0, True, "2"):
        with pytest.raises(ValueError, match="n_splits"):
            Fold(wrong)
    for wrong in (-1, 1 << 64, 0.5):
        with pytest.raises(ValueError, match="seed"):
            Fold(2, seed=wrong)


def test_keys_that_are_none():
    X = np.zeros((3, 1))
    for groups, said in (
        (None, "needs groups"),
        ([1, 2], "one key"),
        ([None, 1.0, 2.0], "whole numbers"),
        ([0.5, 2.0**60, 2.0], "read ids as text"),
    ):
        with pytest.raises(ValueError, match=said):
            list(KeyFold(2).split(X, groups=groups))
    with pytest.raises(NotSupported, match="KeyFold"):
        list(PositionFold(2).split(X, groups=[1, 2, 3]))
    with pytest.raises(ValueError, match="more than the 3 records"):
        list(PositionFold(4).split(X))


def test_a_key_is_told_from_its_text():
    found = [KeyFold(1 << 20)._part(key) for key in (1, "1", "str:1", "int:1")]
    assert len(set(found)) == 4


def test_scikit_learn_takes_them():
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (200, 2))
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    y = (X[:, 0] > 0).astype(int)
    assert (
        len(cross_val_score(model, X, y, cv=PositionFold(3))) == 3 == PositionFold(3).get_n_splits()
    )
    assert len(cross_val_score(model, X, y, cv=KeyFold(2), groups=np.arange(200))) == 2
