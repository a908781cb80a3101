"""Transposed convolutions: the gradients of convolutions with respect to their inputs."""

from __future__ import annotations

from collections.abc import Sequence

from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    Autocast,
    describe,
    known_sizes,
    operator,
    Promote,
    refuse,
)

from .convolution_lowerings.geometry import Geometry
from .convolution_lowerings.primitive import spread
from .windows import per_dimension, require_countable, require_known_window


__all__ = ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    aliases=("conv_transpose1d",),
    autocast=Autocast.LOWER,
)
def conv_transpose1d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Array:
    r"""Transposed convolution over one dimension: each element of the input adds the kernel, times
    that element, to the result, $y_{f,\,si + dj - p} \mathrel{+}= \sum_c w_{cfj}\, x_{ci}$.

    Here $x$ is the `input`, $w$ the `weight`, $s$ the `stride`, $p$ the `padding` and $d$ the
    `dilation`. It is the gradient of `conv1d` with respect to its input, plus the `bias`.
    Shapes: `input: [N, C, L]` or `[C, L]`, `weight: [C, F / groups, k]`, `bias: [F]`; the result is
    `[N, F, L']` or `[F, L']` with
    `L' = (L - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1`.

    - `bias`: a number for each filter; None adds nothing.
    - `stride`: how far apart the kernels of neighbouring elements are in the result.
    - `padding`: how many elements are cut off the result on either side.
    - `output_padding`: how many elements are not cut off at the end; less than the stride or the
      dilation.
    - `groups`: splits channels and filters into this many groups; the filters of a group see the
      channels of that group alone.
    - `dilation`: how far apart neighbouring elements of the kernel are in the result.

    `stride`, `padding`, `output_padding` and `dilation` are an int or a sequence of one.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit and for paddings out of range, ValueError for
    other options out of range, TypeError for unequal dtypes.

    >>> x, w = jnp.arange(3, dtype="float32"), jnp.ones(2, "float32")
    >>> functx.conv_transpose1d(x[None], w[None, None], stride=2)
    Array([[0., 0., 1., 1., 2., 2.]], dtype=float32)
    """
    steps = stride, padding, output_padding, dilation
    return _transposed(1, input, weight, bias, steps, groups)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    aliases=("conv_transpose2d",),
    autocast=Autocast.LOWER,
)
def conv_transpose2d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Array:
    r"""Transposed convolution over two dimensions: each element of the input adds the kernel, times
    that element, to the result, $y_{f,\,si + dj - p} \mathrel{+}= \sum_c w_{cfj}\, x_{ci}$ for
    places $i$, $j$ in two dimensions.

    Here $x$ is the `input`, $w$ the `weight`, $s$ the `stride`, $p$ the `padding` and $d$ the
    `dilation`. It is the gradient of `conv2d` with respect to its input, plus the `bias`.
    Shapes: `input: [N, C, H, W]` or `[C, H, W]`, `weight: [C, F / groups, kH, kW]`, `bias: [F]`;
    the result is `[N, F, H', W']` or `[F, H', W']` with
    `H' = (H - 1) stride - 2 padding + dilation (kH - 1) + output_padding + 1`, and `W'` alike.

    - `bias`: a number for each filter; None adds nothing.
    - `stride`: how far apart the kernels of neighbouring elements are in the result.
    - `padding`: how many elements are cut off the result on either side.
    - `output_padding`: how many elements are not cut off at the end; less than the stride or the
      dilation.
    - `groups`: splits channels and filters into this many groups; the filters of a group see the
      channels of that group alone.
    - `dilation`: how far apart neighbouring elements of the kernel are in the result.

    `stride`, `padding`, `output_padding` and `dilation` are one int for both dimensions, or a
    sequence of two.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit and for paddings out of range, ValueError for
    other options out of range, TypeError for unequal dtypes.

    >>> x, w = jnp.ones((1, 2, 2), "float32"), jnp.ones((1, 1, 2, 2), "float32")
    >>> functx.conv_transpose2d(x, w)[0]
    Array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]], dtype=float32)
    """
    steps = stride, padding, output_padding, dilation
    return _transposed(2, input, weight, bias, steps, groups)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    aliases=("conv_transpose3d",),
    autocast=Autocast.LOWER,
)
def conv_transpose3d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Array:
    r"""Transposed convolution over three dimensions: each element of the input adds the kernel,
    times that element, to the result, $y_{f,\,si + dj - p} \mathrel{+}= \sum_c w_{cfj}\, x_{ci}$
    for places $i$, $j$ in three dimensions.

    Here $x$ is the `input`, $w$ the `weight`, $s$ the `stride`, $p$ the `padding` and $d$ the
    `dilation`. It is the gradient of `conv3d` with respect to its input, plus the `bias`.
    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]`, `weight: [C, F / groups, kD, kH, kW]`,
    `bias: [F]`; the result is `[N, F, D', H', W']` or `[F, D', H', W']` with
    `D' = (D - 1) stride - 2 padding + dilation (kD - 1) + output_padding + 1`, and `H'` and `W'`
    alike.

    - `bias`: a number for each filter; None adds nothing.
    - `stride`: how far apart the kernels of neighbouring elements are in the result.
    - `padding`: how many elements are cut off the result on either side.
    - `output_padding`: how many elements are not cut off at the end; less than the stride or the
      dilation.
    - `groups`: splits channels and filters into this many groups; the filters of a group see the
      channels of that group alone.
    - `dilation`: how far apart neighbouring elements of the kernel are in the result.

    `stride`, `padding`, `output_padding` and `dilation` are one int for all dimensions, or a
    sequence of three.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit and for paddings out of range, ValueError for
    other options out of range, TypeError for unequal dtypes.

    >>> x, w = jnp.ones((1, 1, 1, 2), "float32"), jnp.ones((1, 1, 1, 1, 2), "float32")
    >>> functx.conv_transpose3d(x, w)
    Array([[[[1., 2., 1.]]]], dtype=float32)
    """
    steps = stride, padding, output_padding, dilation
    return _transposed(3, input, weight, bias, steps, groups)


