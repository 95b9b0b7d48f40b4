"""Vaults of several targets over the same rows: each as its targets alone would make it, and none beyond its bound."""

import numpy as np
import pytest

from skdp.mechanisms import Public, Records


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("owned", [False, True])
def test_each_vault_is_the_one_that_its_targets_alone_would_make(owned, weighted):
    public = Public(20, 3, 0.25, "replace_one", rows=3 if owned else 1, weighted=weighted)
    draws = np.random.default_rng(3)
    table, targets = draws.normal(size=(60 if owned else 20, 3)), None
    targets = draws.uniform(-1, 1, (len(table), 4))
    more = np.arange(len(table)) % 20 if owned else None, None
    if weighted:
        more = more[0], draws.uniform(0, 1, len(table))
    for dtype in (np.float64, np.float32):
        vaults = Records.admit_each(table.astype(dtype), targets, public, 1.0, *more)
        for vault, column in zip(vaults, targets.T, strict=True):
            alone = Records.admit(table.astype(dtype), column, public, 1.0, *more)
            np.testing.assert_array_equal(vault.y, alone.y)
            np.testing.assert_array_equal(vault.rows.to_dense(), alone.rows.to_dense())
            assert vault.y.dtype == alone.y.dtype and vault.y.flags.c_contiguous
            assert (vault.share is None) == (alone.share is None)
            assert vault.share is None or np.array_equal(vault.share, alone.share)


def test_a_vault_takes_no_target_beyond_its_bound():
    public = Public(4, 2, 0.0, "replace_one")
    wrong = np.array([[0.5, 0.5], [0.1, 1.5], [0.0, 0.0], [0.0, 0.0]])
    for one in (1.5, np.nan, np.inf):
        wrong[1, 1] = one
        with pytest.raises(ValueError, match="targets must be finite and at most 1"):
            Records.admit_each(np.ones((4, 2)), wrong, public, 2.0)
    vault = Records.admit(np.ones((4, 2)), np.zeros(4), public, 2.0)
    with pytest.raises(ValueError, match="one target for each row"):
        vault.with_targets(np.zeros(3))
