"""Where a package says that its names are: to readers by imports under TYPE_CHECKING, at run time by tables."""

import ast

__all__ = ["homes", "shown", "wrong_homes"]

CALLS = {"attach", "Registry", "register"}  # what takes a table of places


def shown(source):
    """Name -> (level, module) of each import under TYPE_CHECKING at the top of a file."""
    return {
        alias.asname or alias.name: (node.level, node.module or "")
        for block in ast.parse(source).body
        if _is_for_readers(block)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _is_for_readers(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def homes(source):
    """Name -> (level, module) of all that the tables of a package say; a name twice is kept as a list of both."""
    found = {}
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in CALLS:
            for name, home in _table(call):
                level = 1 + len(home) - len(home.lstrip("."))
                found.setdefault(name, []).append((level, home.lstrip(".")))
    return found


def _table(call):
    """(name, home) of what a call is given: names with homes, or names of a registry with places."""
    for given in call.args:
        if isinstance(given, ast.Dict):
            pairs = [(k.value, v.value) for k, v in zip(given.keys, given.values) if _texts(k, v)]
            if len(pairs) < len(given.keys):
                yield "?", "?"  # something that is no plain text cannot be read here
            for name, home in pairs:
                yield (name, home) if ast.unparse(call.func) == "attach" else _placed(home)
        elif isinstance(given, ast.List | ast.Set | ast.Tuple):
            for place in given.elts:
                yield _placed(place.value) if _texts(place) else ("?", "?")


def _texts(*nodes):
    return all(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in nodes)


def _placed(place):
    home, _, name = place.rpartition(".")
    return name, home


def wrong_homes(source, name, files=()):
    """Where the two differ, and names that a module beside them would hide once it is loaded."""
    if not name.endswith("__init__.py") or "attach(" not in source:
        return
    read, run = shown(source), homes(source)
    for word in sorted({*read, *run}):
        if [read.get(word)] != run.get(word):
            yield f"{name} shows {word} of {read.get(word)}, and loads it from {run.get(word)}"
    for word in sorted({*read} & {*files}):
        yield f"{name} has a name {word} and a module of that name, which takes its place when it is loaded"
    public = set(_public(source))
    defined = {
        target.id if isinstance(target, ast.Name) else target.name
        for node in ast.parse(source).body
        for target in _targets(node)
    }
    for word in sorted(public - {*read} - defined):
        yield f"{name} calls {word} public, and says not where it is"


def _public(source):
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from ast.literal_eval(node.value)


def _targets(node):
    if isinstance(node, ast.Assign):
        return [target for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    return [node] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
