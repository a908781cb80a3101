"""Running sums and products of the elements that a mask keeps."""

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

    - `input`: an array of any dtype but bool.
    - `dim`: the dimension along which elements are summed.
    - `dtype`: the dtype to which `input` is cast first, and that of the result. None is that of
      `input`, also for integers, whose sums may wrap.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Shapes: those of `input`.
    Gradients: 0 for masked elements, whatever they hold.
    Errors: TypeError for bools without a `dtype`, RuntimeError if `mask` does not broadcast to
    `input`, IndexError if `input` does not have `dim`.

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

    - `input`: an array of any dtype but bool.
    - `dim`: the dimension along which elements are multiplied.
    - `dtype`: the dtype to which `input` is cast first, and that of the result. None is that of
      `input`, also for integers, whose products may wrap.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Shapes: those of `input`.
    Gradients: 0 for masked elements, whatever they hold; exact at zeros, since no derivative
    divides.
    Errors: TypeError for bools without a `dtype`, RuntimeError if `mask` does not broadcast to
    `input`, IndexError if `input` does not have `dim`.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.cumprod(jnp.asarray([2.0, 0.0, 3.0], "float32"), 0, mask=mask)
    Array([2., 2., 6.], dtype=float32)
    """
    refuse_bools(input)
    input = rounded_first(input, dtype)
    return scanned(running_product, filled(input, kept(input, mask), 1), dim)
