"""Parameters are fields: constructors and docstrings are made of them, and nothing is left unsaid."""

import inspect
import re
import subprocess
import sys
from dataclasses import field, fields

import numpy as np
import pytest
from estimators.checked import STAND_INS, checked
from sklearn.base import BaseEstimator, clone

from skdp import DPLogisticRegression, DPRidge
from skdp.fitting import FromFields, PrivateEstimator
from skdp.fitting._fields import attribute, entries, parameter, rules_of, sections
from skdp.utils import all_estimators

ESTIMATORS = [kind for _, kind in all_estimators()]
FITTED = [kind for kind in ESTIMATORS if "estimator" not in inspect.signature(kind).parameters]
PRIVATE = [
    kind
    for kind in ESTIMATORS
    if issubclass(kind, PrivateEstimator)
    and "declaration" not in inspect.signature(kind).parameters
]


def described(kind, title="Parameters"):
    """name -> the line that says what it may be, in a section of the docstring."""
    told = entries(sections(kind.__doc__).get(title, ""))
    return {name: text.split("\n")[0] for name, text in told.items() if "\n    " in text}


def unsaid(kind):
    """What the docstring does not say of the parameters: one that is missing or strange, or another default."""
    told, known = described(kind), inspect.signature(kind).parameters
    if list(told) != list(known):
        yield f"describes {list(told)}"
    for name in told.keys() & known.keys():
        _, given, default = told[name].partition(", default=")
        value = known[name].default
        if given and (default.strip('"') != value and eval(default) != value):
            yield f"{name} has the default {value}"
        if not given and value not in (None, inspect.Parameter.empty):
            yield f"{name} shows no default"


def unsaid_of_fit(kind, names):
    """Attributes that the docstring does not describe."""
    return set(names) - described(kind, "Attributes").keys()


