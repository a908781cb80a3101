"""Pooling: the norm of each window."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, operator, refuse
from functx._core.numbers.bitwise_comparison import nonzero
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular
from functx._ops.nn.windows import per_dimension

from .greatest import as_images, greatest_of
from .placement import placed
from .totals import elements, sums


__all__ = ["lp_pool1d", "lp_pool2d", "lp_pool3d"]


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def lp_pool1d(
    input: ArrayLike,
    norm_type: float,  # static: it chooses how to compute
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Array:
    r"""The norm of each window: $(\sum_i x_i^p)^{1/p}$, with $p$ the `norm_type`.

    Shapes: `input: [N, C, L]` or `[C, L]` gives `[N, C, L']` or `[C, L']` with
    `L' = (L - kernel_size) // stride + 1`, rounded up instead of down if `ceil_mode`.

    - `norm_type`: $p$, neither 0 nor NaN. The powers are of the elements, not of their absolute
      values. Infinity and minus infinity give the greatest and the least absolute value.
    - `kernel_size`: how many elements a window has, an int or a sequence of one.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `ceil_mode`: whether to keep a last window that reaches beyond the input; its sum is scaled up
      to that of a whole window.

    Gradients: at a sum of 0 they are 0; `lp_pool2d` says more about second derivatives.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> x = jnp.asarray([[3.0, 4.0]], "float32")
    >>> functx.nn.functional.lp_pool1d(x, 2, kernel_size=2)
    Array([[5.]], dtype=float32)
    """
    return _norms(1, input, norm_type, kernel_size, stride, ceil_mode)


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def lp_pool2d(
    input: ArrayLike,
    norm_type: float,  # static: it chooses how to compute
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Array:
    r"""The norm of each window: $(\sum_i x_i^p)^{1/p}$, with $p$ the `norm_type`.

    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C, H', W']` or `[C, H', W']` with
    `H' = (H - kernel_size) // stride + 1`, rounded up instead of down if `ceil_mode`, and `W'`
    alike.

    - `norm_type`: $p$, neither 0 nor NaN. The powers are of the elements, not of their absolute
      values. Infinity and minus infinity give the greatest and the least absolute value.
    - `kernel_size`: the sizes of a window: one int for both dimensions, or a sequence of two.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `ceil_mode`: whether to keep a last window that reaches beyond the input; its sum is scaled up
      to that of a whole window.

    Gradients: at a sum of 0 the gradient is 0, and so it is where a 0 makes the norm of a negative
    $p$ vanish (PyTorch's is NaN). The second derivative there is infinite, and 0 stands in its
    place; to differentiate the power of the norm twice, write `lp_pool2d(x**p, 1, ...)`, which has
    no root.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.nn.functional.lp_pool2d(jnp.ones((1, 2, 2), "float32"), 2, kernel_size=2)
    Array([[[2.]]], dtype=float32)
    """
    return _norms(2, input, norm_type, kernel_size, stride, ceil_mode)


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32)
def lp_pool3d(
    input: ArrayLike,
    norm_type: float,  # static: it chooses how to compute
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Array:
    r"""The norm of each window: $(\sum_i x_i^p)^{1/p}$, with $p$ the `norm_type`.

    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, D', H', W']` or
    `[C, D', H', W']` with `D' = (D - kernel_size) // stride + 1`, rounded up instead of down if
    `ceil_mode`, and `H'` and `W'` alike.

    - `norm_type`: $p$, neither 0 nor NaN. The powers are of the elements, not of their absolute
      values. Infinity and minus infinity give the greatest and the least absolute value.
    - `kernel_size`: the sizes of a window: one int for all dimensions, or a sequence of three.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `ceil_mode`: whether to keep a last window that reaches beyond the input; its sum is scaled up
      to that of a whole window.

    Gradients: at a sum of 0 they are 0; `lp_pool2d` says more about second derivatives.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.nn.functional.lp_pool3d(jnp.ones((1, 2, 2, 1), "float32"), 2, (2, 2, 1))
    Array([[[[2.]]]], dtype=float32)
    """
    return _norms(3, input, norm_type, kernel_size, stride, ceil_mode)


def _norms(
    n: int,
    input: Array,
    p: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    ceil_mode: bool,
) -> Array:
    if p == 0 or math.isnan(p):
        refuse(f"`norm_type` must not be 0 or NaN, got {p}", error=ValueError)
    windows = placed(input, kernel_size, stride, 0, 1, ceil_mode, n=n)
    if math.isinf(p):
        sign = math.copysign(1, p)
        sizes = lax.sign(input) * input  # absolute values with a derivative of 0 at 0
        images = as_images(sign * sizes, n)
        out = sign * greatest_of(images, windows)
        return out.reshape(*input.shape[:-n], *out.shape[1:])
    whole = math.prod(per_dimension(kernel_size, n, "kernel_size"))
    count = elements(windows, with_padding=False)
    scale = float(whole) / (count if isinstance(count, np.ndarray) else count.astype(input.dtype))
    total = sums(_powers(input, p), windows) * scale.astype(input.dtype)
    return _root(total, p)


def _root(total: Array, p: float) -> Array:
    """The root of order `p`, constant at 0."""

    def forward(total: Array) -> Array:
        zero = ~nonzero(total)
        root = _power(jnp.where(zero, 1, total), 1 / p)
        return jnp.where(zero, 0.0 if p > 0 else math.inf, root)

    def jvp(primals: tuple[Array], output: Array, tangents: tuple[Array]) -> Array:
        zero = ~nonzero(primals[0])
        slope = _power(jnp.where(zero, 1, primals[0]), 1 / p - 1) / p
        instead = "of lp_pool2d(x, p)**p write lp_pool2d(x**p, 1)"
        slope = jnp.where(zero, primals[0], slope)  # what reverse mode has to show flows on
        [moved] = tangents
        if 0 < p < 1:  # the slopes of these powers are infinite at 0
            moved = jnp.where(zero, 0, moved)
        return zero_at_singular(zero, slope, instead, in_all=True) * moved

    return derivative_rules(forward, jvp=jvp, name="root")(total)


def _powers(x: Array, p: float) -> Array:
    if p > 1 or p == int(p) > 0:
        return _power(x, p)
    if p < 0:  # the infinity of a 0 is the same on all sides
        zero = x == 0
        return jnp.where(zero, jnp.inf, _power(jnp.where(zero, 1, x), p))

    def times_slope(primals: tuple[Array], t: Array) -> Array:
        # The slope at 0 is infinite, but a cotangent of 0 makes it 0.
        nothing = (t == 0) & (primals[0] == 0)
        return jnp.where(nothing, 0, t * p * jnp.power(primals[0], p - 1))

    raised = derivative_rules(
        lambda x: jnp.power(x, p),
        jvp=lambda primals, output, tangents: times_slope(primals, tangents[0]),
        vjp=lambda primals, output, cotangent: (times_slope(primals, cotangent),),
        name="pow",
    )
    return raised(x)


def _power(x: Array, p: float) -> Array:
    return lax.integer_pow(x, int(p)) if p == int(p) else jnp.power(x, p)
