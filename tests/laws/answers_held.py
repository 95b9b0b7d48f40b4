"""Run an act twice with the same answers, on two tables, and compare: vaults, questions, and whatever leaves.

With answers held, a sound act is a function of answers and of public numbers: on any other table (of other records,
and where the number of records is private, of another number) its questions, attributes, results, warnings and errors
are the same to the last bit. On a neighbour, every record but the one that changed enters every vault as it did
before: whatever an act learnt of that one and did to the others shows here, before any noise.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any
from unittest.mock import patch

import numpy as np
from laws.promises import Act
from laws.records import Table, endless_record, far_record, only_one_positive, table

from skdp.fitting._payer import UNCOVERED
from skdp.mechanisms import Noise, Oracle
from skdp.mechanisms._oracle import price

__all__ = [
    "Seen",
    "attributes_are_answers",
    "coins_stay_secret",
    "neighbours_stay",
    "refusals_are_free",
    "watched",
]


@dataclass
class Seen:
    """What a watched run asked, of which vaults, at which price, what was answered, and what left."""

    answers: list[Any] = field(default_factory=list)
    questions: list[Any] = field(default_factory=list)
    vaults: list[Any] = field(default_factory=list)
    asked_of: list[int] = field(default_factory=list)
    prices: list[Any] = field(default_factory=list)
    proofs: set[str] = field(default_factory=set)
    result: Any = None
    left: dict[str, Any] = field(default_factory=dict)


def watched(
    act: Act,
    given: Table,
    held: list[Any] | None = None,
    told: Callable[[Any, Any, Any], Any] | None = None,
    priced: bool = False,
) -> Seen:
    """Run an act; its questions are answered as ever, with answers that are held, or as one is told.

    Each question is paid for and answered first, so that what draws beside the answers goes on from the same place.
    """
    act.prepare()
    seen, real, draw = Seen(), Oracle.ask, Noise.bytes
    inside: list[int] = []  # questions that are being answered
    drawn: list[int] = []  # bytes that were drawn beside answers: by searches, batches, folds

    def draws(self: Noise, count: int) -> bytes:
        drawn.extend([count] * (not inside))
        return draw(self, count)

    def ask(self: Oracle, question: Any) -> Any:
        inside.append(1)
        try:
            answer = real(self, question)
        finally:
            inside.pop()
        at = len(seen.answers)
        seen.questions.append((type(question).__name__, copy.deepcopy(vars(question)), self.public))
        vault = self._Oracle__records
        places = [place for place, known in enumerate(seen.vaults) if known is vault]
        seen.asked_of += places or [len(seen.vaults)]
        seen.vaults += [vault] * (not places)
        if priced:
            seen.prices.append(price(question, vault.public))
            seen.proofs |= set(question.proofs())
        if held is not None and at < len(held):
            answer = copy.deepcopy(held[at])
        if told is not None:
            answer = told(question, vault, answer)
        seen.answers.append(copy.deepcopy(answer))
        return answer

    printed = io.StringIO()
    random = np.random.get_state()[1].tobytes()  # noqa: NPY002
    with (
        patch.object(Oracle, "ask", ask),
        patch.object(Noise, "bytes", draws),
        patch.object(UNCOVERED, "told", True),  # that note is of earlier fits
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        _logged() as logged,
        _opened() as opened,
    ):
        warnings.simplefilter("always")
        error = None
        try:
            seen.result = act.run(given)
        except Exception as raised:
            if isinstance(raised, AssertionError):
                raise
            error = f"{type(raised).__name__}: {raised}"
    # How often is told as well: a search makes as many fits as it keeps secret.
    said = sorted(f"{w.category.__name__}: {w.message} {w.filename}:{w.lineno}" for w in warned)
    seen.left = {
        "result": seen.result,
        "warnings": said,
        "printed": printed.getvalue(),
        "logged": logged,
        "opened": opened,
        "error": error,
        "draws beside answers": drawn,
        "numpy's generator": np.random.get_state()[1].tobytes() == random,  # noqa: NPY002
    }
    return seen


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """All that is logged, at any level."""
    lines: list[str] = []
    handler = logging.Handler(level=0)
    handler.emit = lambda record: lines.append(f"{record.name}: {record.getMessage()}")  # type: ignore[method-assign]
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield lines
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def kept_by_modules() -> dict[str, Any]:
    """What modules and classes of the package hold in names of their own, and the environment, by size and number.

    A second run with the same answers adds nothing: caches know their public keys by then.
    """
    kept: dict[str, Any] = {"environment": sorted(os.environ.items())}
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "skdp" and inspect.ismodule(module):
            for inner, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__ == name:
                    for last, deep in list(vars(value).items()):
                        _keep(kept, f"{name}.{inner}", last, deep)
                _keep(kept, name, inner, value)
    return kept


def _keep(kept: dict[str, Any], owner: str, inner: str, value: Any) -> None:
    name = f"{owner}.{inner}"
    if inner.startswith("__"):
        return  # of Python itself
    if isinstance(value, dict | list | set):
        kept[name] = len(value)
    elif isinstance(value, np.ndarray | int | float | str | tuple):
        kept[name] = copy.deepcopy(value) if isinstance(value, np.ndarray) else repr(value)
    elif hasattr(value, "cache_info"):
        kept[name] = value.cache_info().currsize


_PLAIN = (int, float, str, tuple, np.ndarray, type(None))
MANY = 1000  # records of which a tenth are enough for an act


@contextlib.contextmanager
def forgetting() -> Iterator[None]:
    """What modules and classes hold in names of their own is afterwards as it was, but for caches of functions."""
    owners = [
        owner
        for name, module in sorted(sys.modules.items())
        if name.split(".")[0] == "skdp" and inspect.ismodule(module)
        for owner in (module, *(v for v in vars(module).values() if _is_made_in(v, name)))
    ]
    held = [(owner, dict(vars(owner))) for owner in owners]
    inside = [
        (value, type(value)(value))
        for _, names in held
        for name, value in names.items()
        if type(value) in (dict, list, set, bytearray) and not name.startswith("__")
    ]
    try:
        yield
    finally:
        for value, before in inside:
            value.clear()
            (value.update if isinstance(value, dict | set) else value.extend)(before)
        for owner, names in held:
            for name, value in list(vars(owner).items()):
                if name.startswith("__") or value is names.get(name, owner):
                    continue
                if name not in names and isinstance(value, _PLAIN):
                    delattr(owner, name)
                elif isinstance(names.get(name, owner), _PLAIN):
                    setattr(owner, name, names[name])


def _is_made_in(value: Any, name: str) -> bool:
    return isinstance(value, type) and value.__module__ == name


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_OPENED: list[list[str]] = []  # who listens to what is opened: a hook cannot be taken back


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if not _OPENED or event not in (
        "open",
        "sqlite3.connect",
        "socket.connect",
        "subprocess.Popen",
    ):
        return
    if event == "open":  # by a mode, or by flags
        mode, flags = given[1], given[2]
        writes = bool(set(mode or "") & set("wax+")) or bool(flags & _WRITES)
    else:
        writes = True
    if writes and "__pycache__" not in str(given[0]):
        _OPENED[-1].append(f"{event} {given[0]}")


sys.addaudithook(_hear)


@contextlib.contextmanager
def _opened() -> Iterator[list[str]]:
    """Files that are written, and connections that are made, by name."""
    lines: list[str] = []
    _OPENED.append(lines)
    try:
        yield lines
    finally:
        _OPENED.pop()


def attributes_are_answers(act: Act) -> Iterator[str]:
    """Ways in which something that leaves an act, or a question, is no function of answers and public numbers.

    Of its own answers: between a run and those that are compared with it, there is one with other answers.
    """
    with forgetting():
        yield from _beside_answers(act)


def _beside_answers(act: Act) -> Iterator[str]:
    given = table(0, act.size)
    with forgetting():
        first = watched(act, given)
    n = len(given) + (24 if act.relation == "add_remove" else 0)  # a number that is private there
    # Answers of its own, which modules may keep; from here on all goes by the first ones alone.
    watched(act, table(1, n, stretch=3.0, shift=0.5))
    kept = kept_by_modules()
    strangers = {
        "longer rows": table(1, n, stretch=3.0, shift=0.5),
        "short rows, one of the second class": only_one_positive(
            table(2, n, stretch=0.01), slice(5 * act.rows, 6 * act.rows)
        ),
        "rows beyond all bounds": table(4, n, stretch=500.0),
        "one row, many times": _alike(table(5, n), act.rows),
    }
    if _is_of_many(act):
        strangers = dict(list(strangers.items())[:2])
    if act.relation == "add_remove" and n >= MANY:  # of another size, not only of another number
        strangers["a tenth of the records"] = table(6, n // 10 // act.rows * act.rows)
    for what, other in strangers.items():
        second = watched(act, other, first.answers)
        yield from (f"{what}: {found}" for found in _compared(first, second))
    again = watched(act, given, first.answers)
    yield from (f"once more, after others: {found}" for found in _compared(first, again))
    yield from dict.fromkeys(differences(kept, kept_by_modules(), "kept"))


def _alike(given: Table, rows: int) -> Table:
    """The same keys, each record a copy of the first."""
    at = np.arange(len(given)) % rows
    X, number, weight = given.X[at], given.number[at], given.weight[at]
    return replace(given, X=X, number=number, weight=weight)


def _is_of_many(act: Act) -> bool:
    """Return whether it is many fits with other values of one parameter: the usual fit has an act of its own."""
    return ": other " in act.name


def neighbours_stay(act: Act) -> Iterator[str]:
    """Ways in which a record that changes, comes or goes is seen beside its own place in a vault, answers held."""
    with forgetting():
        yield from _seen_elsewhere(act)


def _seen_elsewhere(act: Act) -> Iterator[str]:
    for given, pairs in _neighbours(act):
        first = watched(act, given)
        others = {public.neighbors for *_, public in first.questions} - {act.relation}
        yield from (f"a question moves as between neighbours of {one!r}" for one in others)
        for what, other in pairs:
            second = watched(act, other, first.answers)
            yield from (f"{what}: {found}" for found in _compared(first, second))
            if len(first.vaults) != len(second.vaults):
                yield f"{what}: {len(first.vaults)} or {len(second.vaults)} vaults"
            for one, two in zip(first.vaults, second.vaults):
                yield from (f"{what}: {found}" for found in _moved(one, two, act))


def refusals_are_free(act: Act) -> Iterator[str]:
    """Ways in which a record that no fit can take is seen, but by a refusal before any question is asked."""
    with forgetting():
        given = table(0, act.size)
        first = watched(act, given)
        middle = len(given) // 2 // act.rows * act.rows
        other = endless_record(given, slice(middle, middle + act.rows))
        second = watched(act, other, first.answers)
        asked = len(second.questions)
        # A pipeline may have paid for a step when the next one refuses: it says so aloud, and gives nothing else.
        aloud = "too large to be scaled" in (second.left["error"] or "")
        if (
            aloud
            and "pipeline" in act.name
            and not differences(first.questions[:asked], second.questions, "questions")
        ):
            return
        if asked:
            yield from (f"a row without a norm: {found}" for found in _compared(first, second))


DRAWS = "draws beside answers"
TOSSES = 5


def coins_stay_secret(act: Act) -> Iterator[str]:
    """Ways in which something that leaves an act follows from its coins: batches, orders, how many runs a search made.

    Prices count these as secret. The same records are asked with other coins, and what was asked before is answered as
    before: all that leaves is the same, or where coins choose one of several models, the same beside the same choice.
    """
    with forgetting():
        given, answers = table(0, act.size), _ByQuestion()
        first: dict[str, Seen] = {}
        for toss in range(TOSSES if _is_a_choice(act) else 2):
            coins = np.random.Generator(np.random.Philox(key=toss))
            with patch.object(Noise, "bytes", lambda _, count, coins=coins: coins.bytes(count)):
                seen = watched(act, given, told=answers)
            seen.left.pop(DRAWS)
            chosen = _chosen(seen)
            if chosen in first:
                yield from dict.fromkeys(differences(first[chosen].left, seen.left, "left"))
            first.setdefault(chosen, seen)
        if len(first) == TOSSES:
            yield f"{TOSSES} choices of {TOSSES}: nothing was compared"


class _ByQuestion:
    """Answers by what is asked of which records, the first time's ever after."""

    def __init__(self) -> None:
        self.known: dict[bytes, Any] = {}
        self.vaults: list[tuple[Any, bytes]] = []

    def __call__(self, question: Any, vault: Any, answer: Any) -> Any:
        digest = sha256(self._of(vault))
        _add(digest, question, ())
        return copy.deepcopy(self.known.setdefault(digest.digest(), copy.deepcopy(answer)))

    def _of(self, vault: Any) -> bytes:
        for known, digest in self.vaults:
            if known is vault:
                return digest
        rows = _per_row(vault)
        whole = sha256(b"".join(rows[name].tobytes() for name in sorted(rows))).digest()
        self.vaults.append((vault, whole))
        return whole