def settled(model):
    """Names of what a fit has set."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def own_properties(kind):
    """Names of public properties that end as what a fit sets."""
    found = inspect.getmembers(kind, lambda thing: isinstance(thing, property))
    return [name for name, _ in found if name.endswith("_") and not name.startswith("_")]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_is_described_with_its_default(kind):
    assert list(unsaid(kind)) == []
    assert "As in `" not in kind.__doc__


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@pytest.mark.parametrize("kind", FITTED)
def test_every_attribute_is_described(kind):
    model = next(clone(one) for one in checked() if type(one) is STAND_INS.get(kind.__name__, kind))
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1.0, 1.0, (60, 2)), np.arange(60) % 2
    declared = [one.name for one in fields(kind) if not one.init and one.name[0] != "_"]
    assert not unsaid_of_fit(kind, declared) and not unsaid_of_fit(kind, own_properties(kind))
    assert not unsaid_of_fit(kind, settled(model.fit(X, y)))


@pytest.mark.parametrize("kind", PRIVATE)
def test_the_promise_comes_first_and_all_goes_by_name(kind):
    known = inspect.signature(kind).parameters
    assert list(known)[:2] == ["epsilon", "delta"]
    assert all(one.default is not one.empty for one in known.values())
    assert all(one.kind is one.KEYWORD_ONLY for one in known.values())
    with pytest.raises(
        TypeError, match=rf"^{kind.__name__} takes keyword arguments only, got 0.5"
    ) as e:
        kind(0.5)
    assert "write " in str(e.value) and "(epsilon=...)" in str(e.value)
    written = re.findall(r"(\w+)=\.\.\.", str(e.value))
    assert set(written) <= set(known) and ("alpha" in known) == ("alpha" in written)


# What is declared of a table, or searched: their first parameter has one meaning.
BY_PLACE = {"bounds", "categories", "declaration", "norm", "estimator", "param_grid"}
BY_PLACE |= {"param_distributions"}


@pytest.mark.parametrize(("name", "kind"), all_estimators())
def test_nothing_but_declarations_and_searches_goes_by_place(name, kind):
    known = inspect.signature(kind).parameters.values()
    by_place = {one.name for one in known if one.kind is not one.KEYWORD_ONLY}
    assert by_place <= BY_PLACE, f"{name} takes {by_place - BY_PLACE} by place"


def test_a_refusal_of_a_place_shows_no_cell():
    with pytest.raises(TypeError) as refusal:
        DPLogisticRegression([[8675.309]], [1])
    assert "8675" not in str(refusal.value) and "<list>" in str(refusal.value)


class Shift(FromFields, BaseEstimator):
    """Adds a number.

    Parameters
    ----------
    by : float, default=1.0
        The number.

    Attributes
    ----------
    sum_ : float
        What came out.

    Notes
    -----
    None.
    """

    constant = 3
    by: float = field(default=1.0, kw_only=False)
    sum_: float = field(init=False)


class Twice(Shift):
    """Adds it twice, or more often.

    Parameters
    ----------
    times : int, default=2
        How often.
    """

    times: int = 2
    by: float = field(default=5.0, kw_only=False)
    word: str = "none"


class ByHand(Shift):
    """Has a constructor of its own.

    Parameters
    ----------
    more : int, default=0
        More.
    """

    more_: int

    def __init__(self, more=0):
        self.more = more


class BelowByHand(ByHand):
    """Inherits it."""

    of_a_fit_: int


UP = (lambda value: value > 0, "must be up")
LENGTH = """length : float, default=1.0
    How long."""
WIDTH_ = """width_ : float
    How wide it became."""


class Rod(FromFields, BaseEstimator):
    """A rod."""

    length: float = parameter(1.0, LENGTH, UP)
    width_: float = attribute(WIDTH_)


class Pole(FromFields, BaseEstimator):
    """Another family, with the same parameter."""

    length: float = parameter(9.0, LENGTH)
    width_: float = attribute(WIDTH_)


class LongRod(Rod):
    """A longer one."""

    length: float = 5.0


class LowRod(LongRod):
    """One with a rule of its own.

    Parameters
    ----------
    length : float, default=1.0
        How low.
    """

    length: float = parameter(2.0, rule=(UP[0], "must be low"))


@pytest.mark.parametrize(
    ("kind", "default", "text", "rule"),
    [
        (Rod, 1.0, "How long.", "must be up"),
        (Pole, 9.0, "How long.", None),
        (LongRod, 5.0, "How long.", "must be up"),
        (LowRod, 2.0, "How low.", "must be low"),
    ],
)
def test_what_families_share_stands_at_the_field(kind, default, text, rule):
    assert list(unsaid(kind)) == [] and not unsaid_of_fit(kind, ["width_"])
    assert kind().length == default and list(kind().get_params()) == ["length"]
    assert f"length : float, default={default}\n    {text}" in kind.__doc__
    assert rules_of(kind).get("length", (None, None))[1] == rule
    with pytest.raises(TypeError):
        kind(width_=1.0)


def test_a_parameter_that_nobody_describes_and_a_wrong_default_are_seen():
    assert list(unsaid(Shift)) == []
    assert list(unsaid(Twice)) == ["describes ['by', 'times']"]
    told = type("Told", (Shift,), {"__doc__": Shift.__doc__})
    told.__doc__ = told.__doc__.replace("default=1.0", "default=2.0")
    assert list(unsaid(told)) == ["by has the default 1.0"]
    told.__doc__ = told.__doc__.replace(", default=2.0", "")
    assert list(unsaid(told)) == ["by shows no default"]
    assert unsaid_of_fit(Shift, ["sum_", "product_"]) == {"product_"}


def test_what_a_class_does_not_say_its_bases_say_with_its_own_default():
    assert described(Twice) == {"by": "by : float, default=5.0", "times": "times : int, default=2"}
    assert list(sections(Twice.__doc__)) == ["", "Parameters", "Attributes"]
    assert list(sections(Shift.__doc__)) == ["", "Parameters", "Attributes", "Notes"]
    assert type("Silent", (Shift,), {}).__doc__ is None


def test_a_field_is_a_parameter_unless_a_fit_sets_it_or_it_has_no_type():
    assert Twice(3.0, times=4).get_params() == {"by": 3.0, "times": 4, "word": "none"}
    assert vars(Twice()) == {"by": 5.0, "times": 2, "word": "none"} and not hasattr(Shift, "sum_")
    with pytest.raises(TypeError, match="sum_"):
        Twice(sum_=1.0)
    assert clone(Twice(times=7)).times == 7 and repr(Twice(times=7)) == "Twice(times=7)"
    assert Twice() != Twice() and len({Twice(), Twice()}) == 2


def test_a_parameter_without_a_default_is_refused_where_it_is_written():
    with pytest.raises(TypeError, match=r"^Bare.width has no default; give one, or .*sets it\.$"):
        type("Bare", (Shift,), {"__annotations__": {"width": float}})


def test_a_constructor_that_is_written_by_hand_stays_for_those_below_too():
    assert ByHand(4).get_params() == BelowByHand(4).get_params() == {"more": 4}
    assert list(described(BelowByHand)) == ["more"]


def test_without_docstrings_all_is_as_before():
    script = "from skdp import DPRidge; assert DPRidge.__doc__ is None; print(DPRidge(alpha=2.0))"
    ran = subprocess.run(
        [sys.executable, "-OO", "-c", script], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == repr(DPRidge(alpha=2.0))


def methods(kind):
    """Public methods that skdp gives an estimator, by name; what is scikit-learn's is said by scikit-learn."""
    found = inspect.getmembers(kind, inspect.isfunction)
    return {
        name: one
        for name, one in found
        if not name.startswith("_") and one.__module__.startswith("skdp")
    }


