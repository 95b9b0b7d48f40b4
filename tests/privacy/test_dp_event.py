"""A script handed to dp-accounting is re-priced there to the same epsilon, under both relations."""

import sys

import pytest

from skdp.exceptions import NotSupported
from skdp.privacy import accountants, from_dp_event, to_dp_event
from skdp.privacy.events import (
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    PoissonGaussian,
    PoissonLaplace,
    PureDP,
    ShuffledEpoch,
    WithoutReplacementGaussian,
)

dp_accounting = pytest.importorskip("dp_accounting")
from dp_accounting.pld import PLDAccountant  # noqa: E402

RELATIONS = {
    "replace_one": dp_accounting.NeighboringRelation.REPLACE_ONE,
    "add_remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
}


def reprice(script, delta, neighbors, told=None):
    accountant = PLDAccountant(RELATIONS[told or neighbors])
    return accountant.compose(to_dp_event(script, neighbors)).get_epsilon(delta)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_gaussian_scripts_reprice_alike(neighbors):
    script = ((Gaussian(5.0), 3), (ShuffledEpoch(8.0), 2))
    ours = accountants.epsilon(script, 1e-5, neighbors)
    assert reprice(script, 1e-5, neighbors) == pytest.approx(ours, rel=1e-3)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_sampled_scripts_reprice_alike(neighbors):
    script = ((PoissonGaussian(1.0, 0.02), 50),)
    ours = accountants.epsilon(script, 1e-5, neighbors)
    assert reprice(script, 1e-5, neighbors) == pytest.approx(ours, rel=2e-3)


def test_the_doubling_trap_is_minded():
    """Told the wrong relation, dp-accounting's answer is far off: the translation depends on it."""
    script = ((Gaussian(5.0), 3),)
    ours = accountants.epsilon(script, 1e-5, "replace_one")
    assert reprice(script, 1e-5, "replace_one", told="add_remove") < 0.7 * ours


def test_laplace_reprices_under_add_remove_only():
    script = ((Laplace(4.0), 3),)
    assert reprice(script, 1e-9, "add_remove") == pytest.approx(0.75, rel=1e-3)
    with pytest.raises(NotSupported, match="means Laplace under replace_one"):
        to_dp_event(script, "replace_one")


@pytest.mark.parametrize(
    "event", [PoissonLaplace(0.5, 0.02), MixtureOfGaussians.of_rows(1.0, 0.02, 3)], ids=repr
)
def test_sampled_laplace_steps_and_groups_reprice_alike_and_come_back(event):
    script = ((event, 50),)
    ours = accountants.epsilon(script, 1e-5, "add_remove")
    coarse = PLDAccountant(RELATIONS["add_remove"], value_discretization_interval=1e-2)
    theirs = coarse.compose(to_dp_event(script, "add_remove")).get_epsilon(1e-5)
    assert theirs * 0.95 < ours <= theirs
    back = from_dp_event(to_dp_event(script, "add_remove"), "add_remove")
    assert back == script
    for refused in (to_dp_event, from_dp_event):
        with pytest.raises(NotSupported, match="under replace_one"):
            given = script if refused is to_dp_event else to_dp_event(script, "add_remove")
            refused(given, "replace_one")


def test_without_replacement_of_everybody_is_a_gaussian():
    whole = ((WithoutReplacementGaussian(10.0, 1.0), 2),)
    ours = accountants.epsilon(whole, 1e-5)
    assert reprice(whole, 1e-5, "replace_one") == pytest.approx(ours, rel=1e-3)


def test_what_has_no_event_there_is_refused_by_name():
    for event in (PureDP(0.1), WithoutReplacementGaussian(10.0, 0.5)):
        with pytest.raises(NotSupported, match=type(event).__name__):
            to_dp_event(((event, 1),), "replace_one")


def test_an_empty_script_is_no_operation():
    assert to_dp_event(()) == dp_accounting.NoOpDpEvent()


def test_without_dp_accounting_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(NotSupported, match="pip install dp-accounting"):
        to_dp_event(((Gaussian(1.0), 1),))
