"""Corners of batches and cells that a fit does not reach."""

import numpy as np
import pytest
from laws.vaults import vault
from scipy.sparse import csr_array

from skdp import DPLogisticRegression, NotSupported
from skdp.entry import Given
from skdp.losses import Logistic
from skdp.mechanisms import AllocatedBatch, Gradient, Public
from skdp.mechanisms._noise import Silence
from skdp.privacy.events import PureDP


def test_without_noise_batches_are_dealt_in_turn():
    assert Silence().allocation(5, 2).tolist() == [0, 1, 0, 1, 0]


def test_cells_are_one_for_each_row_that_entered():
    held = vault(np.eye(3), np.ones(3), "replace_one")
    public = Public(n=3, n_features=1, intercept=0.0, neighbors="replace_one", target_bound=3.0)
    with pytest.raises(ValueError, match="one number for each row"):
        held.in_cells(np.zeros(2), public)


class InPureSteps(Gradient):
    """A sum whose price on a batch is no Gaussian's."""

    def sampled_event(self, public, rate):
        return PureDP(1.0)


def test_a_sum_without_a_gaussian_has_no_price_on_an_allocated_batch():
    question = InPureSteps(at=np.zeros(3), loss=Logistic(), clip=0.1, multiplier=1.0)
    public = Public(n=3, n_features=2, intercept=0.25, neighbors="replace_one")
    with pytest.raises(NotSupported, match="no price on an allocated batch"):
        AllocatedBatch(question, 4, opens=True).event(public)


def test_an_encoder_that_nobody_registered_maps_nothing():
    with pytest.raises(TypeError, match="no registered encoder"):
        Given(np.eye(2)).mapped(None, object(), lambda *_: None)


def test_a_sparse_row_without_a_norm_is_refused_before_its_length_is_asked():
    X = csr_array(np.where(np.arange(200)[:, None] == 7, 1.7e308, np.ones((200, 3))))
    with pytest.raises(ValueError, match="too large to be scaled"):
        DPLogisticRegression(classes=[0, 1]).fit(X, np.arange(200) % 2)
