"""Which arrays have tangents, and the types of these tangents."""

# JAX itself is typed in part.
# pyright: strict, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, core
from jax.interpreters import ad


ArrayType: TypeAlias = core.ShapedArray


def inexact(x: Array | ArrayType) -> bool:
    """Whether `x` has tangents."""
    return jnp.issubdtype(x.dtype, jnp.inexact)


def tangent_type(x: Array | ArrayType) -> ArrayType:
    """The type of the tangents of `x`, an array or the type of one."""
    aval: Any = x if isinstance(x, core.ShapedArray) else jax.typeof(x)
    return aval.to_tangent_aval().strip_weak_type()


def no_tangent(x: Any) -> np.ndarray:
    """What JAX takes for the tangent of an array that has none, of integers."""
    return np.zeros(np.shape(x), jax.dtypes.float0)


def zeros_of(aval: ArrayType) -> Array:
    """Zeros of a type, sharded and varying as it says."""
    return ad.instantiate_zeros(ad.Zero(aval))
