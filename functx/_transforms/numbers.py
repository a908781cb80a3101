"""Python's numbers and weakly typed arrays, where transforms take or give arrays of one dtype.

A number has the default dtype of its kind, an array its own.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import default_of
from functx._core.numbers.weak_types import strong


T = TypeVar("T")

_KINDS = (bool, int, float, complex)


def is_python_number(x: Any) -> bool:
    """Whether `x` is a bool, an int, a float or a complex of Python's; NumPy's have a dtype."""
    return isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)


def as_array(x: Any) -> Any:
    """The leaf `x` as a strongly typed array; as it is if it is no array and no number."""
    if is_python_number(x):
        kind = next(i for i, kinds in enumerate(_KINDS) if isinstance(x, kinds))
        return jnp.asarray(x, default_of(kind))
    return strong(x)


def as_arrays(tree: T) -> T:
    """`tree` with `as_array` of each leaf."""
    return as_array(tree) if isinstance(tree, jax.Array) else jax.tree.map(as_array, tree)


def array_of_program(x: Any) -> jax.Array:
    """`x`, an operand or a result of a recorded program: JAX keeps constants as numbers there."""
    return x if isinstance(x, jax.Array) else jnp.asarray(x, jax.typeof(x).dtype)


def giving_arrays(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, with `as_arrays` of its result."""

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> Any:
        return as_arrays(func(*args, **kwargs))

    return function