def _add(digest: Any, thing: Any, over: tuple[int, ...]) -> None:
    """Add all that a thing holds to a digest, as `differences` walks it."""
    if id(thing) in over:
        return
    over = (*over, id(thing))
    digest.update(type(thing).__qualname__.encode())
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        digest.update(repr((thing.shape, thing.dtype)).encode() + thing.tobytes())
    elif isinstance(thing, dict):
        for key, value in thing.items():
            digest.update(str(key).encode())
            _add(digest, value, over)
    elif isinstance(thing, list | tuple | np.ndarray):
        for part in thing:
            _add(digest, part, over)
    elif inspect.isroutine(thing):
        digest.update(getattr(thing, "__qualname__", "").encode())
        _add(digest, _held(thing), over)
    elif fields := _names(thing):
        for name in fields:
            digest.update(name.encode())
            _add(digest, getattr(thing, name, None), over)
    else:
        digest.update(repr(thing).encode())


def _is_a_choice(act: Act) -> bool:
    return "SearchCV" in act.name


def _chosen(seen: Seen) -> str:
    """The setting that a search chose, if it is one."""
    return " ".join(_choices(seen.result))


def _choices(left: Any) -> Iterator[str]:
    if isinstance(left, dict):
        yield str(left.get("best_params_"))
    elif isinstance(left, list | tuple):
        for part in left:
            yield from _choices(part)


