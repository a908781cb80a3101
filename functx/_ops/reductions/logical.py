"""Whether all elements are true, or any element is."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, Dims, operator, Promote
from functx._core.numbers.bitwise_comparison import nonzero


__all__ = ["all", "any"]


@operator(promote=Promote.NONE, differentiable=False)
def all(input: ArrayLike, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether every element of `input` over `dim` is nonzero.

    - `dim`: one dimension or several; `None` stands for all, and `()` takes each element by itself.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: bool; uint8 for uint8, as in PyTorch.

    >>> functx.all(jnp.asarray([[1, 0], [2, 3]]), dim=1)
    Array([False,  True], dtype=bool)
    """
    return _truth(input, jnp.all(nonzero(input), axis=dim, keepdims=keepdim))


@operator(promote=Promote.NONE, differentiable=False)
def any(input: ArrayLike, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether some element of `input` over `dim` is nonzero.

    - `dim`: one dimension or several; `None` stands for all, and `()` takes each element by itself.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: bool; uint8 for uint8, as in PyTorch.

    >>> functx.any(jnp.asarray([[0, 0], [2, 3]]), dim=1)
    Array([False,  True], dtype=bool)
    """
    return _truth(input, jnp.any(nonzero(input), axis=dim, keepdims=keepdim))


def _truth(input: Array, out: Array) -> Array:
    return out.astype(input.dtype) if input.dtype == jnp.uint8 else out
