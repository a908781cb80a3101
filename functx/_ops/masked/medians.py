"""Medians of what a mask keeps."""

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
    """The middle one, along `dim`, of the elements where `mask` is True and that are no NaN.

    Of an even number it is the smaller of the two; where there are none, it is NaN. What is
    masked out has gradient 0; of those that tie, one has the gradient.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1; `mask` broadcasts to the
    input. Dtypes: the input's (integers are compared as they are, where PyTorch rounds them to
    float32); the result is cast to `dtype`, if given, of which PyTorch takes no notice if the
    input is floating. `mask` is True where it is not 0.
    Errors: IndexError if the dimension is empty; ValueError where nothing is left of integers;
    RuntimeError if `mask` does not broadcast to the input.

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
