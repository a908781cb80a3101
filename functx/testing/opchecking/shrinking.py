"""Smaller arrays for which something still holds: shorter dimensions first, then simple values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from functx._core import category


NumpyArrays = list[np.ndarray]


def shrunk(
    arrays: Sequence[object], holds: Callable[[NumpyArrays], bool], attempts: int
) -> NumpyArrays:
    """The smallest and simplest arrays found for which `holds`, in at most so many `attempts`.

    It holds of `arrays`. Dimensions of one size are shortened together, since they may have to
    agree, and then one by one.
    """
    best = [np.asarray(x) for x in arrays]
    for moves in (_shorter_alike, _shorter, _simpler):
        tried: set[tuple[object, ...]] = set()
        while attempts > 0:
            candidate = next((c for c in moves(best) if _key(c) not in tried), None)
            if candidate is None:
                break
            tried.add(_key(candidate))
            attempts -= 1
            if holds(candidate):
                best = candidate
    return best


def _key(arrays: NumpyArrays) -> tuple[object, ...]:
    return tuple((x.shape, x.tobytes()) for x in arrays)


def _shorter_alike(arrays: NumpyArrays) -> Iterator[NumpyArrays]:
    for size in sorted({n for x in arrays for n in x.shape}, reverse=True):
        for new in (1, 2):
            if new < size:
                yield [
                    _cut(x, {d: new for d, n in enumerate(x.shape) if n == size}) for x in arrays
                ]


def _shorter(arrays: NumpyArrays) -> Iterator[NumpyArrays]:
    for i, x in enumerate(arrays):
        for dim, size in enumerate(x.shape):
            for new in (1, 2):
                if new < size:
                    yield [*arrays[:i], _cut(x, {dim: new}), *arrays[i + 1 :]]


def _cut(x: np.ndarray, sizes: dict[int, int]) -> np.ndarray:
    return x[tuple(slice(sizes.get(d)) for d in range(x.ndim))]


def _simpler(arrays: NumpyArrays) -> Iterator[NumpyArrays]:
    for i, x in enumerate(arrays):
        for values in _values(x):
            if np.array_equal(values, x, equal_nan=category(x.dtype) >= 2):
                break  # what follows is less simple
            yield [*arrays[:i], values, *arrays[i + 1 :]]


def _values(x: np.ndarray) -> Iterator[np.ndarray]:
    """From the simplest on: zeros, ones, 1, 2, 3 and so on, the nearest whole numbers, tenths."""
    kind = category(x.dtype)
    yield np.zeros_like(x)
    yield np.ones_like(x)
    if kind > 0 and 1 < x.size <= 100:
        yield np.arange(1, x.size + 1).reshape(x.shape).astype(x.dtype)
    if kind > 1:
        wide = x.astype(np.complex128 if kind == 3 else np.float64)
        for digits in (0, 1):
            yield np.round(wide, digits).astype(x.dtype)
