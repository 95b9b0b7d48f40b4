"""Any module of PyTorch as a model: traced once, and run record by record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ._arithmetic import PIECE, lengths
from ._public_hash import hash_places
from ._traced import Traced, as_torch, on_one_thread, own_copy, trace, trained

__all__ = ["TorchModule", "plain_module"]
Array = np.ndarray[Any, Any]

AT_HAND = (
    1 << 25
)  # numbers of single gradients that are kept from their norms to their sum: 256 megabytes


class _Tape:
    """Weights, records and overflow marks for the backward pass, and the gradients of the last slopes."""

    def __init__(self, w: Array, x: Array, lost: Array) -> None:
        self.w, self.x, self.lost = w, x, lost
        self.dz: Array | None = None
        self.norms = np.empty(0)
        self.kept = np.empty((0, 0))


class _At(NamedTuple):
    """A traced module at given weights, with tensors that each record is written into in turn."""

    traced: Traced
    weights: tuple[Any, ...]
    x: Any
    dz: Any

    def gradient(self, x: Array, dz: Array, out: Array) -> None:
        """Write the gradient of the product of slopes and scores of one record into a flat array."""
        self.x.numpy().ravel()[:] = x
        self.dz.numpy().ravel()[:] = dz
        end = 0
        for part in self.traced.backward(*self.weights, self.x, self.dz)[1:]:
            start, end = end, end + part.numel()
            np.copyto(out[start:end].reshape(part.shape), part.numpy())


@dataclass(frozen=True, eq=False)
class TorchModule:
    """Scores of a module of PyTorch, whose weights that ask for a gradient are the parameters, one after the other.

    The module is copied in double precision, and its own code is run once, on zeros. Of that its operators are listed,
    which are refused where one is not known to be a function of one record. The list is run on each record alone: a
    product of many records would round a record by where it stands. It needs the extra ``skdp[torch]``.

    Parameters
    ----------
    module : torch.nn.Module
        With the weights to begin with, which are taken for public, as are its buffers and weights that ask for no
        gradient. It takes a tensor of shape ``(1, *input_shape)`` and gives one score or a row of them.
    input_shape : tuple of int or None
        Shape of a record as the module sees it; None: as many numbers as there are columns.
    scale : float
        What rows are multiplied by before the module sees them.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from skdp.mechanisms import Public
    >>> from skdp.models import TorchModule
    >>> public = Public(n=100, n_features=4, intercept=0.0, neighbors="replace_one")
    >>> TorchModule(torch.nn.Linear(4, 2)).shape(public, outputs=2)  # doctest: +SKIP
    (10,)
    """

    module: Any
    input_shape: tuple[int, ...] | None = None
    scale: float = 1.0
    _sizes: tuple[tuple[int, ...], ...] = field(init=False, repr=False)
    _start: Array = field(init=False, repr=False)
    _listed: dict[int, Traced] = field(init=False, repr=False)

    proof: ClassVar[str | None] = "torch"
    of_whole_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        own = own_copy(self.module)
        weights = trained(own).values()
        sizes = tuple(tuple(w.shape) for w in weights)
        start = np.concatenate([w.numpy().ravel() for w in weights])
        shape = None if self.input_shape is None else tuple(map(int, self.input_shape))
        given = {"module": own, "input_shape": shape, "scale": float(self.scale)}
        for name, value in (*given.items(), ("_sizes", sizes), ("_start", start), ("_listed", {})):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Number of weights that are trained."""
        return sum(map(_count, self._sizes))

    def shape(self, public: Any, outputs: int = 1) -> tuple[int, ...]:
        """All trained weights; refused where the module does not give so many scores of a record."""
        scores = self._traced(public.n_features).scores
        if scores not in ((1, outputs), (1,) * (outputs == 1)):
            raise ValueError(
                f"{type(self.module).__name__} gives scores of shape {scores} for one record instead of "
                f"{(1, outputs)}; give {outputs} score(s): one for two classes or for regression, else one for each "
                "class."
            )
        return (self.size,)

    def start(self, public: Any, outputs: int = 1) -> Array:
        """The weights that the module came with."""
        return self._start.copy()

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the trained weights."""
        return self._sizes

    @staticmethod
    def write(module: Any, w: Array) -> None:
        """Parameters into the trained weights of a module, in place."""
        end = 0
        with on_one_thread() as torch:
            for weight in trained(module).values():
                start, end = end, end + weight.numel()
                weight.copy_(torch.from_numpy(w[start:end].copy()).reshape(weight.shape))

    def parts(self, w: Array) -> list[Array]:
        """Parameters as views of the shapes that the module's weights have."""
        sizes = self._sizes
        ends = np.cumsum([_count(shape) for shape in sizes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(w, ends), sizes, strict=True)]

    def forward(self, w: Array, rows: Any) -> tuple[Array, Any]:
        """Scores one record after the other; the constant column is left to the module's own constants."""
        features = rows.width - (rows.intercept > 0)
        return self.scores(w, rows.to_dense()[:, :features])

    def scores(self, w: Array, table: Array) -> tuple[Array, Any]:
        """Return the scores of rows of features, and the tape.

        Parameters
        ----------
        w : ndarray
            Parameters.
        table : ndarray of shape (n, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n,) or (n, outputs)
        tape : object
        """
        x = table * self.scale
        traced = self._traced(x.shape[1])
        found = np.empty((len(x), traced.scores[-1] if len(traced.scores) > 1 else 1))
        with on_one_thread() as torch:
            at = self._at(torch, traced, w, x.shape[1])
            for i, row in enumerate(x):
                at.x.numpy().ravel()[:] = row
                found[i] = traced.forward(*at.weights, at.x).numpy()
        lost = np.asarray(~np.isfinite(found).all(axis=1))
        return found[:, 0] if found.shape[1] == 1 else found, _Tape(w.copy(), x, lost)

    def norms(self, tape: Any, dz: Array) -> Array:
        """Return the norms of the gradients, of which as many are kept as memory is set aside for."""
        held, each = min(len(tape.x), max(1, AT_HAND // self.size)), np.empty(self.size)
        tape.dz, tape.norms = dz.copy(), np.empty(len(tape.x))
        tape.kept = np.empty((held, self.size))
        with on_one_thread() as torch:
            at = self._at(torch, self._traced(tape.x.shape[1]), tape.w, tape.x.shape[1])
            for i, row in enumerate(tape.x):
                at.gradient(row, dz[i], each)
                tape.norms[i] = lengths(each[None])[0]
                if i < held:
                    tape.kept[i] = each
        tape.norms[tape.lost] = np.nan
        return np.array(tape.norms)

    def pullback(self, tape: Any, dz: Array, weights: Array) -> Array:
        """Sum of the gradients times their weights, in pieces; those not at hand are made again, and no longer."""
        known = tape.dz is not None and np.array_equal(tape.dz, dz)
        held = len(tape.kept) if known else 0
        total, piece, each = np.zeros(self.size), np.zeros(self.size), np.empty(self.size)
        with on_one_thread() as torch:
            at = self._at(torch, self._traced(tape.x.shape[1]), tape.w, tape.x.shape[1])
            for i, row in enumerate(tape.x):
                weight = weights[i]
                if i < held:
                    np.multiply(tape.kept[i], weight, out=each)
                else:
                    at.gradient(row, dz[i], each)
                    if known and (now := lengths(each[None])[0]) > tape.norms[i]:
                        weight = weight * (tape.norms[i] / now)
                    each *= weight
                piece += each
                if i % PIECE == PIECE - 1:
                    total += piece
                    piece[:] = 0.0
        total += piece
        return total

    def curvature(self, loss: Any, public: Any) -> float | None:
        """Return None: no bound holds everywhere."""
        return None

    def _traced(self, features: int) -> Traced:
        """The module's operators, listed once for each number of columns."""
        if features not in self._listed:
            shape = (features,) if self.input_shape is None else self.input_shape
            if _count(shape) != features:
                raise ValueError(
                    f"input_shape={shape} holds {_count(shape)} numbers but a row has {features}; give a shape "
                    "whose product is the number of columns."
                )
            self._listed[features] = trace(self.module, shape)
        return self._listed[features]

    def _at(self, torch: Any, traced: Traced, w: Array, features: int) -> _At:
        """Fresh tensors, which start where memory is aligned: so a record is met in the same place each time."""
        weights = tuple(torch.empty(part.shape, dtype=torch.float64) for part in self.parts(w))
        for tensor, part in zip(weights, self.parts(w), strict=True):
            tensor.numpy()[...] = part
        shape = (features,) if self.input_shape is None else self.input_shape
        x = torch.empty((1, *shape), dtype=torch.float64, device="cpu")
        return _At(traced, weights, x, torch.empty(traced.scores, dtype=torch.float64))


def _count(shape: tuple[int, ...]) -> int:
    """Return the number of entries of an array of this shape."""
    return int(np.prod(shape, dtype=np.int64))


def plain_module(n_features: int, outputs: int, units: int = 100) -> Any:
    """A module of one hidden layer, whose weights to begin with are public and drawn by nobody.

    Parameters
    ----------
    n_features : int
        Numbers of a record.
    outputs : int
        Scores of a record.
    units : int
        Hidden ones.

    Returns
    -------
    torch.nn.Module
    """
    nn = as_torch().nn
    with on_one_thread() as torch, torch.random.fork_rng(devices=[]):
        layers = nn.Linear(n_features, units), nn.Tanh(), nn.Linear(units, outputs)
        module = nn.Sequential(nn.Flatten(), *layers)
        for layer in layers[::2]:
            spread = 2.0 * hash_places(layer.weight.numel(), 0) - 1.0
            spread *= (3.0 / layer.in_features) ** 0.5
            layer.weight.copy_(torch.from_numpy(spread).reshape(layer.weight.shape))
            layer.bias.zero_()
    return module
