"""Convolutions in the form that XLA's CPU kernels take.

At the top level of a program XLA transposes their operands itself; in the body of a loop (seen in
jaxlib 0.10.2) it does not, and runs them several times as long.
"""

from __future__ import annotations

from typing import Any

from jax import Array, lax


def channels_last(
    x: Array, kernel: Array, *, dimension_numbers: lax.ConvDimensionNumbers, **params: Any
) -> Array:
    """`lax.conv_general_dilated` with the same arguments, computed with the channels last."""
    n = x.ndim - 2
    (batch, channels, *sizes), (filters, inputs, *window), (first, second, *places) = (
        dimension_numbers.lhs_spec,
        dimension_numbers.rhs_spec,
        dimension_numbers.out_spec,
    )
    images = (0, n + 1, *range(1, n + 1))
    out = lax.conv_general_dilated(
        lax.transpose(x, (batch, *sizes, channels)),
        lax.transpose(kernel, (*window, inputs, filters)),
        dimension_numbers=lax.ConvDimensionNumbers(images, (n + 1, n, *range(n)), images),
        **params,
    )
    order = (first, *places, second)
    return lax.transpose(out, tuple(order.index(i) for i in range(n + 2)))
