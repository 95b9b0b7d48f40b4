"""The files of the trusted room import each other in one direction, so each can be read after what it rests on."""

import pytest
from walls.checks import PACKAGE
from walls.test_cycles import cycle, graph

from skdp.losses import LOSSES, Hinge, Logistic
from skdp.mechanisms import MECHANISMS, _registry

ROOMS = ("mechanisms", "models")


def sources():
    """Text of each file of the rooms, by its path in the package."""
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))]
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in files}


def check_one_direction(known):
    """Modules can be taken away one after the other, each after all that it imports."""
    left = cycle(graph(known))
    assert not left, f"these import each other: {left}"


def test_imports_go_one_way():
    known = sources()
    assert "mechanisms/_registry.py" in known and len(known) > 40
    check_one_direction(known)


@pytest.mark.parametrize("line", ["import skdp.mechanisms as _room", "from . import Public"])
def test_a_file_that_imports_the_room_that_imports_it_is_found(line):
    known = sources()
    known["mechanisms/_registry.py"] += f"\n{line}\n"
    with pytest.raises(AssertionError, match=r"skdp\.mechanisms\._registry"):
        check_one_direction(known)


def test_the_registry_is_filled_once():
    assert _registry.questions() == MECHANISMS and len(MECHANISMS) > 10
    with pytest.raises(RuntimeError, match="alone"):
        _registry.register("builtins", [".object"])
    assert _registry.questions() == MECHANISMS


class EqualsAll(type):
    """Says that its classes equal any other."""

    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(Logistic)


def test_a_class_is_registered_by_what_it_is_and_not_by_what_it_says():
    posing = EqualsAll("Logistic", (Logistic,), {"__module__": Logistic.__module__})
    known = LOSSES.values()
    assert Logistic in known and Logistic in known, "the second time it is looked up"
    assert posing == Logistic and posing not in known
    assert posing not in MECHANISMS and all(kind in MECHANISMS for kind in MECHANISMS)


def test_what_leaves_a_registry_is_not_remembered(monkeypatch):
    assert Logistic in LOSSES.values()
    with monkeypatch.context() as patched:
        patched.setitem(LOSSES, "logistic", Hinge)
        assert Logistic not in LOSSES.values() and Hinge in LOSSES.values()
    assert Logistic in LOSSES.values()
