"""Casts, copies, views and sizes, which PyTorch has as operators."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.core import Tracer

from functx._core import as_dtype, category, OPERATORS
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.shapes.symbolic_sizes import known


def cast(input: Array, dtype: str | None = None, **_: Any) -> Array:
    """`input` in another dtype; the real parts of complex numbers where it is real."""
    if dtype is None:
        return input
    target = as_dtype(dtype)
    if input.dtype == target:
        return input
    if category(target) == 0:
        return OPERATORS["ne"](input, 0)
    if category(input.dtype) == 3 and category(target) != 3:
        input = lax.real(input)
    if target.name in ("int8", "uint8"):
        return OPERATORS["char" if target.name == "int8" else "byte"](input)
    return lax.convert_element_type(input, target)


def cast_as(input: Array, other: Array, **_: Any) -> Array:
    """`input` in the dtype of another array."""
    return cast(input, other.dtype.name)


@dataclasses.dataclass(frozen=True)
class Caster:
    """A cast to one dtype."""

    dtype: str

    def __call__(self, input: Array, **_: Any) -> Array:
        """`input` in that dtype."""
        return cast(input, self.dtype)


def same(input: Array, **_: Any) -> Array:
    """`input`, of which no copy need be made."""
    return input


def cut(input: Array) -> Array:
    """`input` as a constant of derivatives."""
    return lax.stop_gradient(input)


def unrecorded(place: Array, value: Array) -> Array:
    """`value`, with the derivative of `place`: what a write that is not recorded leaves there."""
    return _unrecorded(place, value)


_unrecorded = derivative_rules(
    lambda place, value: value,
    jvp=lambda primals, output, tangents: tangents[0],
    vjp=lambda primals, output, cotangent: (cotangent, None),
    name="unrecorded",
    of="output",
)


def copied(input: Array, src: Array, non_blocking: bool = False) -> Array:
    """`src` in the shape and the dtype of `input`."""
    return jnp.broadcast_to(cast(src, input.dtype.name), input.shape)


def reshaped(input: Array, size: Sequence[Any], stride: Any = None) -> Array:
    """`input` in another shape; its strides are XLA's."""
    return OPERATORS["reshape"](input, tuple(size))


def conjugated(input: Array) -> Array:
    """The conjugate, which no lazy bit stands for here."""
    return OPERATORS["conj"](input)


def negated(input: Array) -> Array:
    """The negative, which no lazy bit stands for here."""
    return OPERATORS["neg"](input)


def reversed_dims(input: Array) -> Array:
    """`input` with its dimensions in reversed order."""
    return OPERATORS["permute"](input, tuple(reversed(range(input.ndim))))


def matrix_adjoint(input: Array) -> Array:
    """The conjugate transpose of matrices; of an array of rank 0 the array."""
    return OPERATORS["mH"](input) if input.ndim else input


def size(input: Array, dim: int | None = None) -> Any:
    """The size of one dimension, or all, as Python numbers or symbolic ones."""
    return input.shape if dim is None else input.shape[dim]


def elements(input: Array) -> Any:
    """The number of elements."""
    out: Any = 1
    for n in input.shape:
        out = out * n
    return out


def rank(input: Array) -> int:
    """The number of dimensions."""
    return input.ndim


def stride(input: Array, dim: int | None = None) -> Any:
    """The strides of the array laid out by rows."""
    out, step = [], 1
    for n in reversed(input.shape):
        out.insert(0, step)
        step = step * n
    return tuple(out) if dim is None else out[dim]


def is_floating(input: Array) -> bool:
    """Whether the elements are real and inexact."""
    return category(input.dtype) == 2


def is_complex(input: Array) -> bool:
    """Whether the elements are complex."""
    return category(input.dtype) == 3


def scalar(input: Array) -> Any:
    """The only element: a Python number where it is known, else an array of rank 0."""
    one = OPERATORS["reshape"](input, ())
    return one if isinstance(one, Tracer) else one.item()


def nothing(*args: Any, **kwargs: Any) -> None:
    """For statements that were checked when the model was exported."""


def passed(input: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The first argument: a statement about it that returns it."""
    return input


def with_sizes(size: Sequence[Any], dtype: str | None = None, **_: Any) -> Array:
    """An array that is filled later: zeros."""
    return OPERATORS["zeros"](tuple(size), dtype=dtype)


def new_with_sizes(
    input: Array, size: Sequence[Any], stride: Any = None, dtype: str | None = None
) -> Array:
    """An array of the dtype of another that is filled later: zeros."""
    return OPERATORS["zeros"](tuple(size), dtype=dtype or input.dtype)


def arange_of(**named: Any) -> Array:
    """Numbers from `start` to `end`."""
    dtype = named.get("dtype")
    start, end, step = named.get("start", 0), named["end"], named.get("step", 1)
    if not known(start, end, step):
        kind = as_dtype("int64" if dtype is None else dtype)
        places = lax.broadcasted_iota(kind, (-((start - end) // step),), 0)
        scaled = OPERATORS["mul"](places, jnp.asarray(step, kind))
        return OPERATORS["add"](scaled, jnp.asarray(start).astype(kind))
    return OPERATORS["arange"](start, end, step, dtype=dtype)


def closed_range(start: Any, end: Any, step: Any = 1, dtype: str | None = None) -> Array:
    """Numbers from `start` to `end`, which belongs to them."""
    return OPERATORS["arange"](start, end + step / 2, step, dtype=dtype or "float32")


def positions(like: Array, dim: int) -> Array:
    """The positions along a dimension."""
    return OPERATORS["arange"](like.shape[dim])


def zeros_as(input: Array, **_: Any) -> Array:
    """Zeros of the shape and the dtype of another array."""
    return OPERATORS["zeros_like"](input)


def sized_as(input: Array, the_template: Array, **_: Any) -> Array:
    """`input` in the shape of another array."""
    return OPERATORS["reshape"](input, the_template.shape)
