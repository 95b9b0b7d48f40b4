"""A disk that loses power: which files are there afterwards, if nothing lasts that nobody waited for.

A process runs with a small library before libc (`power_cut.c`) that writes down what it does to the files of one
folder. What is on the disk after a cut is then worked out for every moment: a file's bytes last when it was synced, a
name when its folder was. What was not waited for may be there or not, in any order; several ways are tried.
"""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def compiler():
    """A C compiler, or None."""
    return sys.platform == "linux" and (shutil.which("cc") or shutil.which("gcc"))


def recorded(folder, scratch, *words):
    """What a worker does to the files of a folder: records of (what, path, offset, bytes)."""
    library, log = scratch / "power_cut.so", scratch / "log"
    source = str(HERE / "power_cut.c")
    subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-o", str(library), source], check=True)
    told = {"LD_PRELOAD": str(library), "POWER_CUT_FOLDER": str(folder), "POWER_CUT_LOG": str(log)}
    worker = [sys.executable, str(HERE / "ledger_workers.py"), *map(str, words)]
    subprocess.run(worker, check=True, env={**os.environ, **told}, stdout=subprocess.DEVNULL)
    return list(_records(log.read_bytes()))


def _records(log):
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        what, path, offset, length = log[at:end].decode().split("\t")
        at = end + 1 + int(length)
        yield what, path, int(offset), log[end + 1 : at]


class Disk:
    """Files as they are in memory and as they are on the disk.

    Parameters
    ----------
    keeps : callable
        Whether an operation that nobody waited for lasts nevertheless.
    """

    def __init__(self, keeps):
        self.keeps = keeps
        self.names = {}  # path: number of the file
        self.lasting_names = {}
        self.changes = {}  # number: changes since it was synced
        self.lasting = {}  # number: bytes
        self.named = []  # changes of names since the folder was synced

    def do(self, what, path, offset, data):
        """One record."""
        if what == "create" and path in self.names:
            return
        if what in ("create", "link"):
            number = len(self.lasting) if what == "create" else self.names[data.decode()]
            self.lasting.setdefault(number, b"")
            self.changes.setdefault(number, [])
            self._name(path, number)
        elif what == "unlink":
            self._name(path, None)
        elif what == "sync" and path not in self.names:
            self.lasting_names, self.named = dict(self.names), []
        elif what == "sync":
            number = self.names[path]
            self.lasting[number] = _changed(self.lasting[number], self.changes[number])
            self.changes[number] = []
        else:
            self.changes[self.names[path]].append((what, offset, data))

    def _name(self, path, number):
        self.named.append((path, number))
        _set(self.names, path, number)

    def after_a_cut(self):
        """Paths and bytes that are there when the power is back."""
        names = dict(self.lasting_names)
        for path, number in self.named:
            if self.keeps():
                _set(names, path, number)
        out = {}
        for path, number in names.items():
            kept = [change for change in self.changes[number] if self.keeps()]
            out[path] = _changed(self.lasting[number], kept)
        return out


def _set(names, path, number):
    if number is None:
        names.pop(path, None)
    else:
        names[path] = number


def _changed(content, changes):
    for what, offset, data in changes:
        if what == "cut":
            content = content[:offset].ljust(offset, b"\0")
        else:
            content = content.ljust(offset, b"\0")
            content = content[:offset] + data + content[offset + len(data) :]
    return content


def ways(seed, some=3):
    """What may last of what nobody waited for: nothing, all, or each with even chances."""
    draw = random.Random(seed)
    return [lambda: False, lambda: True, *[lambda: draw.random() < 0.5] * some]


def cuts(records, keeps):
    """For each moment the operations so far and the files that a cut leaves."""
    disk = Disk(keeps)
    for number, record in enumerate(records):
        disk.do(*record)
        yield number, disk.after_a_cut()
