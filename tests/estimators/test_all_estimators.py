"""Estimators are found by a walk of the package: whatever room a new one is in, the laws of estimators reach it."""

import doctest
import inspect
import sys

import pytest
from estimators.checked import checked
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator

import skdp
from skdp import DPLinearSVC, DPLogisticRegression
from skdp.utils import all_estimators

TOY = '''
"""A room that nobody has written by hand into a list."""
from abc import ABCMeta, abstractmethod
from sklearn.base import BaseEstimator, TransformerMixin
from skdp import DPLogisticRegression

__all__ = ["DPLogisticRegression", "Abstract", "Base", "Half", "Toy", "number"]
number = 3

class Abstract(BaseEstimator, metaclass=ABCMeta):
    """A base that says what is missing."""

    @abstractmethod
    def fit(self, X): ...

class Base(BaseEstimator):
    """A base that leaves fit to others."""

class Half(Base):
    """A base that leaves parameters to others."""

    def fit(self, X): ...

class Toy(TransformerMixin, Half):
    """Does nothing, and shows no example."""

    def __init__(self, epsilon=1.0):
        self.epsilon = epsilon

class NotNamed(Toy):
    """Public by its name, but not called public."""
'''


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """The package with one more room in it, of one public and one private module."""
    room = tmp_path / "toy_room"
    room.mkdir()
    (room / "__init__.py").write_text('"""A room."""\n')
    (room / "deep.py").write_text(TOY)
    (room / "_hidden.py").write_text(TOY.replace("Toy", "Hidden"))
    monkeypatch.setattr(skdp, "__path__", [*skdp.__path__, str(tmp_path)])
    yield "skdp.toy_room.deep"
    for name in [name for name in sys.modules if name.startswith("skdp.toy_room")]:
        del sys.modules[name]
    vars(skdp).pop("toy_room", None)


def undocumented(estimators):
    """Estimators whose docstring shows nothing that runs."""
    parse = doctest.DocTestParser().get_examples
    return [name for name, kind in estimators if not parse(inspect.getdoc(kind) or "")]


def test_the_linear_classifiers_are_found_in_order():
    found = all_estimators()
    assert {("DPLinearSVC", DPLinearSVC), ("DPLogisticRegression", DPLogisticRegression)} <= set(
        found
    )
    assert found == sorted(found, key=lambda pair: pair[0]) and len(set(found)) == len(found)
    assert all(issubclass(kind, BaseEstimator) and name == kind.__name__ for name, kind in found)


def test_bases_are_not_estimators():
    found = set(dict(all_estimators()).values())
    assert not found & set(DPLinearSVC.__mro__[1:]) and not found & set(
        DPLogisticRegression.__mro__[1:]
    )


@pytest.mark.parametrize(
    ("name", "kind"), all_estimators(), ids=lambda v: getattr(v, "__name__", v)
)
def test_every_estimator_shows_an_example(name, kind):
    assert undocumented([(name, kind)]) == []


def test_a_toy_in_any_public_module_is_found_once_and_its_missing_example_is_seen(planted):
    found = all_estimators()
    names = [name for name, _ in found]
    assert names.count("Toy") == 1 and names.count("DPLogisticRegression") == 1
    assert not {"Abstract", "Base", "Half", "Hidden", "NotNamed", "number"} & set(names)
    assert sys.modules[planted].Toy in dict(found).values()
    assert undocumented(found) == ["Toy"]


def test_scikit_learns_checks_reach_a_toy_in_any_room_and_fail_it(planted):
    assert {type(estimator) for estimator in checked()} >= {DPLinearSVC, DPLogisticRegression}
    (toy,) = [estimator for estimator in checked() if type(estimator).__name__ == "Toy"]
    # Its fit returns None, and it transforms nothing.
    failed = [
        result
        for result in check_estimator(toy, on_skip=None, on_fail=None)
        if result["status"] == "failed"
    ]
    assert failed


def test_a_kind_is_filtered_by_its_mixin(planted):
    assert [name for name, _ in all_estimators("transformer")].count("Toy") == 1
    assert "Toy" not in dict(all_estimators("classifier"))
    assert DPLinearSVC in dict(all_estimators("classifier")).values()
    assert DPLinearSVC not in dict(all_estimators("regressor")).values()
    with pytest.raises(ValueError, match="type_filter='forest' is not known; use one of"):
        all_estimators("forest")
