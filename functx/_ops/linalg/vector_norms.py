"""Norms of vectors."""

from __future__ import annotations

import math
from typing import Any

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
    refuse,
)


__all__ = ["vector_norm"]


def _form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Refuses a `dtype` that would lose what `x` holds, before `x` is cast to it."""
    x = args[0] if args else kwargs.get("x")
    if x is not None and kwargs.get("dtype") is not None and hasattr(x, "dtype"):
        given, dtype = np.dtype(x.dtype), as_dtype(kwargs["dtype"])
        kind = category(given)
        if category(dtype) != kind or jnp.finfo(dtype).bits < jnp.finfo(given).bits:
            refuse(
                f"`dtype` must be {'complex' if kind == 3 else 'floating'} and no narrower than "
                f"`x`, got {dtype.name} for {describe(x)}"
            )
    return args, kwargs


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.INEXACT,
    autocast=Autocast.FLOAT32,
    form=_form,
)
def vector_norm(
    x: ArrayLike,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Array:
    r"""Norm over dimensions, taken as one vector: $\big(\sum_i |x_i|^p\big)^{1/p}$, p = `ord`.

    - `ord`: any real number. `inf` and `-inf` give the largest and the smallest absolute value,
      0 counts what is not zero.
    - `dim`: by default, and if empty, all dimensions.

    Shapes: as `functx.sum`'s. Dtypes: real; computed in `dtype`, if given.
    Errors: RuntimeError where `ord` is negative or infinite and there are no elements.
    The gradient is 0 where the norm is 0, and for elements that are 0; the elements that are
    largest (or smallest) share it evenly.

    >>> functx.linalg.vector_norm(jnp.asarray([3.0, -4.0], "float32"))
    Array(5., dtype=float32)
    """
    if isinstance(ord, (str, complex)):
        refuse(f"`ord` must be a real number, got {ord!r}", error=TypeError)
    axes = dim or tuple(range(x.ndim))
    empty = [axis for axis in axes if x.shape[axis] == 0]
    if empty and (ord < 0 or math.isinf(ord)):
        refuse(f"`dim` must not be empty for ord={ord}, got {describe(x)}")
    return _norm(x, float(ord), axes, keepdim)


def _norm(x: Array, p: float, axes: tuple[int, ...], keepdim: bool) -> Array:
    if p == 0:
        return jnp.sum(x != 0, axis=axes, keepdims=keepdim, dtype=jnp.real(x).dtype)
    if p == 2:
        squares = x * x if category(x.dtype) < 3 else lax.real(x) ** 2 + lax.imag(x) ** 2
        return _root(jnp.sum(squares, axis=axes, keepdims=keepdim), p)
    # `abs` has derivative 1 at a real 0 in JAX; `sign` has 0, PyTorch's.
    sizes = jnp.abs(x) if category(x.dtype) == 3 else x * lax.sign(x)
    if math.isinf(p):
        extremum = jnp.max if p > 0 else jnp.min
        return extremum(sizes, axis=axes, keepdims=keepdim)
    if p == 1:
        return jnp.sum(sizes, axis=axes, keepdims=keepdim)
    zero = sizes == 0
    powers = jnp.where(zero, 0 if p > 0 else math.inf, _power(jnp.where(zero, 1, sizes), p))
    return _root(jnp.sum(powers, axis=axes, keepdims=keepdim), p)


def _power(x: Array, p: float) -> Array:
    return lax.integer_pow(x, int(p)) if p.is_integer() else x**p


def _root(x: Array, p: float) -> Array:
    """The p-th root, 0 and with derivative 0 at 0."""
    zero = x == 0
    safe = jnp.where(zero, 1, x)
    return jnp.where(zero, 0 if p > 0 else math.inf, jnp.sqrt(safe) if p == 2 else safe ** (1 / p))
