"""Random draws under ATen's signatures: the ambient generator gives their keys."""

from __future__ import annotations

from typing import Any

from jax import Array

from functx._core import category, fail, OPERATORS


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
    """Refuses: no operator here draws from the gamma distribution."""
    fail(
        "from_torch",
        "no operator draws from the gamma distribution",
        hint="give a function that calls jax.random.gamma: "
        'functx.interop.register("aten::_standard_gamma")(f)',
        error=NotImplementedError,
    )
