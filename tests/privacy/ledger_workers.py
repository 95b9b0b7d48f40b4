"""What other processes do to a ledger's file: they charge it, answer, and are killed.

``PYTHONPATH=. python tests/privacy/ledger_workers.py storm - 1000`` kills a thousand in the middle of a
charge or after it, and ``... ledger_workers.py fits - 1000`` a thousand that fit.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback

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


# What becomes of a charge's journal before its worker is killed: anything; it is written; it is gone again, so that the
# charge counts, and is perhaps not answered yet.
JOURNALS = ((), (True,), (True, False))


def storm(path, rounds, work=None, moments=None):
    """Kill workers at random events; the number of answers and of charges, checked after each death."""
    answers, work, moments = 0, work or answer, moments or random.Random(0)
    # Settles the books, and what is found out once is known to all forks.
    if work is fit:
        model, table = model_and_table(path)
        model.fit(*table)
    else:
        Ledger(*PROMISE, path=path).reserve(STEP)
    for deaths in range(1, rounds + 1):
        heard, journal = moments.randrange(4), moments.choice(JOURNALS)
        answers += killed_after(heard, journal, path, work)
        _store._OPEN.clear()
        charges = len(Ledger(*PROMISE, path=path)) - 1  # opened anew: nothing of it is corrupt
        if not answers <= charges <= answers + deaths:
            raise AssertionError(f"{answers} answers and {charges} charges after {deaths} deaths")
    return answers, charges


def killed_after(heard, journal, path, work):
    """Answers of a fork that is killed once so many were heard and the journal has come or gone, whenever that is."""
    read, write = os.pipe()
    worker = os.fork()
    if worker == 0:
        try:
            os.dup2(write, 1)
            work(path)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as said:
        answers = len(said.read(heard))
        for is_there in journal:
            while os.path.exists(f"{path}-journal") != is_there and _runs(worker):
                pass
        ended = not _runs(worker)
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        if ended:
            raise AssertionError("the worker ended by itself")
        return answers + len(said.read())


def _runs(process):
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what in ("storm", "fits"):
        work = fit if what == "fits" else answer
        with tempfile.TemporaryDirectory() as folder:
            answers, charges = storm(os.path.join(folder, "b.db"), int(rest[0]), work)
        print(f"{rest[0]} killed: {answers} answers, {charges} charges, the file sound each time")
    else:
        known = {"charge": charge, "answer": answer, "told": told}
        known[what](path, *(int(word) if word.isdigit() else word for word in rest))
