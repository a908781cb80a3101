"""Pooling whose windows lie at random, so that sizes can shrink by any ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import max_dim

from functx._core import (
    Accepts,
    ArrayLike,
    as_number,
    Autocast,
    decided,
    describe,
    Generator,
    is_probability,
    Key,
    known,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
)
from functx._ops.nn.scaled_sizes import scaled_size
from functx._ops.nn.windows import per_dimension
from functx._ops.quotients import quotient

from .greatest import answer, as_images, MaxPoolResult, positions_of_greatest, read_at
from .placement import require_image, Windows


__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _in_unit_interval(*, _random_samples: Any = None, **_: Any) -> Iterator[Requirement]:
    if _random_samples is not None:
        yield is_probability(_random_samples, "_random_samples")


def _draws(_random_samples: Any = None, **_: Any) -> bool:
    return _random_samples is None


@overload
def fractional_max_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    output_size: Size | Sequence[Size] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: ArrayLike | None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def fractional_max_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    output_size: Size | Sequence[Size] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: ArrayLike | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> MaxPoolResult: ...
@operator(
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    requires=_in_unit_interval,
    random=True,
    needs_key=_draws,
    autocast_cpu=Autocast.FLOAT32,
)
def fractional_max_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    output_size: Size | Sequence[Size] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: ArrayLike | None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Any:
    r"""The greatest element of each window, where the windows lie at random (Graham, 2014).

    Along a dimension of $n$, $m$ windows of $k$ elements begin at
    $\lfloor (i + u) a \rfloor - \lfloor u a \rfloor$ with $a = (n - k) / (m - 1)$, and the last at
    $n - k$. Each image and each dimension draws its $u$ from [0, 1).
    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

    - `kernel_size`: the sizes $k$ of a window: one int for both dimensions, or a sequence of two.
    - `output_size`: the number $m$ of windows: one int for both dimensions, or a sequence of two.
    - `output_ratio`: if `output_size` is None, the number of windows as a share of the input's
      sizes, rounded down: a number or a sequence of two.
    - `return_indices`: whether the result is `(output, indices)`, with the position
      `row * W + column` of each greatest element in its image, int64.
    - `_random_samples`: $u$ instead of drawn numbers, `[N, C, 2]` from [0, 1], for the columns
      first. It has no derivative.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: RuntimeError for shapes that do not fit, for windows that need more elements than there
    are and for `_random_samples` outside of [0, 1]; ValueError if neither `output_size` nor
    `output_ratio` is given.

    >>> x = jnp.arange(16, dtype="float32").reshape(1, 4, 4)
    >>> u = jnp.full((1, 1, 2), 0.5, "float32")
    >>> functx.nn.functional.fractional_max_pool2d(x, 2, 3, _random_samples=u)
    Array([[[ 5.,  6.,  7.],
            [ 9., 10., 11.],
            [13., 14., 15.]]], dtype=float32)
    """
    sizes = _sizes(2, input, output_size, output_ratio)
    return _pooled(2, input, kernel_size, sizes, return_indices, _random_samples, key)


@overload
def fractional_max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    output_size: Size | Sequence[Size] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: ArrayLike | None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def fractional_max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    output_size: Size | Sequence[Size] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: ArrayLike | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> MaxPoolResult: ...
@operator(
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    requires=_in_unit_interval,
    random=True,
    needs_key=_draws,
    autocast_cpu=Autocast.FLOAT32,
)
def fractional_max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    output_size: Size | Sequence[Size] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: ArrayLike | None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Any:
    r"""The greatest element of each window, where the windows lie at random (Graham, 2014).

    Along a dimension of $n$, $m$ windows of $k$ elements begin at
    $\lfloor (i + u) a \rfloor - \lfloor u a \rfloor$ with $a = (n - k) / (m - 1)$, and the last at
    $n - k$. Each volume and each dimension draws its $u$ from [0, 1).
    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

    - `kernel_size`: the sizes $k$ of a window: one int for all dimensions, or a sequence of three.
    - `output_size`: the number $m$ of windows: one int for all dimensions, or a sequence of three.
    - `output_ratio`: if `output_size` is None, the number of windows as a share of the input's
      sizes, rounded down: a number or a sequence of three.
    - `return_indices`: whether the result is `(output, indices)`, with the position
      `(plane * H + row) * W + column` of each greatest element in its volume, int64.
    - `_random_samples`: $u$ instead of drawn numbers, `[N, C, 3]` from [0, 1], for the dimensions
      in their order. It has no derivative.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: RuntimeError for shapes that do not fit, for windows that need more elements than there
    are and for `_random_samples` outside of [0, 1]; ValueError if neither `output_size` nor
    `output_ratio` is given.

    >>> x = jnp.arange(8, dtype="float32").reshape(1, 2, 2, 2)
    >>> functx.nn.functional.fractional_max_pool3d(x, 2, 1, key=jax.random.key(0))
    Array([[[[7.]]]], dtype=float32)
    """
    sizes = _sizes(3, input, output_size, output_ratio)
    return _pooled(3, input, kernel_size, sizes, return_indices, _random_samples, key)


def _sizes(n: int, input: Array, output_size: Any, output_ratio: Any) -> tuple[Size, ...]:
    require_image(input, n)
    if output_size is not None:
        return per_dimension(output_size, n, "output_size")
    if output_ratio is None:
        refuse("`output_size` or `output_ratio` must be given", error=ValueError)
    ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
    if len(ratios) != n:
        refuse(f"`output_ratio` must be a number or {n} of them, got {ratios}", error=ValueError)
    pairs = zip(input.shape[-n:], ratios, strict=True)
    scaled = tuple(scaled_size(size, ratio, "output_ratio") for size, ratio in pairs)
    return per_dimension(scaled, n, "output_ratio")


def _pooled(
    n: int,
    input: Array,
    kernel_size: Any,
    sizes: tuple[Size, ...],
    return_indices: bool,
    samples: Array | None,
    key: Key,
) -> Array | MaxPoolResult:
    kernel = per_dimension(kernel_size, n, "kernel_size", least=1)
    for size, k, m in zip(input.shape[-n:], kernel, sizes, strict=True):
        if decided(lambda size=size, k=k, m=m: m + k - 1 > size, otherwise=False):
            refuse(
                f"{m} windows of {k} need at least {m + k - 1} elements, got {describe(input)}",
            )
    images = as_images(input, n)
    if samples is None:
        samples = jax.random.uniform(
            key, (images.shape[0], n), np.result_type(input.dtype, "float32")
        )
    else:
        samples = _for_each_image(n, input, samples)
    starts = [
        _starts(u, size, m, k)
        for u, size, m, k in zip(samples.T, input.shape[-n:], sizes, kernel, strict=True)
    ]
    # Where there may be no place, one beside the image: JAX does not gather from an empty array.
    most = [s - k + 1 for s, k in zip(input.shape[-n:], kernel, strict=True)]
    ones, counts = (1,) * n, tuple(m if known(m) else max_dim(m, 1) for m in most)
    everywhere = Windows(input.shape[-n:], kernel, ones, (0,) * n, ones, counts)
    where = positions_of_greatest(images, everywhere)
    for axis, start in enumerate(starts, 1):
        at = lax.expand_dims(start, [d for d in range(1, n + 1) if d != axis])
        where = jnp.take_along_axis(where, at, axis, mode="clip")
    return answer(input, read_at(images, where), where, return_indices=return_indices)


def _for_each_image(n: int, input: Array, samples: Array) -> Array:
    """The given samples as `[N * C, n]`, in the order of the dimensions."""
    lead = input.shape[:-n] if input.ndim == n + 2 else (1, *input.shape[:-n])
    if samples.shape != (*lead, n):
        refuse(
            f"`_random_samples` must be {[*lead, n]} for {describe(input)}, got {describe(samples)}"
        )
    samples = lax.stop_gradient(samples).reshape(math.prod(lead), n)
    return samples[:, ::-1] if n == 2 else samples


def _starts(u: Array, size: Size, m: Size, k: int) -> Array:
    """The starts of the windows of each image, `[B, m]`."""
    u = u.astype(np.result_type(u.dtype, "float32"))
    if not known(size, m):
        room, gaps = (as_number(n, u.dtype) for n in (size - k, max_dim(m - 1, 1)))
        i, step = jnp.arange(m, dtype=u.dtype), quotient(jnp.asarray(room, u.dtype), gaps)
        starts = jnp.floor((i + u[:, None]) * step) - jnp.floor(u[:, None] * step)
        return jnp.where(i < as_number(m - 1, u.dtype), starts, room).astype("int32")
    step = jnp.asarray((size - k) / max(m - 1, 1), u.dtype)
    i = jnp.arange(max(m - 1, 0), dtype=u.dtype)
    starts = jnp.floor((i + u[:, None]) * step) - jnp.floor(u[:, None] * step)
    last = jnp.full((u.shape[0], min(m, 1)), size - k, "int32")
    return jnp.concatenate([starts.astype("int32"), last], 1)
