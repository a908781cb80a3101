"""Correlations of images with kernels of many channels, which convolutions come down to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import accumulator, category

from .windows import windows


class Steps(NamedTuple):
    """How a kernel steps over an image: a number, or a pair, for each dimension."""

    strides: Sequence[int]
    pads: Sequence[tuple[int, int]]  # zeros before and after
    dilations: Sequence[int]  # of the kernel


def correlation(x: Array, weight: Array, steps: Steps, groups: int) -> Array:
    """Of `x: [N, C, *sizes]` and `weight: [F, C / groups, *kernel]`; halves are summed in float32.

    The result has the dtype in which it is summed.
    """
    if category(x.dtype) < 2:
        return _of_integers(x, weight, steps, groups)
    return lax.conv_general_dilated(
        x,
        weight,
        steps.strides,
        steps.pads,
        rhs_dilation=steps.dilations,
        feature_group_count=groups,
        preferred_element_type=accumulator(x.dtype),
    )


def _of_integers(x: Array, weight: Array, steps: Steps, groups: int) -> Array:
    """As a product with the windows: convolutions of integers exist on few devices."""
    n = len(steps.strides)
    x = jnp.pad(x, [(0, 0), (0, 0), *steps.pads])
    for i in range(n):
        kernel = weight.shape[2 + i]
        x = windows(x, 2 + 2 * i, kernel, steps.strides[i], steps.dilations[i])
    x = x.reshape(x.shape[0], groups, weight.shape[1], *x.shape[2:])
    weight = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    outer, inner = "xyz"[:n], "ijk"[:n]
    spread = "".join(o + i for o, i in zip(outer, inner, strict=True))
    out = jnp.einsum(f"ngc{spread},gfc{inner}->ngf{outer}", x, weight)
    return out.reshape(out.shape[0], groups * out.shape[2], *out.shape[3:])
