"""Any module of PyTorch as a model: traced once, and run record by record.

A module of PyTorch as a list of known operators, and these: scores of one record, and their gradient in its weights.

The module's own code runs here alone, on zeros, before any record is looked at. What is run on records is the list that
came of it, which has no branches: whatever the module would do at another value, time or draw, the list does not.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import NotSupported
from ._arithmetic import PIECE, hash_places, lengths

__all__ = ["TorchModule", "plain_module"]


@cache
def operators() -> frozenset[str]:
    """Their names in ATen, without the name of an overload."""
    shapes = """
        alias cat clone constant_pad_nd detach expand fill flip full full_like new_zeros
        ones ones_like permute reshape select select_backward slice slice_backward split
        split_with_sizes squeeze stack t transpose unbind unsqueeze _reshape_alias
        _unsafe_view view zeros zeros_like
    """
    arithmetic = """
        abs add addcmul clamp clamp_max clamp_min div exp expm1 log log1p maximum mean
        minimum mul neg pow reciprocal rsqrt rsub sgn sign sqrt sub sum
    """
    choices = "eq ge gt le logical_and logical_not logical_or lt masked_fill ne scalar_tensor where"
    products = "addmm baddbmm bmm convolution convolution_backward dot mm mv"
    units = """
        cos elu elu_backward gelu gelu_backward hardsigmoid hardsigmoid_backward hardswish
        hardswish_backward hardtanh hardtanh_backward leaky_relu leaky_relu_backward
        log_sigmoid_backward log_sigmoid_forward mish mish_backward _prelu_kernel
        _prelu_kernel_backward relu sigmoid sigmoid_backward silu silu_backward sin softplus
        softplus_backward tanh tanh_backward threshold threshold_backward
    """
    layers = """
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward avg_pool2d avg_pool2d_backward
        _log_softmax _log_softmax_backward_data max_pool2d_with_indices
        max_pool2d_with_indices_backward native_group_norm native_group_norm_backward
        native_layer_norm native_layer_norm_backward _safe_softmax _softmax
        _softmax_backward_data
    """
    known = shapes, arithmetic, choices, products, units, layers
    return frozenset(" ".join(known).split())


class Traced(NamedTuple):
    """A module's scores of one record, and beside them the gradient of their product with slopes, of fixed shapes."""

    forward: Callable[..., Any]
    backward: Callable[..., Any]
    scores: tuple[int, ...]  # their shape, as the module gives them of one record


def as_torch() -> Any:
    """PyTorch, where it is installed."""
    try:
        return import_module("torch")
    except ImportError:
        raise ImportError("Modules of PyTorch need it; pip install 'skdp[torch]'.") from None


@contextmanager
def on_one_thread() -> Iterator[Any]:
    """PyTorch without gradients of its own, on one thread: so that sums have one order."""
    torch = as_torch()
    before = torch.get_num_threads()
    if before != 1:
        torch.set_num_threads(1)
    try:
        with torch.no_grad():
            yield torch
    finally:
        if before != 1:
            torch.set_num_threads(before)


def own_copy(module: Any) -> Any:
    """A copy in double precision on the processor, whose units write into nothing; the user's stays as it is."""
    torch = as_torch()
    if not isinstance(module, torch.nn.Module):
        raise ValueError(
            f"module is a {type(module).__name__}; give an instance of torch.nn.Module with its initial weights."
        )
    own = copy.deepcopy(module)
    held = {id(part) for part in (module, *module.parameters(), *module.buffers())}
    if any(id(part) in held for part in (own, *own.parameters(), *own.buffers())):
        raise NotSupported(
            f"{type(module).__name__} returns itself, or its tensors, when it is copied, so that training would "
            "write into it; leave copying to torch.nn.Module."
        )
    own = own.to(device="cpu", dtype=torch.float64)
    for part in own.modules():
        # Of PyTorch's own units, which write into what they are given where they are told to.
        if isinstance(getattr(part, "inplace", None), bool):
            part.inplace = False
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            raise NotSupported(
                f"{type(part).__name__} looks at other records, or at statistics of them, so that a record's gradient "
                "would not be its own; use torch.nn.GroupNorm or LayerNorm."
            )
    return own


def trained(own: Any) -> dict[str, Any]:
    """The weights that are trained, by name, each once: those that ask for a gradient."""
    found = {name: w.detach() for name, w in own.named_parameters() if w.requires_grad}
    if not found:
        raise ValueError(
            f"{type(own).__name__} has no weights to train; give a module with a parameter whose requires_grad is True."
        )
    return found


