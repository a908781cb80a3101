"""Convolutions in the form that XLA's CPU kernels take.

At the top level of a program XLA transposes their operands itself; in the body of a loop (seen in
jaxlib 0.10.2) it does not, and runs them several times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import Array, lax

from .symbolic_sizes import known


def convolved(
    x: Array,
    kernel: Array,
    *,
    padding: Any,
    dimension_numbers: lax.ConvDimensionNumbers,
    **params: Any,
) -> Array:
    """`lax.conv_general_dilated` with the same arguments, whose padding may be symbolic.

    JAX pads by numbers alone there.
    """
    if not known(*(n for pair in padding for n in pair)):
        edges = [(0, 0, 0)] * x.ndim
        dilation = params.pop("lhs_dilation", (1,) * len(padding))
        where = zip(dimension_numbers.lhs_spec[2:], padding, dilation, strict=True)
        for axis, (before, after), step in where:
            edges[axis] = (before, after, step - 1)
        x, padding = lax.pad(x, np.zeros((), x.dtype), edges), [(0, 0)] * len(padding)
    return lax.conv_general_dilated(
        x, kernel, padding=padding, dimension_numbers=dimension_numbers, **params
    )


def channels_last(
    x: Array, kernel: Array, *, dimension_numbers: lax.ConvDimensionNumbers, **params: Any
) -> Array:
    """`convolved` with the same arguments, computed with the channels last."""
    n = x.ndim - 2
    (batch, channels, *sizes), (filters, inputs, *window), (first, second, *places) = (
        dimension_numbers.lhs_spec,
        dimension_numbers.rhs_spec,
        dimension_numbers.out_spec,
    )
    images = (0, n + 1, *range(1, n + 1))
    out = convolved(
        lax.transpose(x, (batch, *sizes, channels)),
        lax.transpose(kernel, (*window, inputs, filters)),
        dimension_numbers=lax.ConvDimensionNumbers(images, (n + 1, n, *range(n)), images),
        **params,
    )
    order = (first, *places, second)
    return lax.transpose(out, tuple(order.index(i) for i in range(n + 2)))
