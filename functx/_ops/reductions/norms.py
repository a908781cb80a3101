"""Norms of vectors and matrices."""

from __future__ import annotations

import functools as ft
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_dtype,
    Autocast,
    category,
    describe,
    Dims,
    DType,
    operator,
    Promote,
    real_of,
    refuse,
)
from functx._ops.magnitude import magnitude

from .nuclear import nuclear_norm
from .ties import shared_evenly


__all__ = ["norm"]


def widening(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Refuses a `dtype` that would lose parts or digits of the input."""
    x = args[0] if args else kwargs.get("input", kwargs.get("x"))
    if kwargs.get("dtype") is not None and isinstance(x, (jax.Array, np.ndarray)):
        dtype = as_dtype(kwargs["dtype"])
        if category(x.dtype) >= 2 and (
            category(dtype) != category(x.dtype)
            or jnp.finfo(real_of(dtype)).bits < jnp.finfo(real_of(x.dtype)).bits
        ):
            refuse(
                f"`dtype` must hold the values of {describe(x)}, got {dtype.name}",
                hint="x.astype(dtype) converts all the same",
                error=TypeError,
            )
    return args, kwargs


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.INEXACT,
    autocast=Autocast.FLOAT32,
    form=widening,
)
def norm(
    input: ArrayLike,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Array:
    r"""Norm over `dim`, or of all elements as one vector: $(\sum_i |x_i|^p)^{1/p}$.

    - `p`: a number; `inf` and `-inf` for the largest and smallest $|x_i|$, 0 for how many are
      not zero; `"fro"` or `None` for 2; `"nuc"` for the sum of the singular values of the
      matrices in the two dimensions `dim`.
    - `dtype`: what to compute in, as wide as the input's or wider.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: real for complex.
    Elements that are 0 have gradient 0, and all have where the norm is 0; the largest or
    smallest share theirs evenly. Where `"nuc"` is not differentiable, the gradient is the polar
    factor $U V^H$ that the singular value decomposition gives.
    Errors: RuntimeError for an unknown `p`, for `"nuc"` without two dimensions, `"fro"` over
    more than two, and where an empty dimension has no norm (`inf` and negative `p`).

    >>> functx.norm(jnp.asarray([[3.0, 4.0], [6.0, 8.0]], "float32"), dim=1)
    Array([ 5., 10.], dtype=float32)
    """
    if p == "nuc":
        axes = tuple(range(input.ndim)) if dim is None else dim
        if len(axes) != 2:
            refuse(f"`dim` must name the two dimensions of a matrix, got {dim}")
        out = nuclear_norm(jnp.moveaxis(input, axes, (-2, -1)))
        return jnp.expand_dims(out, axes) if keepdim else out
    if isinstance(p, str) and p != "fro":
        refuse(f"`p` must be a number, 'fro' or 'nuc', got {p!r}")
    if p == "fro" and dim is not None and len(dim) > 2:
        refuse(f"`dim` must name at most two dimensions for p='fro', got {dim}")
    out = vector_norm(input, 2 if p is None or p == "fro" else p, dim or range(input.ndim))
    return jnp.expand_dims(out, dim or tuple(range(input.ndim))) if keepdim else out


def vector_norm(input: Array, p: float, dim: Any) -> Array:
    r"""$(\sum_i |x_i|^p)^{1/p}$ over the non-negative dimensions `dim`, with its conventions."""
    axes = tuple(dim)
    if (p < 0 or p == math.inf) and math.prod(input.shape[axis] for axis in axes) == 0:
        refuse(f"expected elements to choose from for p={p}, got {describe(input)}")
    zero = input == 0
    if p == 0:
        return jnp.sum(~zero, axis=axes, dtype=real_of(input.dtype))
    if math.isinf(p):
        choose = ft.partial(jnp.max if p > 0 else jnp.min, axis=axes)
        return shared_evenly(choose, axes)(magnitude(input))
    if p == 1:
        return jnp.sum(magnitude(input), axis=axes)
    if p > 0 and p % 2 == 0:
        powers = lax.integer_pow(_squares(input), int(p) // 2)
    else:
        # Away from 0, where powers have finite derivatives; there, the term is a constant.
        powers = magnitude(jnp.where(zero, 1, input)) ** p
        powers = jnp.where(zero, 0 if p > 0 else jnp.inf, powers)
    total = jnp.sum(powers, axis=axes)
    none = total == 0
    safe = jnp.where(none, 1, total)
    return jnp.where(none, 0, lax.sqrt(safe) if p == 2 else safe ** (1 / p))


def _squares(x: Array) -> Array:
    if category(x.dtype) == 3:
        return lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return lax.square(x)
