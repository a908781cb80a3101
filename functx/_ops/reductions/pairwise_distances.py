"""Distances of each vector to each other vector."""

from __future__ import annotations

import functools as ft
import math
from typing import Any, Literal

import jax.numpy as jnp
from jax import Array, core, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    decided,
    describe,
    operator,
    Promote,
    refuse,
)
from functx._core.numbers.positions import position_dtype
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular
from functx._ops.magnitude import magnitude

from .differences import of_differences, over_elements, PairFunction, through_vectors
from .power_norms import norm_slope, power, root_in_range, SQUARED, vector_norm


__all__ = ["cdist", "pdist", "squared_cdist"]

_FEW = 25  # PyTorch subtracts each vector from each if there are no more than these


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK_REAL, autocast=Autocast.FLOAT32)
def cdist(
    x1: ArrayOnly,
    x2: ArrayOnly,
    p: float = 2.0,  # static: it chooses how to compute
    compute_mode: Literal[
        "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist",
        "donot_use_mm_for_euclid_dist",
    ] = "use_mm_for_euclid_dist_if_necessary",
) -> Array:
    r"""Distance of each vector in `x1` to each vector in `x2`.

    This is $y_{ij} = (\sum_k |x_{ik} - z_{jk}|^p)^{1/p}$.

    - `x1`, `x2`: vectors $x_i$ and $z_j$, in the last dimension.
    - `p`: the order of the norm, not negative; `inf` for the largest difference, 0 for the number
      of differences that are not zero.
    - `compute_mode`: for $p = 2$, whether distances are computed by products,
      $|x|^2 - 2 x \cdot z + |z|^2$, which is fast, and loses half the digits of a distance that is
      small beside the vectors. `"use_mm_for_euclid_dist"` does, `"donot_use_mm_for_euclid_dist"`
      does not, and `"use_mm_for_euclid_dist_if_necessary"`, the default, does for more than 25
      vectors.

    Shapes: `[*b, m, k], [*b, n, k] -> [*b, m, n]`; the batch dimensions broadcast. No array is
    larger than these: differences are taken in blocks.
    Dtypes: float32 or float64, the same for both.
    Gradients: 0 where the distance is 0, and for elements that are equal; the largest differences
    share theirs evenly (PyTorch gives all of it to each). Where the distance is 0 there is no
    second derivative: 0 stands for it, so that of `cdist(x, z) ** 2` is 0 as well. Use
    `functx.squared_cdist` for functions of squared distances.
    Errors: RuntimeError for a negative `p`, ValueError for another `compute_mode`, TypeError for
    other dtypes.

    >>> x = jnp.asarray([[0.0, 0.0], [3.0, 4.0]], "float32")
    >>> functx.cdist(x, x)
    Array([[0., 5.],
           [5., 0.]], dtype=float32)
    """
    _check_vectors(x1, x2)
    if not p >= 0:
        refuse(f"`p` must not be negative, got {p}")
    many = decided(lambda: max(x1.shape[-2], x2.shape[-2]) > _FEW, otherwise=False)
    by_products = {
        "use_mm_for_euclid_dist_if_necessary": many,
        "use_mm_for_euclid_dist": True,
        "donot_use_mm_for_euclid_dist": False,
    }
    if compute_mode not in by_products:
        named = " or ".join(map(repr, by_products))
        refuse(f"`compute_mode` must be {named}, got {compute_mode!r}", error=ValueError)
    if p == 2 and by_products[compute_mode]:
        return _by_products(x1, x2)
    return _each_to_each(x1, x2, _norms(p))


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK_REAL, autocast=Autocast.FLOAT32)
def squared_cdist(x1: ArrayOnly, x2: ArrayOnly) -> Array:
    r"""Squared distance of each vector in `x1` to each vector in `x2`.

    This is $y_{ij} = \sum_k (x_{ik} - z_{jk})^2$. The polynomial has all derivatives, also where
    vectors are equal, which the distance has not. Differences are squared, so no distance that is
    small beside the vectors loses digits. Kernels are functions of it: $e^{-y / 2}$, and with care
    for its root those of Matérn.

    - `x1`, `x2`: vectors $x_i$ and $z_j$, in the last dimension.

    Shapes: `[*b, m, k], [*b, n, k] -> [*b, m, n]`; the batch dimensions broadcast. No array is
    larger than these: differences are taken in blocks.
    Dtypes: float32 or float64, the same for both. Errors: TypeError for other dtypes.

    >>> x = jnp.asarray([[0.0, 0.0], [3.0, 4.0]], "float32")
    >>> functx.squared_cdist(x, x)
    Array([[ 0., 25.],
           [25.,  0.]], dtype=float32)
    """
    _check_vectors(x1, x2)
    return _each_to_each(x1, x2, _squares)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.LAPACK_REAL,
    aliases=("nn.functional.pdist",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def pdist(input: ArrayOnly, p: float = 2.0) -> Array:
    r"""Distance of each vector in `input` to each vector after it.

    These are $\|x_i - x_j\|_p$ for all $i < j$, in order.

    - `p`: the order of the norm, not negative; `inf` for the largest difference, 0 for the number
      of differences that are not zero; 2 by default.

    Shapes: `[n, k] -> [n (n - 1) / 2]`. Dtypes: float32 or float64.
    Gradients: 0 where the distance is 0, and for elements that are equal; the largest differences
    share theirs evenly. Where the distance is 0 there is no second derivative, and 0 stands for it.
    Errors: RuntimeError for a negative `p`, TypeError for other dtypes.

    >>> functx.pdist(jnp.asarray([[0.0, 0.0], [3.0, 4.0]], "float32"))
    Array([5.], dtype=float32)
    """
    if input.ndim != 2:
        refuse(f"`input` must have 2 dimensions, got {describe(input)}")
    if not p >= 0:
        refuse(f"`p` must not be negative, got {p}")
    return _above_diagonal(_each_to_each(input, input, _norms(p, diagonal=1)))


def _above_diagonal(square: Array) -> Array:
    """The elements above the diagonal, row by row; derivatives gather too, and do not scatter."""
    n = square.shape[0]
    size = core.max_dim(n * (n - 1) // 2, 0)
    dtype = position_dtype(size)

    def chosen(square: Array) -> Array:
        # Counted from the last on, row r from below has r elements after r (r - 1) / 2 others.
        after = size - 1 - lax.iota(dtype, size)
        row = ((jnp.sqrt(8 * after.astype("float32") + 1) + 1) / 2).astype(dtype)
        row -= (_triangle(row) > after).astype(dtype)
        row += (_triangle(row + 1) <= after).astype(dtype)
        return square[n - 1 - row, n - 1 - (after - _triangle(row))]

    def spread(primals: Any, output: Any, cotangent: Array) -> tuple[Array]:
        i, j = (lax.broadcasted_iota(dtype, (n, n), axis) for axis in (0, 1))
        at = jnp.where(i < j, size - _triangle(n - i) + j - i, 0)
        return (jnp.pad(cotangent, (1, 0))[at],)

    move = lambda primals, output, tangents: chosen(tangents[0])
    return derivative_rules(chosen, jvp=move, vjp=spread, of="output", name="pdist")(square)


def _triangle(n: Array) -> Array:
    """`n (n - 1) / 2` as a product of integers: `n (n - 1)` may leave the range of the dtype."""
    return (n // 2) * ((n - 1) | 1)


def _check_vectors(x1: Array, x2: Array) -> None:
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim < 2:
            refuse(f"`{name}` must have at least 2 dimensions, got {describe(x)}")
    if x1.shape[-1] != x2.shape[-1]:
        refuse(f"vectors must have the same length, got {describe(x1)} and {describe(x2)}")


def _each_to_each(x1: Array, x2: Array, values: PairFunction) -> Array:
    """The `values` of two sets of vectors, or of many pairs of sets."""
    batch = jnp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    shape = (*batch, x1.shape[-2], x2.shape[-2])
    size = x1.shape[-1]
    if size == 0 or 0 in shape:
        return jnp.zeros(shape, x1.dtype)
    x1 = jnp.broadcast_to(x1, (*batch, *x1.shape[-2:]))
    if math.prod(x2.shape[:-2]) == 1:  # all vectors of the first sets meet the same vectors
        x1, x2 = x1.reshape(1, -1, size), x2.reshape(1, *x2.shape[-2:])
    else:
        x2 = jnp.broadcast_to(x2, (*batch, *x2.shape[-2:]))
        x1, x2 = (x.reshape(-1, *x.shape[-2:]) for x in (x1, x2))
    return values(x1, x2).reshape(shape)


@ft.lru_cache(maxsize=256)
def _norms(p: float, diagonal: int = 0) -> PairFunction:
    """The function that gives the norm of each difference.

    With `diagonal=1`, what it gives for a vector and that of the same number is not used, and may
    be 1: zeros would have to be told from what left the range.
    """
    norms = ft.partial(vector_norm, p=p, dim=(1,))
    if p in (0, math.inf):
        return lambda x1, x2: through_vectors(lambda x, z: _exact(x[0] - z[0], p), (x1,), (x2,))
    if p == 1:
        sums = ft.partial(over_elements, term=magnitude)
        return of_differences(sums, norms, lambda d, _: _sign(d), name="cdist")

    def values(x1: Array, x2: Array) -> Array:
        def summed(factor: Array | None) -> Array:
            term = lambda d: power(d if factor is None else d * factor, p)
            total = over_elements(x1, x2, term)
            return total + jnp.eye(*total.shape[1:], dtype=total.dtype) if diagonal else total

        return root_in_range(p, summed, lambda: over_elements(x1, x2, lax.abs, jnp.maximum))

    slope = lambda difference, norm: norm_slope(difference, norm, p)
    return of_differences(values, norms, slope, name="cdist", of="both")


def _exact(difference: Array, p: float) -> Array:
    """The number of elements that are not 0, or the largest."""
    out = vector_norm(difference, p, (1,))
    if p == 0:  # a NaN differs, but is not counted here, as in PyTorch
        out = jnp.where(jnp.any(difference != difference, axis=1), jnp.nan, out)
    return out


def _sign(difference: Array) -> Array:
    return jnp.where(difference == difference, lax.sign(difference), 0)


def _doubled(difference: Array, output: None) -> Array:
    # Without a select XLA makes products of matrices of the sums: twice the time for few elements.
    return jnp.where(difference == difference, 2 * difference, difference)


_squares = of_differences(
    ft.partial(over_elements, term=lax.square),
    lambda difference: jnp.sum(difference * difference, axis=1),
    _doubled,
    name="squared_cdist",
)


def _by_products(x1: Array, x2: Array) -> Array:
    squares = (jnp.sum(x * x, axis=-1) for x in (x1, x2))
    left, right = squares
    # The product must be as precise as the sums of squares that it cancels, on accelerators too.
    products = jnp.matmul(x1, jnp.swapaxes(x2, -1, -2), precision=lax.Precision.HIGHEST)
    total = left[..., :, None] + right[..., None, :] - 2 * products
    return _root(total)


def _root_slope(primals: Any, output: Array, tangents: Any) -> Array:
    none = output == 0
    slope = jnp.where(none, primals[0], 0.5 / jnp.where(none, 1, output))
    return zero_at_singular(none, slope, SQUARED, in_all=True) * tangents[0]


_root = derivative_rules(
    lambda total: jnp.sqrt(jnp.maximum(total, 0)), jvp=_root_slope, name="cdist"
)
