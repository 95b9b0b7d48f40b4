"""Place of a ledger's file: the one path that it remembers, and places that cannot keep one budget.

SQLite finds the journal of an unfinished charge by the file's name and keeps others out by locks on the file. So a file
needs one name, which stays, on a disk whose locks hold for everybody: what has a second name, lies on a network or is
mounted without its folder is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from glob import escape, glob
from typing import NamedTuple

__all__ = ["Mount", "mounts", "place_of", "refuse_disk", "refuse_second_name", "sync_folder"]

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
