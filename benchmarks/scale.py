"""What fits need beside their data: memory, passes over rows in files, and what a pass costs beside reading them.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/scale.py memory
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/scale.py files --gigabytes 4 --cap 1 --folder /scratch

`memory` prints the largest anonymous memory of a fit above that of its data, over the data, each in its own process.
`files` writes `.npy` files, fits them under a cap on the process' memory (``RLIMIT_DATA``: maps of files do not count),
compares the coefficients with those of a fit in memory, and tells how often `auto` reads the rows, how long a copy, a
pass and a fit take beside reading the files, from the disk and from the cache of the system. Linux only.
"""

import argparse
import json
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from _quick import few

from skdp import DPLogisticRegression
from skdp.engines import open_npy
from skdp.losses import Logistic
from skdp.mechanisms import Gradient, Public, Records, _shared_memory
from skdp.mechanisms._rows import DenseRows
from skdp.mechanisms._shards import ShardRows

MEMORY = few(
    [
        (solver, dtype, form)
        for solver in ("auto", "objective-perturbation", "rsgd-ar", "gd")
        for dtype in ("float32", "float64")
        for form in ("array", "map")
    ],
    [("auto", "float32", "map")],
)
SIZE = few((1_000_000, 100), (20_000, 20))
FILES, ROUNDS = 4, few(3, 1)
NEAR = 1 << 26  # bytes of a part that is still in the system's cache when it is read again
READ = ("dot", "whole_dot", "tdot", "gram", "to_dense", "max_abs", "careful_dot", "careful_tdot")  # fmt: skip


def rows(n, d, dtype, seed):
    """Rows on the unit sphere, and labels that a logistic model gives them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d), dtype=np.float32).astype(dtype)
    x /= (np.linalg.norm(x, axis=1) * 1.00001)[:, None]
    w = np.random.default_rng(0).standard_normal(d)
    return x, rng.random(n) < 1.0 / (1.0 + np.exp(-3.0 * (x @ w)))


def fill(table, seed):
    """Fill a table by blocks, and return the labels."""
    y = np.empty(len(table), bool)
    for k, start in enumerate(range(0, len(table), 50_000)):
        part = slice(start, start + 50_000)
        table[part], y[part] = rows(len(y[part]), table.shape[1], table.dtype, [seed, k])
    return y


def model(solver):
    """The fit that is measured."""
    return DPLogisticRegression(
        epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[False, True], solver=solver, random_state=0
    )


class Peak:
    """Largest anonymous memory of this process, above that at the start, while a block runs."""

    def __enter__(self):
        self.start = self.most = _anonymous()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        while not self._stop.wait(0.005):
            self.most = max(self.most, _anonymous())

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join(10.0)


def _anonymous():
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split("RssAnon:")[1].split()[0])


def child_memory(solver, dtype, form):
    """Fit a table in this process."""
    n, d = SIZE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        table = np.empty((n, d), dtype) if form == "array" else _new(path, (n, d), dtype)
        y = fill(table, 1)
        if form == "map":
            table.flush()
            del table
            table = np.load(path, mmap_mode="r")
        model(solver).fit(np.ones((50, d)), np.arange(50) % 2 == 0)  # all is loaded
        with Peak() as peak:
            model(solver).fit(table, y)
        return {"above": (peak.most - peak.start) / table.nbytes}


def _new(path, shape, dtype):
    return np.lib.format.open_memmap(path, "w+", dtype, shape)


class Passes:
    """Counts what fits read of a table's rows: parts that are read twice in a row lie in the cache, and count once."""

    def __init__(self):
        self.rows, self._last = 0, None
        for name in READ:
            setattr(DenseRows, name, self._counting(getattr(DenseRows, name)))

    def _counting(self, plain):
        def read(table, *given):
            x = table._x
            if _shared_memory.is_stored(x):
                place = x.__array_interface__["data"][0], len(x)
                self.rows += 0 if place == self._last and x.nbytes < NEAR else len(x)
                self._last = place
            return plain(table, *given)

        return read


def child_fit(folder, how, cap):
    """Fit the files, or the table in memory, and keep the coefficients."""
    folder = Path(folder)
    y, X = np.load(folder / "y.npy"), open_npy(folder / "X")
    model("auto").fit(np.ones((50, X.shape[1])), np.arange(50) % 2 == 0)
    if how == "in memory":
        X = np.concatenate([np.load(path) for path in sorted((folder / "X").iterdir())])
    passes = Passes()
    if cap:
        resource.setrlimit(resource.RLIMIT_DATA, (int(cap * 2**30),) * 2)
    start, cpu = time.perf_counter(), time.process_time()
    with Peak() as peak:
        fitted = model("auto").fit(X, y)
    spent = time.perf_counter() - start, time.process_time() - cpu
    np.save(folder / f"{how}.npy", np.append(fitted.coef_, fitted.intercept_))
    whole = {"solver": fitted.privacy_.solver.split("(")[0], "peak": peak.most}
    return whole | {"clock": spent[0], "cpu": spent[1], "passes": passes.rows / len(y)}


