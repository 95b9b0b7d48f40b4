"""Classes of other libraries are known by package and name, without being imported."""

import importlib
import inspect
import pkgutil
import sys
import types
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import skdp
from skdp.exceptions import NotSupported
from skdp.inspection._rules import FOREIGN, READS_NOTHING, is_ours, kind_of
from skdp.inspection._structures import STRUCTURES
from skdp.utils import all_estimators

DP = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1])
KNOWN = [
    (package, name, why)
    for why, packages in FOREIGN.items()
    for package, names in packages.items()
    for name in names.split()
]


class Theirs(BaseEstimator):
    """What a class of another library looks like from outside."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y=None):
        return self


def of(package, name):
    """A class that says that it is of a package."""
    return type(name, (Theirs,), {"__module__": f"{package}.deep._inside"})


@pytest.mark.parametrize(("package", "name", "why"), KNOWN, ids=lambda value: str(value)[:30])
def test_what_is_known_is_named(package, name, why):
    kind = of(package, name)
    for model in (make_pipeline(kind(), DP), kind(DP)):
        found = skdp.check(model)
        assert not found.private and found.named("learns") == (name,) and why in str(found)
    assert skdp.check(make_pipeline(of("elsewhere", name)(), DP)).named("unknown") == (name,)


# Packages whose names begin as ours and scikit-learn's do, and modules that end so.
ALIKE = ("skdp_contrib", "skdpx", "sklearn_contrib", "sklearnex", "mine.skdp", "mine.sklearn")
BORROWED = sorted({*STRUCTURES, *READS_NOTHING, *dict(all_estimators())})


@pytest.mark.parametrize("package", ALIKE)
def test_a_name_of_ours_in_another_package_is_not_ours(package):
    """Of every class that is trusted by its name: scikit-learn's steps and meta-estimators, and our own."""
    for name in BORROWED:
        kind = of(package, name)
        assert not is_ours(kind()) and kind_of(kind()) is None
        for model in (make_pipeline(kind(), DP), kind(DP), FrozenEstimator(kind(DP))):
            found = skdp.check(model)
            assert not found.private and found.named("unknown") == (name,), (name, str(found))
        with pytest.raises(NotSupported, match=f"{name} is not known to keep a receipt"):
            skdp.total(kind(DP))


def test_there_are_more_than_forty_and_none_twice():
    assert len(KNOWN) > 100 and len({(package, name) for package, name, _ in KNOWN}) == len(KNOWN)


def classes_of(package):
    """Names of all classes with a fit in a package that is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        modules = [importlib.import_module(package)]
        for part in pkgutil.walk_packages(modules[0].__path__, f"{package}."):
            if "test" not in part.name:
                try:
                    modules.append(importlib.import_module(part.name))
                except Exception:  # a part that wants another package
                    continue
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if inspect.isclass(kind) and hasattr(kind, "fit") and kind.__module__.startswith(package)
    }


OLD = {  # of earlier versions
    "mapie": {"MapieClassifier", "MapieRegressor", "VennAbersCalibrator"},
    "sklego": {"GroupedPredictor", "HierarchicalPredictor"},
}


@pytest.mark.parametrize("package", sorted({package for package, _, _ in KNOWN} - {"optuna"}))
def test_the_names_are_those_of_the_library(package):
    """Where it is installed: a name that is misspelt would never be met."""
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    there = classes_of(package)
    # Some are named by their package without a fit of their own kind: what `conformalize` does is `fit` elsewhere.
    top = {
        name
        for module in list(sys.modules)
        if module.startswith(package)
        for name in vars(sys.modules[module])
    }
    named = {name for known, name, _ in KNOWN if known == package}
    assert named - set(there) - top - OLD.get(package, set()) == set()


def test_autologging_is_seen_without_an_import(monkeypatch):
    assert skdp.check(DP).private
    fake = types.ModuleType("mlflow.utils.autologging_utils")
    fake.autologging_is_disabled = lambda name: name != "sklearn"
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    found = skdp.check(DP)
    assert not found.private and found.named("learns") == ("mlflow.sklearn.autolog",)
    fake.autologging_is_disabled = lambda name: True
    assert skdp.check(DP).private


def test_autologging_of_mlflow_itself():
    mlflow = pytest.importorskip("mlflow.sklearn")
    mlflow.autolog(silent=True)
    try:
        assert not skdp.check(DP).private
    finally:
        mlflow.autolog(disable=True)
    assert skdp.check(DP).private


def test_samplers_of_imbalanced_learn_in_its_pipeline():
    imblearn = pytest.importorskip("imblearn.pipeline")
    sampler = importlib.import_module("imblearn.over_sampling").RandomOverSampler()
    found = skdp.check(imblearn.make_pipeline(sampler, DP))
    assert found.named("learns") == ("RandomOverSampler",) and not found.private


def test_a_search_of_another_library_has_no_total():
    """It holds a receipt of its last fit alone."""
    X = np.random.default_rng(0).uniform(-0.4, 0.4, (200, 2))
    search = of("skopt", "BayesSearchCV")(DP)
    search.best_estimator_ = skdp.DPLogisticRegression(
        epsilon=1.0, data_norm=1.0, classes=[0, 1]
    ).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(skdp.NotSupported, match=r"BayesSearchCV .* share a ledger"):
        skdp.total(search)
