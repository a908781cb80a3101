"""Distances of each vector to each other vector."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    decided,
    describe,
    known,
    operator,
    Promote,
    refuse,
)
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular
from functx._ops.indexing.addressing import positions_where

from .power_norms import SQUARED, vector_norm


__all__ = ["cdist", "pdist", "squared_cdist"]

_FEW = 25  # PyTorch subtracts each vector from each if there are no more than these
_SMALL = 2**12  # elements of a block of differences


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
    return _each_to_each(x1, x2, lambda difference: jnp.sum(difference * difference, axis=1))


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
    n = input.shape[0]
    if not known(*input.shape):
        after = jnp.triu(jnp.ones((n, n), bool), 1).ravel()
        pairs = positions_where(after, core.max_dim(n * (n - 1) // 2, 0))
        return _by_rows(input, input, _norms(p), None).ravel()[pairs]
    first, second = np.triu_indices(n, 1)
    if input.size == 0:
        return jnp.zeros(first.shape, input.dtype)
    return _by_rows(input, input, _norms(p), max(_SMALL, input.size + n * n))[first, second]


def _check_vectors(x1: Array, x2: Array) -> None:
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim < 2:
            refuse(f"`{name}` must have at least 2 dimensions, got {describe(x)}")
    if x1.shape[-1] != x2.shape[-1]:
        refuse(f"vectors must have the same length, got {describe(x1)} and {describe(x2)}")


def _norms(p: float) -> Callable[[Array], Array]:
    """The function that gives the norm of each row."""

    def norms(difference: Array) -> Array:
        out = vector_norm(difference, p, (1,))
        if p == 0:  # a NaN differs, but is not counted here, as in PyTorch
            out = jnp.where(jnp.any(difference != difference, axis=1), jnp.nan, out)
        return out

    return norms


def _each_to_each(x1: Array, x2: Array, sizes: Callable[[Array], Array]) -> Array:
    """The `sizes` of the differences of each vector in `x1` and each in `x2`."""
    batch = jnp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    shape = (*batch, x1.shape[-2], x2.shape[-2])
    if x1.shape[-1] == 0 or 0 in shape:
        return jnp.zeros(shape, x1.dtype)
    all_known = known(*x1.shape, *x2.shape)
    most = max(_SMALL, x1.size + x2.size + math.prod(shape)) if all_known else None
    if math.prod(x2.shape[:-2]) == 1:  # all vectors of `x1` meet the same vectors of `x2`
        rows = jnp.broadcast_to(x1, (*batch, *x1.shape[-2:])).reshape(-1, x1.shape[-1])
        return _by_rows(rows, x2.reshape(x2.shape[-2:]), sizes, most).reshape(shape)
    x1, x2 = (
        jnp.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (x1, x2)
    )
    each = None if most is None else max(most // max(len(x1), 1), 1)
    return jax.vmap(lambda x1, x2: _by_rows(x1, x2, sizes, each))(x1, x2).reshape(shape)


def _by_rows(x1: Array, x2: Array, sizes: Callable[[Array], Array], most: int | None) -> Array:
    """The `sizes` of the differences of two sets of vectors, with blocks of `most` at a time.

    Where `most` is None, because sizes are symbolic, the vectors of `x1` are taken one by one.
    """

    @jax.checkpoint  # the differences are not kept for derivatives
    def of_row(row: Array) -> Array:
        return sizes(row - x2)

    if most is None:
        return lax.map(of_row, x1)
    block = max(most // max(x2.size, 1), 1)
    if block >= len(x1):
        return jax.vmap(of_row)(x1)
    return lax.map(of_row, x1, batch_size=block)


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
