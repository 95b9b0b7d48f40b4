"""What ``import skdp`` costs in a new process, beside ``import sklearn.linear_model``, in one run.

    OMP_NUM_THREADS=1 python benchmarks/import_time.py --rounds 15

The statements take turns, so that a machine that is busy for a while is busy for all of them. Printed are medians of
seconds, of the clock and of the processor, and their ratios to scikit-learn's; and how many modules of skdp are loaded.
"""

import argparse
import resource
import subprocess
import sys
import time
from statistics import median

from _quick import few

BESIDE = "import sklearn.linear_model"
STATEMENTS = (
    BESIDE,
    "import skdp",
    "from skdp import DPLogisticRegression",
    "from skdp.privacy import Ledger",
)
COUNT = "import sys; print(sum(name.split('.')[0] == 'skdp' for name in sys.modules))"


def seconds(statement):
    """Seconds of the clock and of the processor that a new interpreter takes for a statement."""
    spent, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime


def modules(statement):
    """How many modules of skdp a statement loads."""
    command = [sys.executable, "-c", f"{statement}; {COUNT}"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=few(15, 1))
    rounds = parser.parse_args().rounds
    statements = few(STATEMENTS, STATEMENTS[:2])
    counts = {statement: modules(statement) for statement in statements}  # and all is compiled
    taken = [{statement: seconds(statement) for statement in statements} for _ in range(rounds)]
    print(f"{'clock':>8}{'ratio':>8}{'cpu':>8}{'ratio':>8}{'modules':>9}  statement")
    for statement in statements:
        own, other = (
            [median(one[each][k] for one in taken) for k in (0, 1)] for each in (statement, BESIDE)
        )
        figures = "".join(f"{a:8.3f}{a / b:8.3f}" for a, b in zip(own, other, strict=True))
        print(f"{figures}{counts[statement]:9d}  {statement}")


if __name__ == "__main__":
    main()
