"""Convolutions, as deep learning calls cross-correlations of many channels."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    Autocast,
    decided,
    describe,
    operator,
    Promote,
    refuse,
)

from .convolution_lowerings.geometry import Geometry
from .convolution_lowerings.primitive import correlate
from .windows import per_dimension, require_countable, require_known_window


__all__ = ["conv1d", "conv2d", "conv3d", "conv_tbc"]


@operator(
    promote=Promote.SAME, accepts=Accepts.NUMBER, aliases=("conv1d",), autocast=Autocast.LOWER
)
def conv1d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Array:
    r"""Convolution over one dimension: $y_{of} = b_f + \sum_{ci} w_{fci}\, x_{c,\,so + di}$.

    Here $x$ is the padded `input`, $w$ the `weight`, $b$ the `bias`, $s$ the `stride` and $d$ the
    `dilation`. The kernel is not flipped.
    Shapes: `input: [N, C, L]` or `[C, L]`, `weight: [F, C / groups, k]`, `bias: [F]`; the result is
    `[N, F, L']` or `[F, L']` with `L' = (L + 2 padding - dilation (k - 1) - 1) // stride + 1`.

    - `bias`: a number for each filter; None adds nothing.
    - `stride`: how far apart neighbouring places of the kernel are in the input.
    - `padding`: how many zeros are added on either side. `"valid"` adds none. `"same"` adds as many
      as keep `L' = L`, the odd one at the end, and needs `stride=1`.
    - `dilation`: how far apart neighbouring elements of the kernel are in the input.
    - `groups`: splits channels and filters into this many groups; the filters of a group see the
      channels of that group alone.

    `stride`, `padding` and `dilation` are an int or a sequence of one.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit, ValueError for options out of range, TypeError
    for unequal dtypes.

    >>> x, w = jnp.arange(4, dtype="float32"), jnp.ones(2, "float32")
    >>> functx.nn.functional.conv1d(x[None], w[None, None])
    Array([[1., 3., 5.]], dtype=float32)
    """
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


@operator(
    promote=Promote.SAME, accepts=Accepts.NUMBER, aliases=("conv2d",), autocast=Autocast.LOWER
)
def conv2d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Array:
    r"""Convolution over two dimensions:
    $y_{fop} = b_f + \sum_{cij} w_{fcij}\, x_{c,\,so + di,\,s'p + d'j}$.

    Here $x$ is the padded `input`, $w$ the `weight`, $b$ the `bias`, $s, s'$ the `stride` and
    $d, d'$ the `dilation`. The kernel is not flipped.
    Shapes: `input: [N, C, H, W]` or `[C, H, W]`, `weight: [F, C / groups, kH, kW]`, `bias: [F]`;
    the result is `[N, F, H', W']` or `[F, H', W']` with
    `H' = (H + 2 padding - dilation (kH - 1) - 1) // stride + 1`, and `W'` alike.

    - `bias`: a number for each filter; None adds nothing.
    - `stride`: how far apart neighbouring places of the kernel are in the input.
    - `padding`: how many zeros are added on either side. `"valid"` adds none. `"same"` adds as many
      as keep the sizes, the odd one at the end, and needs `stride=1`.
    - `dilation`: how far apart neighbouring elements of the kernel are in the input.
    - `groups`: splits channels and filters into this many groups; the filters of a group see the
      channels of that group alone.

    `stride`, `padding` and `dilation` are one int for both dimensions, or a sequence of two.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit, ValueError for options out of range, TypeError
    for unequal dtypes.

    >>> x, w = jnp.ones((1, 3, 3), "float32"), jnp.ones((1, 1, 2, 2), "float32")
    >>> functx.nn.functional.conv2d(x, w, padding="same")[0]
    Array([[4., 4., 2.],
           [4., 4., 2.],
           [2., 2., 1.]], dtype=float32)
    """
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


@operator(
    promote=Promote.SAME, accepts=Accepts.NUMBER, aliases=("conv3d",), autocast=Autocast.LOWER
)
def conv3d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Array:
    r"""Convolution over three dimensions: $y_{fo} = b_f + \sum_{ci} w_{fci}\, x_{c,\,so + di}$,
    where $o$ and $i$ are places in three dimensions.

    Here $x$ is the padded `input`, $w$ the `weight`, $b$ the `bias`, $s$ the `stride` and $d$ the
    `dilation`. The kernel is not flipped.
    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]`, `weight: [F, C / groups, kD, kH, kW]`,
    `bias: [F]`; the result is `[N, F, D', H', W']` or `[F, D', H', W']` with
    `D' = (D + 2 padding - dilation (kD - 1) - 1) // stride + 1`, and `H'` and `W'` alike.

    - `bias`: a number for each filter; None adds nothing.
    - `stride`: how far apart neighbouring places of the kernel are in the input.
    - `padding`: how many zeros are added on either side. `"valid"` adds none. `"same"` adds as many
      as keep the sizes, the odd one at the end, and needs `stride=1`.
    - `dilation`: how far apart neighbouring elements of the kernel are in the input.
    - `groups`: splits channels and filters into this many groups; the filters of a group see the
      channels of that group alone.

    `stride`, `padding` and `dilation` are one int for all dimensions, or a sequence of three.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit, ValueError for options out of range, TypeError
    for unequal dtypes.

    >>> x, w = jnp.ones((1, 2, 2, 3), "float32"), jnp.ones((1, 1, 2, 2, 2), "float32")
    >>> functx.conv3d(x, w)
    Array([[[[8., 8.]]]], dtype=float32)
    """
    return _convolution(3, input, weight, bias, stride, padding, dilation, groups)


@operator(
    promote=Promote.SAME, accepts=Accepts.FLOATING, aliases=("conv_tbc",), autocast=Autocast.LOWER
)
def conv_tbc(input: ArrayLike, weight: ArrayLike, bias: ArrayLike, pad: int = 0) -> Array:
    r"""Convolution over time, which is the first dimension:
    $y_{onf} = b_f + \sum_{ci} w_{icf}\, x_{o + i,\,nc}$.

    `conv1d` computes the same for arrays that are laid out otherwise.
    Shapes: `input: [T, N, C]`, `weight: [k, C, F]`, `bias: [F]` give `[T + 2 pad - k + 1, N, F]`.

    - `pad`: how many zeros are added before the first and after the last step.

    Dtypes: all arrays have one floating dtype, and the result has it.
    Errors: RuntimeError for shapes that do not fit, ValueError for a negative `pad`, TypeError for
    unequal dtypes.

    >>> x, w = jnp.arange(3, dtype="float32").reshape(3, 1, 1), jnp.ones((2, 1, 1), "float32")
    >>> functx.conv_tbc(x, w, jnp.zeros(1, "float32")).ravel()
    Array([1., 3.], dtype=float32)
    """
    if input.ndim != 3 or weight.ndim != 3:
        refuse(
            f"`input` and `weight` must have 3 dimensions, got {describe(input)} and "
            f"{describe(weight)}"
        )
    x, w = jnp.moveaxis(input, 0, 2), jnp.moveaxis(weight, 0, 2).swapaxes(0, 1)
    pads = per_dimension(pad, 1, "pad")
    return jnp.moveaxis(_convolution(1, x, w, bias, 1, pads, 1, 1), 2, 0)


def _convolution(n, input, weight, bias, stride, padding, dilation, groups):
    _check_shapes(n, input, weight, bias, groups)
    require_known_window(weight, n)
    strides = per_dimension(stride, n, "stride", least=1)
    dilations = per_dimension(dilation, n, "dilation", least=1)
    kernel = weight.shape[2:]
    pads = _paddings(n, kernel, strides, padding, dilations)
    x = input if input.ndim == n + 2 else input[None]
    image = x.shape[2:]
    padded = [size + before + after for size, (before, after) in zip(image, pads, strict=True)]
    for size, k, d in zip(padded, kernel, dilations, strict=True):
        if decided(lambda size=size, k=k, d=d: size < d * (k - 1) + 1, otherwise=False):
            refuse(
                f"the padded input must be at least as large as the dilated kernel, got "
                f"{size} for {d * (k - 1) + 1}",
            )
    require_countable([*x.shape[:2], *padded])
    sums = accumulator(x.dtype)
    geometry = Geometry(strides, pads, dilations, groups, image, kernel, x.dtype, sums)
    out = correlate(x, weight, geometry)
    if bias is not None:
        out = out + bias.astype(out.dtype).reshape(-1, *[1] * n)
    return out if input.ndim == n + 2 else out[0]


def _check_shapes(n, input, weight, bias, groups):
    if weight.ndim != n + 2 or input.ndim not in (n + 1, n + 2):
        refuse(
            f"`input` must have {n + 1} dimensions, or {n + 2} with a batch, and `weight` {n + 2}, "
            f"got {describe(input)} and {describe(weight)}"
        )
    if groups < 1:
        refuse(f"`groups` must be at least 1, got {groups}", error=ValueError)
    channels = input.shape[input.ndim - n - 1]
    if channels != weight.shape[1] * groups:
        refuse(
            f"`weight` {describe(weight)} with groups={groups} takes {weight.shape[1] * groups} "
            f"channels, got {describe(input)}"
        )
    if 0 in input.shape[input.ndim - n :]:
        refuse(f"`input` must not be empty in what is convolved, got {describe(input)}")
    if weight.shape[0] < 1 or weight.shape[0] % groups or 0 in weight.shape[2:]:
        refuse(
            f"`weight` must be [F, C, *kernel] with F a positive multiple of groups={groups} and "
            f"a kernel that is not empty, got {describe(weight)}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        refuse(f"`bias` must be [{weight.shape[0]}], one for each filter, got {describe(bias)}")


def _paddings(n, kernel, strides, padding, dilations):
    if not isinstance(padding, str):
        return tuple((p, p) for p in per_dimension(padding, n, "padding"))
    if padding == "valid":
        return ((0, 0),) * n
    if padding != "same":
        refuse(f"`padding` must be ints, 'valid' or 'same', got {padding!r}", error=ValueError)
    if max(strides) > 1:
        refuse(f"`padding='same'` needs stride 1, got stride={strides}", error=ValueError)
    totals = [d * (k - 1) for k, d in zip(kernel, dilations, strict=True)]
    return tuple((total // 2, total - total // 2) for total in totals)