def _transposed(n, input, weight, bias, steps, groups):
    _check_shapes(n, input, weight, bias, groups)
    require_known_window(weight, n)
    stride, padding, output_padding, dilation = steps
    strides = per_dimension(stride, n, "stride", least=1)
    cut = per_dimension(padding, n, "padding")
    longer = per_dimension(output_padding, n, "output_padding")
    dilations = per_dimension(dilation, n, "dilation", least=1)
    for o, s, d in zip(longer, strides, dilations, strict=True):
        if o >= max(s, d):
            refuse(
                f"`output_padding` must be less than the stride or the dilation, got "
                f"{output_padding} for stride={stride} and dilation={dilation}",
            )
    x = input if input.ndim == n + 2 else input[None]
    kernel = weight.shape[2:]
    whole = [
        (size - 1) * s + d * (k - 1) + 1 + o
        for size, s, d, k, o in zip(x.shape[2:], strides, dilations, kernel, longer, strict=True)
    ]
    sizes = tuple(size - 2 * p for size, p in zip(whole, cut, strict=True))
    if min(known_sizes(sizes), default=1) < 1:
        refuse(f"`padding` must leave something, got {padding}, which leaves {[*sizes]}")
    require_countable(whole)
    pads = tuple((p, p - o) for p, o in zip(cut, longer, strict=True))
    sums = accumulator(x.dtype)
    geometry = Geometry(strides, pads, dilations, groups, sizes, kernel, x.dtype, sums)
    out = spread(weight, x, geometry)
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
    if channels != weight.shape[0] or channels % groups:
        refuse(
            f"`weight` {describe(weight)} takes {weight.shape[0]} channels, which must be a "
            f"multiple of groups={groups}, got {describe(input)}"
        )
    if 0 in input.shape[input.ndim - n - 1 :] or 0 in weight.shape[1:]:
        refuse(
            f"`input` and `weight` must not be empty except in the batch, got {describe(input)} "
            f"and {describe(weight)}"
        )
    filters = weight.shape[1] * groups
    if bias is not None and bias.shape != (filters,):
        refuse(f"`bias` must be [{filters}], one for each filter, got {describe(bias)}")
