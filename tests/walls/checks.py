"""The walls as functions from a source file to complaints, so that each can be held against a file that breaks it."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "skdp"

NUMBERS = {"numpy", "scipy"}
RUN_TIME = {"numpy", "scipy", "sklearn", "threadpoolctl"}  # the dependencies of pyproject.toml
OPTIONAL = {
    "matplotlib",
    "tqdm",
    "dp_accounting",
    "pandas",
    "torch",
    "cryptography",
}  # extras: imported inside functions only

# What a room may import of skdp, and of third parties. A room is a folder of skdp/.
ROOMS = {
    "privacy": ({"privacy", "exceptions", "_fingerprint"}, NUMBERS),
    "losses": ({"losses"}, NUMBERS),
    "penalties": ({"penalties"}, NUMBERS),
    "models": ({"models", "exceptions"}, NUMBERS),
    "mechanisms": (
        {"mechanisms", "privacy", "models", "losses", "penalties", "exceptions"},
        NUMBERS,
    ),
    "solvers": ({"solvers", "mechanisms", "losses", "penalties", "exceptions"}, NUMBERS),
}

# A solver holds questions; it never holds what answers them, nor what draws.
FORBIDDEN_TO_SOLVERS = {"Records", "Noise", "Silence", "Oracle", "Account"}
HARMLESS = {"__name__", "__init__", "__post_init__"}
BESIDE_THE_FIT_PATH = {"Noise", "Silence", "Oracle"}
FORBIDDEN_NAMES = {"records", "Records", "gc", "inspect", "sys", "ctypes"}
FORBIDDEN_METHODS = {"measure", "answer"}  # of a question: the oracle calls them
REFLECTION = {
    "getattr",
    "setattr",
    "vars",
    "globals",
    "locals",
    "eval",
    "exec",
    "open",
    "__import__",
}

RANDOM_MODULES = {"random", "secrets", "uuid", "numpy.random", "scipy.stats", "scipy.stats.qmc"}
RANDOM_NAMES = {
    "urandom",
    "getrandom",
    "default_rng",
    "RandomState",
    "SystemRandom",
    "check_random_state",
}
MAY_DRAW = ("mechanisms/_noise.py", "datasets/", "audit/", "_demo.py")
# Turns a user's RandomState into the seed of the noise source; draws nothing for an answer.
MAY_READ_RANDOM_STATE = ("fitting/_seeds.py",)


def modules():
    """All source files of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    """Path inside the package, with forward slashes."""
    return path.relative_to(PACKAGE).as_posix()


def imports(source, name):
    """(module, imported name or None, whether at the top level of the file, line) of every import, made absolute."""
    tree = ast.parse(source)
    package = ["skdp", *name.split("/")[:-1]]
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, id(node) in top, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield module, alias.name, id(node) in top, node.lineno


def room_of(module, imported):
    """Room of skdp that an import enters, or None for another package."""
    parts = module.split(".")
    if parts[0] != "skdp":
        return None
    return parts[1] if len(parts) > 1 else (imported or "skdp")


def wrong_imports(source, name):
    """Imports that cross a wall."""
    room = name.split("/")[0]
    allowed, outside = ROOMS.get(room, (None, RUN_TIME))
    for module, imported, top, line in imports(source, name):
        entered, root = room_of(module, imported), module.split(".")[0]
        if entered is None:
            known = outside | sys.stdlib_module_names | (set() if top else OPTIONAL)
            if root not in known:
                yield f"{name}:{line} imports {module}"
        elif allowed is not None and entered not in allowed:
            yield f"{name}:{line} imports {module} from the room {room}"
        elif room == "solvers" and entered == "mechanisms" and imported in FORBIDDEN_TO_SOLVERS:
            yield f"{name}:{line} imports {imported}"
        elif (
            imported in BESIDE_THE_FIT_PATH
            and entered == "mechanisms"
            and room not in ("fitting", "mechanisms", "audit")
        ):
            yield f"{name}:{line} imports {imported} beside the one fit path"


def private_imports(source, name):
    """Imports of another package's private modules or names."""
    for module, imported, _, line in imports(source, name):
        if module.split(".")[0] in {"skdp", "__future__"}:
            continue
        if any(part.startswith("_") for part in (*module.split("."), imported or "")):
            yield f"{name}:{line} imports the private {module} {imported or ''}".rstrip()


def randomness(source, name):
    """Sources of randomness outside the one noise source, data generators and attacks."""
    if name.startswith(MAY_DRAW):
        return
    for module, imported, _, line in imports(source, name):
        full = module if imported is None else f"{module}.{imported}"
        if module in RANDOM_MODULES or full in RANDOM_MODULES or imported in RANDOM_NAMES:
            if imported == "check_random_state" and name in MAY_READ_RANDOM_STATE:
                continue
            yield f"{name}:{line} imports {full}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            on_numpy = isinstance(node.value, ast.Name) and node.value.id in {"np", "numpy"}
            if (node.attr == "random" and on_numpy) or node.attr in RANDOM_NAMES:
                yield f"{name}:{node.lineno} uses {ast.unparse(node)}"


def reaches_for_records(source, name):
    """What would let a solver reach behind the oracle."""
    if not name.startswith("solvers/"):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            word, own = (
                node.attr,
                isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"},
            )
            hidden = word.startswith("_") and word not in HARMLESS and not own
            if word in FORBIDDEN_NAMES | FORBIDDEN_METHODS or hidden:
                yield f"{name}:{node.lineno} reaches for {ast.unparse(node)}"
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES | REFLECTION - _allowed(
            name
        ):
            yield f"{name}:{node.lineno} names {node.id}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name in FORBIDDEN_NAMES:
                    yield f"{name}:{node.lineno} imports {alias.name}"


def _allowed(name):
    """The frame that all solvers share reads its own dataclass fields and asks a loss whether it has d2z."""
    return {"getattr"} if name.rsplit("/", 1)[1].startswith("_") else set()


def sizes(source, name):
    """Files and functions that are too long to be read at once."""
    lines = source.count("\n")
    if lines > 400:
        yield f"{name} has {lines} lines"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            if length > 60:
                yield f"{name}:{node.lineno} {node.name} has {length} lines"


def undocumented(source, name):
    """Public names without a docstring; a file's own private helpers are free of it."""
    tree = ast.parse(source)
    if not ast.get_docstring(tree):
        yield f"{name} says nothing of itself"
    yield from _undocumented_in(tree.body, name, "")


def _undocumented_in(body, name, owner):
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            yield f"{name}:{node.lineno} {owner}{node.name} has no docstring"
        if isinstance(node, ast.ClassDef):
            yield from _undocumented_in(node.body, name, f"{node.name}.")


WALLS = {
    "imports": wrong_imports,
    "private": private_imports,
    "randomness": randomness,
    "records": reaches_for_records,
    "sizes": sizes,
    "docstrings": undocumented,
}
