"""Events: the cost of a release, without how the release is made.

An event is a frozen record of public numbers whose meaning never changes; the theorems that turn
it into a cost are in `curves`. A script lists events in order, run-length coded.
"""

from ._batches import (
    MixtureOfGaussians,
    PoissonBundle,
    PoissonGaussian,
    PoissonLaplace,
    PoissonPure,
    RandomAllocation,
    RandomPosition,
    ShuffledEpoch,
    WithoutReplacementGaussian,
)
from ._event import (
    Event,
    Script,
    checked,
    fraction,
    inverse_noise_field,
    merged,
    noise_field,
    opaque_field,
    run_lengths,
    scaled,
    tally,
)
from ._objective import BestOf, ObjectivePerturbation, PureObjectivePerturbation
from ._whole import (
    ZCDP,
    AboveThreshold,
    BoundedRange,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianAboveThreshold,
    Laplace,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    WorstPair,
)
from ._written import read_script, written_script

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "BestOf",
    "BoundedRange",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Gaussian",
    "GaussianAboveThreshold",
    "Laplace",
    "MixtureOfGaussians",
    "ObjectivePerturbation",
    "PoissonBundle",
    "PoissonGaussian",
    "PoissonLaplace",
    "PoissonPure",
    "PureDP",
    "PureObjectivePerturbation",
    "RandomAllocation",
    "RandomPosition",
    "RandomizedResponse",
    "RenyiDP",
    "Script",
    "ShuffledEpoch",
    "WithoutReplacementGaussian",
    "WorstPair",
    "checked",
    "fraction",
    "inverse_noise_field",
    "merged",
    "noise_field",
    "opaque_field",
    "read_script",
    "run_lengths",
    "scaled",
    "tally",
    "written_script",
]
