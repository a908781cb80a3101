"""Interpolation: images resampled to another size."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    Autocast,
    available,
    category,
    describe,
    known,
    known_sizes,
    operator,
    Promote,
    refuse,
    Size,
)

from .resampling import averaged, resample, resample_bytes
from .scaled_sizes import scaled_size
from .taps import (
    cubic_taps,
    filtered_taps,
    Grid,
    kept_where_same,
    linear_taps,
    nearest_positions,
)


__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_RANKS = {"linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,), "lanczos": (4,)}
_ALIGNABLE = {"linear", "bilinear", "trilinear", "bicubic"}
_FILTERED = {"bilinear", "bicubic", "lanczos"}  # the modes that take `antialias`
_BLOCKY = {"nearest", "nearest-exact", "area"}


@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.REAL_NUMBER,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def interpolate(
    input: ArrayLike,
    size: Size | Sequence[Size] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Literal[
        "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area", "lanczos"
    ] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    """Images of another size, each dimension resampled on its own.

    Shapes: `input: [N, C, *sizes]`, of one to three sizes, gives `[N, C, *size]`.

    - `size`, `scale_factor`: the new sizes, or their ratio to the old ones, rounded down; exactly
      one of the two is given. One number stands for all dimensions.
    - `mode`: `"linear"`, `"bilinear"` and `"trilinear"` take one, two and three dimensions,
      `"bicubic"` and `"lanczos"` two, `"nearest"`, `"nearest-exact"` and `"area"` any number of
      them. `"area"` is adaptive average pooling.
    - `align_corners`: whether the centres of the corner elements coincide, rather than their outer
      edges; for linear and cubic modes. None means False.
    - `recompute_scale_factor`: whether the ratio of the rounded sizes is used instead of
      `scale_factor`. None means False.
    - `antialias`: whether to widen the filter where the image shrinks; for `"bilinear"`,
      `"bicubic"` and `"lanczos"`, which needs it.

    A dimension whose size does not change is not resampled, unless by `"bicubic"`,
    `"nearest-exact"`, or `"nearest"` of one size or three. A size that doubles has each element
    twice in `"nearest"` of two sizes.
    Dtypes: floating, or uint8 in the nearest modes, `"bilinear"`, `"bicubic"` and `"lanczos"`,
    where weights are PyTorch's fixed-point numbers.
    Gradients: the gradient of an element in `"nearest"` counts how often the element is read. In
    PyTorch 2.13 it does not where three sizes are scaled unequally.
    Errors: ValueError for options that do not fit, RuntimeError for a `scale_factor` that leaves
    nothing, TypeError for dtypes.

    >>> x = jnp.asarray([[[1.0, 3.0]]], "float32")
    >>> functx.nn.functional.interpolate(x, scale_factor=2, mode="linear")
    Array([[[1. , 1.5, 2.5, 3. ]]], dtype=float32)
    """
    return _interpolated(
        input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
    )


@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.REAL_NUMBER,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def upsample(
    input: ArrayLike,
    size: Size | Sequence[Size] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Array:
    """Images of another size: `interpolate`, by its older name.

    Shapes: `input: [N, C, *sizes]`, of one to three sizes, gives `[N, C, *size]`.

    - `size`, `scale_factor`: the new sizes, or their ratio to the old ones, rounded down; exactly
      one of the two is given. One number stands for all dimensions.
    - `mode`: a mode of `interpolate` other than `"lanczos"`, for the number of sizes at hand.
    - `align_corners`: whether the centres of the corner elements coincide, rather than their outer
      edges; for linear and cubic modes. None means False.

    Dtypes: floating, or uint8 in the nearest modes, `"bilinear"` and `"bicubic"`.
    Errors: ValueError for options that do not fit, RuntimeError for a `scale_factor` that leaves
    nothing, TypeError for dtypes.

    >>> functx.nn.functional.upsample(jnp.asarray([[[1.0, 3.0]]], "float32"), 4)
    Array([[[1., 1., 3., 3.]]], dtype=float32)
    """
    return _interpolated(input, size, scale_factor, mode, align_corners)


@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.REAL_NUMBER,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def upsample_nearest(
    input: ArrayLike,
    size: Size | Sequence[Size] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Array:
    """Images of another size, in which each element is the nearest element of the input:
    `interpolate` with `mode="nearest"`.

    Shapes: `input: [N, C, *sizes]`, of one to three sizes, gives `[N, C, *size]`.

    - `size`, `scale_factor`: the new sizes, or their ratio to the old ones, rounded down; exactly
      one of the two is given. One number stands for all dimensions.

    Dtypes: floating or uint8.
    Errors: ValueError for options that do not fit, RuntimeError for a `scale_factor` that leaves
    nothing, TypeError for dtypes.

    >>> x = jnp.asarray([[[1.0, 3.0]]], "float32")
    >>> functx.nn.functional.upsample_nearest(x, scale_factor=2)
    Array([[[1., 1., 3., 3.]]], dtype=float32)
    """
    return _interpolated(input, size, scale_factor, "nearest")


@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.REAL_NUMBER,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def upsample_bilinear(
    input: ArrayLike,
    size: Size | Sequence[Size] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Array:
    """Images of another size, linear in both dimensions: `interpolate` with `mode="bilinear"` and
    `align_corners=True`.

    Shapes: `input: [N, C, H, W]` gives `[N, C, *size]`.

    - `size`, `scale_factor`: the new height and width, or their ratio to the old ones, rounded
      down; exactly one of the two is given. One number stands for both.

    Dtypes: floating or uint8.
    Errors: ValueError for options that do not fit, RuntimeError for a `scale_factor` that leaves
    nothing, TypeError for dtypes.

    >>> x = jnp.asarray([[[[1.0, 3.0]]]], "float32")
    >>> functx.nn.functional.upsample_bilinear(x, (1, 3))
    Array([[[[1., 2., 3.]]]], dtype=float32)
    """
    return _interpolated(input, size, scale_factor, "bilinear", True)


def _interpolated(
    input: jax.Array,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> jax.Array:
    _check_mode(input, mode, align_corners, antialias)
    n = input.ndim - 2
    sizes, scales = _sizes_and_scales(input, n, size, scale_factor)
    if recompute_scale_factor and scale_factor is None:
        refuse("`recompute_scale_factor` needs a `scale_factor`, not a `size`", error=ValueError)
    if recompute_scale_factor or mode == "area":
        scales = (None,) * n
    least = 0 if mode == "area" else 1  # means take no channels and no windows
    fewest = min(known_sizes([input.shape[1], *sizes]), default=least)
    if min(known_sizes(input.shape[2:]), default=1) < 1 or fewest < least:
        refuse(
            f"sizes must be positive, got {describe(input)} to become {list(sizes)}",
            error=ValueError if scale_factor is None else RuntimeError,
        )
    # The weights of bytes are computed in double precision and rounded to integers.
    exact = input.dtype == np.float64 or (category(input.dtype) == 1 and mode in _FILTERED)
    real = np.dtype("float64" if exact else "float32")
    real = real if known(*input.shape[2:], *sizes) else available(real)
    grids = [
        Grid(before, after, scale, bool(align_corners), real)
        for before, after, scale in zip(input.shape[2:], sizes, scales, strict=True)
    ]
    if mode in ("nearest", "nearest-exact"):
        for i, grid in enumerate(grids):
            positions = nearest_positions(grid, exact=mode == "nearest-exact")
            if mode == "nearest" and n == 2:  # PyTorch looks at an image's sizes first
                by_size = nearest_positions(grid._replace(scale_factor=None), exact=False)
                positions = grid.xp.where(grid.same() | grid.same(2), by_size, positions)
            input = jnp.take(input, positions, 2 + i, mode="clip")
        return input
    return _resampled(input, grids, mode, antialias)


def _resampled(x: jax.Array, grids: Sequence[Grid], mode: str, antialias: bool) -> jax.Array:
    """The images, resampled along the last dimension first, as in PyTorch: bytes are rounded after
    each dimension.
    """
    whole = category(x.dtype) == 1
    apply = resample_bytes if whole else resample
    dtype = x.dtype if whole else accumulator(x.dtype)
    x = x.astype(dtype)
    copied = mode != "bicubic" or antialias or whole  # PyTorch's kernels look at sizes first
    for i, grid in reversed(list(enumerate(grids))):
        if copied and grid.after == grid.before:
            continue
        if mode == "area":
            x = averaged(x, 2 + i, grid.after)
            continue
        if antialias:
            taps = filtered_taps(grid, mode)
        else:
            taps = cubic_taps(grid) if mode == "bicubic" else linear_taps(grid)
        taps = kept_where_same(grid, taps) if copied else taps
        x = apply(x, 2 + i, *taps)
    return x


def _check_mode(input: jax.Array, mode: str, align_corners: Any, antialias: bool) -> None:
    if mode not in _RANKS and mode not in _BLOCKY:
        names = ", ".join(sorted([*_RANKS, *_BLOCKY]))
        refuse(f"`mode` must be one of {names}, got {mode!r}", error=ValueError)
    if input.ndim not in _RANKS.get(mode, (3, 4, 5)):
        ranks = " or ".join(map(str, _RANKS.get(mode, (3, 4, 5))))
        refuse(
            f"mode={mode!r} takes inputs [N, C, ...] of {ranks} dimensions, got {describe(input)}",
            error=ValueError,
        )
    if align_corners is not None and mode not in _ALIGNABLE and (align_corners or mode in _BLOCKY):
        refuse(f"`align_corners` means nothing for mode={mode!r}", error=ValueError)
    if antialias and mode not in _FILTERED:
        refuse(
            f"`antialias` is for modes bilinear, bicubic and lanczos, got mode={mode!r}",
            error=ValueError,
        )
    if mode == "lanczos" and not antialias:
        refuse("mode='lanczos' needs `antialias=True`", error=ValueError)
    if category(input.dtype) == 1:
        if input.dtype != np.uint8 or mode not in _FILTERED | {"nearest", "nearest-exact"}:
            refuse(f"mode={mode!r} does not take {describe(input)}", error=TypeError)


def _sizes_and_scales(
    input: jax.Array, n: int, size: Any, scale_factor: Any
) -> tuple[tuple[Size, ...], tuple[float | None, ...]]:
    if (size is None) == (scale_factor is None):
        refuse("exactly one of `size` and `scale_factor` must be given", error=ValueError)
    name, given = ("size", size) if scale_factor is None else ("scale_factor", scale_factor)
    several = tuple(given) if isinstance(given, (tuple, list)) else (given,) * n
    if len(several) != n:
        refuse(
            f"`{name}` must be one number or {n}, for the sizes of {describe(input)}, got {given}",
            error=ValueError,
        )
    kind = numbers.Integral if scale_factor is None else numbers.Real
    if not all(isinstance(v, kind) or not known(v) for v in several):
        wanted = "ints" if scale_factor is None else "numbers"
        refuse(f"`{name}` must hold {wanted}, got {given}", error=TypeError)
    if scale_factor is None:
        return several, (None,) * n
    if not all(math.isfinite(v) for v in several):
        refuse(f"`scale_factor` must be finite, got {given}", error=ValueError)
    sizes = zip(input.shape[2:], several, strict=True)
    return tuple(scaled_size(n, v, "scale_factor") for n, v in sizes), several
