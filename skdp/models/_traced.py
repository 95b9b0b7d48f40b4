"""A module of PyTorch as a list of known operators, and these: scores of one record, and their gradient in its weights.

The module's own code runs here alone, on zeros, before any record is looked at. What is run on records is the list that
came of it, which has no branches: whatever the module would do at another value, time or draw, the list does not.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from ..exceptions import NotSupported

__all__ = ["Traced", "as_torch", "on_one_thread", "operators", "own_copy", "trace", "trained"]


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
