"""Code run in interpreters that have loaded nothing of skdp: a child of one that has loaded what skdp rests on.

A new interpreter for each piece would spend all of its time on scipy. So one is started, which imports the third
parties alone, and has a child for each piece.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import skdp

__all__ = ["in_fresh_interpreters", "some_of"]

HERE = str(Path(skdp.__file__).parents[1])
SERVER = """
import json, os, signal, sys, traceback, warnings
import sklearn.base, sklearn.linear_model, sklearn.pipeline, scipy.optimize, scipy.signal
assert not any(name.split(".")[0] == "skdp" for name in sys.modules)
warnings.simplefilter("error")
for place, piece in enumerate(json.load(sys.stdin)):
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)  # whatever waits for ever ends
        try:
            exec(piece, {})
            os._exit(0)
        except BaseException:
            print(json.dumps([place, traceback.format_exc()]), flush=True)
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGALRM:
        print(json.dumps([place, "it did not end"]), flush=True)
"""
LONGEST = 300  # seconds of a piece


def in_fresh_interpreters(pieces):
    """Run each piece of code on its own.

    Parameters
    ----------
    pieces : dict
        Label -> Python code, which fails by raising.

    Returns
    -------
    dict
        Label -> traceback, of those that raised.
    """
    told = subprocess.run(
        [sys.executable, "-c", f"LONGEST = {LONGEST}\n{SERVER}"],
        input=json.dumps(list(pieces.values())),
        env=os.environ | {"PYTHONPATH": HERE},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    labels = list(pieces)
    failed = [json.loads(line) for line in told.splitlines() if line.startswith("[")]
    return {labels[place]: text for place, text in failed}


def some_of(pieces, every):
    """Each so-manieth piece of code."""
    return dict(list(pieces.items())[::every])