# Others, such as a search, hand what they are given on to the estimator inside.
@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if issubclass(kind, FromFields)])
def test_every_parameter_of_a_method_is_described(kind):
    for name, method in methods(kind).items():
        if name not in ("get_params", "set_params"):  # whose parameters are those of the class
            taken = [one for one in inspect.signature(method).parameters if one != "self"]
            assert [one.lstrip("*") for one in described(method)] == taken, name


def test_a_method_that_says_nothing_of_its_rows_is_told_what_they_are():
    class Doubling(Shift):
        """Doubles rows."""

        def double(self, X):
            """Twice the rows.

            Returns
            -------
            ndarray
                Of the same shape.
            """
            return 2 * X

        def add(self, X, y):
            """Rows and others."""
            return X + y

        def shrink(self, X):
            """Rows made smaller.

            Parameters
            ----------
            X : array-like
                Long ones.
            """
            return X / 2

    assert described(Doubling.double)["X"].startswith("X : array-like of shape (n_samples, n_")
    assert list(sections(Doubling.double.__doc__)) == ["", "Parameters", "Returns"]
    assert described(Doubling.add) == {}
    assert described(Doubling.shrink) == {"X": "X : array-like"}


def test_keywords_are_in_the_order_of_reading():
    """First what users of scikit-learn look for, then what is a class's own, then privacy, and last what is rare."""
    shown = inspect.signature(DPLogisticRegression).parameters
    usual = "epsilon delta solver penalty C l1_ratio fit_intercept class_weight multi_class calibrate data_norm"
    assert list(shown)[:11] == usual.split() and list(shown)[-1] == "verbose"
    assert list(described(DPLogisticRegression)) == list(shown)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_signatures_show_defaults_and_no_types(kind):
    shown = inspect.signature(kind)
    assert "numpy" not in str(shown) and "->" not in str(shown)
    names = {one.name for one in fields(kind) if one.init} if not kind._by_hand else set()
    assert kind._by_hand or set(shown.parameters) == names
    assert all(one.annotation is one.empty for one in shown.parameters.values()) or kind._by_hand