def _neighbours(act: Act) -> Iterator[tuple[Table, list[tuple[str, Table]]]]:
    """Tables, and others that differ from each in one record: inside, and where places of others hang on it.

    The record is the farthest and the heaviest, the only one of its class, or the only one beyond [-1, 1].
    """
    usual = table(0, act.size)
    n = len(usual) // act.rows * act.rows
    usual = usual.take(np.arange(n))
    middle = n // 2 // act.rows * act.rows
    alone = only_one_positive(usual, slice(middle, middle + act.rows))
    small = table(3, act.size, stretch=0.01).take(np.arange(n))
    small = replace(small, X=np.abs(small.X))  # all cells between 0 and 1 but those of one record
    cases = ((usual, (0, middle, n - act.rows)), (alone, (middle,)), (small, (middle,)))
    if _is_of_many(act):
        cases = ((usual, (middle,)), (alone, (middle,)))
    for given, places in cases:
        changed = [slice(at, at + act.rows) for at in places]
        if act.relation == "replace_one":
            yield given, [(f"record {r.start} replaced", far_record(given, r)) for r in changed]
            continue
        if given is not alone:
            given = far_record(given, slice(middle, middle + act.rows))
        rest = [np.delete(np.arange(n), np.arange(n)[rows]) for rows in changed]
        yield given, [(f"record {r.start} removed", given.take(i)) for r, i in zip(changed, rest)]


