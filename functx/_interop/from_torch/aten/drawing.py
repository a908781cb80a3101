"""Random draws under ATen's signatures: the ambient generator gives their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import Array, random

from functx._core import category, OPERATORS, Refused
from functx._core.randomness.ambient_generator import drawn_key


def normal(input: Array, mean: float = 0.0, std: float = 1.0) -> Array:
    """Normal numbers in the shape and the dtype of `input`."""
    return OPERATORS["normal"](mean, std, input.shape, dtype=input.dtype)


def normal_of_size(
    size: Any, mean: Any = 0.0, std: Any = 1.0, dtype: str | None = None, **_: Any
) -> Array:
    """Normal numbers in a shape."""
    return OPERATORS["normal"](mean, std, tuple(size), dtype=dtype)


def integers(input: Array, **named: Any) -> Array:
    """Whole numbers in the shape and the dtype of `input`, as far as it holds them all."""
    low, high = named.get("from", 0), named.get("to")
    if high is None:
        bits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "uint8": 8, "bool": 1}
        wide = 8 * input.dtype.itemsize - 1
        high = 2 ** bits.get(input.dtype.name, min(wide, 63)) - (category(input.dtype) == 1)
    return OPERATORS["randint_like"](input, low, high)


def gamma(input: Array) -> Array:
    """Numbers of gamma distributions with the shape parameters `input`.

    They have derivatives by these: Figurnov, Mohamed and Mnih, Implicit reparameterization
    gradients, 2018.
    """
    return _drawn(random.gamma, input)


def dirichlet(input: Array) -> Array:
    """Numbers of Dirichlet distributions with the concentrations `input`: the last dimension sums
    to 1.
    """
    return _drawn(random.dirichlet, input)


def _drawn(draw: Callable[..., Array], input: Array) -> Array:
    """Numbers in the dtype of `input`, for halves drawn in single precision."""
    wide = input if input.dtype.itemsize > 2 else input.astype("float32")
    return draw(_key(), wide, dtype=wide.dtype).astype(input.dtype)


def _key() -> Array:
    """The ambient generator's next key, for numbers that no operator draws."""
    try:
        return drawn_key()
    except Refused as refused:
        worded = refused.by("from_torch")
    raise worded
