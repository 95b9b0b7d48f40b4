"""The files of the trusted room import each other in one direction, so each can be read after what it rests on."""

import pytest
from walls.checks import PACKAGE, imports

from skdp.mechanisms import MECHANISMS, _registry

ROOMS = ("mechanisms", "models")


def sources():
    """Text of each file of the rooms, by its module's name."""
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))]
    return {_module(path.relative_to(PACKAGE).as_posix()): path.read_text() for path in files}


def _module(name):
    return "skdp." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def edges(known):
    """For each module the modules of the rooms that it imports when it is read, lazy ones left out."""
    for module, source in known.items():
        name = module.removeprefix("skdp.").replace(".", "/")
        name += "/__init__.py" if module.count(".") == 1 else ".py"
        found = {
            f"{base}.{part}" if f"{base}.{part}" in known else base
            for base, part, top, _ in imports(source, name)
            if top
        }
        yield module, {other for other in found if other in known and other != module}


def check_one_direction(known):
    """Modules can be taken away one after the other, each after all that it imports."""
    left = dict(edges(known))
    while left:
        free = [module for module, needs in left.items() if not needs & left.keys()]
        assert free, f"these import each other: {sorted(left)}"
        for module in free:
            del left[module]


def test_imports_go_one_way():
    known = sources()
    assert "skdp.mechanisms._registry" in known and len(known) > 40
    check_one_direction(known)


@pytest.mark.parametrize("line", ["import skdp.mechanisms as _room", "from . import Public"])
def test_a_file_that_imports_the_room_that_imports_it_is_found(line):
    known = sources()
    known["skdp.mechanisms._registry"] += f"\n{line}\n"
    with pytest.raises(AssertionError, match=r"skdp\.mechanisms\._registry"):
        check_one_direction(known)


def test_the_registry_is_filled_once():
    assert _registry.questions() == MECHANISMS and len(MECHANISMS) > 10
    with pytest.raises(RuntimeError, match="alone"):
        _registry.register("builtins", [".object"])
    assert _registry.questions() == MECHANISMS
