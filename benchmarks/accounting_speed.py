"""Calibration: skdp against dp-accounting on one thread, in one run.

    OMP_NUM_THREADS=1 python benchmarks/accounting_speed.py

The task is the noise multiplier for epsilon 1, delta 1e-6, Poisson rate 0.01 and 1000 steps under
add/remove. Each result is priced again on a grid a hundred times finer, so that the column
``epsilon`` says what accuracy the time bought: 1 would be perfect. Writes
``results/accounting_speed.csv``.
"""

import csv
import math
import time

from _quick import RESULTS, few, is_missing

from skdp.privacy import Spec, accountants
from skdp.privacy._pld import epsilon as pld_epsilon
from skdp.privacy.events import Gaussian, PoissonGaussian

EPSILON, DELTA, RATE, STEPS = 1.0, 1e-6, 0.01, few(1000, 20)
REPEATS = few(5, 1)
SPEC = Spec(EPSILON, DELTA, "add_remove")
OUT = RESULTS / "accounting_speed.csv"


def script_at(multiplier):
    """A thousand sampled Gaussian steps."""
    return ((PoissonGaussian(multiplier, RATE), STEPS),)


def dp_accounting_multiplier():
    """Calibrate as its documentation does, with its default tolerance and grid."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    return dp_accounting.calibrate_dp_mechanism(
        PLDAccountant,
        lambda multiplier: dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(multiplier)),
            STEPS,
        ),
        EPSILON,
        DELTA,
        dp_accounting.LowerEndpointAndGuess(0.3, 1.0),
    )


def sampled(spec=SPEC):
    """Calibrate through the public accountants, which choose the road."""
    return accountants.calibrate(script_at, spec)[0]


def exact_gaussian(spec=SPEC):
    """Calibrate a thousand unsampled Gaussians: closed but for one root."""
    return accountants.calibrate(lambda s: ((Gaussian(s), STEPS),), spec)[0]


def uncached(task):
    """The task with an epsilon that differs in its last digits at every call."""
    spare = iter(range(1, 1000))
    return lambda: task(Spec(EPSILON * (1 + 1e-13 * next(spare)), DELTA, "add_remove"))


def fastest(task, repeats):
    """Value and best wall time of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        value = task()
        best = min(best, time.perf_counter() - start)
    return value, best


def priced(multiplier):
    """Epsilon of the multiplier on a fine grid."""
    return pld_epsilon(script_at(multiplier), DELTA, "add_remove", accuracy=2e-7)


def main():
    """Time each road, print the table and write it."""
    sampled()  # imports and plans are loaded before the clock starts
    theirs = slow = math.nan
    if not is_missing("dp_accounting"):
        theirs, slow = fastest(dp_accounting_multiplier, 1)
    public, first = fastest(uncached(sampled), REPEATS)
    sampled()
    _, cached = fastest(sampled, REPEATS)
    gaussian, closed = fastest(uncached(exact_gaussian), REPEATS)
    exact_gaussian()
    _, closed_cached = fastest(exact_gaussian, REPEATS)
    rows = [
        ("dp-accounting PLD", theirs, slow, "" if math.isnan(theirs) else priced(theirs)),
        ("skdp calibrate, uncached", public, first, priced(public)),
        ("skdp calibrate, repeat", public, cached, priced(public)),
        ("skdp exact Gaussian, uncached", gaussian, closed, ""),
        ("skdp exact Gaussian, repeat", gaussian, closed_cached, ""),
    ]
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["road", "multiplier", "seconds", "epsilon", "times faster"])
        for road, multiplier, seconds, spent in rows:
            faster = slow / seconds
            writer.writerow([road, f"{multiplier:.8f}", f"{seconds:.3g}", spent, f"{faster:.3g}"])
            print(f"{road:34s}{multiplier:14.8f}{seconds:12.3g} s  x{faster:<10.3g}{spent}")


if __name__ == "__main__":
    main()
