"""Resampling along one dimension: each output is a weighted sum of a few inputs, which are its
taps.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, decided, known, Size
from functx._core.rules.custom_derivatives import derivative_rules

from .taps import average_taps, ResamplingTaps


_FEW = 32  # taps that are written out one by one
_SHORT = 8  # windows that are too short for a loop over each


def resample(x: jax.Array, axis: int, positions: Any, weights: Any) -> jax.Array:
    r"""$y_o = \sum_t w_{ot}\, x_{p_{ot}}$ along `axis`; positions `>= n` read zeros.

    Shapes: `positions` and `weights` are `[outputs, taps]`.
    The transpose of a resampling is a resampling too, rather than the scatter of a gather. The
    exception is a symbolic size, which leaves open how many taps the transpose has.
    """
    axis %= x.ndim
    taps = (positions, weights.astype(x.dtype))
    n = x.shape[axis]
    if category(x.dtype) < 2 or not isinstance(positions, np.ndarray):
        return _weighed(x, axis, taps)
    back = _transposed(taps, n)
    return derivative_rules(
        lambda x: _weighed(x, axis, taps),
        jvp=lambda primals, output, tangents: resample(tangents[0], axis, *taps),
        vjp=lambda primals, output, cotangent: (resample(cotangent, axis, *back),),
        name="resample",
    )(x)


def _weighed(x: jax.Array, axis: int, taps: ResamplingTaps) -> jax.Array:
    """The weighted sum, with a gather for each of few taps: XLA fuses them, and the innermost loop
    runs along rows.
    """
    positions, weights = taps
    (outputs, count), n = positions.shape, x.shape[axis]
    if decided(lambda: count > _FEW, otherwise=True):
        return _weighed_at_once(x, axis, taps)
    xp: Any = np if isinstance(positions, np.ndarray) else jnp
    total = jnp.zeros((*x.shape[:axis], outputs, *x.shape[axis + 1 :]), x.dtype)
    along = lambda column: xp.expand_dims(column, tuple(range(1, x.ndim - axis)))
    for at, weight in ((positions[:, t], weights[:, t]) for t in range(count)):
        term = jnp.take(x, xp.minimum(at, n - 1), axis, mode="clip") * along(weight)
        outside = at >= n
        some = xp is jnp or outside.any()
        total += jnp.where(along(outside), 0, term) if some else term
    return total


def _weighed_at_once(x: jax.Array, axis: int, taps: ResamplingTaps) -> jax.Array:
    positions, weights = taps
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    # jaxlib 0.10.2 and 0.11.0 crash on CPUs where a product of seven dimensions is summed, as
    # volumes under vmap would have them (jax-ml/jax#39257), so all other dimensions are flattened.
    flat = x.reshape(math.prod(before), x.shape[axis], math.prod(after))
    read = jnp.take(flat, positions, 1, mode="fill", fill_value=0)
    out = jnp.sum(read * weights[:, :, None], 2, dtype=x.dtype)
    return out.reshape(*before, positions.shape[0], *after)


def _transposed(taps: ResamplingTaps, n: int) -> ResamplingTaps:
    """The taps of the transpose: the amounts that each of the `n` inputs gives, and the outputs
    that get them.
    """
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


def averaged(x: jax.Array, axis: int, m: Size) -> jax.Array:
    """Adaptive average pooling to `m` means along `axis`."""
    axis %= x.ndim
    n = x.shape[axis]
    short = known(n, m) and n <= _SHORT * m
    if m == 0 or short or n % m != 0:
        return resample(x, axis, *average_taps(n, m))
    windows = x.reshape(*x.shape[:axis], m, n // m, *x.shape[axis + 1 :])
    return jnp.mean(windows, axis + 1)


def resample_bytes(x: jax.Array, axis: int, positions: Any, weights: Any) -> jax.Array:
    """`resample` of uint8, with weights of 16 bit in the greatest precision that they allow.

    Source: `aten/src/ATen/native/cpu/UpSampleKernel.cpp`, after Pillow.
    """
    xp: Any = np if isinstance(positions, np.ndarray) else jnp
    weights = _merged(positions, weights) if xp is np else _merged_later(positions, weights)
    fit = 0.5 + weights.max(initial=0) * 2.0 ** np.arange(1, 23) < 2**15
    bits = xp.sum(fit, dtype="int32")
    one = xp.left_shift(np.int32(1), bits)
    fixed = xp.trunc(weights * one.astype(weights.dtype) + xp.copysign(0.5, weights))
    total = resample(x.astype("int32"), axis, positions, fixed)
    rounded = (total + one // 2) >> bits
    return jnp.clip(rounded, 0, 255).astype(x.dtype)


def _merged(positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights in which the first of several taps of one output on the same input has the sum of
    all.
    """
    rows = np.arange(len(positions))[:, None]
    by_position = np.zeros((len(positions), positions.max(initial=0) + 1))
    np.add.at(by_position, (rows, positions), weights)
    first = np.diff(positions, axis=1, prepend=-1) != 0
    return np.where(first, by_position[rows, positions], 0)


def _merged_later(positions: Any, weights: Any) -> jax.Array:
    """The same weights as those of `_merged`, computed when the exported program runs."""
    first = jnp.diff(positions, axis=1, prepend=-1) != 0
    same = positions[:, :, None] == positions[:, None]
    return jnp.where(first, jnp.sum(jnp.where(same, weights[:, None], 0), 2), 0)
