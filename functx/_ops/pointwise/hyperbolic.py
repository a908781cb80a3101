"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from jax import Array

from functx._core import ArrayLike, Autocast, operator, Promote
from functx._ops.sigmoids import hyperbolic_tangent

from .areas import area_cosine, area_sine, area_tangent
from .exponential_halves import hyperbolic_cosine, hyperbolic_sine


__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def sinh(input: ArrayLike) -> Array:
    """Hyperbolic sine of each element $x_i$ of `input`, $(e^{x_i} - e^{-x_i}) / 2$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.sinh(jnp.asarray([0.0, 1.0], "float32")).round(2)
    Array([0.  , 1.18], dtype=float32)
    """
    return hyperbolic_sine(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def cosh(input: ArrayLike) -> Array:
    """Hyperbolic cosine of each element $x_i$ of `input`, $(e^{x_i} + e^{-x_i}) / 2$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.cosh(jnp.asarray([0.0, 1.0], "float32")).round(2)
    Array([1.  , 1.54], dtype=float32)
    """
    return hyperbolic_cosine(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("nn.functional.tanh",))
def tanh(input: ArrayLike) -> Array:
    r"""Hyperbolic tangent of each element $x_i$ of `input`, $\tanh x_i = \sinh x_i / \cosh x_i$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.tanh(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.   , 0.762], dtype=float32)
    """
    return hyperbolic_tangent(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("arcsinh",))
def asinh(input: ArrayLike) -> Array:
    r"""Inverse hyperbolic sine of each element $x_i$ of `input`, $\ln(x_i + \sqrt{x_i^2 + 1})$.

    The branch cuts are $(-i\infty, -i]$ and $[i, i\infty)$, where the sign of the real part, also
    of a zero, decides. That sign decides on gradients too (not in PyTorch).

    Dtypes: bools and integers give the default dtype.

    >>> functx.asinh(jnp.asarray([0.0, 1.0], "float32")).round(2)
    Array([0.  , 0.88], dtype=float32)
    """
    return area_sine(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("arccosh",))
def acosh(input: ArrayLike) -> Array:
    r"""Inverse hyperbolic cosine of each element of `input`, which is not negative.

    Real numbers below 1 give NaN. The branch cut is $(-\infty, 1]$, where the sign of the imaginary
    part, also of a zero, decides. That sign decides on gradients too (not in PyTorch).

    Dtypes: bools and integers give the default dtype.

    >>> functx.acosh(jnp.asarray([1.0, 2.0, 0.0], "float32")).round(3)
    Array([0.   , 1.317,   nan], dtype=float32)
    """
    return area_cosine(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("arctanh",))
def atanh(input: ArrayLike) -> Array:
    r"""Inverse hyperbolic tangent of each element of `input`.

    This is $\tfrac12 \ln((1 + x_i) / (1 - x_i))$ for each $x_i$. Real numbers outside of $[-1, 1]$
    give NaN. The branch cuts are $(-\infty, -1]$ and $[1, \infty)$, where the sign of the imaginary
    part, also of a zero, decides.

    Dtypes: bools and integers give the default dtype.

    >>> functx.atanh(jnp.asarray([0.0, 0.5, 1.0], "float32")).round(3)
    Array([0.   , 0.549,   inf], dtype=float32)
    """
    return area_tangent(input)
