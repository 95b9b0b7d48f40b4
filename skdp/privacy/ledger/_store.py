"""Storage of a ledger's state: in memory, in a file, or in a file that ends with the process.

A ledger in memory moves into a file of its own in the temporary folder the first time that another
process could charge it: when it is pickled, and before a fork. From then on all of them charge that
file, and it is removed when the process that opened the ledger ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ...exceptions import NotSupported
from .._exact import Counted
from .._shifted import AnyBook
from ..events import Script, checked, tally
from ._place import Head, Witness, refuse_stranger
from ._state import State, Totals, added, difference

if TYPE_CHECKING:
    from ._file import LedgerFile

__all__ = ["Handle", "Repeats", "Store"]


Ways = tuple[tuple[Counted, ...], ...]


class Repeats:
    """Cache of the last script that was checked and the last that was priced."""

    def __init__(self) -> None:
        self._checked: tuple[Any, Script] = (None, ())
        self._priced: tuple[Any, Any, list[int], Ways] = (None, None, [], ())

    def checked(self, script: Any) -> Script:
        """The script as runs of events, or a refusal of what is none."""
        given, found = self._checked
        if given is script:
            return found
        found = checked(script)
        tally(found)
        # What can change in place is looked at each time.
        if type(script) is tuple and all(type(run) is tuple for run in script):
            self._checked = (script, found)
        return found

    def ways(self, books: tuple[AnyBook, ...], totals: Totals, script: Script) -> Ways:
        """Return for each book the alternative prices of the script; empty where a book has none."""
        known, priced, at, found = self._priced
        levels = [0 if t is None else book.level(t) for book, t in zip(books, totals)]
        if known is books and priced is script and at == levels:
            return found
        found = tuple(_ways_of(book, script, level) for book, level in zip(books, levels))
        self._priced = (books, script, levels, found)
        return found


def _ways_of(book: AnyBook, script: Script, level: int) -> tuple[Counted, ...]:
    try:
        return book.ways(script, level)
    except NotSupported:
        return ()


_LOCK_SECONDS = 60.0
_OPEN: weakref.WeakValueDictionary[str, Store] = (
    weakref.WeakValueDictionary()
)  # by path, in this process
_ALL: weakref.WeakSet[Store] = weakref.WeakSet()


class Handle(NamedTuple):
    """A ledger as it travels: where its file is, which one it must be, and what it said."""

    header: dict[str, Any]
    path: str
    temporary: bool
    statement: str
    witnesses: tuple[Witness, ...] = ()


class Store:
    """The state of one ledger in this process.

    Parameters
    ----------
    header : dict
        Promise and currency, as a file is to say them.
    path : str or None
        A file that stays; None for memory.
    witness : callable, optional
        Who is told of each line of the file before it counts.
    moved, must_exist : bool
        As of `Ledger`.
    """

    def __init__(
        self,
        header: dict[str, Any],
        path: str | None = None,
        witness: Witness | None = None,
        moved: bool = False,
        must_exist: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        self._header = header
        self._state = State()
        self._file: LedgerFile | None = None
        self.temporary = path is None
        self.read_only = False
        if path is not None:
            witnesses = () if witness is None else (witness,)
            self._file = _ledger_file(path, header, witnesses=witnesses, moved=moved)
            self._file.create(must_exist=must_exist or moved)
            self._file.read()
        _ALL.add(self)

    @classmethod
    def at(
        cls,
        header: dict[str, Any],
        path: str,
        witness: Witness | None = None,
        moved: bool = False,
        must_exist: bool = False,
    ) -> Store:
        """The store of a path: the one that this process has open, or a new one."""
        path = os.path.realpath(path)
        store = _OPEN.get(path)
        if store is None or not store.in_place() or store._header != header:
            store = cls(header, path, witness, moved, must_exist)
            _OPEN[path] = store
        elif witness is not None:
            store.call_witnesses((witness,))
            _ = store.state  # refuses at once
        return store

    def call_witnesses(self, witnesses: tuple[Witness, ...]) -> None:
        """Tell these too from now on; the next read refuses a file that lacks a line which one of them knows.

        A witness of another ledger is named by mistake: it is refused, and this ledger goes on without it.
        """
        assert self._file is not None
        with self._lock:
            for witness in witnesses:
                refuse_stranger(self._file.path, witness, self._identity)
            known = self._file.witnesses
            self._file.witnesses += tuple(one for one in witnesses if one not in known)
            self._file.close()  # all are asked when it is opened again

    @classmethod
    def received(cls, handle: Handle) -> Store:
        """The store that another process sent: its file, or what it said where the file has ended with it."""
        store = _OPEN.get(handle.path)
        if store is None or not store.is_that_of(handle):
            store = cls(handle.header)
            store.temporary = handle.temporary
            store._state = added(State(), handle.statement) if handle.statement else State()
            durable = not handle.temporary
            store._file = _ledger_file(handle.path, handle.header, durable, handle.witnesses)
            store.read_only = handle.temporary and not os.path.exists(handle.path)
            if not store.read_only:
                _OPEN[handle.path] = store
        elif handle.witnesses:
            store.call_witnesses(handle.witnesses)
        return store

    def is_that_of(self, handle: Handle) -> bool:
        """Return whether a handle belongs to this ledger, and not to an earlier one at the same path."""
        if self._file is None or "id" not in handle.header:
            return self._file is not None
        return bool(self._identity == handle.header["id"])

    @property
    def _identity(self) -> str:
        """Identity of the ledger in the file, unlike that of any other."""
        assert self._file is not None
        return str(self._header.get("id") or self._file.made)

    def in_place(self) -> bool:
        """Return whether the file is still the one that was opened."""
        return self._file is not None and self._file.in_place()

    def handle(self) -> Handle:
        """Return what another process needs to charge this ledger, and to read it after this one has ended."""
        with self._lock:
            if self._file is None:
                self._share()
            assert self._file is not None
            if self.read_only:
                return Handle(self._header, self._file.path, True, difference(State(), self._state))
            state = self.state
            header = {**self._header, "id": self._file.made}
            said = difference(State(), state) if self.temporary else ""
            return Handle(header, self._file.path, self.temporary, said, self._file.witnesses)

    @property
    def head(self) -> Head | None:
        """The last line that this process knows of; None without a file that stays."""
        kept = self._file is not None and not self.temporary and not self.read_only
        return self._file.head if self._file is not None and kept else None

    def digests(self) -> list[str]:
        """Return the digests of all lines of a permanent file."""
        if self._file is None or self.temporary:
            raise NotSupported("A ledger without a path has no lines to audit; give Ledger a path.")
        with self._lock:
            return self._file.digests()

    def _share(self) -> None:
        folder = tempfile.mkdtemp(prefix="skdp-ledger-")
        weakref.finalize(self, _remove, folder, os.getpid())
        file = _ledger_file(os.path.join(folder, "ledger.db"), self._header, durable=False)
        file.create(self._state)
        file.read()
        self._file = file
        _OPEN[file.path] = self

    @property
    def state(self) -> State:
        """Present state, read from the file if there is one."""
        if self._file is None or self.read_only:
            return self._state
        with self._lock:
            try:
                self._state = self._file.read()
            except FileNotFoundError:
                if not self.temporary:  # else the process that kept it has ended
                    raise
            return self._state

    def change(self, step: Callable[[State], State]) -> Head | None:
        """Replace the state by what a step makes of the newest one; if the step raises, by nothing.

        Returns the line that this wrote, which is not the last one if another thread was quick.
        """
        if self.read_only:
            raise NotSupported(
                "This ledger is a read-only statement: the process that kept it has ended, and a copy could "
                "overspend; give Ledger a path to keep it."
            )
        with self._lock:
            self._state = step(self._state) if self._file is None else self._file.change(step)
            return self.head

    # A connection must not cross a fork, and a copy of the memory could spend the budget twice.

    def before_fork(self) -> bool:
        """Make ready for a child: the state is in a file, and the file is closed."""
        if not self._lock.acquire(timeout=_LOCK_SECONDS):
            return False
        with suppress(OSError, ValueError):
            if self._file is None:
                self._share()
            assert self._file is not None
            self._file.close()
        return True

    def after_fork_in_child(self, ready: bool) -> None:
        """A child charges the file, or nothing if it could not be made ready."""
        self._lock = threading.RLock()
        self.read_only = self.read_only or self._file is None or not ready

    def after_fork_in_parent(self) -> None:
        """Go on as before."""
        self._lock.release()


def _ledger_file(*given: Any, **named: Any) -> LedgerFile:
    """A `LedgerFile`; a ledger in memory has no need to load SQLite."""
    from ._file import LedgerFile

    return LedgerFile(*given, **named)


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


_HELD: list[Store] = []


def _before_fork() -> None:
    _HELD[:] = [store for store in list(_ALL) if store.before_fork()]


def _in_parent() -> None:
    while _HELD:
        _HELD.pop().after_fork_in_parent()


def _in_child() -> None:
    for store in list(_ALL):
        store.after_fork_in_child(store in _HELD)
    _HELD.clear()


# Windows has no fork, and tests run where there is one.
if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
