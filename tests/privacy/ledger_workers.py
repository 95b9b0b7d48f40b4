"""What other processes do to a ledger's file: they charge it, answer, and are killed.

``PYTHONPATH=. python tests/privacy/ledger_workers.py storm - 1000 0.5`` kills a thousand within half a second each,
and ``... ledger_workers.py fits - 1000 0.1`` a thousand in the middle of their fits.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from skdp.exceptions import BudgetExceeded
from skdp.privacy import Ledger
from skdp.privacy.events import Gaussian
from skdp.privacy.ledger import _file, _store

PROMISE = (1.0, 1e-6)
STEP = ((Gaussian(400.0), 1),)


def charge(path, times):
    """Charge so often, and print how many were admitted."""
    ledger, admitted = Ledger(*PROMISE, path=path), 0
    for _ in range(times):
        try:
            ledger.reserve(STEP, "worker")
            admitted += 1
        except BudgetExceeded:
            pass
    print(admitted)


def answer(path):
    """Charge and only then answer, one line each, until killed: a fit without its arithmetic."""
    ledger = Ledger(*PROMISE, path=path)
    while True:
        ledger.reserve(((Gaussian(4e4), 1),), "answer")
        os.write(1, b".")


def told(path, times, synchronous="EXTRA", witness=None):
    """Charge so often, and put one byte into a file beside the ledger after each that was paid."""
    connected = _file.connected

    def set_back(*given):
        connection = connected(*given)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        return connection

    if synchronous != "EXTRA":
        _file.connected = set_back
    ledger = Ledger(*PROMISE, path=path, witness=witness)
    with open(f"{path}.told", "ab", buffering=0) as answers:
        for _ in range(times):
            ledger.reserve(STEP)
            answers.write(b".")


def model_and_table(path):
    """A short fit that charges the file."""
    from skdp import DPLogisticRegression
    from skdp.datasets import make_census
    from skdp.solvers import GD

    given = {"data_norm": 1.0, "classes": [0, 1], "solver": GD(steps=5)}
    model = DPLogisticRegression(
        epsilon=0.002, delta=1e-6, ledger=Ledger(*PROMISE, path=path), **given
    )
    return model, make_census(n_samples=200, return_X_y=True)


def fit(path):
    """Fit after fit, and what was learnt after each, until killed."""
    model, table = model_and_table(path)
    while True:
        model.fit(*table)
        os.write(1, b"." if model.coef_.any() else b"")


def start(*words):
    """A worker as a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def storm(path, rounds, longest=0.1, work=None, moments=random.Random(0)):  # noqa: B008
    """Kill workers at random moments; the number of answers and of charges, checked after each death."""
    answers, work = 0, work or answer
    # Settles the books, and what is found out once is known to all forks.
    if work is fit:
        model, table = model_and_table(path)
        model.fit(*table)
    else:
        Ledger(*PROMISE, path=path).reserve(STEP)
    for deaths in range(1, rounds + 1):
        read, write = os.pipe()
        worker = os.fork()
        if worker == 0:
            os.dup2(write, 1)
            work(path)
        os.close(write)
        with os.fdopen(read, "rb") as answered:
            if deaths % 2:  # a slow machine would answer nothing in that time
                answers += len(answered.read(1))
            time.sleep(moments.uniform(0.0, longest))
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)
            answers += len(answered.read())
        _store._OPEN.clear()
        charges = len(Ledger(*PROMISE, path=path)) - 1  # opened anew: nothing of it is corrupt
        if not answers <= charges <= answers + deaths:
            raise AssertionError(f"{answers} answers and {charges} charges after {deaths} deaths")
    return answers, charges


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what in ("storm", "fits"):
        work, longest = (fit if what == "fits" else answer), float(rest[1])
        with tempfile.TemporaryDirectory() as folder:
            answers, charges = storm(os.path.join(folder, "b.db"), int(rest[0]), longest, work)
        print(f"{rest[0]} killed: {answers} answers, {charges} charges, the file sound each time")
    else:
        known = {"charge": charge, "answer": answer, "told": told}
        known[what](path, *(int(word) if word.isdigit() else word for word in rest))
