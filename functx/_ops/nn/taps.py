"""The taps of resampling: the inputs whose weighted sum an output is, and their weights.

Taps depend on sizes alone, so NumPy works them out while tracing, in the precision in which
PyTorch's kernels do. For symbolic sizes the exported program works them out, by the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.core import max_dim

from functx._core import as_number, known, Size
from functx._ops.quotients import quotient


# Positions and weights, `[outputs, taps]`; positions beyond the inputs read zeros.
ResamplingTaps = tuple[Any, Any]


class Grid(NamedTuple):
    """The places of outputs among inputs: the sizes before and after, and the ratio asked for."""

    before: Size
    after: Size
    scale_factor: float | None
    align_corners: bool
    dtype: np.dtype  # of coordinates and weights

    @property
    def xp(self) -> Any:
        """The module that computes with sizes: NumPy, or JAX if one is symbolic."""
        return numbers_of(self.before, self.after)

    @property
    def step(self) -> Any:
        """The distance of two outputs, measured in inputs."""
        if self.align_corners:
            ratio = self._ratio(self.before - 1, self.after - 1)
        elif self.scale_factor is not None and self.scale_factor > 0:
            ratio = 1 / self.scale_factor
        else:
            return self._quotient(self.before, self.after)
        return self.dtype.type(ratio) if isinstance(ratio, float | int) else ratio

    def _ratio(self, x: Size, y: Size) -> Any:
        if known(x, y):
            return x / y if y > 0 else 0
        return jnp.where(as_number(y, "int32") > 0, self._quotient(x, max_dim(y, 1)), 0)

    def _quotient(self, x: Size, y: Size) -> Any:
        if known(x, y):
            return self.dtype.type(x) / self.dtype.type(y)
        x, y = (jnp.asarray(as_number(n, self.dtype), self.dtype) for n in (x, y))
        return quotient(x, y)

    def most(self, reach: int) -> Size:
        """An upper bound of `reach` steps measured in inputs, and of `reach`, rounded up."""
        if not self.align_corners and self.scale_factor is not None and self.scale_factor > 0:
            return max(math.ceil(reach / self.scale_factor), reach)
        before, after = self.before, self.after
        if self.align_corners:
            before, after = before - 1, max_dim(after - 1, 1)
        return max_dim(-(-reach * before // after), reach)

    def same(self, other: int = 1) -> Any:
        """Whether there are `other` times as many outputs as inputs; an array if sizes leave it
        open.
        """
        before = other * self.before
        if known(before, self.after) or before == self.after:
            return before == self.after
        return as_number(before, "int32") == as_number(self.after, "int32")

    @property
    def coordinates(self) -> Any:
        """The place of each output, where the first input is at 0."""
        i = self.xp.arange(self.after, dtype=self.dtype)
        half = self.dtype.type(0.5)
        return i * self.step if self.align_corners else (i + half) * self.step - half


def numbers_of(*sizes: Size) -> Any:
    """NumPy, or JAX if one of the sizes is symbolic."""
    return np if known(*sizes) else jnp


def nearest_positions(grid: Grid, *, exact: bool) -> Any:
    """One tap of weight 1 for each output. `exact` measures from the centres of elements, else from
    their edges.
    """
    i = grid.xp.arange(grid.after, dtype=grid.dtype)
    at = grid.xp.floor((i + grid.dtype.type(0.5 if exact else 0)) * grid.step)
    return grid.xp.minimum(at.astype(int), grid.before - 1)


def linear_taps(grid: Grid) -> ResamplingTaps:
    """The two neighbours of each output."""
    xp = grid.xp
    at = xp.maximum(grid.coordinates, 0)
    left = xp.minimum(at.astype(int), grid.before - 1)
    right = xp.minimum(left + 1, grid.before - 1)
    weight = xp.clip(at - left.astype(grid.dtype), 0, 1)
    return xp.stack([left, right], 1), xp.stack([1 - weight, weight], 1)


def cubic_taps(grid: Grid) -> ResamplingTaps:
    """The four neighbours of each output. Beyond the edge, the edge is repeated."""
    xp, at = grid.xp, grid.coordinates
    left = xp.minimum(xp.floor(at).astype(int), grid.before - 1)
    offset = xp.clip(at - left.astype(grid.dtype), 0, 1)[:, None]
    taps = np.arange(-1, 3)
    weights = _cubic(xp, abs(offset - taps.astype(grid.dtype)), -0.75)
    return xp.clip(left[:, None] + taps, 0, grid.before - 1), weights


def filtered_taps(grid: Grid, mode: str) -> ResamplingTaps:
    """All neighbours that lie under a filter as wide as an output."""
    xp, (reach, kernel) = grid.xp, _FILTERS[mode]
    scale, half = grid.step, grid.dtype.type(0.5)
    stretch = xp.maximum(scale, grid.dtype.type(1))
    support = grid.dtype.type(reach) * stretch
    centre = scale * (xp.arange(grid.after, dtype=grid.dtype) + half)
    start = xp.maximum((centre - support + half).astype(int), 0)
    end = xp.minimum((centre + support + half).astype(int), grid.before)
    if xp is np:
        taps = np.arange(min(math.ceil(support) * 2 + 1, int((end - start).max())))
    else:
        taps = jnp.arange(2 * grid.most(reach) + 1)
    positions = start[:, None] + taps
    distance = (positions.astype(grid.dtype) - centre[:, None] + half) / stretch
    weights = xp.where(positions < end[:, None], kernel(xp, abs(distance)), 0)
    weights = weights / weights.sum(1, keepdims=True)
    return xp.where(positions < end[:, None], positions, grid.before), weights.astype(grid.dtype)


def kept_where_same(grid: Grid, taps: ResamplingTaps) -> ResamplingTaps:
    """Taps that read each input alone where there are as many outputs, which symbolic sizes may
    leave open.
    """
    if grid.xp is np:
        return taps
    positions, weights = taps
    first = jnp.arange(positions.shape[1]) == 0
    alone = jnp.where(first, jnp.arange(grid.after)[:, None], grid.before)
    same = grid.same()
    return jnp.where(same, alone, positions), jnp.where(same, first.astype(weights.dtype), weights)


def adaptive_windows(n: Size, m: Size) -> tuple[Any, Any, Size]:
    """The start and the end of each of `m` windows over `n` elements, `[m, 1]`, and an upper bound
    of their lengths.
    """
    i = numbers_of(n, m).arange(m)[:, None]
    start, end = i * n // max_dim(m, 1), -(-(i + 1) * n // max_dim(m, 1))
    if known(n, m):
        return start, end, int((end - start).max(initial=1))
    return start, end, -(-n // max_dim(m, 1)) + 1


def average_taps(n: Size, m: Size) -> ResamplingTaps:
    """The elements of each window of adaptive average pooling."""
    xp = numbers_of(n, m)
    start, end, longest = adaptive_windows(n, m)
    positions = start + xp.arange(longest)
    inside = positions < end
    return xp.where(inside, positions, n), xp.where(inside, 1 / (end - start), 0)


def _cubic(xp: Any, t: Any, a: float) -> Any:
    """The cubic convolution kernel at distances `t`; `a` is its slope at 1."""
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return xp.where(t <= 1, near, xp.where(t < 2, far, 0)).astype(t.dtype)


# For each filter, half its width in inputs, and its weight at a distance.
_FILTERS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "bilinear": (1, lambda xp, t: xp.maximum(1 - t, 0)),
    "bicubic": (2, lambda xp, t: _cubic(xp, t, -0.5)),
    "lanczos": (3, lambda xp, t: xp.where(t < 3, xp.sinc(t) * xp.sinc(t / 3), 0)),
}
