"""The walls as functions from a source file to complaints, so that each can be held against a file that breaks it."""

import ast
import re
import sys
from pathlib import Path

from walls.lazy import wrong_homes

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
    "pyarrow",
}  # extras: imported inside functions only

ANYWHERE = {"_lazy", "_messages"}  # hold no name of any room

# What a room may import of skdp, and of third parties: under TYPE_CHECKING too. A room is a folder of skdp/.
ROOMS = {
    "privacy": ({"privacy", "exceptions", "_fingerprint"}, NUMBERS),
    "losses": ({"losses"}, NUMBERS),
    "penalties": ({"penalties"}, NUMBERS),
    "models": ({"models", "exceptions"}, NUMBERS),
    "mechanisms": (
        {"mechanisms", "privacy", "models", "losses", "penalties", "exceptions"},
        NUMBERS,
    ),
    "entry": ({"entry", "mechanisms", "privacy", "exceptions"}, NUMBERS | {"sklearn"}),
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

# Ways to one's callers, what they hold and what they are called. A warning's place is all that may hang on them.
FRAMES = {
    "_getframe",
    "_current_frames",
    "currentframe",
    "walk_stack",
    "extract_stack",
    "getouterframes",
    "tb_frame",
}
FRAMES |= {"f_back", "f_locals", "f_globals", "f_code", "settrace", "setprofile"}
MAY_FIND_A_LINE = ("_messages.py",)

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
# Names a ledger's lines by random bytes, so that no two are equal; draws no noise.
MAY_NAME_LINES = ("privacy/ledger/_state.py",)
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
        elif allowed is not None and entered not in allowed | ANYWHERE:
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
            if node.attr == "urandom" and name in MAY_NAME_LINES:
                continue
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
    if lines > 600:
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


# Public facts, which a metric may ask of held records; the rest is for the registered outcomes of `skdp.entry`.
PUBLIC_OF_HELD = {"public_count", "refuse_without", "classes", "grouped"}
RECORDS = {"X", "y", "groups"}  # as a user gives them: they go into Held, and nowhere else
INTO_HELD = {"of", "of_numbers", "grouped"}
TAKE_HELD = {
    "measure",
    "scored",
}  # of which the latter hands it to the former, and that to the trusted seam
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def private_counts(source, name):
    """What would let a face of a metric choose a question by records: no price follows a question's range or size."""
    if not name.startswith("metrics/"):
        return
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    within = {id(part): f for f in functions for part in ast.walk(f) if part is not f}
    for node in ast.walk(tree):
        place, owner = f"{name}:{getattr(node, 'lineno', 0)}", within.get(id(node))
        if isinstance(node, FUNCTIONS) and owner is not None:
            yield f"{place} has a function inside a function, which may close over records"
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield f"{place} keeps what a function saw"
        elif _reads_held(node):
            yield f"{place} reads {ast.unparse(node)} before or beside the answers"
        elif _hands_held_on(node):
            yield f"{place} shows held records to {ast.unparse(node.func)}"
        elif isinstance(node, ast.Name) and node.id in RECORDS and not _goes_into_held(node, tree):
            yield f"{place} reads {node.id}"


def _reads_held(node):
    named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return named and node.value.id == "held" and node.attr not in PUBLIC_OF_HELD


def _hands_held_on(node):
    given = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
    shown = any(isinstance(one, ast.Name) and one.id == "held" for one in given)
    return shown and ast.unparse(node.func) not in TAKE_HELD | {"release"}


def _goes_into_held(node, tree):
    """Whether a name is an argument of what makes `Held`."""
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call))
    makers = [n for n in calls if isinstance(n.func, ast.Attribute) and n.func.attr in INTO_HELD]
    return any(node is given for call in makers for given in call.args)


def reaches_for_callers(source, name):
    """Walks of the interpreter's stack, and names of another package's private modules in text."""
    may_find = name in MAY_FIND_A_LINE
    for node in ast.walk(ast.parse(source)):
        found = None
        if isinstance(node, ast.Attribute):
            of_inspect = isinstance(node.value, ast.Name) and node.value.id == "inspect"
            if node.attr in FRAMES or (
                of_inspect and node.attr in ("stack", "trace") and not may_find
            ):
                found = node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if text in FRAMES or (" " not in text and text.startswith("sklearn.") and "._" in text):
                found = text
        elif isinstance(node, ast.ImportFrom) and node.module in ("sys", "inspect", "traceback"):
            names = {alias.name for alias in node.names} & (FRAMES | {"stack", "trace"})
            found = next(iter(names), None)
        if found is not None:
            yield f"{name}:{node.lineno} reaches for its callers by {found}"


# What is printed of these is rounded by privacy/_arithmetic.py: a price up, what is left down.
PRICES = {"epsilon", "delta", "price", "cost", "spent", "unspent", "remaining", "left"}


def rounds_prices(source, name):
    """Prices in texts that round to the nearest number."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FormattedValue) or node.format_spec is None:
            continue
        if not ast.unparse(node.format_spec).rstrip("'").endswith(("e", "f", "g")):
            continue
        called = isinstance(node.value, ast.Call) and ast.unparse(node.value.func)
        words = set(re.findall("[a-z]+", ast.unparse(node.value).lower()))
        if words & PRICES and called not in ("round_up", "round_down"):
            yield f"{name}:{node.lineno} rounds {ast.unparse(node.value)} to the nearest number"


def other_homes(source, name):
    """Names of a package that are loaded from elsewhere than its imports under TYPE_CHECKING say."""
    beside = (PACKAGE / name).parent.iterdir() if (PACKAGE / name).exists() else ()
    yield from wrong_homes(source, name, {path.stem for path in beside})


WALLS = {
    "prices": rounds_prices,
    "homes": other_homes,
    "counts": private_counts,
    "imports": wrong_imports,
    "private": private_imports,
    "callers": reaches_for_callers,
    "randomness": randomness,
    "records": reaches_for_records,
    "sizes": sizes,
    "docstrings": undocumented,
}
