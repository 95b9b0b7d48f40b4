"""Settings at which the true delta is known: (script, delta, relation), family by family."""

import itertools
import math
import random

from skdp.privacy.events import (
    BoundedRange,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    WithoutReplacementGaussian,
)

DELTAS = (1e-15, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.1)
EPSILONS = (
    *(1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0),
    *(1.42, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 20.0),
)
BOTH = ("replace_one", "add_remove")


def _settings(scripts, neighbors="replace_one", deltas=DELTAS):
    return [(script, delta, neighbors) for script in scripts for delta in deltas]


def one_pure():
    """A single randomised response."""
    return _settings(((PureDP(e), 1),) for e in EPSILONS)


def pure():
    """Equal and unequal randomised responses."""
    equal = [((PureDP(e), k),) for e in EPSILONS for k in (2, 3, 10, 40)]
    rng = random.Random(1)
    for _ in range(60):
        kinds = rng.choice((2, 2, 3))
        runs = [(PureDP(10 ** rng.uniform(-3, 1)), rng.choice((1, 2, 4))) for _ in range(kinds)]
        equal.append(tuple(runs))
    return _settings(equal)


def sampled_pure():
    """Pure steps on Poisson samples, alone and beside others."""
    sizes = itertools.product((0.01, 0.3, 1.0, 3.0, 9.0), (1e-4, 0.01, 0.3, 0.9), (1, 5, 30))
    alone = [((PoissonPure(e, q), k),) for e, q, k in sizes]
    mixed = [((PoissonPure(e, 0.1), 3), (PureDP(0.7 * e), 2)) for e in EPSILONS]
    return _settings(alone + mixed)


def one_laplace():
    """A single Laplace release."""
    return _settings(((Laplace(1 / e), 1),) for e in EPSILONS)


def laplaces():
    """Several Laplace releases, and one beside pure steps."""
    several = [((Laplace(1 / e), k),) for e in (0.01, 0.3, 1.0, 3.0, 8.0) for k in (2, 3, 4)]
    mixed = [((Laplace(1 / e), 1), (PureDP(0.6), 3)) for e in EPSILONS[::2]]
    return _settings(several + mixed)


def pure_beside_gaussian():
    """Pure and Laplace steps beside much and next to no Gaussian noise."""
    noises = (1e6, 1e4, 100.0, 10.0, 1.0, 0.4)
    sizes = itertools.product((0.01, 0.3, 1.42, 5.0), (1, 2, 5), noises)
    scripts = [((PureDP(e), k), (Gaussian(z), 1)) for e, k, z in sizes]
    laplace = [((Laplace(1 / e), 1), (Gaussian(z), 1)) for e in (0.3, 2.0) for z in (30.0, 1.0)]
    return _settings(scripts + laplace)


def gaussians():
    """Gaussians alone."""
    return _settings(((Gaussian(z), k),) for z in (0.1, 1.0, 7.0, 100.0, 1e4) for k in (1, 3, 900))


def ranges():
    """A choice of bounded range, alone and beside a pure step."""
    alone = [((BoundedRange(b), 1),) for b in EPSILONS[3::3]]
    return _settings(alone + [((BoundedRange(b), 1), (PureDP(0.4), 2)) for b in (0.1, 1.0, 5.0)])


def sampled_once():
    """One sampled Gaussian step."""
    sizes = list(itertools.product((0.3, 1.0, 3.0, 30.0), (1e-5, 1e-3, 0.03, 0.4, 0.97)))
    poisson = [((PoissonGaussian(z, q), 1),) for z, q in sizes]
    swaps = [((WithoutReplacementGaussian(z, q), 1),) for z, q in sizes]
    return _settings(poisson, "add_remove") + _settings(poisson, "replace_one") + _settings(swaps)


def sampled():
    """Many sampled steps, some beside Gaussians or pure steps."""
    sizes = itertools.product((0.7, 2.0, 10.0), (0.02, 0.1, 0.5), (10, 300, 5000))
    out = []
    for i, (z, q, k) in enumerate(sizes):
        deltas = DELTAS[i % 2 :: 2]
        for neighbors in BOTH:
            out += _settings([((PoissonGaussian(z, q), k),)], neighbors, deltas)
        out += _settings([((WithoutReplacementGaussian(z, q), k),)], deltas=deltas)
    for neighbors, at in itertools.product(BOTH, DELTAS[1:6:2]):
        for z, e in itertools.product((1.0, 4.0), (0.05, 0.3)):
            step = (PoissonGaussian(z, 0.05), 200)
            out.append(((step, (PureDP(e), 2)), at, neighbors))
            out.append(((step, (Gaussian(9.0), 2)), at, neighbors))
    return out


FAMILIES = (
    *(one_pure, pure, sampled_pure, one_laplace, laplaces, pure_beside_gaussian, gaussians),
    *(ranges, sampled_once, sampled),
)


def wider():
    """More of the cheap families, to fill the long grid."""
    rng = random.Random(7)
    for _ in range(2200):
        at = 10 ** rng.uniform(-15, -1)
        e, k = 10 ** rng.uniform(-4, 1.4), rng.randint(1, 12)
        z = 10 ** rng.uniform(-1, 6)
        script = rng.choice(
            (
                ((PureDP(e), k),),
                ((PureDP(e), k), (PureDP(e / math.pi), 2)),
                ((PoissonPure(e, rng.random()), k),),
                ((PureDP(e), min(k, 5)), (Gaussian(z), 1)),
                ((Laplace(1 / e), 1), (PureDP(e * rng.random()), 2)),
                ((Laplace(1 / e), 1),),
                ((Laplace(1 / e), 2),),
            )
        )
        yield script, at, rng.choice(BOTH)
