"""Corners of enclosures, certificates and random allocation that ordinary scripts do not reach."""

import io
import json
import math
import runpy
import sys

import numpy as np
import pytest

from skdp.exceptions import NotSupported
from skdp.privacy import certificate, certificate_checker, delta, enclose, to_dp_event
from skdp.privacy._discrete import Outcomes, _alike
from skdp.privacy._enclose import _below_price
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._pld_allocation import allocated_delta
from skdp.privacy._pld_below import _Inner
from skdp.privacy._pld_pairs import GaussianPair
from skdp.privacy._sampled import _allocated_profile
from skdp.privacy.certificate_checker import Interval
from skdp.privacy.events import Gaussian, PoissonPure, PureDP, RandomAllocation, RandomizedResponse
from skdp.privacy.ledger._place import WitnessFile


def test_a_sample_of_everybody_is_certified_as_the_whole():
    whole = ((PureDP(0.5), 3),)
    sampled = ((PoissonPure(0.5, 1.0), 3),)
    found = certificate(sampled, delta=1e-6, neighbors="add_remove")
    assert certificate_checker.complaint(found) is None
    assert found["claim"] == certificate(whole, delta=1e-6, neighbors="add_remove")["claim"]


def test_a_checker_that_is_run_reads_a_certificate_and_says_what_is_wrong(monkeypatch, capsys):
    found = certificate(((Gaussian(2.0), 1),), delta=1e-6)
    for text, wrong in ((found, False), ({**found, "claim": {}}, True)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(text)))
        with pytest.raises(SystemExit) as end:
            runpy.run_path(certificate_checker.__file__, run_name="__main__")
        assert bool(end.value.code) == wrong
    assert "verified" in capsys.readouterr().out


def test_an_interval_that_holds_zero_divides_nothing():
    with pytest.raises(ValueError, match="holds zero"):
        Interval(1.0) / Interval(-1.0, 1.0)


def test_too_many_branches_are_enclosed_on_a_grid():
    script = ((Gaussian(3.0), 1), (PoissonPure(0.02, 0.3), 1000), (PoissonPure(0.03, 0.1), 1000))
    found = enclose(script, epsilon=1.0, neighbors="add_remove")
    assert found.witness["method"] == "grid"
    assert 0 < found.low <= found.high <= delta(script, 1.0, "add_remove")


def test_an_epsilon_of_which_nothing_is_known_from_below_is_zero():
    assert _below_price(lambda epsilon: 0.0, 1.0, 1e-6) == 0.0


def test_a_pair_inside_is_the_pair():
    pair = GaussianPair(1.0)
    assert _Inner(pair).largest_loss == pair.largest_loss
    assert all(map(np.array_equal, _Inner(pair).nodes(8.0), pair.nodes(8.0)))


def test_unlike_numbers_of_losses_are_unlike():
    one = Outcomes(np.zeros(1), np.ones(1), 0.0)
    assert not _alike(one, Outcomes(np.zeros(2), np.full(2, 0.5), 0.0))


def test_allocation_at_odd_epsilons():
    """The curve below zero mirrors the one above, and far out it never rises."""
    there = allocated_delta(1.0, 10, 0.5, "replace_one")
    back = allocated_delta(1.0, 10, -0.5, "replace_one")
    assert back == pytest.approx(1 - math.exp(-0.5) + math.exp(-0.5) * there)
    far, near = (allocated_delta(0.5, 2, at, "replace_one") for at in (20.0, 15.0))
    assert 0.0 < far <= near
    beside = _allocated_profile(RandomAllocation(1.0, 10), 0.5, "add_remove", extra_mu=0.3)
    assert beside == pytest.approx(float(gaussian_delta(0.5, math.hypot(1.0, 0.3))))


def test_one_file_is_one_witness(tmp_path):
    one, same = (WitnessFile(str(tmp_path / "heads")) for _ in range(2))
    assert one == same and hash(one) == hash(same)


def test_too_many_responses_have_no_list_elsewhere():
    pytest.importorskip("dp_accounting")
    with pytest.raises(NotSupported, match="too many to list"):
        to_dp_event(((RandomizedResponse(0.1, 2), 1001),))
