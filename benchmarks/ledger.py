"""What a charge costs: 2,000 of them in memory, and on disk beside bare SQLite commits of as many bytes.

    python benchmarks/ledger.py [--charges 2000] [--folder .]

A bare commit is one INSERT of a row as long as a ledger's, the quickest way that SQLite has to put one on the disk.
Both files lie in the same folder, are written in turns of 5, and wait for the disk alike. Prints the medians of the
best quarters, which other work disturbs least, their ratio, and processor time in memory.
"""

import argparse
import gc
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from _quick import few

from skdp.privacy import Ledger
from skdp.privacy.events import Gaussian

SCRIPT = ((Gaussian(500.0), 50),)
TURN = 5
KINDS = ("auto", "gdp", "shifted", "rdp")


def in_memory(charges):
    """Accountant and microseconds of processor time a charge."""
    for kind in KINDS:
        ledger = Ledger(50.0, 1e-6, accountant=kind)
        ledger.reserve(SCRIPT, "the books are opened")
        start = time.process_time()
        for _ in range(charges):
            ledger.reserve(SCRIPT, "GD")
        yield kind, (time.process_time() - start) / charges * 1e6


def bare(path, text):
    """A function that commits one line to a table, as durably as a ledger's file does: rollback journal, all synced."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("CREATE TABLE lines (position INTEGER PRIMARY KEY, text TEXT NOT NULL)")

    def commit():
        connection.execute("INSERT INTO lines (text) VALUES (?)", (text,))

    return commit


def line_of(path):
    """As many characters as the last line of a ledger's file has."""
    connection = sqlite3.connect(path)
    query = "SELECT text || digest FROM lines ORDER BY position DESC LIMIT 1"
    return "x" * len(connection.execute(query).fetchone()[0])


def timed(act, times):
    """Seconds of each of so many acts."""
    for _ in range(times):
        start = time.perf_counter()
        act()
        yield time.perf_counter() - start


def on_disk(charges, folder):
    """Milliseconds of a charge and of a bare commit: medians of the best quarters."""
    ledger = Ledger(50.0, 1e-6, path=folder / "ledger.db")
    for what in ("the books are opened", "GD"):
        ledger.reserve(SCRIPT, what)
    commit = bare(folder / "bare.db", line_of(folder / "ledger.db"))
    charged, committed = [], []
    for _ in range(charges // TURN):
        charged += timed(lambda: ledger.reserve(SCRIPT, "GD"), TURN)
        committed += timed(commit, TURN)
    return best(charged), best(committed)


def best(seconds):
    """Milliseconds: the median of the best quarter."""
    return statistics.median(sorted(seconds)[: len(seconds) // 4]) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--charges", type=int, default=few(2000, 20))
    parser.add_argument("--folder", default=".")
    given = parser.parse_args()
    gc.freeze()  # what was imported is not looked through again while a charge is timed
    for kind, cost in in_memory(given.charges):
        print(f"in memory, {kind}: {cost:.1f} us of processor time a charge")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        charged, committed = on_disk(given.charges, Path(folder))
    print(
        f"on disk: {charged:.3f} ms a charge, {committed:.3f} ms a bare commit, ratio {charged / committed:.2f}"
    )


if __name__ == "__main__":
    main()
