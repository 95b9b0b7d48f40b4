"""The first of several steps that lowers the loss enough: private line search by the sparse vector technique."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy import events
from ._bounds import losses_at, refuse_shape
from ._kernels import ROUNDINGS, UNIT
from ._lattice import Lattice, lattice
from ._mechanism import (
    LARGEST_BOUND,
    LEAST_BOUND,
    Array,
    Mechanism,
    freeze_fields,
    poisson_gaussian,
)
from ._noise import Noise
from ._public import Public
from ._records import Records

__all__ = ["FirstDecrease", "GaussianFirstDecrease", "LineSearch"]

_NOTHING = 1e-150  # an epsilon at which noise drowns any query


@dataclass(frozen=True, eq=False, kw_only=True)
class LineSearch(Mechanism):
    """Base of the searches: index of the first candidate that passes a noisy test, or their number if none does.

    Candidate k passes where the loss of `at` exceeds its own by at least ``demands[k]``. Each record's difference of
    losses is clipped to ``bounds[k]``, and the query is divided by how far that lets it move, so that a short step,
    which moves every record's loss by little, is tested with little noise.

    Parameters
    ----------
    at : ndarray
        Parameters to start from.
    candidates : ndarray of shape (k, ...)
        Parameters to test, in order.
    demands : ndarray of shape (k,)
        Public numbers: the decrease of the summed loss that is asked of each candidate.
    bounds : ndarray of shape (k,)
        Bounds, positive, on the absolute difference of losses of one record.
    loss : Loss
        A registered loss.
    """

    proof: ClassVar[str] = "threshold"
    covers_units: ClassVar[bool] = True
    at: Any
    candidates: Any
    demands: Any
    bounds: Any
    loss: Loss

    def __post_init__(self) -> None:
        freeze_fields(self, arrays=("at", "candidates", "demands", "bounds"))
        count = len(self.candidates)
        if self.demands.shape != (count,) or self.bounds.shape != (count,) or count < 1:
            raise ValueError(
                f"{type(self).__name__} was given {count} candidates, demands of shape {self.demands.shape} and "
                f"bounds of shape {self.bounds.shape}; give one of each per candidate."
            )
        # Within these, sums of clipped differences are finite, and scales of noise keep their digits.
        if not ((self.bounds >= LEAST_BOUND) & (self.bounds <= LARGEST_BOUND)).all():
            raise ValueError(
                f"{type(self).__name__} was given bounds that do not all lie between {LEAST_BOUND:g} and "
                f"{LARGEST_BOUND:g}."
            )

    def sensitivity(self, public: Public) -> Array:
        """Bound how far each sum of clipped differences moves between neighbours, all roundings included."""
        refuse_shape(self.at.shape, self.loss, public)
        refuse_shape(self.candidates.shape[1:], self.loss, public)
        return np.asarray((public.sensitivity_factor + 2.0 * self.rounding(public)) * self.bounds)

    def rounding(self, public: Public) -> float:
        """Bound the distance of a computed sum from the exact one, in bounds of one record."""
        return ROUNDINGS * UNIT * public.most_rows

    def measure(self, records: Records) -> Iterator[float]:
        """Sums of clipped differences, one by one: what is never asked is never computed."""
        before = self._losses(records, self.at)
        for k, candidate in enumerate(self.candidates):
            with np.errstate(all="ignore"):
                gain = before - self._losses(records, candidate)
            gain[np.isnan(gain)] = 0.0  # an overflow must not become a NaN that decides the test
            np.clip(gain, -self.bounds[k], self.bounds[k], out=gain)
            yield float(records.shared(gain).sum())

    def _losses(self, records: Records, w: Array) -> Array:
        """Loss of each record, in the precision that sums are made in."""
        with np.errstate(all="ignore"):
            return losses_at(w, records, self.loss)


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstDecrease(LineSearch):
    """The test with Laplace noise: any number of candidates at one price.

    Parameters
    ----------
    threshold_epsilon : float
        Inverse scale of the noise on the threshold; infinity for none, which has no price on a Poisson batch.
    query_epsilon : float
        Inverse scale of the noise on each query.

    See Also
    --------
    GaussianFirstDecrease : With Gaussian noise.
    BestCandidate : The best instead of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import FirstDecrease, Noise, Public, Records
    >>> X, y = np.tile([0.6, 0.8], (1000, 1)), np.ones(1000)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(X, y, public, data_norm=1.0)
    >>> question = FirstDecrease(
    ...     at=np.zeros(2), candidates=[[-6.0, -8.0], [0.6, 0.8]], demands=[1.0, 1.0],
    ...     bounds=[1.0, 1.0], loss=Logistic(), threshold_epsilon=1.0, query_epsilon=1.0
    ... )
    >>> question.answer(vault, Noise(seed=0))  # the first step makes it worse
    1
    """

    threshold_epsilon: float
    query_epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, scales=("threshold_epsilon", "query_epsilon"))

    def event(self, public: Public) -> events.Event:
        """Return the event of one run of the sparse vector technique on queries of unit sensitivity."""
        self.sensitivity(public)  # refuses shapes that mix records
        return events.AboveThreshold(self.threshold_epsilon, self.query_epsilon)

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Return the event on a Poisson batch: the run is pure, and pure privacy is amplified."""
        if math.isinf(self.threshold_epsilon) and not math.isinf(self.query_epsilon):
            raise NotSupported(
                "a search without noise on its threshold is not pure, so it has no price on a Poisson batch; give "
                "threshold_epsilon."
            )
        self.sensitivity(public)
        return events.PoissonPure(self.threshold_epsilon + 2.0 * self.query_epsilon, rate)

    def answer(self, records: Records, noise: Noise) -> int:
        """The index of the first noisy yes."""
        count, least = len(self.candidates), (self.query_epsilon, self.threshold_epsilon)
        if min(least) <= _NOTHING:  # infinite noise: the records do not matter
            own, shared = (np.full(count, float(epsilon <= _NOTHING)) for epsilon in least)
            return noise.first_above(repeat(0.0, count), np.zeros(count), own, shared)
        # A query's own scale and the threshold's, up to which roundings of the scales are covered.
        units = self.sensitivity(records.public) * (1.0 + 4.0 * UNIT)
        own, shared = (units / epsilon for epsilon in least)
        return noise.first_above(self.measure(records), self.demands, own, shared)


