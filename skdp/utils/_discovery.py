"""Discovery of the public estimators by walking the package: a list by hand would forget the next one."""

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

__all__ = ["all_estimators"]

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
