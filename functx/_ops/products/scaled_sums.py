"""Scaled products of matrices and vectors, added to a scaled array."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayDtypeScalar,
    ArrayOnly,
    Autocast,
    broadcasts_to,
    category,
    ComputeDtypeScalar,
    describe,
    operator,
    Promote,
    refuse,
    SameKindScalar,
)

from .operands import check_inner, check_ranks


__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm"]


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def addmm(
    input: ArrayOnly,
    mat1: ArrayOnly,
    mat2: ArrayOnly,
    *,
    beta: ComputeDtypeScalar = 1,
    alpha: ComputeDtypeScalar = 1,
) -> Array:
    r"""Scaled matrix product, added to an array: $y = \beta x + \alpha\, (A B)$.

    $x$ is `input`, $A$ is `mat1` and $B$ is `mat2`.

    - `beta`, `alpha`: $\beta$ and $\alpha$, numbers or 0-d arrays, 1 by default. With `beta=0`,
      infinities and NaNs of `input` count as zero, and with `alpha=0` those of the product.

    Shapes: `input` broadcasts to the product, `[m, k], [k, n] -> [m, n]`.
    Dtypes: the same for all arrays. float16 and bfloat16 are scaled in float32.
    Errors: TypeError for bools and for different dtypes, RuntimeError for shapes that do not fit.

    >>> x = jnp.eye(2, dtype="float32")
    >>> functx.addmm(jnp.ones(2, "float32"), x, x, alpha=2)
    Array([[3., 1.],
           [1., 3.]], dtype=float32)
    """
    check_ranks(mat1=(mat1, 2), mat2=(mat2, 2))
    check_inner(mat1, mat2, "mat2")
    _check_addend(input, (mat1.shape[0], mat2.shape[1]))
    return _combined(input, mat1, mat2, (((1,), (0,)), ((), ())), beta, alpha)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    autocast=Autocast.LOWER,
    autocast_cpu=Autocast.KEEP,
)
def addmv(
    input: ArrayOnly,
    mat: ArrayOnly,
    vec: ArrayOnly,
    *,
    beta: ArrayDtypeScalar = 1,
    alpha: ArrayDtypeScalar = 1,
) -> Array:
    r"""Scaled product of a matrix and a vector, added to an array: $y = \beta x + \alpha\, (A v)$.

    $x$ is `input`, $A$ is `mat` and $v$ is `vec`.

    - `beta`, `alpha`: $\beta$ and $\alpha$, numbers or 0-d arrays, 1 by default. With `beta=0`,
      infinities and NaNs of `input` count as zero, and with `alpha=0` those of the product.

    Shapes: `input` broadcasts to the product, `[m, k], [k] -> [m]`.
    Dtypes: the same for all arrays. float16 and bfloat16 are scaled in float32.
    Errors: TypeError for bools and for different dtypes, RuntimeError for shapes that do not fit.

    >>> x = jnp.eye(2, dtype="float32")
    >>> functx.addmv(jnp.ones(2, "float32"), x, x[0], beta=3)
    Array([4., 3.], dtype=float32)
    """
    check_ranks(mat=(mat, 2), vec=(vec, 1))
    check_inner(mat, vec, "vec")
    _check_addend(input, mat.shape[:1])
    return _combined(input, mat, vec, (((1,), (0,)), ((), ())), beta, alpha)


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def baddbmm(
    input: ArrayOnly,
    batch1: ArrayOnly,
    batch2: ArrayOnly,
    *,
    beta: ComputeDtypeScalar = 1,
    alpha: ComputeDtypeScalar = 1,
) -> Array:
    r"""Scaled products of a batch of matrices, added to an array: $y = \beta x + \alpha\, (A B)$.

    $x$ is `input`, $A$ is `batch1` and $B$ is `batch2`.

    - `beta`, `alpha`: $\beta$ and $\alpha$, numbers or 0-d arrays, 1 by default. With `beta=0`,
      infinities and NaNs of `input` count as zero, and with `alpha=0` those of the products
      (PyTorch lets them pass in small matrices).

    Shapes: `input` broadcasts to the products, `[b, m, k], [b, k, n] -> [b, m, n]`; the batch does
    not broadcast.
    Dtypes: the same for all arrays. float16 and bfloat16 are scaled in float32.
    Errors: TypeError for bools and for different dtypes, RuntimeError for shapes that do not fit.

    >>> x = jnp.ones((2, 1, 3), "float32")
    >>> functx.baddbmm(jnp.ones(1, "float32"), x, x.mT, alpha=2).ravel()
    Array([7., 7.], dtype=float32)
    """
    _check_batches(batch1, batch2)
    _check_addend(input, (*batch1.shape[:2], batch2.shape[2]))
    return _combined(input, batch1, batch2, (((2,), (1,)), ((0,), (0,))), beta, alpha)


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def addbmm(
    input: ArrayOnly,
    batch1: ArrayOnly,
    batch2: ArrayOnly,
    *,
    beta: ComputeDtypeScalar = 1,
    alpha: ComputeDtypeScalar = 1,
) -> Array:
    r"""Scaled sum of matrix products, added to an array: $y = \beta x + \alpha \sum_b (A_b B_b)$.

    $x$ is `input`, $A$ is `batch1` and $B$ is `batch2`.

    - `beta`, `alpha`: $\beta$ and $\alpha$, numbers or 0-d arrays, 1 by default. With `beta=0`,
      infinities and NaNs of `input` count as zero, and with `alpha=0` those of the sum.

    Shapes: `input` broadcasts to the sum, `[b, m, k], [b, k, n] -> [m, n]`; the batch does not
    broadcast.
    Dtypes: the same for all arrays. float16 and bfloat16 are scaled in float32.
    Errors: TypeError for bools and for different dtypes, RuntimeError for shapes that do not fit.

    >>> x = jnp.ones((2, 1, 3), "float32")
    >>> functx.addbmm(jnp.ones(1, "float32"), x, x.mT, alpha=2)
    Array([[13.]], dtype=float32)
    """
    _check_batches(batch1, batch2)
    _check_addend(input, (batch1.shape[1], batch2.shape[2]))
    return _combined(input, batch1, batch2, (((0, 2), (0, 1)), ((), ())), beta, alpha)


@operator(zero_dim_promotes_alike=True, autocast=Autocast.LOWER, autocast_cpu=Autocast.KEEP)
def addr(
    input: ArrayOnly,
    vec1: ArrayOnly,
    vec2: ArrayOnly,
    *,
    beta: SameKindScalar = 1,
    alpha: SameKindScalar = 1,
) -> Array:
    r"""Scaled outer product, added to an array: $y_{ij} = \beta x_{ij} + \alpha\, u_i v_j$.

    $x$ is `input`, $u$ is `vec1` and $v$ is `vec2`.

    - `beta`, `alpha`: $\beta$ and $\alpha$, numbers or 0-d arrays, integers where the arrays hold
      integers; 1 by default. With `beta=0`, infinities and NaNs of `input` count as zero.

    Shapes: `input` broadcasts to the product, `[m], [n] -> [m, n]`.
    Dtypes: promotes to the common dtype, in which 0-d arrays take part fully. Bools give the OR of
    ANDs.
    Errors: TypeError for floating `beta` and `alpha` beside integers, RuntimeError for shapes that
    do not fit.

    >>> x = jnp.asarray([1.0, 2.0], "float32")
    >>> functx.addr(jnp.eye(2, dtype="float32"), x, x, alpha=2)
    Array([[3., 4.],
           [4., 9.]], dtype=float32)
    """
    check_ranks(vec1=(vec1, 1), vec2=(vec2, 1))
    _check_addend(input, (vec1.size, vec2.size))
    if not isinstance(alpha, int):
        vec1 = lax.convert_element_type(alpha, vec1.dtype) * vec1
    return _scaled(input, beta) + vec1[:, None] * vec2[None, :]


def _combined(x: Array, a: Array, b: Array, numbers: Any, beta: Any, alpha: Any) -> Array:
    """The product of `a` and `b` times `alpha`, plus `x` times `beta`; rounded once."""
    if isinstance(alpha, int) and isinstance(beta, int):
        return x + lax.dot_general(a, b, numbers)
    wide = accumulator(x.dtype)
    product = lax.dot_general(a, b, numbers, preferred_element_type=wide)
    return _scaled(x.astype(wide), beta) + _scaled(product, alpha)


def _scaled(x: Array, factor: Any) -> Array:
    """`x` times `factor`; a factor of 0 makes 0 of infinities and NaNs too."""
    if isinstance(factor, int):
        return x
    factor = lax.convert_element_type(factor, x.dtype)
    if category(x.dtype) >= 2:
        x = jnp.where((factor == 0) & ~jnp.isfinite(x), 0, x)
    return factor * x


def _check_batches(batch1: Array, batch2: Array) -> None:
    check_ranks(batch1=(batch1, 3), batch2=(batch2, 3))
    if batch1.shape[0] != batch2.shape[0]:
        refuse(
            "`batch1` and `batch2` must be as many matrices, "
            f"got {describe(batch1)} and {describe(batch2)}"
        )
    check_inner(batch1, batch2, "batch2")


def _check_addend(input: Array, shape: tuple[int, ...]) -> None:
    if not broadcasts_to(input.shape, shape):
        refuse(f"`input` must broadcast to {list(shape)}, got {describe(input)}")
