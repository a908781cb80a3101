"""Calls like a sample's, with arrays of another rank, empty, unequal, or with special values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np


SMALL = 1e-3  # below, an absolute tolerance of single precision sees nothing
HIGH = 4  # the rank from which leading dimensions are as many as anybody has

NamedArrays: TypeAlias = dict[str, Any]  # of a call, by name
Vary: TypeAlias = Callable[[NamedArrays], Iterator[NamedArrays]]


def flattened(arrays: NamedArrays) -> Iterator[NamedArrays]:
    """Of rank 0: all of them, or the first alone."""
    points = {name: _put(np.ravel(x)[0]) for name, x in arrays.items() if x.size}
    first = next(iter(points), None)
    if first is not None:
        yield points
        yield {first: points[first]}


def raised(arrays: NamedArrays) -> Iterator[NamedArrays]:
    """Of rank 4 or more: the first alone, or all that have as many dimensions as it."""
    high = {
        name: _put(np.asarray(x).reshape((1,) * (HIGH - x.ndim) + x.shape))
        for name, x in arrays.items()
    }
    first = next(iter(high), None)
    if first is not None:
        yield {first: high[first]}
        alike = arrays[first].ndim
        yield {name: high[name] for name, x in arrays.items() if x.ndim == alike}


def emptied(arrays: NamedArrays) -> Iterator[NamedArrays]:
    """With a dimension of size 0, in all arrays that have it as the first one has."""
    first = next(iter(arrays.values()), np.zeros(()))
    for axis in range(first.ndim):
        yield {
            name: _put(np.zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x.dtype))
            for name, x in arrays.items()
            if x.ndim > axis and x.shape[axis] == first.shape[axis]
        }


def narrowed(arrays: NamedArrays) -> Iterator[NamedArrays]:
    """One array with a first dimension of size 1, or without it."""
    for name, x in arrays.items():
        if len(arrays) > 1 and x.ndim and x.shape[0] > 1:
            yield {name: _put(np.asarray(x)[:1])}
            yield {name: _put(np.asarray(x)[0])}


def _put(x: Any) -> jax.Array:
    """On the device; what is done before, NumPy does, which compiles nothing."""
    return jax.device_put(np.asarray(x))


def poked(array: Any, values: Sequence[Any]) -> jax.Array:
    """`array` with its first elements replaced by `values`, as many as fit."""
    flat = np.array(array).reshape(-1)
    with np.errstate(all="ignore"):
        new = np.asarray(values)[: flat.size].astype(flat.dtype)
    flat[: len(new)] = new
    return _put(flat.reshape(np.shape(array)))


def shrunk(array: Any, size: float) -> jax.Array:
    """`array` times a power of 2, no element above `size`."""
    largest = float(np.abs(np.asarray(array)).max(initial=0))
    if largest == 0 or not np.isfinite(largest):
        return array
    power = np.asarray(2.0 ** np.floor(np.log2(size / largest)), array.dtype)
    return _put(np.multiply(array, power))


def subnormal(array: Any, *, first: int = 0, signed: bool = True) -> jax.Array:
    """An array like `array` of numbers that are too small to be normal, and of both zeros."""
    parts = jnp.finfo(array.dtype)
    tiny, least = float(parts.tiny), float(parts.smallest_subnormal)
    half, third = tiny / 2, tiny / 3
    values = np.array([half, -0.0, -least, third, 0.0, -half, least, half, -third])
    values = values if signed else np.abs(values)
    turned = np.resize(np.roll(values, -first), array.size)
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        both = np.empty(array.size, array.dtype)
        both.real, both.imag = turned, np.resize(np.roll(values, -first - 4), array.size)
        turned = both
    return _put(turned.astype(array.dtype).reshape(array.shape))
