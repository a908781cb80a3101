"""Modified Bessel functions of the first and the second kind, of orders 0 and 1."""

from __future__ import annotations

import functools as ft

from jax import Array

from functx._core import Accepts, ArrayLike, operator, Promote

from .modified_first_kind import first_kind, scaled_first_kind
from .modified_second_kind import scaled_second_kind, second_kind
from .orders import differentiable


__all__ = [
    "i0",
    "i0e",
    "i1",
    "i1e",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
]


@operator(name="i0", promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, aliases=("special.i0",))
def i0(input: ArrayLike) -> Array:
    r"""Modified Bessel function of the first kind and order 0 of each element of `input`.

    This is $I_0(x_i) = \tfrac1\pi \int_0^\pi e^{x_i \cos t}\,dt$, infinite at both infinities,
    where PyTorch has NaN.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.i0(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([1.   , 1.266], dtype=float32)
    """
    return _i0(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def i0e(input: ArrayLike) -> Array:
    """Scaled modified Bessel function $e^{-|x_i|} I_0(x_i)$ of each element $x_i$ of `input`.

    $I_0$ is of the first kind and of order 0. Derivatives at the kink 0 are the means of the limits
    from both sides.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.special.i0e(jnp.asarray([0.0, 1000.0], "float32")).round(4)
    Array([1.    , 0.0126], dtype=float32)
    """
    return _i0e(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def i1(input: ArrayLike) -> Array:
    r"""Modified Bessel function of the first kind and order 1 of each element of `input`.

    This is $I_1(x_i) = \tfrac1\pi \int_0^\pi e^{x_i \cos t} \cos t\,dt$, infinite at both
    infinities, where PyTorch has NaN.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.special.i1(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.   , 0.565], dtype=float32)
    """
    return _i1(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def i1e(input: ArrayLike) -> Array:
    """Scaled modified Bessel function $e^{-|x_i|} I_1(x_i)$ of each element $x_i$ of `input`.

    $I_1$ is of the first kind and of order 1. Derivatives at 0 are the means of the limits from
    both sides.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.special.i1e(jnp.asarray([0.0, 1000.0], "float32")).round(4)
    Array([0.    , 0.0126], dtype=float32)
    """
    return _i1e(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def modified_bessel_i0(input: ArrayLike) -> Array:
    r"""Modified Bessel function of the first kind and order 0 of each element of `input`.

    This is $I_0(x_i) = \tfrac1\pi \int_0^\pi e^{x_i \cos t}\,dt$, infinite at both infinities,
    where PyTorch has NaN. The function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.modified_bessel_i0(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([1.   , 1.266], dtype=float32)
    """
    return _i0(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def modified_bessel_i1(input: ArrayLike) -> Array:
    r"""Modified Bessel function of the first kind and order 1 of each element of `input`.

    This is $I_1(x_i) = \tfrac1\pi \int_0^\pi e^{x_i \cos t} \cos t\,dt$, infinite at both
    infinities, where PyTorch has NaN. The function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.modified_bessel_i1(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.   , 0.565], dtype=float32)
    """
    return _i1(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def modified_bessel_k0(input: ArrayLike) -> Array:
    r"""Modified Bessel function of the second kind and order 0 of each element of `input`.

    This is $K_0(x_i) = \int_0^\infty e^{-x_i \cosh t}\,dt$, infinite at 0, NaN below, and 0 at
    infinity. The function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.modified_bessel_k0(jnp.asarray([0.0, 1.0], "float32"))
    Array([       inf, 0.42102444], dtype=float32)
    """
    return _k0(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def modified_bessel_k1(input: ArrayLike) -> Array:
    r"""Modified Bessel function of the second kind and order 1 of each element of `input`.

    This is $K_1(x_i) = \int_0^\infty e^{-x_i \cosh t} \cosh t\,dt$, infinite at 0, NaN below, and 0
    at infinity. The function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.modified_bessel_k1(jnp.asarray([0.0, 1.0], "float32"))
    Array([       inf, 0.60190725], dtype=float32)
    """
    return _k1(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def scaled_modified_bessel_k0(input: ArrayLike) -> Array:
    """Scaled modified Bessel function $e^{x_i} K_0(x_i)$ of each element $x_i$ of `input`.

    $K_0$ is of the second kind and of order 0. The function is infinite at 0 and NaN below, and has
    derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.scaled_modified_bessel_k0(jnp.asarray([1.0, 1e4], "float32")).round(4)
    Array([1.1445, 0.0125], dtype=float32)
    """
    return _k0e(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def scaled_modified_bessel_k1(input: ArrayLike) -> Array:
    """Scaled modified Bessel function $e^{x_i} K_1(x_i)$ of each element $x_i$ of `input`.

    $K_1$ is of the second kind and of order 1. The function is infinite at 0 and NaN below, and has
    derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.scaled_modified_bessel_k1(jnp.asarray([1.0, 1e4], "float32")).round(4)
    Array([1.6362, 0.0125], dtype=float32)
    """
    return _k1e(input)


_i0 = differentiable("i0", ft.partial(first_kind, 0))
_i1 = differentiable("i1", ft.partial(first_kind, 1))
_i0e = differentiable("i0e", ft.partial(scaled_first_kind, 0))
_i1e = differentiable("i1e", ft.partial(scaled_first_kind, 1))
_k0 = differentiable("modified_bessel_k0", ft.partial(second_kind, 0))
_k1 = differentiable("modified_bessel_k1", ft.partial(second_kind, 1))
_k0e = differentiable("scaled_modified_bessel_k0", ft.partial(scaled_second_kind, 0))
_k1e = differentiable("scaled_modified_bessel_k1", ft.partial(scaled_second_kind, 1))
