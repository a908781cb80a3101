"""Medians of the elements that a mask keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    category,
    converted,
    Dim,
    DType,
    highest,
    Mask,
    operator,
    Promote,
    Requirement,
)
from functx._ops.reductions.emptiness import refuse_empty
from functx._ops.reductions.ranks import position_of_nanmedian
from functx._ops.reductions.ties import taken

from .masks import filled, kept


__all__ = ["median"]


def _some_left(*, input: Any, dim: Any, mask: Any, **_: Any) -> Iterator[Requirement]:
    """Requires that an element of every slice of integers is kept, since integers have no NaN."""
    if mask is not None and category(input.dtype) < 2:
        keep = kept(input, mask)
        assert keep is not None
        yield Requirement(
            keep if input.ndim == 0 else jnp.any(keep, dim),
            "`mask` must keep an element of every slice of integers, which have no NaN",
            error=ValueError,
            hint="x.astype(functx.float32) has",
        )


@operator(promote=Promote.NONE, accepts=Accepts.REAL, requires=_some_left)
def median(
    input: ArrayOnly,
    dim: Dim = -1,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Median along `dim` of the elements where `mask` is True and that are not NaN.

    - `input`: an array of any real dtype. Integers are compared as they are, where PyTorch rounds
      them to float32.
    - `dim`: the dimension along which the median is taken.
    - `keepdim`: whether this dimension stays, with size 1.
    - `dtype`: the dtype of the result. None is that of `input`. PyTorch takes no notice of it if
      `input` is floating.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    The median of an even number of elements is the smaller of the two in the middle; that of none
    is NaN.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: one of the elements that tie has the gradient. Masked elements have 0.
    Errors: IndexError if the dimension is empty or `input` does not have it, ValueError where no
    element of integers is kept, RuntimeError if `mask` does not broadcast to `input`.

    >>> mask = jnp.asarray([True, False, True, True])
    >>> functx.masked.median(jnp.asarray([4.0, 1.0, 3.0, 9.0], "float32"), mask=mask)
    Array(4., dtype=float32)
    """
    keep = kept(input, mask)
    x = filled(input, keep, np.nan if category(input.dtype) == 2 else highest(input.dtype))
    if x.ndim == 0:
        out = x
    elif x.shape[dim] == 0:
        refuse_empty(x, dim)
    else:
        out = taken(x, position_of_nanmedian(x, dim, keep), dim)
        out = out if keepdim else jnp.squeeze(out, dim)
    return converted(out, dtype or input.dtype)
