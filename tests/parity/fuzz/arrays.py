"""Other arrays in the place of a call's: of other shapes, dtypes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx.testing import ALL_DTYPES


Rng: TypeAlias = np.random.Generator
Arrays: TypeAlias = dict[str, np.ndarray]  # of a call, by the name of their parameter

SIZES = (0, 1, 1, 2, 3, 4, 5)
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, -0.0, 0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e-3, 30.0, -1e4)
NUMBERS = (0, 1, -1, 2, 3, -2, 0.5, -1.5, 2.0, True, False, 1j, 2 - 1j, np.nan, np.inf, -np.inf)
LARGE = (128, 256, -129, 300, 40000, 2**31, -(2**31) - 1, 2**53 + 1, 2**63, 2**64, 1e39, 1e300)


def pick(rng: Rng, items: Any) -> Any:
    """One of the items, as it is: NumPy would make arrays of them."""
    items = list(items)
    return items[int(rng.integers(len(items)))]


def number(rng: Rng) -> Any:
    """A Python number, one in eight too large for some dtype."""
    return pick(rng, LARGE if rng.random() < 0.125 else NUMBERS)


def cast(x: np.ndarray, dtype: str) -> np.ndarray:
    """`x` in another dtype; of complex numbers the real parts."""
    with np.errstate(all="ignore"):
        if category(jnp.dtype(dtype)) < 3:
            x = np.real(x)
        return np.asarray(x).astype(jnp.dtype(dtype))


def reshaped(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array of another shape with the values of `x`, again and again."""
    if x.size == 0:
        return np.ones(shape, x.dtype)
    return np.resize(x, shape) if 0 not in shape else np.zeros(shape, x.dtype)


# Of shapes.


def resized(rng: Rng, arrays: Arrays) -> Arrays:
    """Every dimension of one size has another, in all arrays."""
    sizes = sorted({n for x in arrays.values() for n in x.shape})
    new = {n: n if rng.random() < 0.5 else int(pick(rng, SIZES)) for n in sizes}
    return {k: reshaped(x, tuple(new[n] for n in x.shape)) for k, x in arrays.items()}


def raised(rng: Rng, arrays: Arrays) -> Arrays:
    """All arrays, or one of them, with dimensions before their own."""
    lead = tuple(int(pick(rng, SIZES)) for _ in range(int(rng.integers(1, 3))))
    chosen = some(rng, arrays)
    return {k: reshaped(arrays[k], (lead + arrays[k].shape)[-4:]) for k in chosen}


def lowered(rng: Rng, arrays: Arrays) -> Arrays:
    """All arrays, or one of them, without the first dimension or without any."""
    keep = slice(1, None) if rng.random() < 0.6 else slice(0, 0)
    return {k: reshaped(arrays[k], arrays[k].shape[keep]) for k in some(rng, arrays)}


def narrowed(rng: Rng, arrays: Arrays) -> Arrays:
    """One array with a dimension of size 1."""
    return _with_one_size(rng, arrays, 1)


def emptied(rng: Rng, arrays: Arrays) -> Arrays:
    """One array with a dimension of size 0."""
    return _with_one_size(rng, arrays, 0)


def unequal(rng: Rng, arrays: Arrays) -> Arrays:
    """One array with a dimension of another size."""
    return _with_one_size(rng, arrays, int(pick(rng, SIZES)))


def _with_one_size(rng: Rng, arrays: Arrays, size: int) -> Arrays:
    name = pick(rng, arrays)
    x = arrays[name]
    if x.ndim == 0:
        return {}
    at = int(rng.integers(x.ndim))
    return {name: reshaped(x, (*x.shape[:at], size, *x.shape[at + 1 :]))}


def of_any_shape(rng: Rng, arrays: Arrays) -> Arrays:
    """All arrays of one shape, or one of them."""
    shape = tuple(int(pick(rng, SIZES)) for _ in range(int(rng.integers(5))))
    return {k: reshaped(arrays[k], shape) for k in some(rng, arrays)}


def some(rng: Rng, arrays: Arrays) -> list[str]:
    """The names of all arrays, or of one."""
    return list(arrays) if rng.random() < 0.6 else [pick(rng, arrays)]


SHAPES: tuple[Callable[[Rng, Arrays], Arrays], ...] = (
    resized,
    resized,
    raised,
    lowered,
    narrowed,
    emptied,
    unequal,
    of_any_shape,
)


def recast(rng: Rng, arrays: Arrays) -> Arrays:
    """All arrays of another dtype, or one of them."""
    dtype = str(pick(rng, ALL_DTYPES))
    return {k: cast(arrays[k], dtype) for k in some(rng, arrays)}


# Of values. They change nothing that decides a program: shapes and dtypes stay.


def revalued(rng: Rng, x: np.ndarray, *, tame: bool) -> np.ndarray:
    """An array like `x` with other values; `tame` ones are of ordinary size and finite."""
    if x.size == 0:
        return x
    drawn = rng.random()
    if drawn < 0.15:
        return rng.permutation(x.reshape(-1)).reshape(x.shape)
    if drawn < 0.3 or tame:
        return ordinary(rng, x)
    if drawn < 0.4:  # ties
        return cast(rng.integers(0, 3, x.shape).astype(np.float64), x.dtype.name)
    flat = x.reshape(-1).copy()
    count = flat.size if drawn > 0.7 else min(flat.size, int(rng.integers(1, 4)))
    where = rng.permutation(flat.size)[:count]
    flat[where] = np.asarray([special(rng, x.dtype) for _ in where], x.dtype)
    return flat.reshape(x.shape)


def ordinary(rng: Rng, x: np.ndarray) -> np.ndarray:
    """Values between -3 and 3."""
    values = rng.uniform(-3, 3, x.shape)
    if category(x.dtype) == 3:
        values = values + 1j * rng.uniform(-3, 3, x.shape)
    if x.dtype == np.uint8:
        values = np.abs(values)
    return cast(np.asarray(values), x.dtype.name)


def conditioned(rng: Rng, x: np.ndarray) -> np.ndarray:
    """Matrices that are far from singular; Hermitian positive definite ones where `x` was so."""
    if x.ndim < 2 or x.size == 0 or category(x.dtype) < 2:
        return ordinary(rng, x)
    n, m = x.shape[-2:]
    turned = np.swapaxes(x.conj(), -1, -2)
    symmetric = n == m and np.allclose(x, turned, 1e-3)
    noise = 0.2 * ordinary(rng, x)
    values = noise + 3 * np.eye(n, m) * np.arange(1, m + 1)
    if symmetric:
        values = (values + np.swapaxes(values.conj(), -1, -2)) / 2
    return values.astype(x.dtype)


def special(rng: Rng, dtype: np.dtype) -> Any:
    """A value at which functions break, types end, or order is doubtful."""
    kind = category(dtype)
    if kind == 0:
        return bool(rng.integers(2))
    if kind == 1:
        limits = np.iinfo(dtype)
        at = [limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max]
        return dtype.type(pick(rng, at + ([-1, -2] if limits.min else [])))
    if kind == 3:
        return dtype.type(complex(_floating(rng, dtype), _floating(rng, dtype)))
    return dtype.type(_floating(rng, dtype))


def _floating(rng: Rng, dtype: np.dtype) -> float:
    limits = jnp.finfo(dtype)
    if rng.random() < 0.12:
        small, large = float(limits.tiny), float(limits.max)
        least = float(limits.smallest_subnormal)
        ends = (small, -small, 2 * small, large, -large, large / 4)
        return float(pick(rng, (*ends, small / 2, -small / 3, least, -least)))
    return float(pick(rng, SPECIAL))
