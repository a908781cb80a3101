"""The polynomials of Chebyshev, Legendre, Hermite and Laguerre."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, operator, Promote

from .orthogonal import hermite_polynomial, jacobi_polynomial, laguerre_polynomial


__all__ = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def chebyshev_polynomial_t(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the first kind of `input`: $T_n(\cos\theta) = \cos n\theta$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.chebyshev_polynomial_t(jnp.asarray([0.5, 2.0], "float32"), 3)
    Array([-1., 26.], dtype=float32)
    """
    return jacobi_polynomial("t", "special.chebyshev_polynomial_t")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def chebyshev_polynomial_u(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the second kind, $U_n$, of `input`.

    $U_n(\cos\theta) = \sin((n + 1)\theta) / \sin\theta$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.chebyshev_polynomial_u(jnp.asarray([0.5, 2.0], "float32"), 3)
    Array([-1., 56.], dtype=float32)
    """
    return jacobi_polynomial("u", "special.chebyshev_polynomial_u")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def chebyshev_polynomial_v(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the third kind, $V_n$, of `input`.

    $V_n(\cos\theta) = \cos((n + \tfrac12)\theta) / \cos\tfrac\theta2$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.chebyshev_polynomial_v(jnp.asarray([0.5, 2.0], "float32"), 3)
    Array([-1., 41.], dtype=float32)
    """
    return jacobi_polynomial("v", "special.chebyshev_polynomial_v")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def chebyshev_polynomial_w(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the fourth kind, $W_n$, of `input`.

    $W_n(\cos\theta) = \sin((n + \tfrac12)\theta) / \sin\tfrac\theta2$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.chebyshev_polynomial_w(jnp.asarray([0.5, 2.0], "float32"), 3)
    Array([-1., 71.], dtype=float32)
    """
    return jacobi_polynomial("w", "special.chebyshev_polynomial_w")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def shifted_chebyshev_polynomial_t(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the first kind on $[0, 1]$, $T_n(2 x - 1)$, of `input` $x$.

    $T_n(\cos\theta) = \cos n\theta$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.shifted_chebyshev_polynomial_t(jnp.asarray([0.75, 2.0], "float32"), 2)
    Array([-0.5, 17. ], dtype=float32)
    """
    return jacobi_polynomial("t", "special.shifted_chebyshev_polynomial_t", shifted=True)(
        *jnp.broadcast_arrays(input, n)
    )


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def shifted_chebyshev_polynomial_u(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the second kind on $[0, 1]$, $U_n(2 x - 1)$, of `input` $x$.

    $U_n(\cos\theta) = \sin((n + 1)\theta) / \sin\theta$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.shifted_chebyshev_polynomial_u(jnp.asarray([0.75, 2.0], "float32"), 2)
    Array([ 0., 35.], dtype=float32)
    """
    return jacobi_polynomial("u", "special.shifted_chebyshev_polynomial_u", shifted=True)(
        *jnp.broadcast_arrays(input, n)
    )


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def shifted_chebyshev_polynomial_v(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the third kind on $[0, 1]$, $V_n(2 x - 1)$, of `input` $x$.

    $V_n(\cos\theta) = \cos((n + \tfrac12)\theta) / \cos\tfrac\theta2$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.shifted_chebyshev_polynomial_v(jnp.asarray([0.75, 2.0], "float32"), 2)
    Array([-1., 29.], dtype=float32)
    """
    return jacobi_polynomial("v", "special.shifted_chebyshev_polynomial_v", shifted=True)(
        *jnp.broadcast_arrays(input, n)
    )


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def shifted_chebyshev_polynomial_w(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Chebyshev polynomial of the fourth kind on $[0, 1]$, $W_n(2 x - 1)$, of `input` $x$.

    $W_n(\cos\theta) = \sin((n + \tfrac12)\theta) / \sin\tfrac\theta2$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Up to degree $2^{20}$ the
    polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.shifted_chebyshev_polynomial_w(jnp.asarray([0.75, 2.0], "float32"), 2)
    Array([ 1., 41.], dtype=float32)
    """
    return jacobi_polynomial("w", "special.shifted_chebyshev_polynomial_w", shifted=True)(
        *jnp.broadcast_arrays(input, n)
    )


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def hermite_polynomial_h(input: ArrayLike, n: ArrayLike) -> Array:
    """Physicists' Hermite polynomial of `input` $x$: $H_{n+1}(x) = 2 x H_n(x) - 2 n H_{n-1}(x)$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Degrees above $2^{20}$ give NaN.
    The polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.hermite_polynomial_h(jnp.asarray([0.0, 2.0], "float32"), 2)
    Array([-2., 14.], dtype=float32)
    """
    return hermite_polynomial(2.0, "special.hermite_polynomial_h")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def hermite_polynomial_he(input: ArrayLike, n: ArrayLike) -> Array:
    r"""Probabilists' Hermite polynomial of `input` $x$.

    $He_{n+1}(x) = x\,He_n(x) - n\,He_{n-1}(x)$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Degrees above $2^{20}$ give NaN.
    The polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.hermite_polynomial_he(jnp.asarray([0.0, 2.0], "float32"), 2)
    Array([-1.,  3.], dtype=float32)
    """
    return hermite_polynomial(1.0, "special.hermite_polynomial_he")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def laguerre_polynomial_l(input: ArrayLike, n: ArrayLike) -> Array:
    """Laguerre polynomial of `input` $x$.

    $(n + 1) L_{n+1}(x) = (2 n + 1 - x) L_n(x) - n L_{n-1}(x)$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Degrees above $2^{20}$ give NaN.
    The polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.laguerre_polynomial_l(jnp.asarray([0.0, 2.0], "float32"), 2)
    Array([ 1., -1.], dtype=float32)
    """
    return laguerre_polynomial("special.laguerre_polynomial_l")(*jnp.broadcast_arrays(input, n))


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def legendre_polynomial_p(input: ArrayLike, n: ArrayLike) -> Array:
    """Legendre polynomial of `input` $x$.

    $(n + 1) P_{n+1}(x) = (2 n + 1) x P_n(x) - n P_{n-1}(x)$.

    - `n`: the degree, a number or an array; it loses its fraction. For a negative degree the result
      is 0, for NaN and infinity it is NaN (in PyTorch 0).

    Beyond the range the result is infinite, where PyTorch has NaN. Degrees above $2^{20}$ give NaN.
    The polynomial has all derivatives in `input`, of which PyTorch has none; the derivative in the
    degree is 0.

    Shapes: `input` and `n` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.legendre_polynomial_p(jnp.asarray([0.0, 2.0], "float32"), 2)
    Array([-0.5,  5.5], dtype=float32)
    """
    return jacobi_polynomial("p", "special.legendre_polynomial_p")(*jnp.broadcast_arrays(input, n))
