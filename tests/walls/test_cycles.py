"""No file waits for one that waits for it: imports at the top of files have no cycle."""

from walls.checks import imports, modules, name_of
from walls.lazy import shown


def module_of(name):
    """Dotted name of a file of the package."""
    return "skdp." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def graph(sources):
    """Module -> the modules of the package that it imports when it is imported itself.

    A name of a package that is loaded when it is asked for is asked for by the import.
    """
    known = {module_of(name): name for name in sources}
    homes = {module: homes_in(sources[name], name) for module, name in known.items()}
    found = {}
    for module, name in known.items():
        asked = [
            place
            for base, thing, top, _ in imports(sources[name], name)
            if top
            for place in places(base, thing, known, homes)
        ]
        found[module] = {other for other in asked if other in known} - {module}
    return found


def homes_in(source, name):
    """Name -> module, of what a package loads when it is asked for; nothing of other files."""
    if not name.endswith("__init__.py"):
        return {}
    package = ["skdp", *name.split("/")[:-1]]
    return {
        thing: ".".join([*package[: len(package) - level + 1], *([module] if module else [])])
        for thing, (level, module) in shown(source).items()
    }


def places(base, thing, known, homes):
    """The modules that are loaded by one import."""
    if f"{base}.{thing}" in known:
        return [f"{base}.{thing}"]
    home = homes.get(base, {}).get(thing)
    return [base] if home is None else [base, *places(home, thing, known, homes)]


def cycle(edges):
    """Modules left when those that wait for none of the rest are taken away, again and again."""
    left = dict(edges)
    while free := [module for module, asked in left.items() if not asked & left.keys()]:
        for module in free:
            del left[module]
    return sorted(left)


def test_no_module_waits_for_itself():
    sources = {name_of(path): path.read_text(encoding="utf-8") for path in modules()}
    assert len(sources) > 200 and cycle(graph(sources)) == []


def test_a_cycle_is_seen():
    sources = {
        "room/_a.py": "from ._b import b\n",
        "room/_b.py": "from . import _c\n",
        "room/_c.py": "from skdp.room._a import a\nfrom ._d import d\n",
        "room/_d.py": "def d():\n    from ._a import a\n",
    }
    assert cycle(graph(sources)) == ["skdp.room._a", "skdp.room._b", "skdp.room._c"]
    assert cycle(graph(sources | {"room/_c.py": "from ._d import d\n"})) == []


def test_a_cycle_by_way_of_a_package_that_loads_on_demand_is_seen():
    sources = {
        "room/__init__.py": "if TYPE_CHECKING:\n    from ._a import a\n",
        "room/_a.py": "from ..other import b\n",
        "other/__init__.py": "from ._b import b\n",
        "other/_b.py": "from skdp.room import a\n",
    }
    assert cycle(graph(sources)) == ["skdp.other", "skdp.other._b", "skdp.room._a"]
    assert cycle(graph(sources | {"other/_b.py": "import skdp.room\n"})) == []
