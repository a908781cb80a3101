"""Arithmetic of mistakes: NumPy's where values are at hand, which costs no compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer


def as_numpy(x: Any) -> Any:
    """`x` as a NumPy array, unless it is being traced."""
    return x if isinstance(x, Tracer) or not isinstance(x, jax.Array) else np.asarray(x)


def where(mask: Any, new: Any, y: Any) -> Any:
    """`new` where `mask`, else `y`."""
    traced = any(isinstance(x, Tracer) for x in (mask, new, y))
    return (jnp if traced else np).where(mask, new, y)


def constant(value: Any, y: Any) -> Any:
    """A number in the dtype of `y`."""
    with np.errstate(over="ignore"):  # a number beyond the range is infinite there
        return np.asarray(value, y.dtype)


def on_leaves(change: Callable[[Any], Any], out: Any) -> Any:
    """`out` with each array of numbers changed."""
    return jax.tree.map(lambda y: change(as_numpy(y)) if _numbers(y) else y, out)


def _numbers(y: Any) -> bool:
    return hasattr(y, "dtype") and not jnp.issubdtype(y.dtype, jax.dtypes.extended)


def as_arrays(out: Any) -> Any:
    """`out` with JAX arrays in the place of NumPy's."""
    return jax.tree.map(lambda y: y if isinstance(y, jax.Array) else jnp.asarray(y), out)
