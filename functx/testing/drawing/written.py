"""Values as Python that makes them again, where `functx`, `jax`, `jnp` and `np` are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import OPERATORS


def written(x: Any) -> str:
    """An argument of a call as an expression, an array with all its values."""
    if isinstance(x, np.ndarray):
        return _numpy(x)
    if isinstance(x, jax.Array):
        return _key(x) if _is_key(x) else f"jnp.asarray({_values(np.asarray(x))}, {_dtype(x)})"
    if isinstance(x, list):
        return f"[{', '.join(map(written, x))}]"
    if type(x) is tuple:
        return f"({', '.join(map(written, x))}{',' * (len(x) == 1)})"
    if isinstance(x, (float, complex)):
        return _number(x)
    if isinstance(x, jax.Device):
        return f"jax.devices({x.platform!r})[{x.id}]"
    if isinstance(x, np.dtype) or hasattr(x, "dtype") and not isinstance(x, np.generic):
        return repr(np.dtype(x).name)
    return named(x) if callable(x) else repr(x)


def named(f: Callable[..., Any]) -> str:
    """The name of a function: an operator's public one, or where functx defines it, if it does."""
    name = getattr(getattr(f, "spec", None), "name", None)
    if name is not None and OPERATORS.get(name) is f:
        return f"functx.{name}"
    own = getattr(f, "__qualname__", repr(f))
    module = getattr(f, "__module__", None) or ""
    return f"{module}.{own}" if module.startswith("functx.") else own


def _dtype(x: Any) -> str:
    return "bool" if x.dtype == bool else f"jnp.{x.dtype.name}"


def _numpy(x: np.ndarray) -> str:
    """With its layout: by columns, read backwards, or every second element of each row."""
    make = "np.asarray"
    if not x.flags.c_contiguous and x.flags.f_contiguous:
        make = "np.asfortranarray"
    elif x.size > 1 and all(step <= 0 for step in x.strides):
        return f"np.flip({_numpy(np.ascontiguousarray(np.flip(x)))})"
    elif not x.flags.c_contiguous:
        return f"np.repeat({_numpy(np.ascontiguousarray(x))}, 2, -1)[..., ::2]"
    return f"{make}({_values(x)}, {_dtype(x)})"


def _values(x: np.ndarray) -> str:
    if x.size == 0 and x.ndim > 1:
        return f"np.zeros({x.shape})"
    return _nested(x.tolist())


def _nested(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    return _number(values) if isinstance(values, (float, complex)) else repr(values)


def _number(x: float | complex) -> str:
    if isinstance(x, complex):
        if np.isfinite(x) and complex(repr(x)) == x and "-0" not in f"{x.real} {x.imag}":
            return repr(x)
        return f"complex({_number(x.real)}, {_number(x.imag)})"
    return repr(x) if np.isfinite(x) else {np.inf: "np.inf", -np.inf: "-np.inf"}.get(x, "np.nan")


def _is_key(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def _key(key: jax.Array) -> str:
    data = np.asarray(jax.random.key_data(key))
    again = jax.random.key(int(data.flat[-1]))
    if again.dtype == key.dtype and np.array_equal(jax.random.key_data(again), data):
        return f"jax.random.key({data.flat[-1]})"
    return f"jax.random.wrap_key_data({written(jnp.asarray(data))})"
