"""Convolutions: PyTorch has one operator for all of them beside those of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import Array

from functx._core import OPERATORS


def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Any,
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    **_: Any,
) -> Array:
    """A convolution of any rank, or the transpose of one."""
    rank = weight.ndim - 2
    each = [_for_each(x, rank) for x in (stride, padding, dilation)]
    if transposed:
        operator = OPERATORS[f"nn.functional.conv_transpose{rank}d"]
        out = _for_each(output_padding, rank)
        return operator(input, weight, bias, each[0], each[1], out, groups, each[2])
    operator = OPERATORS[f"nn.functional.conv{rank}d"]
    return operator(input, weight, bias, *each, groups)


def _for_each(given: Any, rank: int) -> Any:
    if isinstance(given, str):
        return given
    return tuple(given) * rank if len(given) == 1 else tuple(given)


def convolution_by_name(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: str,
    dilation: Sequence[int],
    groups: int,
) -> Array:
    """A convolution with `"same"` or `"valid"` padding."""
    return convolution(input, weight, bias, stride, padding, dilation, False, (), groups)


def with_kernel_size(
    input: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
) -> Array:
    """A convolution of which a kernel for CPUs is told the size of the window."""
    return convolution(input, weight, bias, stride, padding, dilation, False, (), 1)


def depthwise(
    input: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Array:
    """A convolution with a window for each channel."""
    groups = input.shape[1]
    return convolution(input, weight, bias, stride, padding, dilation, False, (), groups)


def transposed_with_kernel_size(
    input: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    output_padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
) -> Array:
    """A transposed convolution of which a kernel for CPUs is told the size of the window."""
    return convolution(input, weight, bias, stride, padding, dilation, True, output_padding, 1)


def patches(input: Array, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    """Windows as columns."""
    return OPERATORS["nn.functional.unfold"](
        input, tuple(kernel_size), tuple(dilation), tuple(padding), tuple(stride)
    )


def from_patches(
    input: Array, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Array:
    """The sum of windows that are columns."""
    options = [tuple(x) for x in (output_size, kernel_size, dilation, padding, stride)]
    return OPERATORS["nn.functional.fold"](input, *options)
