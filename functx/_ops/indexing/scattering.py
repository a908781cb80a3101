"""Writing and adding at positions given as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    accumulator,
    ArrayDtypeScalar,
    ArrayLike,
    Autocast,
    Dim,
    Index,
    is_number,
    operator,
    Promote,
    refuse,
    Requirement,
    value_fits,
)

from .addressing import (
    add_slices,
    as_index,
    as_line,
    as_vector,
    cast_number,
    check_same_dtype,
    check_source,
    cropped,
    positions_inside,
    slices_to_write,
    write_along,
)
from .flattened_sums import sum_into_flattened
from .many_into_one import product_into


__all__ = ["index_add", "scatter", "scatter_add"]


def _positions_and_number_fit(*, input: Any, src: Any, **others: Any) -> Iterator[Requirement]:
    yield from positions_inside(input=input, **others)
    if is_number(src):
        yield value_fits(src, input.dtype, "value")


@operator(
    promote=Promote.NONE,
    requires=_positions_and_number_fit,
    synonyms={"value": "src"},
    takes_storage_dtypes=True,
)
def scatter(
    input: ArrayLike,
    dim: Dim,
    index: Index,
    src: ArrayLike,
    *,
    reduce: Literal["add", "multiply"] | None = None,
) -> Array:
    r"""A copy of `input` with `src` written along `dim`.

    For `dim=0`, $y_{\mathrm{index}_{ij},\,j} = s_{ij}$.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: positions, int32 or int64.
    - `src`: an array of the dtype of `input`, or a number (PyTorch's `value`), which is cast to it.
    - `reduce`: `"add"` or `"multiply"` combines elements with those of `input`; None replaces them.

    Shapes: `input`, `index` and `src` have one rank; `index` is no larger than `src`, nor than
    `input` except along `dim`. The result has the shape of `input`.
    Gradients: if several values are written to one place, the one that stays gets the gradient,
    which PyTorch gives to all. With `reduce`, PyTorch has no gradient.
    Errors: IndexError for an index outside of `[0, n)` (under `jit`, such a write is dropped),
    RuntimeError for shapes that do not fit, TypeError for an `index` or `src` of another dtype,
    ValueError for another `reduce`.

    >>> functx.scatter(jnp.zeros((2, 3), "float32"), 1, jnp.asarray([[2], [0]]), 5.0)
    Array([[0., 0., 5.],
           [5., 0., 0.]], dtype=float32)
    """
    if reduce not in (None, "add", "multiply"):
        refuse(f"`reduce` must be 'add', 'multiply' or None, got {reduce!r}", error=ValueError)
    index = as_index(index)
    if is_number(src) or (src.ndim == 0 and src.dtype == bool):
        src = jnp.broadcast_to(cast_number(src, input.dtype, "value"), index.shape)
    if index.size == 0:
        return input
    check_source(input, index, src, dim)
    line, index, src = as_line(input), as_line(index), cropped(src, index)
    if reduce is None:
        out = write_along(line, index, src, dim)
    else:
        combine = sum_into_flattened if reduce == "add" else product_into
        wide = accumulator(input.dtype)
        out = combine(line.astype(wide), index, src.astype(wide), dim).astype(input.dtype)
    return out.reshape(input.shape)


@operator(
    promote=Promote.NONE,
    requires=positions_inside,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def scatter_add(input: ArrayLike, dim: Dim, index: Index, src: ArrayLike) -> Array:
    r"""A copy of `input` with `src` added along `dim`.

    For `dim=0`, $y_{\mathrm{index}_{ij},\,j} = x_{\mathrm{index}_{ij},\,j} + \sum s_{ij}$.

    - `input`: an array of any dtype, which the result keeps. Halves are added in float32; bools are
      joined by "or".
    - `dim`: the dimension along which `index` counts.
    - `index`: positions, int32 or int64.
    - `src`: an array of the dtype of `input`.

    Shapes: `input`, `index` and `src` have one rank; `index` is no larger than `src`, nor than
    `input` except along `dim`. The result has the shape of `input`.
    Errors: IndexError for an index outside of `[0, n)` (under `jit`, such an element is dropped),
    RuntimeError for shapes that do not fit, TypeError for an `index` or `src` of another dtype.

    >>> functx.scatter_add(jnp.zeros(3, "float32"), 0, jnp.asarray([2, 2]), jnp.ones(2, "float32"))
    Array([0., 0., 2.], dtype=float32)
    """
    index = as_index(index)
    if index.size == 0:
        return input
    check_source(input, index, src, dim)
    wide = accumulator(input.dtype)
    line, added = as_line(input).astype(wide), cropped(src, index).astype(wide)
    out = sum_into_flattened(line, as_line(index), added, dim)
    return out.astype(input.dtype).reshape(input.shape)


@operator(promote=Promote.NONE, requires=positions_inside)
def index_add(
    input: ArrayLike, dim: Dim, index: Index, source: ArrayLike, *, alpha: ArrayDtypeScalar = 1
) -> Array:
    r"""A copy of `input` with slices $\alpha\, s_i$ across `dim` added at positions.

    - `input`: an array of any dtype, which the result keeps. Halves are added in float32; bools are
      joined by "or".
    - `dim`: the dimension along which `index` counts.
    - `index`: a vector of positions, int32 or int64; a 0-d one counts as `[1]`.
    - `source`: an array of the dtype of `input`.
    - `alpha`: a number by which `source` is multiplied, cast to the dtype of `input`.

    Shapes: `[..., n, ...], [m], [..., m, ...] -> [..., n, ...]` for `input`, `index` and `source`.
    Errors: IndexError for an index outside of `[0, n)` (under `jit`, such a slice is dropped) or of
    several dimensions, RuntimeError for shapes that do not fit, TypeError for an `index` or
    `source` of another dtype.

    >>> functx.index_add(
    ...     jnp.zeros(3, "float32"), 0, jnp.asarray([0, 2]), jnp.ones(2, "float32"), alpha=2
    ... )
    Array([2., 0., 2.], dtype=float32)
    """
    index = as_vector(index)
    check_same_dtype(input, source, "source")
    slices = slices_to_write(input, dim, index, source, "source")
    wide = accumulator(input.dtype)
    scaled = slices.astype(wide)
    if not (isinstance(alpha, int) and alpha == 1):
        number = cast_number(alpha, wide, "alpha")
        scaled = scaled & number if wide == np.bool_ else scaled * number
    out = add_slices(as_line(input).astype(wide), index, scaled, dim)
    return out.astype(input.dtype).reshape(input.shape)
