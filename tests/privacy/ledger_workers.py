"""What other processes do to a ledger's file: they charge it, answer, and are killed.

``PYTHONPATH=. python tests/privacy/ledger_workers.py storm - 1000`` kills a thousand at random moments.
"""

import os
import random
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
        ledger.reserve(((Gaussian(1e6), 1),), "answer")
        os.write(1, b".")


def start(*words):
    """A worker as a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def storm(path, rounds, clock=random.Random(0)):  # noqa: B008
    """Kill workers at random moments; the number of answers and of charges, checked after each death."""
    answers, ledger = 0, Ledger(*PROMISE, path=path)
    for _ in range(rounds):
        worker = start("answer", path)
        worker.stdout.read(1)  # it is at work
        time.sleep(clock.uniform(0.0, 0.05))
        worker.kill()
        answers += 1 + len(worker.stdout.read())
        worker.wait()
        worker.stdout.close()
        reopened = Ledger(*PROMISE, path=path)
        assert answers <= len(reopened) <= answers + rounds, (answers, len(reopened))
    return answers, len(ledger)


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what == "storm":
        with tempfile.TemporaryDirectory() as folder:
            print(*storm(os.path.join(folder, "b.db"), int(rest[0])))
    else:
        {"charge": charge, "answer": answer}[what](path, *map(int, rest))
