"""Names of a package that are loaded when they are first asked for, and registries whose classes are.

``import skdp`` costs what it uses. A package says at its head where each of its names is defined: to type checkers and
editors by imports under ``TYPE_CHECKING``, and to the interpreter by a table. A wall holds the two against each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Set, ValuesView
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

__all__ = ["Kinds", "Registry", "attach"]

T = TypeVar("T")


def attach(
    package: str, homes: Mapping[str, str], *registered: Registry[Any] | Kinds
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package (PEP 562).

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict
        Public name -> the module that defines it, as after ``from .``.
    *registered : Registry or Kinds
        Registries of the package: the classes in them are names of the package too.
    """
    known = dict(homes)
    for registry in registered:
        known.update(registry.homes())

    def get(name: str) -> Any:
        if name in known:
            value = _load(package, known[name], name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *known})

    return get, names


def _load(package: str, home: str, name: str) -> Any:
    return getattr(import_module(f".{home}", package), name)


class Registry(MutableMapping[str, type[T]], Generic[T]):
    """Names to classes, of which each is loaded when it is asked for.

    Parameters
    ----------
    package : str
        The package that has the classes.
    places : dict
        Name -> module and class, with a dot between them.
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package = package
        self._kinds: dict[str, str | type[T]] = dict(places)
        self._found: set[int] = set()  # addresses of registered classes that are loaded

    def homes(self) -> dict[str, str]:
        """Class -> module, of those that were given as places and not loaded yet."""
        places = (place for place in self._kinds.values() if isinstance(place, str))
        return {name: home for home, _, name in (place.rpartition(".") for place in places)}

    def holds(self, kind: object) -> bool:
        """Return True for the very class that is registered, whatever it is called; no other class is loaded.

        The oracle asks at every question. A class is known by its address: a metaclass may say that it equals any.
        """
        if id(kind) in self._found:  # registered classes live as long as the registry
            return True
        name = getattr(kind, "__name__", None)
        for own in self.called(name) if isinstance(name, str) else ():
            if kind is own:
                self._found.add(id(kind))
                return True
        return False

    def called(self, class_name: str) -> list[type[T]]:
        """Return the registered classes of that ``__name__``; no other class is loaded."""
        found = []
        for name, kind in list(
            self._kinds.items()
        ):  # a class that is loaded takes the place of its name
            own = kind.rpartition(".")[2] if isinstance(kind, str) else kind.__name__
            if own == class_name:
                found.append(self[name])
        return found

    def __getitem__(self, name: str) -> type[T]:
        kind = self._kinds[name]
        if isinstance(kind, str):
            home, _, own = kind.rpartition(".")
            kind = self._kinds[name] = _load(self._package, home, own)
        return kind

    def __setitem__(self, name: str, kind: type[T]) -> None:
        self._kinds[name] = kind
        self._found.clear()

    def __delitem__(self, name: str) -> None:
        del self._kinds[name]
        self._found.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def values(self) -> _Classes[T]:
        """Return the classes; to ask whether one is among them loads no other."""
        return _Classes(self)


class _Classes(ValuesView[type[T]]):
    """Values of a registry."""

    _mapping: Registry[T]

    def __contains__(self, kind: object) -> bool:
        return self._mapping.holds(kind)


class Kinds(Set[type]):
    """A set of classes, of which each is loaded when it is asked for.

    Parameters
    ----------
    package : str
        The package that has the classes.
    places : iterable of str
        Module and class of each, with a dot between them.
    """

    def __init__(self, package: str, places: Iterable[str]) -> None:
        self._classes: Registry[Any] = Registry(package, {place: place for place in places})

    def homes(self) -> dict[str, str]:
        """Class -> module, of those that are not loaded yet."""
        return self._classes.homes()

    def __contains__(self, kind: object) -> bool:
        return self._classes.holds(kind)

    def __iter__(self) -> Iterator[type]:
        return iter(self._classes.values())

    def __len__(self) -> int:
        return len(self._classes)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:  # type: ignore[override]
        return frozenset(it)