@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianFirstDecrease(LineSearch):
    """The test with Gaussian noise: its price grows with the number of candidates, which the question itself fixes.

    Parameters
    ----------
    threshold_multiplier : float
        Standard deviation of the noise on the threshold, 0 allowed.
    query_multiplier : float
        Standard deviation of the noise on each query.

    See Also
    --------
    FirstDecrease : With Laplace noise.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import GaussianFirstDecrease, Noise, Public, Records
    >>> X, y = np.tile([0.6, 0.8], (1000, 1)), np.ones(1000)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(X, y, public, data_norm=1.0)
    >>> question = GaussianFirstDecrease(
    ...     at=np.zeros(2), candidates=[[-6.0, -8.0], [0.6, 0.8]], demands=[1.0, 1.0],
    ...     bounds=[1.0, 1.0], loss=Logistic(), threshold_multiplier=5.0, query_multiplier=5.0
    ... )
    >>> question.answer(vault, Noise(seed=0))  # the first step makes it worse
    1
    """

    threshold_multiplier: float
    query_multiplier: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, scales=("threshold_multiplier", "query_multiplier"))

    def grids(self, public: Public) -> tuple[Lattice, Lattice]:
        """Lattices of the queries, which are one Gaussian sum of as many numbers, and of the threshold."""
        self.sensitivity(public)  # refuses shapes that mix records
        count = len(self.candidates)
        record, rounding = self._record(public), self.rounding(public) / public.sensitivity_factor
        queries = lattice(
            self.query_multiplier / record,
            record,
            math.sqrt(count) * rounding,
            count,
            math.sqrt(count),
        )
        return queries, lattice(self.threshold_multiplier, 1.0, 0.0, 1)

    def _record(self, public: Public) -> float:
        """Bound the norm of one record's contribution to all queries of unit sensitivity."""
        return math.sqrt(len(self.candidates)) / public.sensitivity_factor

    def event(self, public: Public) -> events.Event:
        """Return the event of one run with as many queries as there are candidates."""
        self.grids(public)  # refuses what double precision cannot answer
        return events.GaussianAboveThreshold(
            self.threshold_multiplier, self.query_multiplier, len(self.candidates)
        )

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Return the event on a Poisson batch: all queries at once are one Gaussian sum, amplified exactly."""
        self.grids(public)
        return poisson_gaussian(self.query_multiplier / self._record(public), rate)

    def answer(self, records: Records, noise: Noise) -> int:
        """The index of the first noisy yes: a function of the noisy queries and of a threshold that no record meets."""
        queries, wide = self.grids(records.public)
        threshold = float(noise.gaussian(np.zeros(1), wide)[0])
        units = records.public.sensitivity_factor * self.bounds
        for k, total in enumerate(self.measure(records)):
            query = float(noise.gaussian(np.array([total / units[k]]), queries)[0])
            if query - self.demands[k] / units[k] >= threshold:
                return k
        return len(self.candidates)
