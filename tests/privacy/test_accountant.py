"""The accountant that is told step by step, and events read from dp-accounting."""

import inspect

import pytest

from skdp.exceptions import NotSupported
from skdp.privacy import Accountant, epsilon, from_dp_event, risk, to_dp_event, tradeoff
from skdp.privacy.events import ZCDP, Gaussian, Laplace, PoissonGaussian, PureDP, ShuffledEpoch

RELATIONS = ["replace_one", "add_remove"]


def test_steps_are_the_script():
    account = Accountant().step(Gaussian(9.0)).step(Gaussian(9.0), 2).step(PureDP(0.1))
    script = ((Gaussian(9.0), 3), (PureDP(0.1), 1))
    assert account.script == script and len(account) == 4
    assert account.epsilon(1e-6) == epsilon(script, 1e-6)
    assert account.risk() == risk(script) and account.delta(0.0) > 0
    assert account.tradeoff([0.1]).tolist() == tradeoff(script, [0.1]).tolist()
    assert sum(part.share for part in account.breakdown(1e-6)) == pytest.approx(1.0)


TELLS = ("step", "compose")
ASKED = {"delta": 1e-6, "epsilon": 0.3, "alphas": (0.1, 0.5)}  # by the name of a parameter


def answers_of(account):
    """What each public question to an accountant is answered, and what it shows of itself, by name."""
    told = {}
    for name in (name for name in dir(account) if not name.startswith("_") and name not in TELLS):
        value = getattr(account, name)
        if callable(value):
            value = value(**{asked: ASKED[asked] for asked in inspect.signature(value).parameters})
        told[name] = repr(value)
    return {**told, "length": len(account), "repr": repr(account)}


def assert_told_as_a_whole(kind, neighbors):
    """Asked between its steps, an accountant answers as one that was told all of them before it was ever asked."""
    steps = [
        (Gaussian(9.0), 1),
        (PureDP(0.1), 2),
        (Gaussian(1.0), 1),
        (PoissonGaussian(1.0, 0.1), 5),
    ]
    account, before = kind(neighbors), {}
    for number in range(len(steps)):
        account.step(*steps[number])
        whole = kind(neighbors).compose(tuple(steps[: number + 1]))
        told = answers_of(account)
        assert told == answers_of(whole)
        assert all(told[name] != before.get(name) for name in ("epsilon", "delta", "risk"))
        before = told


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_what_was_asked_before_a_step_does_not_answer_after_it(neighbors):
    assert_told_as_a_whole(Accountant, neighbors)


class RemembersItsPrice(Accountant):
    """Finds each price once, and forgets that steps follow."""

    def epsilon(self, delta):
        known = vars(self).setdefault("_known", {})
        return known.setdefault(delta, super().epsilon(delta))


def test_an_accountant_that_remembers_a_price_is_found():
    with pytest.raises(AssertionError):
        assert_told_as_a_whole(RemembersItsPrice, "replace_one")


def test_accountants_scripts_and_events_compose():
    pytest.importorskip("dp_accounting")
    one = Accountant("add_remove").step(Gaussian(9.0))
    whole = Accountant("add_remove").compose(one).compose(one.script)
    whole.compose(to_dp_event(one.script, "add_remove"))
    assert whole.script == ((Gaussian(9.0), 3),) and one.script == ((Gaussian(9.0), 1),)


def test_other_relations_and_other_things_are_refused():
    with pytest.raises(ValueError, match="use one relation"):
        Accountant().compose(Accountant("add_remove"))
    with pytest.raises(NotSupported, match="means dp-accounting's float"):
        Accountant().compose(1.0)
    with pytest.raises(ValueError, match="give a whole number"):
        Accountant().step(Gaussian(1.0), 0.5)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(
    "script",
    [
        (),
        ((Gaussian(2.0), 3), (PoissonGaussian(1.0, 0.1), 7)),
        ((ZCDP(0.02), 4), (Gaussian(5.0), 1)),
        ((ShuffledEpoch(3.0), 2),),
    ],
)
def test_there_and_back_costs_the_same(script, neighbors):
    pytest.importorskip("dp_accounting")
    back = from_dp_event(to_dp_event(script, neighbors), neighbors)
    assert epsilon(back, 1e-6, neighbors) == pytest.approx(
        epsilon(script, 1e-6, neighbors), rel=1e-12
    )


def test_their_own_events_are_priced_as_there():
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    inner = accounting.SelfComposedDpEvent(
        accounting.ComposedDpEvent(
            [
                accounting.LaplaceDpEvent(8.0),
                accounting.PoissonSampledDpEvent(0.05, accounting.GaussianDpEvent(1.5)),
            ]
        ),
        5,
    )
    script = from_dp_event(inner, "add_remove")
    assert dict(script)[Laplace(8.0)] == 5
    theirs = PLDAccountant(accounting.NeighboringRelation.ADD_OR_REMOVE_ONE).compose(inner)
    assert epsilon(script, 1e-6, "add_remove") == pytest.approx(theirs.get_epsilon(1e-6), rel=2e-3)


def test_without_noise_nothing_is_promised():
    accounting = pytest.importorskip("dp_accounting")
    assert epsilon(from_dp_event(accounting.NonPrivateDpEvent()), 1e-6) == float("inf")


def test_what_means_nothing_here_is_refused_by_name():
    accounting = pytest.importorskip("dp_accounting")
    event = accounting.SampledWithReplacementDpEvent(100, 10, accounting.GaussianDpEvent(1.0))
    for wrong in (event, accounting.UnsupportedDpEvent(), accounting.ZCDpEvent(0.1, 0.1)):
        with pytest.raises(NotSupported, match=type(wrong).__name__):
            from_dp_event(wrong)
    with pytest.raises(NotSupported, match="LaplaceDpEvent under replace_one"):
        from_dp_event(accounting.LaplaceDpEvent(1.0))
