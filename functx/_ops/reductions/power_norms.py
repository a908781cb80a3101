"""The norms that sums of powers give, and their conventions at zeros and ties."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category, describe, real_of, refuse
from functx._core.numbers.bitwise_comparison import greatest, least, nonzero
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular
from functx._ops.magnitude import magnitude

from .ties import shared_evenly


SQUARED = (
    "of the square of a norm write x.square().sum(), of a distance functx.squared_cdist; for a "
    "Matern kernel see the how-to distances_that_vanish"
)


def vector_norm(input: Array, p: float, dim: Any, kept: Array | None = None) -> Array:
    r"""$(\sum_i |x_i|^p)^{1/p}$ over the non-negative dimensions `dim`, with its conventions.

    If `kept` is given, the other elements must be 0, and infinite for negative `p`.
    """
    axes = tuple(dim)
    if (p < 0 or p == math.inf) and math.prod(input.shape[axis] for axis in axes) == 0:
        refuse(f"expected elements to choose from for p={p}, got {describe(input)}")
    if p == 0:
        return jnp.sum(nonzero(input), axis=axes, dtype=real_of(input.dtype))
    if math.isinf(p):
        choose = ft.partial(greatest if p > 0 else least, axis=axes)
        rounded = category(input.dtype) == 3
        return shared_evenly(choose, axes, kept, rounded=rounded)(magnitude(input))
    if p == 1:
        return jnp.sum(magnitude(input), axis=axes)
    return _norm_of_powers(p, axes)(input)


@ft.lru_cache(maxsize=256)
def _norm_of_powers(p: float, axes: tuple[int, ...]) -> Callable[[Array], Array]:
    return derivative_rules(
        ft.partial(_norm, p=p, axes=axes),
        jvp=ft.partial(_norm_jvp, p=p, axes=axes),
        name="norm",
    )


def _norm(x: Array, *, p: float, axes: tuple[int, ...]) -> Array:
    parts = (x,) if category(x.dtype) == 2 else (lax.real(x), lax.imag(x))

    def summed(factor: Array | None) -> Array:
        scaled = (
            parts if factor is None else [part * jnp.expand_dims(factor, axes) for part in parts]
        )
        near_1 = lax.complex(*scaled) if len(scaled) == 2 else scaled[0]
        return jnp.sum(power(near_1, p), axis=axes)

    def size() -> Array:
        choose = jnp.max if p > 0 else jnp.min  # it decides which norm it is
        return choose(ft.reduce(jnp.maximum, map(jnp.abs, parts)), axis=axes)

    return root_in_range(p, summed, size, empty=x.size == 0)


def root_in_range(
    p: float,
    summed: Callable[[Array | None], Array],
    size: Callable[[], Array],
    *,
    empty: bool = False,
) -> Array:
    """Norms of real or complex vectors, also where powers leave the range of the dtype.

    - `summed`: the sums of the powers of elements, or of their products with a real factor for each
      norm: one of a complex dtype would make NaN of infinity.
    - `size`: the real number for each norm that decides which one it is.
    - `empty`: whether the vectors have no elements, or there are none.
    """
    plain = _root(summed(None), p)
    if empty:
        return plain
    most = float(jnp.finfo(plain.dtype).maxexp - 2)
    high = 2.0 ** (most / (abs(p) + 1))
    ordinary = (plain > 1 / high) & (plain < high)

    def checked() -> Array:
        sizes = size()

        def scaled() -> Array:
            down, up = _powers_of_two(sizes)
            return _root(summed(down), p) * up

        return lax.cond(jnp.all(ordinary | (sizes == 0)), lambda: plain, scaled)

    return lax.cond(jnp.all(ordinary), lambda: plain, checked)


def _powers_of_two(size: Array) -> tuple[Array, Array]:
    """A power of two that brings `size` near 1, and its inverse; 1 if `size` is 0 or not finite."""
    most = jnp.finfo(size.dtype).maxexp - 2
    _, exponent = jnp.frexp(size)
    exponent = jnp.where((size > 0) & jnp.isfinite(size), exponent, 0).clip(-most, most)
    one = jnp.ones((), size.dtype)
    return jnp.ldexp(one, -exponent), jnp.ldexp(one, exponent)


def power(x: Array, p: float) -> Array:
    """$|x|^p$."""
    even = p > 0 and p % 2 == 0
    return lax.integer_pow(_squares(x), int(p) // 2) if even else magnitude(x) ** p


def _root(total: Array, p: float) -> Array:
    return lax.sqrt(total) if p == 2 else total ** (1 / p)


def _norm_jvp(
    primals: Any, output: Array, tangents: Any, *, p: float, axes: tuple[int, ...]
) -> Array:
    """The sum of `norm_slope` times the tangent over all elements."""
    [x], [t] = primals, tangents
    slope = norm_slope(x, jnp.expand_dims(output, axes), p)
    return jnp.sum(jnp.real(jnp.conj(slope) * t), axis=axes)


def norm_slope(x: Array, norm: Array, p: float) -> Array:
    r"""$(|x_i| / n)^{p - 1} \operatorname{sgn}(x_i)$ for a `norm` $n$; no power leaves the range.

    Norms of nothing but zeros, or infinities for negative `p`, are constant. Except for squares and
    other even powers, terms of 0 are constant too, unless there is NaN beside them, and so are
    terms of infinity for negative `p`. Where they have no second derivative, 0 stands for it.
    """
    none = norm == (0 if p > 0 else jnp.inf)
    vanishes = norm == 0
    norm = jnp.where(none | vanishes, 1, norm)  # no slope depends on it there
    if p > 0 and p % 2 == 0:
        slope = share = x / norm.astype(x.dtype)
        if p > 2:
            slope *= lax.integer_pow(_squares(share), int(p) // 2 - 1).astype(x.dtype)
    else:
        flat = x == 0 if p > 0 else (x == 0) | jnp.isinf(x) | vanishes
        flat &= norm == norm
        safe = jnp.where(flat, 1, x)
        if abs(p - 1) < 1:  # the quotient may leave the range, neither power does
            size = magnitude(safe) ** (p - 1) * norm ** (1 - p)
        else:
            size = magnitude(safe / norm.astype(x.dtype)) ** (p - 1)
        size = size.astype(x.dtype)
        sign = safe / lax.abs(safe).astype(x.dtype) if category(x.dtype) == 3 else lax.sign(safe)
        slope = jnp.where(flat, 0, sign * size)
        if 0 < p < 2:
            none |= flat  # their second derivatives are infinite
    # Where there is no second derivative, `x` stands for the slope: only its direction matters.
    return zero_at_singular(none, jnp.where(none, x, slope), SQUARED)


def _squares(x: Array) -> Array:
    if category(x.dtype) == 3:
        return lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return lax.square(x)