def _compared(first: Seen, second: Seen) -> Iterator[str]:
    if len(first.questions) != len(second.questions):
        error = second.left["error"] or first.left["error"] or ""
        yield f"{len(first.questions)} or {len(second.questions)} questions {error}"
        return
    yield from dict.fromkeys(differences(first.questions, second.questions, "questions"))
    yield from dict.fromkeys(differences(first.left, second.left, "left"))


def differences(one: Any, two: Any, path: str, over: tuple[int, ...] = ()) -> list[str]:
    """Paths at which two things differ, to the last bit of every number inside; `over` are those above."""
    if type(one) is not type(two):
        return [f"{path} is of type {type(one).__name__} or {type(two).__name__}"]
    if isinstance(one, np.ndarray) and one.dtype != object:
        same = one.shape == two.shape and one.dtype == two.dtype and one.tobytes() == two.tobytes()
        return [] if same else [f"{path} differs"]
    if id(one) in over:
        return []
    over = (*over, id(one))
    if isinstance(one, np.ndarray):
        one, two = one.tolist(), two.tolist()
    if isinstance(one, dict):
        if list(map(str, one)) != list(map(str, two)):
            return [f"{path} has other names: {sorted({*map(str, one)} ^ {*map(str, two)})}"]
        both = zip(one.values(), two.values())
        parts = [(f".{key}", pair) for key, pair in zip(one, both)]
    elif isinstance(one, list | tuple):
        if len(one) != len(two):
            return [f"{path} has {len(one)} or {len(two)} parts"]
        parts = [(f"[{k}]", pair) for k, pair in enumerate(zip(one, two))]
    elif isinstance(one, type):
        return [] if one is two or one.__qualname__ == two.__qualname__ else [f"{path} differs"]
    elif inspect.isroutine(one):
        if getattr(one, "__qualname__", "") != getattr(two, "__qualname__", ""):
            return [f"{path} differs"]
        parts = [
            (f".{name}", (held[name], _held(two)[name])) for held in [_held(one)] for name in held
        ]
    elif fields := _names(one):
        parts = [(f".{f}", (getattr(one, f, None), getattr(two, f, None))) for f in fields]
    else:
        same = one == two or (one != one and two != two)
        return [] if same else [f"{path} differs"]
    return [found for name, (a, b) in parts for found in differences(a, b, f"{path}{name}", over)]


