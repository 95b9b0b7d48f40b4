"""One ordinary instance of every event, at a given noise scale: what the laws range over."""

from dataclasses import MISSING, fields

from skdp.privacy import Spec, calibrate
from skdp.privacy.curves import registered
from skdp.privacy.events import (
    ZCDP,
    AboveThreshold,
    BestOf,
    BoundedRange,
    Gaussian,
    GaussianAboveThreshold,
    Laplace,
    MixtureOfGaussians,
    ObjectivePerturbation,
    PoissonBundle,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    PureObjectivePerturbation,
    RandomAllocation,
    RandomPosition,
    RenyiDP,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    WorstPair,
)

GIVEN = (
    Gaussian(3.0),
    Laplace(4.0),
    PureDP(0.3),
    BoundedRange(0.5),
    ZCDP(0.02),
    AboveThreshold(0.1, 0.2),
    GaussianAboveThreshold(2.0, 4.0, 10),
    PoissonGaussian(1.5, 0.05),
    PoissonPure(0.5, 0.1),
    PoissonBundle(2.0, (0.5, 0.5), 0.1),
    WithoutReplacementGaussian(3.0, 0.05),
    RandomPosition((0.25, 0.75), (2.0, 5.0)),
    RandomAllocation(8.0, 20),
    ShuffledEpoch(3.0),
    RenyiDP(1000.0, 0.05),
    ObjectivePerturbation(0.2, 0.05),
    PureObjectivePerturbation(0.1, 0.05),
    MixtureOfGaussians.of_rows(1.5, 0.05, 3, 1),
    WorstPair((0.3, 0.5, 0.19, 0.01), (0.25, 0.45, 0.25, 0.05)),
    BestOf((((Gaussian(8.0), 1),), ((PureDP(0.2), 1),)), (0.5, 0.5), mean=3, cap=8),
)


def sample(kind):
    """An instance of a registered event whose numbers follow from how its fields are declared."""
    given = {f.name: _number(kind, f) for f in fields(kind) if f.default is MISSING}
    return kind(**given)


def _number(kind, field):
    power, high = field.metadata.get("power", 0), field.metadata.get("high")
    assert power or high == 1.0, (
        f"{kind.__name__}.{field.name} says nothing of itself: give it a default"
    )
    return 0.1 if not power else 3.0 if power > 0 else 0.3


def kinds():
    """Events of the package that have a registered cost, in the order in which they came."""
    return list(dict.fromkeys(t for t, _, _ in registered() if t.__module__.startswith("skdp.")))


SAMPLES = GIVEN + tuple(sample(kind) for kind in kinds() if kind not in set(map(type, GIVEN)))


def name(event):
    return type(event).__name__


def gaussian_fit(epsilon, steps=1):
    """The script of so many equal Gaussian steps that costs epsilon at delta 1e-6."""
    return calibrate(lambda s: ((Gaussian(s), steps),), Spec(epsilon, 1e-6))[1]