def child_pass(folder):
    """Seconds of reading the files, of copying them, and of one question."""
    folder, found, kept = Path(folder), {}, []
    X, y, plain = open_npy(folder / "X"), np.load(folder / "y.npy"), _shared_memory.TemporaryFile

    def keeping():
        file = plain()
        kept.append(os.dup(file.fileno()))
        return file

    _shared_memory.TemporaryFile = keeping
    found["copy"] = _seconds(lambda: kept.append(ShardRows.read(X)))
    fd, table = kept
    public = Public(X.shape[0], X.shape[1], 0.25, "replace_one")
    records = Records.admit(table, np.where(y, 1.0, -1.0), public, 1.0)
    w = np.ones(public.width)
    ask = Gradient(at=w, loss=Logistic(), clip=1.0, multiplier=0.0)
    for cache in ("disk", "cache"):
        for name, call in (
            ("read", lambda: _read(fd)),
            ("gradient", lambda: ask.measure(records)),
            ("scores", lambda: records.rows.dot(w)),
        ):
            found[f"{name}, {cache}"] = min(
                _seconds(call, fd if cache == "disk" else None) for _ in range(ROUNDS)
            )
    return found


def _seconds(call, evicted=None):
    if evicted is not None:
        _evict(evicted)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _read(fd):
    """Read a file into one buffer."""
    buffer, place = bytearray(1 << 21), 0
    while count := os.preadv(fd, [buffer], place):
        place += count


def _evict(fd):
    """Drop the pages of a file from the system's cache."""
    for shown in _shared_memory._OWN:
        shown.madvise(mmap.MADV_DONTNEED)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


CHILDREN = {"memory": child_memory, "fit": child_fit, "pass": child_pass}


def run(child, *given):
    """Run a child in a process of its own."""
    command = [sys.executable, __file__, "child", child, json.dumps(given)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(told.stdout.splitlines()[-1])


def memory():
    """Print the memory of fits."""
    print(f"memory above the data, over the data ({SIZE[0]:,} x {SIZE[1]})")
    for solver, dtype, form in MEMORY:
        above = run("memory", solver, dtype, form)["above"]
        print(f"{solver:24}{dtype:10}{form:8}{above:6.2f}", flush=True)


def files(gigabytes, cap, folder, width):
    """Print the figures of files."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        home = Path(home)
        (home / "X").mkdir()
        n = int(gigabytes * 1e9 / (4 * width * FILES))
        labels = []
        for k in range(FILES):
            table = _new(home / "X" / f"{k}.npy", (n, width), np.float32)
            labels.append(fill(table, k))
            table.flush()
            del table
        np.save(home / "y.npy", np.concatenate(labels))
        print(
            f"{FILES} files of float32, {FILES * n:,} x {width}, {gigabytes:g} GB; cap {cap:g} GB"
        )
        told = run("fit", str(home), "files", cap)
        print(
            f"auto ({told['solver']}): {told['passes']:.1f} passes, {told['clock']:.0f} s ({told['cpu']:.0f} s of "
            f"processor), at most {told['peak'] / 2**30:.2f} GB of memory that is no map",
            flush=True,
        )
        whole = run("fit", str(home), "in memory", 0)
        one, other = (np.load(home / f"{how}.npy") for how in ("files", "in memory"))
        far = np.abs(one - other).max() / np.abs(other).max()
        print(
            f"in memory: {whole['clock']:.0f} s ({whole['cpu']:.0f} s); coefficients differ by {far:.1e}"
        )
        times = run("pass", str(home))
        print(f"copying the files {times['copy']:.1f} s")
        for cache in ("disk", "cache"):
            beside = times[f"read, {cache}"]
            print(
                f"from the {cache}: reading {beside:.2f} s; over it, a gradient "
                f"{times[f'gradient, {cache}'] / beside:.2f}, scores {times[f'scores, {cache}'] / beside:.2f}"
            )


def main():
    """Run what is asked for; nothing means all."""
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](*json.loads(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("memory", "files"))
    parser.add_argument("--gigabytes", type=float, default=few(4.0, 0.004))
    parser.add_argument("--cap", type=float, default=few(1.0, 0.0), help="gigabytes; 0 for none")
    parser.add_argument("--folder", default=None, help="where files are written")
    parser.add_argument("--width", type=int, default=few(200, 20))
    given = parser.parse_args()
    if given.what != "files":
        memory()
    if given.what != "memory":
        files(given.gigabytes, given.cap, given.folder, given.width)


if __name__ == "__main__":
    main()
