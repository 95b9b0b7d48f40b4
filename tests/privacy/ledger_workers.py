"""What other processes do to a ledger's file: they charge it, answer, and are killed.

``PYTHONPATH=. python tests/privacy/ledger_workers.py storm - 1000 0.5`` kills a thousand within half a second each.
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


def start(*words):
    """A worker as a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def storm(path, rounds, longest=0.1, moments=random.Random(0)):  # noqa: B008
    """Kill workers at random moments; the number of answers and of charges, checked after each death."""
    answers = 0
    Ledger(*PROMISE, path=path).reserve(
        STEP
    )  # settles the books, and its price is known to all forks
    for deaths in range(1, rounds + 1):
        read, write = os.pipe()
        worker = os.fork()
        if worker == 0:
            os.dup2(write, 1)
            answer(path)
        os.close(write)
        time.sleep(moments.uniform(0.0, longest))
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        with os.fdopen(read, "rb") as answered:
            answers += len(answered.read())
        charges = len(Ledger(*PROMISE, path=path)) - 1  # opened anew: nothing of it is corrupt
        if not answers <= charges <= answers + deaths:
            raise AssertionError(f"{answers} answers and {charges} charges after {deaths} deaths")
    return answers, charges


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what == "storm":
        with tempfile.TemporaryDirectory() as folder:
            print(*storm(os.path.join(folder, "b.db"), int(rest[0]), *map(float, rest[1:])))
    else:
        {"charge": charge, "answer": answer}[what](path, *map(int, rest))
