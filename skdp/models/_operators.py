"""Operators that a traced module may be made of: PyTorch's whose answer is a function of their arguments alone.

Each is total (no value of its arguments makes it fail, warn or read elsewhere), draws nothing, writes into none of its
arguments, and on doubles, on the processor and on one thread is one fixed sequence of operations for a shape. What is
not here is refused: lookups by a value (embedding, gather), draws (dropout), statistics of a batch, writing in place.
"""

from functools import cache

__all__ = ["operators"]


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