def trace(own: Any, shape: tuple[int, ...]) -> Traced:
    """The module on one record of this shape.

    Parameters
    ----------
    own : torch.nn.Module
        As `own_copy` gives it.
    shape : tuple of int
        Of one record, without the dimension that counts records.

    Returns
    -------
    Traced
        Of tensors: the trained weights one by one, a record of shape ``(1, *shape)``, and slopes of its scores' shape.
    """
    with on_one_thread() as torch:
        weights = [w.clone() for w in trained(own).values()]
        x = torch.zeros((1, *shape), dtype=torch.float64, device="cpu")
        forward = _listed(_scores_of(torch, own), (*weights, x), own, shape)
        found = forward(*weights, x)
        scores = _scores_of(torch, own)

        def gradient(*given: Any) -> Any:
            *w, x, dz = given
            found, back = torch.func.vjp(lambda *at: scores(*at, x), *w)
            return found, *back(dz)

        backward = _listed(gradient, (*weights, x, torch.zeros_like(found)), own, shape)
        x += torch.arange(x.numel(), dtype=x.dtype, device="cpu").cos().reshape(x.shape)
        found = forward(*weights, x)
        again = backward(*weights, x, torch.zeros_like(found))[0]
        if not torch.allclose(found, again, equal_nan=True):
            raise _changes(own)
    return Traced(forward, backward, tuple(found.shape))


def _scores_of(torch: Any, own: Any) -> Callable[..., Any]:
    """Scores as a function of weights and a record, of a copy, in which shared weights are not put back afterwards."""
    used, names = copy.deepcopy(own), list(trained(own))
    kept = dict(used.named_buffers())

    def scores(*given: Any) -> Any:
        *w, x = given
        found = torch.func.functional_call(used, dict(zip(names, w, strict=True)), (x,))
        if not isinstance(found, torch.Tensor):
            raise TypeError(f"it returns a {type(found).__name__}, not a tensor")
        if any(held is not kept[name] for name, held in used.named_buffers()):
            raise _changes(own)
        return found

    return scores


def _changes(own: Any) -> NotSupported:
    return NotSupported(
        f"{type(own).__name__} changes when it is called, so that a record's scores would depend on earlier calls; "
        "use a module without running statistics."
    )


def _listed(function: Callable[..., Any], given: Any, own: Any, shape: tuple[int, ...]) -> Any:
    """The operators that a function is made of, as a function of tensors; refused where one is not known."""
    torch = as_torch()
    make_fx = import_module("torch.fx.experimental.proxy_tensor").make_fx
    attention = import_module("torch.nn.attention")  # by products and a softmax, which are known
    plainly = attention.sdpa_kernel(attention.SDPBackend.MATH)
    try:
        # A module that draws is refused, and has drawn. What writes in place is listed as if it did not.
        with torch.random.fork_rng(devices=[]), plainly:
            listed = make_fx(torch.func.functionalize(function))(*given)
    except NotSupported:
        raise
    except Exception as error:
        raise ValueError(
            f"{type(own).__name__} cannot be traced on one record of shape {(1, *shape)}: "
            f"{type(error).__name__}, {' '.join(str(error).split())[:300]}"
        ) from error
    for name, held in listed.named_buffers():  # of what the module's code had at hand, as it is now
        setattr(listed, name, held.clone())
    for node in listed.graph.nodes:
        plain = node.op in ("placeholder", "get_attr", "output")
        if not plain and not (node.op == "call_function" and _known(node, torch)):
            raise NotSupported(
                f"{type(own).__name__} uses {node.target}, which is not known to depend on one record alone, "
                "without random draws or writes in place; call module.eval() if it is dropout, or use other layers."
            )
    return listed.forward


def _known(node: Any, torch: Any) -> bool:
    """Return whether a step picks from a tuple, or is a known operator.

    Answers are doubles or truth values, and places where a pool found its largest: whole numbers may fail by a value.
    """
    if node.target is operator.getitem:
        return True
    if node.target is torch.ops.aten.empty_like.default:  # of which the shape alone is read
        return all(user.target is torch.ops.aten.fill.Scalar for user in node.users)
    own = isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "aten"
    if not own or node.target.overloadpacket.__name__ not in operators():
        return False
    if node.target._overloadname.startswith("dtype"):  # the same bytes, or sums, as other numbers
        return False
    tag = torch.Tag
    barred = {tag.dynamic_output_shape, tag.data_dependent_output, tag.nondeterministic_seeded}
    if node.target._schema.is_mutable or barred & set(node.target.tags):
        return False
    found = node.meta.get("val")
    several = isinstance(found, tuple | list)
    parts = [part for part in found if part is not None] if several else [found]
    places = node.target is torch.ops.aten.max_pool2d_with_indices.default
    kinds = {torch.float64, torch.bool} | ({torch.int64} if places else set())
    return all(isinstance(part, torch.Tensor) and part.dtype in kinds for part in parts)


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
