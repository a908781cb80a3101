"""Running sums and products of what a mask keeps."""

from __future__ import annotations

from jax import Array

from functx._core import ArrayOnly, Dim, DType, Mask, operator, rounded_first
from functx._ops.reductions.scanning import running_product, running_sum, scanned
from functx._ops.reductions.totals import refuse_bools

from .masks import filled, kept


__all__ = ["cumprod", "cumsum"]


@operator()
def cumsum(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    """Running sum along `dim` of the elements where `mask` is True; the others add nothing.

    What is masked out has gradient 0, whatever it holds.

    Shapes: the input's; `mask` broadcasts to it. Dtypes: the input's, also of integers, which
    may wrap; `dtype`, if given, wins: the input is cast first. `mask` is True where it is not 0.
    Errors: TypeError for bools without a `dtype`; RuntimeError if `mask` does not broadcast to
    the input.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.cumsum(jnp.asarray([1.0, 2.0, 3.0], "float32"), 0, mask=mask)
    Array([1., 1., 4.], dtype=float32)
    """
    refuse_bools(input)
    input = rounded_first(input, dtype)
    return scanned(running_sum, filled(input, kept(input, mask), 0), dim)


@operator()
def cumprod(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    """Running product along `dim` of the elements where `mask` is True; the others count as 1.

    What is masked out has gradient 0, whatever it holds; other derivatives divide by none, so
    zeros are no exception.

    Shapes: the input's; `mask` broadcasts to it. Dtypes: the input's, also of integers, which
    may wrap; `dtype`, if given, wins: the input is cast first. `mask` is True where it is not 0.
    Errors: TypeError for bools without a `dtype`; RuntimeError if `mask` does not broadcast to
    the input.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.cumprod(jnp.asarray([2.0, 0.0, 3.0], "float32"), 0, mask=mask)
    Array([2., 2., 6.], dtype=float32)
    """
    refuse_bools(input)
    input = rounded_first(input, dtype)
    return scanned(running_product, filled(input, kept(input, mask), 1), dim)
