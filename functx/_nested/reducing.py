"""Rules of primitives that reduce dimensions, wholly, step by step or by windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules

from .equations import PaddedEquation, PaddingRule, require_known
from .sizes import fitted


def lowest(dtype: Any) -> Any:
    """The value that no other is less than."""
    if dtype == jnp.bool_:
        return False
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """The value that no other is greater than."""
    if dtype == jnp.bool_:
        return True
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max


def _all_bits(dtype: Any) -> Any:
    return True if dtype == jnp.bool_ else ~jnp.zeros((), dtype)


# What changes no result of a primitive, by dtype.
_NEUTRAL: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("sum", "or", "xor"), lambda dtype: 0),
    "prod": lambda dtype: 1,
    "and": _all_bits,
    **dict.fromkeys(("max", "argmax", "logsumexp"), lowest),
    **dict.fromkeys(("min", "argmin"), highest),
}


def _with_neutral(equation: PaddedEquation, kind: str) -> Array:
    value = _NEUTRAL[kind](equation.operands[0].dtype)
    return equation.filled(0, value)


def reduction(kind: str) -> PaddingRule:
    """The rule of a primitive that reduces whole dimensions: the padding changes nothing."""

    def rule(equation: PaddedEquation) -> Sequence[Array]:
        ragged = set(equation.ragged())
        axes = equation.params["axes"]
        if not ragged & set(axes):
            return equation.bound()
        x = _with_neutral(equation, kind)
        if kind in ("max", "min") and jnp.issubdtype(x.dtype, jnp.inexact):
            return [_extremum(equation, x)]
        return equation.bound([x])

    return rule


def _extremum(equation: PaddedEquation, x: Array) -> Array:
    """A greatest or least element whose derivative is shared by those of the sequence alone.

    The value that fills the padding may be the result, and would have a share.
    """
    axes = equation.params["axes"]
    mask = equation.sizes.mask(equation.shapes[0])
    assert mask is not None

    def forward(x: Array, mask: Array) -> Array:
        return equation.bound([x])[0]

    def tangent(primals: tuple[Any, ...], output: Any, tangents: tuple[Any, ...]) -> Array:
        x, mask = primals
        chosen = (x == lax.expand_dims(output, sorted(axes))) & mask
        moved = jnp.sum(jnp.where(chosen, tangents[0], 0), axes)
        return moved / jnp.sum(chosen, axes, dtype=x.dtype)

    return derivative_rules(forward, jvp=tangent, name=equation.eqn.primitive.name)(x, mask)


def position_of_extremum(kind: str) -> PaddingRule:
    """The rule of `argmax` and `argmin`: of equal elements the first is taken, never padding."""

    def rule(equation: PaddedEquation) -> Sequence[Array]:
        return equation.bound([_with_neutral(equation, kind)])

    return rule


def running(kind: str) -> PaddingRule:
    """The rule of a running reduction, which may come from the end."""

    def rule(equation: PaddedEquation) -> Sequence[Array]:
        if equation.params["axis"] not in equation.ragged():
            return equation.bound()
        return equation.gated(equation.bound([_with_neutral(equation, kind)]))

    return rule


def windowed(kind: str) -> PaddingRule:
    """The rule of a reduction of windows: what is beyond the end is as the padding of windows."""

    def rule(equation: PaddedEquation) -> Sequence[Array]:
        for low, high in equation.params["padding"]:
            require_known((low, high), "the padding of its windows")
        require_known(equation.params["window_dimensions"], "the size of its windows")
        (out,) = equation.out_shapes
        (result,) = equation.bound([_with_neutral(equation, kind)])
        return equation.gated([fitted(result, equation.sizes.padded_shape(out))])

    return rule


def with_starts(equation: PaddedEquation) -> Sequence[Array]:
    """The rule of a reduction by any function, of whose results the starting values are neutral."""
    count = len(equation.operands) // 2
    operands, starts = equation.operands[:count], equation.operands[count:]
    params = equation.params
    for low, high in params.get("padding", ()):
        require_known((low, high), "the padding of its windows")
    require_known(params.get("window_dimensions", ()), "the size of its windows")
    filled = []
    for x, shape, start in zip(operands, equation.shapes, starts, strict=False):
        mask = equation.sizes.mask(shape)
        filled.append(x if mask is None else lax.select(mask, x, jnp.broadcast_to(start, x.shape)))
    results = equation.bound([*filled, *starts])
    shapes = map(equation.sizes.padded_shape, equation.out_shapes)
    return equation.gated([*map(fitted, results, shapes)])


REDUCING: dict[str, PaddingRule] = {
    **{f"reduce_{kind}": reduction(kind) for kind in ("sum", "prod", "max", "min", "and", "or")},
    "reduce_xor": reduction("xor"),
    "argmax": position_of_extremum("argmax"),
    "argmin": position_of_extremum("argmin"),
    "cumsum": running("sum"),
    "cumprod": running("prod"),
    "cummax": running("max"),
    "cummin": running("min"),
    "cumlogsumexp": running("logsumexp"),
    **dict.fromkeys(("reduce", "reduce_window"), with_starts),
    "reduce_window_sum": windowed("sum"),
    "reduce_window_max": windowed("max"),
    "reduce_window_min": windowed("min"),
}