def _held(routine: Any) -> dict[str, Any]:
    """What a function holds beside its code: of its closure, its defaults, and the object that it is bound to."""
    cells = [cell.cell_contents for cell in getattr(routine, "__closure__", None) or ()]
    owner = getattr(routine, "__self__", None)
    return {
        "closure": cells,
        "defaults": getattr(routine, "__defaults__", None),
        "keywords": getattr(routine, "__kwdefaults__", None),
        "attributes": dict(getattr(routine, "__dict__", {})) if inspect.isfunction(routine) else {},
        "self": None if inspect.ismodule(owner) else owner,
    }


def _moved(one: Any, two: Any, act: Act) -> Iterator[str]:
    """Whether more than one record of a vault differs: as many rows, or one block of rows more or less."""
    parts, most = [_per_row(vault) for vault in (one, two)], act.rows
    common = parts[0].keys() & parts[1].keys()
    first, second = (_bytes_of_rows({name: part[name] for name in common}) for part in parts)
    if len(first) == len(second):
        moved = np.flatnonzero([a != b for a, b in zip(first, second)])
        if len(moved) and moved[-1] - moved[0] >= most:  # rows of one record stand together
            yield f"{len(moved)} rows of a vault differ, from {moved[0]} to {moved[-1]}, not {most} at most"
        return
    shorter, longer = sorted((first, second), key=len)
    if len(longer) - len(shorter) > most:
        yield f"a vault has {len(first)} or {len(second)} rows"
    front = _common(shorter, longer)
    back = _common(shorter[::-1], longer[::-1])
    replaced = most if act.relation == "replace_one" else 0  # by a record of another size
    if front + back + replaced < len(shorter):
        yield f"{len(shorter) - front - back} rows of a vault differ where one record came or went"


def _moved_vault(one: Any, two: Any) -> bool:
    """Whether two vaults differ at all."""
    parts = [_per_row(vault) for vault in (one, two)]
    common = parts[0].keys() & parts[1].keys()
    first, second = (_bytes_of_rows({name: part[name] for name in common}) for part in parts)
    return first != second


def _common(one: list[bytes], two: list[bytes]) -> int:
    """How many rows agree from the front."""
    for at, (a, b) in enumerate(zip(one, two)):
        if a != b:
            return at
    return min(len(one), len(two))


def _per_row(vault: Any) -> dict[str, np.ndarray]:
    """All that a vault keeps of each row: entries, norms, what is left of it, target, weight."""
    rows, n = vault.rows, len(vault.rows)
    parts: dict[str, Any] = {"rows": rows.to_dense(), "y": vault.y, "left": np.ones(n)}
    for owner, what in ((rows, "rows"), (vault.units, "units")):
        for name in _names(owner):
            value = getattr(owner, name, None)
            if isinstance(value, np.ndarray) and value.ndim and len(value) == n:
                parts["left" if name == "shrink" else f"{what}.{name}"] = value
    return parts


def _bytes_of_rows(parts: dict[str, np.ndarray]) -> list[bytes]:
    n = len(parts["y"])
    columns = [np.ascontiguousarray(parts[name]).reshape(n, -1) for name in sorted(parts)]
    return [b"".join(column[i].tobytes() for column in columns) for i in range(n)]


def _names(owner: Any) -> list[str]:
    """Fields of an object, with slots or without; none of numbers and words."""
    if owner is None or isinstance(owner, str | bytes | int | float | np.generic | np.dtype):
        return []
    slots = (
        _slot(kind, n) for kind in type(owner).__mro__ for n in vars(kind).get("__slots__", ())
    )
    return sorted({*slots, *getattr(owner, "__dict__", {})})


def _slot(kind: type, name: str) -> str:
    """The name under which a slot is found: whatever holds records hides them behind a mangled one."""
    return f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") else name
