"""Resampling along one dimension: each output is a weighted sum of a few inputs, its taps.

Which inputs and with what weights depends on sizes alone, so NumPy works it out while tracing,
in the precision in which PyTorch's kernels do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx._core.rules import derivative_rules


class Grid(NamedTuple):
    """Where outputs lie among inputs: sizes before and after, and how they were asked for."""

    before: int
    after: int
    scale_factor: float | None
    align_corners: bool
    dtype: np.dtype  # of coordinates and weights

    @property
    def step(self) -> np.ndarray:
        """The distance of two outputs, in inputs."""
        if self.align_corners:
            ratio = (self.before - 1) / (self.after - 1) if self.after > 1 else 0
        elif self.scale_factor is not None and self.scale_factor > 0:
            ratio = 1 / self.scale_factor
        else:
            return self.dtype.type(self.before) / self.dtype.type(self.after)
        return self.dtype.type(ratio)

    @property
    def coordinates(self) -> np.ndarray:
        """Where each output lies, the first input at 0."""
        i = np.arange(self.after, dtype=self.dtype)
        half = self.dtype.type(0.5)
        return i * self.step if self.align_corners else (i + half) * self.step - half


Taps = tuple[np.ndarray, np.ndarray]
_FEW = 32  # taps that are written out one by one
_SHORT = 8  # windows that a loop over each would not be worth


def resample(x: jax.Array, axis: int, positions: np.ndarray, weights: np.ndarray) -> jax.Array:
    r"""$y_o = \sum_t w_{ot}\, x_{p_{ot}}$ along `axis`; positions `>= n` read zeros.

    Shapes: `positions` and `weights` are `[outputs, taps]`.
    Its transpose is another of its kind, not the scatter that gathers have.
    """
    axis %= x.ndim
    taps = (positions, weights.astype(x.dtype))
    n = x.shape[axis]
    if category(x.dtype) < 2:
        return _weighed(x, axis, taps)
    back = _transposed(taps, n)
    return derivative_rules(
        lambda x: _weighed(x, axis, taps),
        jvp=lambda primals, output, tangents: resample(tangents[0], axis, *taps),
        vjp=lambda primals, output, cotangent: (resample(cotangent, axis, *back),),
        name="resample",
    )(x)


def _weighed(x: jax.Array, axis: int, taps: Taps) -> jax.Array:
    """A gather for each of few taps: XLA fuses them, and the innermost loop runs along rows."""
    positions, weights = taps
    outputs, n = len(positions), x.shape[axis]
    if positions.shape[1] > _FEW:
        return _weighed_at_once(x, axis, taps)
    total = jnp.zeros((*x.shape[:axis], outputs, *x.shape[axis + 1 :]), x.dtype)
    along = lambda column: np.expand_dims(column, tuple(range(1, x.ndim - axis)))
    for at, weight in zip(positions.T, weights.T, strict=True):
        term = jnp.take(x, np.minimum(at, n - 1), axis, mode="clip") * along(weight)
        outside = at >= n
        total += jnp.where(along(outside), 0, term) if outside.any() else term
    return total


def _weighed_at_once(x: jax.Array, axis: int, taps: Taps) -> jax.Array:
    positions, weights = taps
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    # jaxlib 0.10.2 and 0.11.0 crash on CPUs where a product of seven dimensions is summed, as
    # volumes under vmap would have them (jax-ml/jax#39257): so the others are flattened.
    flat = x.reshape(math.prod(before), x.shape[axis], math.prod(after))
    read = jnp.take(flat, positions, 1, mode="fill", fill_value=0)
    out = jnp.sum(read * weights[:, :, None], 2, dtype=x.dtype)
    return out.reshape(*before, len(positions), *after)


def _transposed(taps: Taps, n: int) -> Taps:
    """From outputs to inputs: what each of the `n` inputs gives, and to which outputs."""
    positions, weights = taps
    rows = np.broadcast_to(np.arange(len(positions))[:, None], positions.shape)
    inside = positions < n
    pairs, which = np.unique(positions[inside] * len(positions) + rows[inside], return_inverse=True)
    given = np.bincount(which, weights[inside].astype(np.float64), len(pairs))
    inputs, outputs = np.divmod(pairs, max(len(positions), 1))
    counts = np.bincount(inputs, minlength=n)
    place = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (n, int(counts.max(initial=0)))
    back, amounts = np.full(shape, len(positions)), np.zeros(shape, weights.dtype)
    back[inputs, place], amounts[inputs, place] = outputs, given
    return back, amounts


def averaged(x: jax.Array, axis: int, m: int) -> jax.Array:
    """Adaptive average pooling to `m` means along `axis`."""
    axis %= x.ndim
    n = x.shape[axis]
    if m == 0 or n <= _SHORT * m or n % m:
        return resample(x, axis, *_average_taps(n, m))
    windows = x.reshape(*x.shape[:axis], m, n // m, *x.shape[axis + 1 :])
    return jnp.mean(windows, axis + 1)


def resample_bytes(
    x: jax.Array, axis: int, positions: np.ndarray, weights: np.ndarray
) -> jax.Array:
    """`resample` of uint8, with weights of 16 bit in the greatest precision that they allow.

    Source: `aten/src/ATen/native/cpu/UpSampleKernel.cpp`, after Pillow.
    """
    weights = _merged(positions, weights)
    greatest = float(weights.max(initial=0))
    bits = next((b for b in range(22) if 0.5 + greatest * 2 ** (b + 1) >= 2**15), 22)
    fixed = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
    total = resample(x.astype("int32"), axis, positions, fixed)
    rounded = (total + np.int32(2**bits // 2)) >> np.int32(bits)
    return jnp.clip(rounded, 0, 255).astype(x.dtype)


def _merged(positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What several taps of one output give the same input, given to the first of them."""
    rows = np.arange(len(positions))[:, None]
    by_position = np.zeros((len(positions), positions.max(initial=0) + 1))
    np.add.at(by_position, (rows, positions), weights)
    first = np.diff(positions, axis=1, prepend=-1) != 0
    return np.where(first, by_position[rows, positions], 0)


