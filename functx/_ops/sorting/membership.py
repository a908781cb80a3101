"""Membership of elements in a set of values."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    category,
    decided,
    describe,
    operator,
    Promote,
    refuse,
    result_dtype,
)
from functx._core.numbers.bitwise_comparison import greatest_key, ordered_bits

from .bisection import insertion_points


__all__ = ["isin"]

_FEW = 64  # with which each element is compared, as sorting them and bisecting takes longer


@operator(
    promote=Promote.NONE,
    accepts=Accepts.REAL,
    differentiable=False,
    needs_array=True,
    # PyTorch has other names for an argument that is a number.
    synonyms={"element": "elements", "test_element": "test_elements"},
)
def isin(
    elements: ArrayLike,
    test_elements: ArrayLike,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Array:
    """Whether each element of `elements` is among `test_elements`.

    - `elements`, `test_elements`: arrays, of which one may be a number.
    - `assume_unique`: a promise that neither array repeats an element. The answer and its cost are
      the same without it: `assume_unique` changes nothing.
    - `invert`: whether an element is missing from `test_elements`, instead.

    NaN equals nothing.

    Shapes: that of `elements`.
    Dtypes: bool; the arguments are compared in their common dtype.
    Errors: TypeError for bools and complex numbers.

    >>> functx.isin(jnp.asarray([1, 2, 3]), jnp.asarray([3, 1]))
    Array([ True, False,  True], dtype=bool)
    """
    for name, x in (("elements", elements), ("test_elements", test_elements)):
        if category(x.dtype) == 0:
            refuse(f"`{name}` must be numbers, got {describe(x)}", error=TypeError)
    common = result_dtype([elements, test_elements])
    keys, among = (ordered_bits(x.astype(common)) for x in (elements, test_elements.reshape(-1)))
    found = _found(keys, among)
    if category(common) == 2:
        found &= keys != greatest_key(keys.dtype)
    return ~found if invert else found


def _found(keys: Array, among: Array) -> Array:
    m = among.shape[0]
    if decided(lambda: m <= _FEW, otherwise=False):
        return jnp.any(lax.expand_dims(keys, [keys.ndim]) == among, axis=keys.ndim)
    among = lax.sort(among, is_stable=False)
    flat = keys.reshape(-1)
    at = jnp.minimum(insertion_points(among, flat, right=False), m - 1)
    return (among.at[at].get(mode="promise_in_bounds") == flat).reshape(keys.shape)
