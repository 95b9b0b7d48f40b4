"""Random Fourier features of a few columns each: public functions of a row, on the unit sphere (Rahimi and Recht 2007).

Wave j adds up what a few of the declared columns say: a weight times the place in [-1, 1] of a number, a weight of its
own for each declared value. Its two features are the cosine and the sine of that sum z_j. Which columns, and which
weights, is decided by a public hash of their places, so no record takes part, and a wave costs nothing.

Theorem. Let a row A have norm at most 1 and let the m/2 points (c_j, s_j) have norm at most 1, whatever the record
holds. Then the row of sqrt(1 - b) A and of all sqrt(2 b / m) (c_j, s_j) has norm at most 1, for 0 <= b <= 1.

Cosine and sine are computed, so each point is divided by its own length as computed: what a mathematical library makes
of them decides no norm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..fitting.data import Array
from ..models._arithmetic import hash_places
from ..privacy._gaussian import gaussian_mu
from ..privacy.spec import Spec
from ._blocks import NumberBlock, ValueBlock

__all__ = [
    "LEAST_NOISE",
    "PER_FEATURE",
    "RandomFeatures",
    "choose_count",
    "choose_share",
    "measure_strength",
]

TOGETHER, WIDTH = 4, 2.0  # columns of a wave; deviation of the weights of numbers
COLUMNS, WEIGHTS = 1, 2  # names of the public sequences
SHORTEST = 0.5  # of a point before it is put on the sphere; as computed it is near 1
SLACK = 1.0 - 2.0**-48  # for the rounding of a product, and of a sum of a few squares

# Records times mu for a feature, and from which on features pay: classifiers, least squares.
PER_FEATURE = {"classification": (50.0, 20_000.0), "regression": (30.0, 3_000.0)}
MOST = 1000  # columns in all, beyond which a linear fit is not whitened
STRONG = (
    50_000.0  # records times mu from which on half of the squared norm does better than a quarter
)
LEAST_NOISE = 2.0  # mu beyond which records are too few, rather than noise too loud


def measure_strength(n: float, spec: Spec) -> float:
    """Return records times the Gaussian parameter mu of the promise: the one number that sizes go by.

    Parameters
    ----------
    n : float
        Records, as far as their number is public; 0 where it is not.
    spec : Spec
        The promise. With delta = 0 it has no such parameter, and the strength is 0.

    Returns
    -------
    float
        Infinite without privacy.
    """
    if not spec.private:
        return math.inf
    return n * gaussian_mu(spec.epsilon, spec.delta) if spec.delta > 0.0 else 0.0


def choose_count(task: str, strength: float, beside: int, pays: bool = False) -> int:
    """Return the number of random features that are worth their noise, by public numbers.

    Parameters
    ----------
    task : {"classification", "regression"}
        Least squares gain more, and earlier.
    strength : float
        Records times the Gaussian parameter of the promise.
    beside : int
        Other columns.
    pays : bool
        Whether somebody has said that they pay.

    Returns
    -------
    int
        An even number.
    """
    each, least = PER_FEATURE[task]
    if strength < least and not pays:
        return 0
    return 2 * int(max(float(pays), min(strength / each, MOST - 1 - beside) / 2))


def choose_share(strength: float) -> float:
    """Return the share of a row's squared norm that random features have, by public numbers.

    Parameters
    ----------
    strength : float
        Records times the Gaussian parameter of the promise.

    Returns
    -------
    float
    """
    return 0.5 if strength >= STRONG else 0.25


@dataclass(frozen=True)
class RandomFeatures:
    """Waves over declared columns, beside rows of norm at most 1.

    Parameters
    ----------
    blocks : sequence of NumberBlock or ValueBlock
        How each column is read.
    count : int
        Features, two to a wave.
    share : float
        Of the row's squared norm.
    """

    blocks: Sequence[NumberBlock | ValueBlock]
    count: int
    share: float

    @property
    def factor(self) -> float:
        """Factor of the rows that stand beside the features."""
        return float(np.sqrt(1.0 - self.share) * SLACK) if self.count else 1.0

    @cached_property
    def chosen(self) -> Array:
        """Columns of each wave, in ascending order: those that have met each other least, by the hash where several do.

        So columns, and pairs of them, have about equally many waves.
        """
        waves, columns = self.count // 2, len(self.blocks)
        hashes = hash_places(waves * columns, COLUMNS).reshape(waves, columns)
        met = np.zeros((columns, columns))  # on the diagonal, waves of a column
        found = np.empty((waves, min(TOGETHER, columns)), dtype=np.intp)
        for wave, hashed in enumerate(hashes):
            cost = np.diagonal(met) + hashed
            for k in range(found.shape[1]):
                found[wave, k] = chosen = cost.argmin()
                cost += met[chosen]
                cost[chosen] = np.inf
            met[np.ix_(found[wave], found[wave])] += 1.0
        return np.sort(found, axis=1)

    @cached_property
    def weights(self) -> list[Array]:
        """Weights of each column, a row to a wave: one for a number; one for each value, and 0 for one that is none."""
        kinds = [_kinds(block) for block in self.blocks]
        places = (
            hash_places(self.count // 2 * sum(kinds), WEIGHTS) + 2.0**-54
        )  # ndtri(0) is infinite
        normal = ndtri(places).reshape(self.count // 2, sum(kinds))
        found = np.split(normal, np.cumsum(kinds)[:-1], axis=1)
        for at, block in enumerate(self.blocks):
            if isinstance(block, NumberBlock):
                found[at] = WIDTH * found[at]
            elif block.unknown != "value":
                found[at] = np.hstack([found[at], np.zeros((self.count // 2, 1))])
        return found

    def names(self, columns: Sequence[str]) -> Iterator[str]:
        """Yield one name for each feature."""
        for wave, chosen in enumerate(self.chosen, start=1):
            told = ", ".join(columns[at] for at in chosen)
            yield from (f"cos{wave}({told})", f"sin{wave}({told})")

    def beside(self, rows: Array, cells: Sequence[Any]) -> Array:
        """Return rows of norm at most 1 with the features beside them, in norm at most 1.

        Parameters
        ----------
        rows : ndarray of shape (n, width)
            Of norm at most 1.
        cells : sequence of array-like of shape (n,)
            The columns.

        Returns
        -------
        ndarray of shape (n, width + count), in the order of Fortran
        """
        width, waves = rows.shape[1], self.count // 2
        both = np.empty((len(rows), width + self.count), rows.dtype, order="F")
        np.multiply(rows, self.factor, out=both[:, :width])
        size = np.sqrt(self.share / waves) * SLACK
        read = [_read(block, column) for block, column in zip(self.blocks, cells)]
        for wave in range(waves):
            z = self._sum(wave, read, len(rows))
            at = width + 2 * wave
            both[:, at], both[:, at + 1] = _on_sphere(np.cos(z), np.sin(z), size)
        return both

    def _sum(self, wave: int, read: Sequence[Array], n: int) -> Array:
        """Sum of what the columns of a wave say of each row."""
        z = np.zeros(n)
        for at in self.chosen[wave]:
            weights = self.weights[at][wave]
            number = isinstance(self.blocks[at], NumberBlock)
            z += weights[0] * read[at] if number else weights[read[at]]
        return z


def _kinds(block: NumberBlock | ValueBlock) -> int:
    """Number of weights that a column has in a wave."""
    if isinstance(block, NumberBlock):
        return 1
    return len(block.declared.values) + (block.unknown == "value")


def _read(block: NumberBlock | ValueBlock, column: Any) -> Array:
    """Numbers as places in [-1, 1], 0 where one is marked as missing; categories as codes."""
    if isinstance(block, ValueBlock):
        return block.codes(column)
    out = np.empty((len(column), block.width))
    block.write(column, out)
    return np.ascontiguousarray(out[:, 0])


def _on_sphere(cosine: Array, sine: Array, size: float) -> tuple[Array, Array]:
    """Points of this length at most, whatever cosine and sine were computed to be."""
    length = np.maximum(np.sqrt(cosine * cosine + sine * sine), SHORTEST)
    return cosine / length * size, sine / length * size
