"""No file waits for one that waits for it: imports at the top of files have no cycle."""

from walls.checks import imports, modules, name_of


def module_of(name):
    """Dotted name of a file of the package."""
    return "skdp." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def graph(sources):
    """Module -> the modules of the package that it imports when it is imported itself."""
    known = {module_of(name): name for name in sources}
    found = {}
    for module, name in known.items():
        asked = [
            (f"{base}.{thing}" if f"{base}.{thing}" in known else base)
            for base, thing, top, _ in imports(sources[name], name)
            if top
        ]
        found[module] = {other for other in asked if other in known} - {module}
    return found


def cycle(edges):
    """Modules left when those that wait for none of the rest are taken away, again and again."""
    left = dict(edges)
    while free := [module for module, asked in left.items() if not asked & left.keys()]:
        for module in free:
            del left[module]
    return sorted(left)


def test_no_module_waits_for_itself():
    sources = {name_of(path): path.read_text(encoding="utf-8") for path in modules()}
    assert len(sources) > 300 and cycle(graph(sources)) == []


def test_a_cycle_is_seen():
    sources = {
        "room/_a.py": "from ._b import b\n",
        "room/_b.py": "from . import _c\n",
        "room/_c.py": "from skdp.room._a import a\nfrom ._d import d\n",
        "room/_d.py": "def d():\n    from ._a import a\n",
    }
    assert cycle(graph(sources)) == ["skdp.room._a", "skdp.room._b", "skdp.room._c"]
    assert cycle(graph(sources | {"room/_c.py": "from ._d import d\n"})) == []
