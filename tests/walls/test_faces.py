"""Estimators stand on few classes: what one can do beside its family is a value it declares, or a function it names."""

import pytest

from skdp.linear_model import DPRidge
from skdp.utils import all_estimators

MOST = 6  # an estimator, its family of models, of targets, of learners, all private ones, and those made of fields
STAND_INS = "skdp.fitting._bases"  # for scikit-learn's own, of a version that lacks them


def own_classes(kind):
    """Names of the classes of ours that a class is made of, itself included."""
    ours = [base for base in kind.__mro__ if base.__module__.split(".")[0] == "skdp"]
    return [base.__name__ for base in ours if base.__module__ != STAND_INS]


@pytest.mark.parametrize(("name", "kind"), all_estimators())
def test_an_estimator_stands_on_few_classes(name, kind):
    assert len(own_classes(kind)) <= MOST, own_classes(kind)


def test_a_class_in_between_is_seen():
    between = type("Between", (DPRidge,), {"__module__": "skdp.between"})
    assert own_classes(between) == ["Between", *own_classes(DPRidge)]
    assert len(own_classes(between)) > MOST
