"""Place of a ledger's file: the one path that it remembers, and places that cannot keep one budget.

SQLite finds the journal of an unfinished charge by the file's name and keeps others out by locks on the file. So a file
needs one name, which stays, on a disk whose locks hold for everybody: what has a second name, lies on a network or is
mounted without its folder is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from glob import escape, glob
from typing import NamedTuple, TypeAlias

__all__ = [
    "Head",
    "Mount",
    "Witness",
    "WitnessFile",
    "mounts",
    "place_of",
    "refuse_disk",
    "refuse_rollback",
    "refuse_second_name",
    "refuse_stranger",
    "sync_folder",
    "witness_of",
]


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


class Head(NamedTuple):
    """The last line of a ledger's file.

    Parameters
    ----------
    identity : str
        What tells the ledger from every other one.
    position : int
        Number of the line; the first line is 0.
    digest : str
        SHA-256 of the line and of all before it.
    """

    identity: str
    position: int
    digest: str


Witness: TypeAlias = "Callable[[Head], None]"
_LINE = re.compile(r"(\w+) (\d+) ([0-9a-f]{64})\n")


class WitnessFile:
    """A file to which every head is appended; it never goes back, whoever writes in which order.

    Parameters
    ----------
    path : str
        Best on another disk than the ledger.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WitnessFile) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __call__(self, head: Head) -> None:
        """Append a head and wait for the disk."""
        new = not os.path.exists(self.path)
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # One that died while it wrote may have left half a line: each begins on a line of its own.
            os.write(file, f"\n{head.identity} {head.position} {head.digest}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
        if new:
            sync_folder(self.path)

    def heads(self) -> list[Head]:
        """All heads that were told; half of a line at the end is none, and was not answered upon."""
        try:
            with open(self.path, encoding="ascii", errors="replace") as file:
                lines = list(file)
        except FileNotFoundError:
            return []
        found = [match for line in lines if (match := _LINE.fullmatch(line))]
        return [Head(match[1], int(match[2]), match[3]) for match in found]


def witness_of(given: str | os.PathLike[str] | Witness | None) -> Witness | None:
    """The witness that a user named: a function, or a file."""
    if given is None or callable(given):
        return given
    return WitnessFile(os.fspath(given))


def refuse_stranger(path: str, witness: Witness, identity: str) -> None:
    """Refuse a file that the witness does not know."""
    for head in _heads(witness):
        if head.identity != identity:
            raise ValueError(
                f"The witness of {path!r} knows another ledger, {head.identity!r} with {head.position + 1} lines; "
                "put that back, or give a new ledger a witness of its own."
            )


def refuse_rollback(path: str, witness: Witness, digests: Sequence[str]) -> None:
    """Refuse a file that lacks a line of which the witness was told."""
    for head in _heads(witness):
        if head.position >= len(digests) or digests[head.position] != head.digest:
            raise ValueError(
                f"The ledger {path!r} lacks line {head.position}, which its witness has seen: an older copy was "
                "put back. Nothing was charged; restore the newest file."
            )


def _heads(witness: Witness) -> list[Head]:
    """All heads that a file was told; a function is asked for none."""
    return witness.heads() if isinstance(witness, WitnessFile) else []
