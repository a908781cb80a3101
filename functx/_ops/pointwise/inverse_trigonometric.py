"""Inverse trigonometric functions."""

from __future__ import annotations

from jax import Array

from functx._core import ArrayLike, Autocast, operator, Promote

from .arcs import arc_cosine, arc_sine, arc_tangent


__all__ = ["acos", "asin", "atan"]


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, aliases=("arccos",))
def acos(input: ArrayLike) -> Array:
    r"""Inverse cosine of each element of `input`, in radians in $[0, \pi]$.

    Real numbers outside of $[-1, 1]$ give NaN. The branch cuts are $(-\infty, -1]$ and
    $[1, \infty)$, where the sign of the imaginary part, also of a zero, decides. That sign decides
    on gradients too (not in PyTorch).

    Dtypes: bools and integers give the default dtype.

    >>> functx.acos(jnp.asarray([1.0, 0.0, -1.0], "float32"))
    Array([0.       , 1.5707964, 3.1415927], dtype=float32)
    """
    return arc_cosine(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, aliases=("arcsin",))
def asin(input: ArrayLike) -> Array:
    r"""Inverse sine of each element of `input`, in radians in $[-\pi/2, \pi/2]$.

    Real numbers outside of $[-1, 1]$ give NaN. The branch cuts are $(-\infty, -1]$ and
    $[1, \infty)$, where the sign of the imaginary part, also of a zero, decides. That sign decides
    on gradients too (not in PyTorch).

    Dtypes: bools and integers give the default dtype.

    >>> functx.asin(jnp.asarray([0.0, 1.0, 2.0], "float32"))
    Array([0.       , 1.5707964,       nan], dtype=float32)
    """
    return arc_sine(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("arctan",))
def atan(input: ArrayLike) -> Array:
    r"""Inverse tangent of each element of `input`, in radians in $[-\pi/2, \pi/2]$.

    The branch cuts are $(-i\infty, -i]$ and $[i, i\infty)$, where the sign of the real part, also
    of a zero, decides.

    Dtypes: bools and integers give the default dtype.

    >>> functx.atan(jnp.asarray([0.0, 1.0, jnp.inf], "float32"))
    Array([0.       , 0.7853982, 1.5707964], dtype=float32)
    """
    return arc_tangent(input)
