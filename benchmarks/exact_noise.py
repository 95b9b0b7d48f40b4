"""What exact noise and bounded rounding cost: fits of this tree beside those of another, in one run.

    git worktree add ../before 76d7cb3
    python benchmarks/exact_noise.py --before ../before

Two processes, one a tree, fit in turns on the same table; each reports its processor time, and the table shows the
ratio of the medians of the best quarters. Last, how much larger the released noise is than the priced one.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from _quick import few

HERE = Path(__file__).resolve().parents[1]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
CASES = {
    "gd": {"solver": "gd"},
    "sgd": {"solver": "sgd"},
    "white-gd": {"solver": "white-gd"},
    "white-objective": {"solver": "white-objective"},
    "objective-perturbation": {"solver": "objective-perturbation"},
    "output-perturbation": {"solver": "output-perturbation"},
    "ssadmm": {"solver": "ssadmm"},
}
SHAPES = few(((40_000, 100), (40_000, 14), (4_000, 30)), ((1_000, 10),))


def serve():
    """Fit on request, one line of json in, one out."""
    import time
    import warnings

    import numpy as np

    from skdp import DPLogisticRegression

    warnings.simplefilter("ignore")
    tables = {}
    for line in sys.stdin:
        asked = json.loads(line)
        n, d = asked["shape"]
        if (n, d) not in tables:
            rng = np.random.default_rng(0)
            X = rng.standard_normal((n, d)) / np.sqrt(d)
            tables[n, d] = X, (X @ rng.standard_normal(d) > 0).astype(int)
        X, y = tables[n, d]
        model = DPLogisticRegression(
            epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[0, 1], **asked["given"]
        )
        begun = time.process_time()
        model.fit(X, y)
        print(json.dumps(time.process_time() - begun), flush=True)


def worker(tree):
    """A process that fits with the package of this tree."""
    command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
    env = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(tree)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=tree)


def asked(process, question):
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def fastest(times):
    """Median of the best quarter: what else runs on the machine only adds."""
    best = sorted(times)[: max(1, len(times) // 4)]
    return best[len(best) // 2]


def excess_noise():
    """Largest relative growth of the noise over the priced one, at the default shapes."""
    import numpy as np

    from skdp.losses import Logistic
    from skdp.mechanisms import Gradient, Public

    growth = 0.0
    for n, d in SHAPES:
        public = Public(n, d, 0.25, "replace_one")
        for multiplier in (0.1, 1.0, 10.0, 100.0, 1e4):
            asked_of = Gradient(
                at=np.zeros(public.width), loss=Logistic(), clip=0.5, multiplier=multiplier
            )
            growth = max(growth, asked_of.grid(public).scale / (multiplier * 0.5) - 1.0)
    return growth


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--repeat", type=int, default=few(15, 1))
    parser.add_argument("--fits", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--shapes", type=int, default=len(SHAPES), help="how many of the tables")
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    trees = {"now": HERE, **({"before": given.before.resolve()} if given.before else {})}
    workers = {name: worker(tree) for name, tree in trees.items()}
    print(
        "| fit | rows x columns | now, ms | before, ms | ratio |\n| --- | --- | --- | --- | --- |"
    )
    for shape in SHAPES[: given.shapes]:
        for name in given.fits:
            options = CASES[name]
            question, times = {"shape": shape, "given": options}, {tree: [] for tree in workers}
            for process in workers.values():
                asked(process, question)
            for _ in range(given.repeat):
                for tree, process in workers.items():
                    times[tree].append(asked(process, question))
            now, before = fastest(times["now"]), fastest(times.get("before", [float("nan")]))
            print(
                f"| {name} | {shape[0]:,} x {shape[1]} | {1e3 * now:.1f} | {1e3 * before:.1f} | {now / before:.3f} |",
                flush=True,
            )
    print(f"\nnoise over what is priced: + {excess_noise():.2g}")
    for process in workers.values():
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
