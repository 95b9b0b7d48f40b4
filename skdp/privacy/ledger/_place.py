"""Place of a ledger's file: the one path that it remembers, and places that cannot keep one budget.

SQLite finds the journal of an unfinished charge by the file's name and keeps others out by locks on the file. So a file
needs one name, which stays, on a disk whose locks hold for everybody: what has a second name, lies on a network or is
mounted without its folder is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from glob import escape, glob
from typing import Any, NamedTuple

from .._book import Book
from .._shifted import AnyBook, ShiftedBook
from ..events import read_script, written_script
from ..spec import Spec
from ._state import Entry, State, Totals

__all__ = [
    "FORMAT",
    "Mount",
    "add_nonce",
    "added",
    "difference",
    "mounts",
    "place_of",
    "refuse_disk",
    "refuse_second_name",
    "sync_folder",
]


FORMAT = 2

_json = json.JSONEncoder(separators=(",", ":")).encode
_BETWEEN = '","'


def difference(before: State, after: State) -> str:
    """Return a line that leads from a state to a later one."""
    # Joined from texts: a charge writes the same entry many times, and one encoder for all takes twice as long.
    line = f'{{"entries":[{",".join(map(_entry, after.since(before)))}]'
    if after.books != before.books:
        line += f',"books":{_json([_book(book) for book in after.books])}'
    if after.parts != before.parts:
        line += f',"parts":{_json(after.parts)}'
    changed = ",".join(
        [
            f"{_json(part)}:{_totals(totals)}"
            for part, totals in after.totals.items()
            if before.totals.get(part) is not totals
        ]
    )
    if changed:
        line += f',"totals":{{{changed}}}'
    if after.closed != before.closed:
        line += f',"closed":{_json(sorted(after.closed))}'
    return line + "}"


def add_nonce(text: str) -> str:
    """Return a line with 16 random bytes of the operating system, which make it unlike every other line."""
    return f'{text[:-1]},"nonce":"{os.urandom(16).hex()}"}}'


def added(state: State, text: str) -> State:
    """The state with one more line."""
    line = json.loads(text)
    if "books" in line:
        state = state._replace(books=tuple(_read_book(book) for book in line["books"]))
    if "parts" in line:
        state = state._replace(parts=tuple(line["parts"]), totals={})
    totals = {part: _read(plain) for part, plain in line.get("totals", {}).items()}
    state = state._replace(totals={**state.totals, **totals})
    if "closed" in line:  # files of the first format close all parts together
        closed = state.parts if line["closed"] is True else line["closed"]
        state = state._replace(closed=frozenset(closed))
    for plain in line["entries"]:
        state = state._replace(log=state.plus(_read_entry(plain)))
    return state


@lru_cache(maxsize=64)
def _entry(entry: Entry) -> str:
    return _json({**entry._asdict(), "script": written_script(entry.script)})


def _read_entry(plain: dict[str, Any]) -> Entry:
    return Entry(
        read_script(plain["script"]),
        tuple(plain["parts"]),
        plain["what"],
        plain["when"],
    )


def _book(book: AnyBook) -> dict[str, Any]:
    spec = book.spec
    return {
        "kind": book.kind,
        "order": book.order,
        "epsilon": spec.epsilon.hex(),
        "delta": spec.delta.hex(),
        "neighbors": spec.neighbors,
    }


def _read_book(plain: dict[str, Any]) -> AnyBook:
    spec = Spec(float.fromhex(plain["epsilon"]), float.fromhex(plain["delta"]), plain["neighbors"])
    if plain["kind"] == "shifted":
        return ShiftedBook(spec, plain["order"])
    return Book(spec, plain["kind"], plain["order"])


def _totals(totals: Totals) -> str:
    """Whole numbers as strings of digits, which no reader rounds."""
    texts = ["null" if t is None else f'["{_BETWEEN.join(map(str, t))}"]' for t in totals]
    return f"[{','.join(texts)}]"


def _read(plain: list[list[str] | None]) -> Totals:
    return tuple(None if text is None else tuple(map(int, text)) for text in plain)


# Types of file systems that other hosts can write to, as Linux names them.
_NETWORK = frozenset(
    (
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
    )
    + (
        "orangefs",
        "pvfs2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
        "fuse.ceph",
        "fuse.gcsfuse",
    )
    + (
        "fuse.glusterfs",
        "fuse.juicefs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
    )
)
_MOUNTS = "/proc/self/mountinfo"


class Mount(NamedTuple):
    """Mount point of a file system, and its type."""

    point: str
    kind: str


def mounts(text: str | None = None) -> list[Mount]:
    """All mounts that this process sees, the newest last; none where the system does not say (not Linux)."""
    if text is None:
        try:
            with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        except OSError:
            return []
    return list(_read_mounts(text))


def _read_mounts(text: str) -> Iterator[Mount]:
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), before.split(" ")[4])
        yield Mount(point, after.split(" ")[0])


def refuse_disk(path: str) -> None:
    """Refuse a file on a network, and one that is mounted by itself, whose journal is not beside it elsewhere."""
    found = Mount("", "")
    for mount in mounts():
        folder = mount.point if mount.point.endswith("/") else f"{mount.point}/"
        if f"{path}/".startswith(folder) and len(mount.point) >= len(found.point):
            found = mount
    if found.point == path:
        raise OSError(
            f"The ledger {path!r} is mounted as a single file, so a charge that was cut off cannot be undone "
            "here; mount its folder."
        )
    if found.kind in _NETWORK:
        raise OSError(
            f"The ledger {path!r} lies on {found.kind}, where two hosts can spend one budget twice; use a "
            "local disk."
        )


def refuse_second_name(path: str) -> None:
    """Refuse a file with a hard link; the name under which it was made is taken away, should that have been left."""
    made = os.stat(path)
    if made.st_nlink == 1:
        return
    for left in glob(f"{escape(path)}.*.new"):
        with suppress(OSError):
            if os.path.samestat(os.stat(left), made):
                os.unlink(left)
    names = os.stat(path).st_nlink
    if names != 1:
        raise OSError(
            f"The ledger {path!r} has {names} names (hard links); nothing was charged. Remove all but one."
        )


def place_of(path: str, name: str | None = None) -> str:
    """Return what a copy, a rename or a restored backup changes: inode numbers of folder and file, and the file's name.

    Device numbers are left out, since they may change when a machine starts.
    """
    folder, file = os.stat(os.path.dirname(path)), os.stat(path)
    return f"{folder.st_ino} {file.st_ino} {name or os.path.basename(path)}"


def sync_folder(path: str) -> None:
    """Wait until the name of a new file is on the disk."""
    with suppress(OSError):  # Windows cannot, and need not
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
