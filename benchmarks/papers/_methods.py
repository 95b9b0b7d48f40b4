"""The methods that the documents compare, at the documents' settings and at this library's.

What a setting leaves open in a document (numbers of steps, first steps) is this library's default. Clips: the documents
print C_grad = 3 for rows of any length; rows here have norm at most 1, which a gradient does not exceed, so 1 clips no
more than 3 does there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from skdp.privacy import accountants
from skdp.privacy.events import PoissonGaussian
from skdp.solvers import (
    AGD,
    BLGD,
    BLSGD,
    BLSGDAC,
    DPADMM,
    GD,
    MPADMM,
    PSGD,
    RSGDAR,
    SGD,
    SSADMM,
    ADMMObjP,
    ObjectivePerturbation,
    OutPertGD,
    PrivGene,
)

__all__ = ["METHODS", "Method", "Promise", "advanced_composition"]

SEARCH = {
    "splits": 50,
    "selection_share": 0.5,
    "growth": 0.3,
    "momentum": 0.0,
    "decrease": 0.5,
    "candidates": 10,
    "backtrack": 0.8,
    "slack": 1.2,
    "refresh": 10,
    "clip": 1.0,
    "objective_clip": 1.0,
    "search_noise": "laplace",
}
LADDER = {
    "splits": 60,
    "selection_share": 0.5,
    "growth": 0.1,
    "momentum": 0.0,
    "candidates": 20,
    "ladder": "even",
    "unit_direction": True,
    "prior": 0.0,
    "refresh": 10,
    "slack": 1.1,
    "clip": 1.0,
    "objective_clip": 1.0,
}


@dataclass(frozen=True)
class Promise:
    """How a fit is asked for: its solver, the epsilon to ask for, and the accountant."""

    solver: object
    epsilon: float
    accountant: str = "auto"


@dataclass(frozen=True)
class Method:
    """A method of the documents.

    Parameters
    ----------
    document : callable
        Epsilon, delta and n to the promise that is made at the document's settings and noise.
    ours : solver
        That of this library, with its defaults.
    smooth : bool
        Whether it needs a smooth loss: a huberised hinge in the place of a hinge.
    """

    document: Callable
    ours: object
    smooth: bool = False

    def promise(self, setting, epsilon, delta, n):
        """Return the promise of a setting."""
        if setting == "ours":
            return Promise(self.ours, epsilon)
        return self.document(epsilon, delta, n)


def _renyi(make):
    """Noise by Renyi lemmas, as the documents have it."""
    return lambda epsilon, delta, n: Promise(make(n), epsilon, "rdp")


def _at(solver):
    """Noise by a filter or by the solver's own formula."""
    return lambda epsilon, delta, n: Promise(solver, epsilon)


def _root(n):
    return round(math.sqrt(n))


def advanced_composition(epsilon, delta, rate, steps):
    """Return the noise multiplier that advanced composition of amplified Gaussians asks for.

    Of SGD-Adv in Lee and Kifer (2018): half of delta is for the composition, half for the steps; a step of rate q that
    is (e, d) on its batch is (log(1 + q (e^e - 1)), q d), and its Gaussian has sqrt(2 log(1.25 / d)) / e. Multiples of
    one record's bound; under replace-one two of them change.
    """

    def total(step):
        return step * math.sqrt(2.0 * steps * math.log(2.0 / delta)) + steps * step * math.expm1(
            step
        )

    step = brentq(lambda s: total(s) - epsilon, 1e-12, 10.0)
    alone = math.log1p(math.expm1(step) / rate)
    return 2.0 * math.sqrt(2.0 * math.log(1.25 * 2.0 * steps * rate / delta)) / alone


@lru_cache(maxsize=256)
def _by_advanced_composition(epsilon, delta, n, steps=1000):
    rate = _root(n) / n
    noise = advanced_composition(epsilon, delta, rate, steps)
    true = accountants.epsilon(((PoissonGaussian(noise, rate), steps),), delta, "replace_one")
    return Promise(SGD(batch_size=_root(n), clip=1.0, steps=steps), true)


METHODS = {
    "RSGD-AR": Method(
        _renyi(lambda n: RSGDAR(batch_size=4000, clip=np.inf)), RSGDAR(), smooth=True
    ),
    "NSGD": Method(_renyi(lambda n: PSGD(batch_size=4000, clip=np.inf)), PSGD(), smooth=True),
    "OutPert-GD": Method(_at(OutPertGD(variant="paper")), OutPertGD(), smooth=True),
    "ObjPert": Method(
        _at(ObjectivePerturbation(variant="kst12")), ObjectivePerturbation(), smooth=True
    ),
    "DP-AGD": Method(_at(AGD(**LADDER)), AGD()),
    "SGD-MA": Method(_renyi(lambda n: SGD(batch_size=_root(n), clip=1.0)), SGD()),
    "SGD-Adv": Method(_by_advanced_composition, SGD()),
    "PrivGene": Method(_at(PrivGene()), PrivGene()),
    "DP-BLGD": Method(_at(BLGD(**SEARCH)), BLGD()),
    "DP-BLSGD": Method(_at(BLSGD(rate=0.1, **SEARCH)), BLSGD()),
    "DP-BLSGD-AC": Method(_at(BLSGDAC(rate=0.1, **SEARCH)), BLSGDAC()),
    "ssADMM": Method(
        _renyi(lambda n: SSADMM(batch_size=_root(n), rho=0.25, schedule="epoch", clip=1.0)),
        SSADMM(),
    ),
    "mpADMM": Method(_renyi(lambda n: MPADMM(variant="paper", rho=0.5, clip=1.0)), MPADMM()),
    "DP-SGD": Method(_renyi(lambda n: SGD(batch_size=_root(n), schedule="epoch", clip=1.0)), SGD()),
    "DP-ADMM": Method(_at(DPADMM(parties=2, clip=1.0)), DPADMM()),
    "ADMM-objP": Method(_at(ADMMObjP(rounds=20)), ADMMObjP()),
    "GD": Method(_at(GD()), GD()),
}
