"""Discovery of the public estimators by walking the package, and of the checks that each fails on purpose, and why.

A list by hand would forget the next estimator.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    RegressorMixin,
    TransformerMixin,
)

__all__ = ["all_estimators", "expected_failed_checks"]


_KINDS = {
    "classifier": ClassifierMixin,
    "cluster": ClusterMixin,
    "regressor": RegressorMixin,
    "transformer": TransformerMixin,
}


def all_estimators(type_filter: str | None = None) -> list[tuple[str, type[BaseEstimator]]]:
    """Return every public estimator of skdp, as scikit-learn's function of the same name does for its own.

    A class is public where a module without an underscore in its path names it in ``__all__``. A base is not an
    estimator: it is abstract, or leaves ``fit`` or the parameters to others. One that needs an extra is there where the
    extra is installed.

    Parameters
    ----------
    type_filter : {"classifier", "cluster", "regressor", "transformer"}, default=None
        Only estimators of this kind; None for all.

    Returns
    -------
    list of (str, type)
        Names and classes, sorted by name.

    See Also
    --------
    skdp.DPLogisticRegression : One of them.

    Examples
    --------
    >>> from skdp.utils import all_estimators
    >>> names = [name for name, _ in all_estimators(type_filter="classifier")]
    >>> "DPLogisticRegression" in names, names == sorted(names)
    (True, True)
    """
    if type_filter is not None and type_filter not in _KINDS:
        raise ValueError(
            f"type_filter={type_filter!r} is not known; use one of {sorted(_KINDS)}, or None for all."
        )
    kind = BaseEstimator if type_filter is None else _KINDS[type_filter]
    found = {
        (thing.__name__, thing)
        for module in _public_modules("skdp")
        for thing in _public_classes(module)
        if issubclass(thing, BaseEstimator)
        and issubclass(thing, kind)
        and not _is_base(thing)
        and _is_complete(thing)
    }
    return sorted(found, key=lambda pair: (pair[0], pair[1].__module__))


def _public_modules(name: str) -> Iterator[ModuleType]:
    """The module and all below it whose names have no underscore in front; ``__main__`` runs a program."""
    module = import_module(name)
    yield module
    for below in iter_modules(getattr(module, "__path__", [])):
        if not below.name.startswith("_"):
            yield from _public_modules(f"{name}.{below.name}")


def _public_classes(module: ModuleType) -> Iterator[type]:
    """Yield the public classes in the ``__all__`` of a module."""
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if inspect.isclass(thing) and not name.startswith("_"):
            yield thing


def _is_base(kind: Any) -> bool:
    """Return True if a class is a base of others: it is abstract, or leaves ``fit`` or the parameters to them."""
    return inspect.isabstract(kind) or not hasattr(kind, "fit") or kind.__init__ is object.__init__


def _is_complete(kind: Any) -> bool:
    """Return True if the extra package that an estimator needs is installed."""
    extra = getattr(kind, "_extra", None)
    return extra is None or find_spec(extra) is not None


_HEAVIEST = 4.0  # of the weights of scikit-learn's checks of equivalence
_ALL_ZERO = (
    "an error would reveal the weights, which are private: weights of 0 are fitted like any others"
)
_CLIPPED = (
    "a weight counts with max_sample_weight at most, which is 1 where none is declared, and the "
    "check has weights of 4"
)


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator fails on purpose, and why.

    Parameters
    ----------
    estimator : estimator
        One of skdp, at an epsilon where noise does not hide what the checks look for: 1e4 is enough for linear ones.

    Returns
    -------
    dict of str to str
        Names of checks, and the reason of each: ``expected_failed_checks`` of
        `sklearn.utils.estimator_checks.check_estimator`.

    See Also
    --------
    all_estimators : What may be checked.

    Examples
    --------
    >>> from skdp import DPRidge
    >>> from skdp.utils import expected_failed_checks
    >>> list(expected_failed_checks(DPRidge(max_sample_weight=5.0)))
    ['check_all_zero_sample_weights_error']
    """
    known = estimator.get_params(deep=False)
    if "max_sample_weight" not in known:
        return {}
    found = {"check_all_zero_sample_weights_error": _ALL_ZERO}
    bound = known["max_sample_weight"]
    if bound is None or bound < _HEAVIEST:
        for rows in ("dense", "sparse"):
            found[f"check_sample_weight_equivalence_on_{rows}_data"] = _CLIPPED
    return found