def _average_taps(n: int, m: int) -> Taps:
    i = np.arange(m)[:, None]
    start, end = i * n // max(m, 1), -(-(i + 1) * n // max(m, 1))
    positions = start + np.arange(int((end - start).max(initial=1)))
    inside = positions < end
    return np.where(inside, positions, n), inside / (end - start)


def nearest_positions(grid: Grid, *, exact: bool) -> np.ndarray:
    """One tap of weight 1 each. `exact` takes the centres of elements, else their edges."""
    i = np.arange(grid.after, dtype=grid.dtype)
    at = np.floor((i + grid.dtype.type(0.5 if exact else 0)) * grid.step)
    return np.minimum(at.astype(int), grid.before - 1)


def linear_taps(grid: Grid) -> Taps:
    """The two neighbours of each output."""
    at = np.maximum(grid.coordinates, 0)
    left = np.minimum(at.astype(int), grid.before - 1)
    right = np.minimum(left + 1, grid.before - 1)
    weight = np.clip(at - left.astype(grid.dtype), 0, 1)
    return np.stack([left, right], 1), np.stack([1 - weight, weight], 1)


def cubic_taps(grid: Grid) -> Taps:
    """The four neighbours of each output; beyond the edge, the edge."""
    at = grid.coordinates
    left = np.minimum(np.floor(at).astype(int), grid.before - 1)
    offset = np.clip(at - left.astype(grid.dtype), 0, 1)[:, None]
    taps = np.arange(-1, 3)
    weights = _cubic(np.abs(offset - taps.astype(grid.dtype)), -0.75)
    return np.clip(left[:, None] + taps, 0, grid.before - 1), weights


def filtered_taps(grid: Grid, mode: str) -> Taps:
    """As many neighbours as lie under a filter that is as wide as an output."""
    reach, kernel = _FILTERS[mode]
    scale, half = grid.step, grid.dtype.type(0.5)
    stretch = max(scale, grid.dtype.type(1))
    support = grid.dtype.type(reach) * stretch
    centre = scale * (np.arange(grid.after, dtype=grid.dtype) + half)
    start = np.maximum((centre - support + half).astype(int), 0)
    end = np.minimum((centre + support + half).astype(int), grid.before)
    taps = np.arange(min(math.ceil(support) * 2 + 1, int((end - start).max())))
    positions = start[:, None] + taps
    distance = (positions.astype(grid.dtype) - centre[:, None] + half) / stretch
    weights = np.where(positions < end[:, None], kernel(np.abs(distance)), 0)
    weights = weights / weights.sum(1, keepdims=True)
    return np.where(positions < end[:, None], positions, grid.before), weights.astype(grid.dtype)


def _cubic(t: np.ndarray, a: float) -> np.ndarray:
    """The cubic convolution kernel at distances `t`; `a` is its slope at 1."""
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0)).astype(t.dtype)


# Half the width in inputs, and the weight at a distance.
_FILTERS: dict[str, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1, lambda t: np.maximum(1 - t, 0)),
    "bicubic": (2, lambda t: _cubic(t, -0.5)),
    "lanczos": (3, lambda t: np.where(t < 3, np.sinc(t) * np.sinc(t / 3), 0)),
}
