"""Networks of dense layers: a record's gradient in a layer is what enters it times what comes back to it.

Activations of hidden units, entry by entry, with their derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ._arithmetic import UNIT, hash_places, lengths, products, sum_of_outer

__all__ = ["ACTIVATIONS", "Perceptron"]


Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Activation:
    """A function of single scores.

    Parameters
    ----------
    gain : float
        By which what is said is scaled up, so that its squares are about as large as those of the scores.
    says : callable
        What is said of the scores, which may be written into.
    steepness : callable
        Its derivative, of what is said.
    """

    gain: float
    says: Callable[[Array], Array]
    steepness: Callable[[Array], Array]

    def __call__(self, scores: Array) -> tuple[Array, Array]:
        """Return the activation and its derivative."""
        said = self.says(scores)
        return said, self.steepness(said)


def _relu(scores: Array) -> Array:
    return np.maximum(scores, 0.0, out=scores)  # NaN stays NaN


def _tanh(scores: Array) -> Array:
    return np.tanh(scores, out=scores)


def _logistic(scores: Array) -> Array:
    scores *= 0.5
    said = np.tanh(scores, out=scores)
    said += 1.0
    said *= 0.5
    return said


ACTIVATIONS = {
    "relu": Activation(float(np.sqrt(2.0)), _relu, lambda said: (said > 0.0).astype(np.float64)),
    "tanh": Activation(1.0, _tanh, lambda said: 1.0 - said * said),
    "logistic": Activation(2.0, _logistic, lambda said: said * (1.0 - said)),
    "identity": Activation(1.0, lambda scores: scores, lambda said: np.ones_like(said)),
}


class _Tape(NamedTuple):
    """Inputs of each layer, slopes of the hidden units, matrices, and the slopes propagated back."""

    entered: list[Array]
    steep: list[Array]
    matrices: list[Array]
    back: list[Any]


@dataclass(frozen=True)
class Perceptron:
    """Scores of a network whose layers each see all of the one before, and a constant of the size of the rows' own.

    A layer of m units hands on ``gain / sqrt(m)`` times what they say, and weights begin with variance 1, so that at
    the start norms of what is handed on are near those of the rows, and gradients near those of a linear model (the
    parametrisation of Jacot, Gabriel and Hongler 2018). The last hidden units begin in pairs that say the same and are
    counted with opposite signs: all scores begin at zero (Chizat, Oyallon and Bach 2019), and nothing has to be
    unlearned first.

    Parameters
    ----------
    hidden : tuple of int
        Units of each hidden layer, one layer or more.
    activation : {"relu", "tanh", "logistic", "identity"}
        What a unit says of its score.
    seed : int
        Of the public weights to begin with.
    heard : float
        Deviation of the last layer's weights to begin with: how steep scores are in what hidden units say.

    Examples
    --------
    >>> from skdp.mechanisms import Public
    >>> from skdp.models import Perceptron
    >>> public = Public(n=100, n_features=4, intercept=0.25, neighbors="replace_one")
    >>> Perceptron(hidden=(10, 3)).shape(public, outputs=2)  # 5 * 10 + 11 * 3 + 4 * 2
    (91,)
    """

    hidden: tuple[int, ...] = (6,)
    activation: str = "relu"
    seed: int = 0
    heard: float = 1.0

    proof: ClassVar[str | None] = "networks"
    of_whole_rows: ClassVar[bool] = False

    def shapes(self, width: int, outputs: int, constant: bool) -> list[tuple[int, int]]:
        """Return the shape of each layer's matrix, whose last row belongs to the constant where there is one."""
        inputs = [width, *(units + constant for units in self.hidden)]
        return list(zip(inputs, (*self.hidden, outputs), strict=True))

    def shape(self, public: Any, outputs: int = 1) -> tuple[int, ...]:
        """All matrices one after the other."""
        found = self.shapes(public.width, outputs, public.intercept > 0)
        return (sum(rows * columns for rows, columns in found),)

    def start(self, public: Any, outputs: int = 1) -> Array:
        """Weights spread evenly by a public hash, the last units in pairs; nothing of the constants."""
        constant = public.intercept > 0
        w = np.sqrt(12.0) * (hash_places(self.shape(public, outputs)[0], self.seed) - 0.5)
        matrices = _split(w, self.shapes(public.width, outputs, constant))
        half, (before, last) = self.hidden[-1] // 2, matrices[-2:]
        before[:, half : 2 * half] = before[:, :half]
        last[:half] *= self.heard
        last[half : 2 * half] = -last[:half]
        last[2 * half :] = 0.0
        if constant:
            for matrix in matrices:
                matrix[-1] = 0.0
        return w

    def matrices(self, w: Array, width: int, constant: bool) -> list[Array]:
        """The layers' matrices as views of the parameters."""
        before = sum(rows * columns for rows, columns in self.shapes(width, 0, constant))
        outputs = (len(w) - before) // (self.hidden[-1] + constant)
        return _split(w, self.shapes(width, outputs, constant))

    def shares(self) -> list[float]:
        """Return the factor of each hidden layer's activations."""
        gain = ACTIVATIONS[self.activation].gain
        return [gain / float(np.sqrt(units)) for units in self.hidden]

    def forward(self, w: Array, rows: Any) -> tuple[Array, Any]:
        """Layer by layer, in double precision."""
        unit, size = ACTIVATIONS[self.activation], float(rows.intercept)
        tape = _Tape([rows.to_dense()], [], self.matrices(w, rows.width, size > 0.0), [])
        for matrix, share in zip(tape.matrices[:-1], self.shares(), strict=True):
            said, steep = unit(products(tape.entered[-1], matrix))
            handed_on = np.full((len(said), said.shape[1] + (size > 0.0)), size)
            np.multiply(said, share, out=handed_on[:, : said.shape[1]])
            steep *= share
            tape.entered.append(handed_on)
            tape.steep.append(steep)
        scores = products(tape.entered[-1], tape.matrices[-1])
        return scores[:, 0] if scores.shape[1] == 1 else scores, tape

    def norms(self, tape: Any, dz: Array) -> Array:
        """Return the norms of all layers' gradients together, each the product of two norms."""
        found = _came_back(tape, dz)
        each = [lengths(a) * lengths(d) for a, d in zip(tape.entered, found, strict=True)]
        norms: Array = reduce(np.hypot, each) * (1.0 + (4.0 * len(each) + 8.0) * UNIT)
        return norms

    def norms_of_sums(self, tape: Any, dz: Array, offsets: Array) -> Array:
        """Norms, as computed, of the sums of gradients over consecutive records: of those that belong together.

        Parameters
        ----------
        tape : object
            Of the pass forward.
        dz : ndarray of shape (n,)
            Slopes.
        offsets : ndarray of shape (parts + 1,)
            Where parts begin and end.
        """
        squares = np.zeros(len(offsets) - 1)
        ends = offsets.tolist()
        for a, d in zip(tape.entered, _came_back(tape, dz), strict=True):
            for j, (start, stop) in enumerate(pairwise(ends)):
                part = a[start:stop].T @ d[start:stop]
                squares[j] += np.vdot(part, part)
        return np.sqrt(squares)

    def grams(self, tape: Any, dz: Array, index: Array) -> Array:
        """Products of the gradients of records with each other, in groups of as many.

        Parameters
        ----------
        tape : object
            Of the pass forward.
        dz : ndarray of shape (n,)
            Slopes.
        index : ndarray of shape (groups, m)
            The records.

        Returns
        -------
        ndarray of shape (groups, m, m)
        """
        total = np.zeros((*index.shape, index.shape[1]))
        for a, d in zip(tape.entered, _came_back(tape, dz), strict=True):
            a, d = a[index], d[index]
            total += (a @ a.transpose(0, 2, 1)) * (d @ d.transpose(0, 2, 1))
        return total

    def pullback(self, tape: Any, dz: Array, weights: Array) -> Array:
        """A sum of outer products for each layer."""
        total = np.empty(sum(matrix.size for matrix in tape.matrices))
        parts = _split(total, [matrix.shape for matrix in tape.matrices])
        for a, d, part in zip(tape.entered, _came_back(tape, dz), parts, strict=True):
            sum_of_outer(a, weights[:, None] * d, part)
        return total

    def curvature(self, loss: Any, public: Any) -> float | None:
        """Return None: no bound holds everywhere."""
        return None


def _came_back(tape: _Tape, dz: Array) -> list[Array]:
    """Slopes of the scores in what each layer's units were asked, first layer first; kept for this dz."""
    if tape.back and np.array_equal(tape.back[0], dz):
        kept: list[Array] = tape.back[1]
        return kept
    own = dz.copy()  # the caller's may change, and what came back of it would with it
    tape.back[:] = own, _on_the_way(tape, own)
    return list(tape.back[1])


def _on_the_way(tape: _Tape, dz: Array) -> list[Array]:
    """Propagate slopes of the scores back through the layers, without keeping them."""
    found = [dz[:, None] if dz.ndim == 1 else dz]
    for matrix, steep in zip(tape.matrices[:0:-1], tape.steep[::-1], strict=True):
        slopes = products(found[-1], np.ascontiguousarray(matrix[: steep.shape[1]].T))
        slopes *= steep
        found.append(slopes)
    return found[::-1]


def _split(w: Array, shapes: list[tuple[int, int]]) -> list[Array]:
    """Views of consecutive parts."""
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(w, ends[:-1]), shapes, strict=True)]
