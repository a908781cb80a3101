"""Methods of mutable arrays that are no operator's: copies, fills, draws, sizes and dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core import as_dtype, canonical_dim, category, converted, describe, OPERATORS, refuse

from .in_place import copy, write_result
from .views import View


ITSELF = object()  # what a method gives for the array that it is a method of


def _copy(view: View, src: Any, non_blocking: bool = False) -> object:
    copy(view, src)
    return ITSELF


def _zero(view: View) -> object:
    copy(view, 0)
    return ITSELF


def _normal(view: View, mean: Any = 0.0, std: Any = 1.0, *, key: Any = None) -> object:
    copy(view, OPERATORS["normal"](mean, std, view.shape, dtype=view.dtype, key=key))
    return ITSELF


def _bernoulli(view: View, p: Any = 0.5, *, key: Any = None) -> object:
    chances = jnp.zeros(view.shape, "float32")
    copy(view, OPERATORS["bernoulli"](chances, p, key=key))
    return ITSELF


def _random(view: View, start: int = 0, end: int | None = None, *, key: Any = None) -> object:
    """Whole numbers below `end`; by default those that the dtype holds exactly."""
    if end is None and start:
        start, end = 0, start  # `random_(10)` names the end
    if end is None:
        floating = category(view.dtype) == 2
        end = 2 ** (jnp.finfo(view.dtype).nmant + 1) if floating else _most(view.dtype)
    numbers = OPERATORS["randint"](start, end, view.shape, key=key)
    copy(view, numbers)
    return ITSELF


def _most(dtype: np.dtype) -> int:
    return 2 if category(dtype) == 0 else int(jnp.iinfo(dtype).max)


def _polygamma(view: View, n: int) -> object:
    write_result(view, OPERATORS["polygamma"](n, view.read()), "polygamma")
    return ITSELF


def _fill_diagonal(view: View, fill_value: Any, wrap: bool = False) -> object:
    shape = view.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        refuse(f"a matrix, or an array with equal sizes, has a diagonal, got {describe(view.like)}")
    step = sum(math.prod(shape[d + 1 :]) for d in range(len(shape)))
    rows = shape[0] if wrap else min(shape)
    on = np.zeros(math.prod(shape), bool)
    on[: rows * math.prod(shape[1:]) : step] = True
    whole = view.read()
    filled = OPERATORS["fill"](whole, fill_value)
    copy(view, jnp.where(on.reshape(shape), filled, whole))
    return ITSELF


def _detach_in_place(view: View) -> object:
    if view.steps:
        refuse("a view cannot be detached in place", hint="x.detach() is a view without derivative")
    view.storage.write(lax.stop_gradient(view.read()))
    return ITSELF


def _size(view: View, dim: int | None = None) -> Any:
    return view.shape if dim is None else view.shape[canonical_dim(dim, len(view.shape))]


def _stride(view: View, dim: int | None = None) -> Any:
    strides = view.geometry.strides
    return strides if dim is None else strides[canonical_dim(dim, len(strides))]


def _contiguous(view: View) -> Any:
    return ITSELF if view.geometry.contiguous else view.read()


def _to(view: View, dtype: Any) -> Any:
    """The array itself if it has the dtype, as in PyTorch; else a plain array."""
    dtype = as_dtype(dtype)
    return ITSELF if dtype == view.dtype else converted(view.read(), dtype)


def _cast(dtype: str) -> Callable[[View], Any]:
    return lambda view: _to(view, dtype)


METHODS: dict[str, Callable[..., Any]] = {
    "bernoulli_": _bernoulli,
    "clone": View.read,
    "contiguous": _contiguous,
    "copy_": _copy,
    "detach_": _detach_in_place,
    "dim": lambda view: len(view.shape),
    "fill_diagonal_": _fill_diagonal,
    "is_contiguous": lambda view: view.geometry.contiguous,
    "normal_": _normal,
    "numel": lambda view: math.prod(view.shape),
    "polygamma_": _polygamma,
    "random_": _random,
    "size": _size,
    "storage_offset": lambda view: view.geometry.offset,
    "stride": _stride,
    "to": _to,
    "type_as": lambda view, other: _to(view, other.dtype),
    "zero_": _zero,
    "bfloat16": _cast("bfloat16"),
    "bool": _cast("bool"),
    "double": _cast("float64"),
    "float": _cast("float32"),
    "half": _cast("float16"),
    "int": _cast("int32"),
    "long": _cast("int64"),
    "short": _cast("int16"),
}
