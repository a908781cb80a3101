"""Airy functions."""

from __future__ import annotations

from jax import Array

from functx._core import Accepts, ArrayLike, operator, Promote

from .airy_derivatives import airy
from .orders import differentiable


__all__ = ["airy_ai"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def airy_ai(input: ArrayLike) -> Array:
    r"""Airy function of each element of `input`.

    This is $Ai(x_i) = \tfrac1\pi \int_0^\infty \cos(t^3 / 3 + x_i t)\,dt$, and 0 at both
    infinities, where PyTorch has NaN. Errors are less than 5 ulps, near zeros of the amplitude
    $\sqrt{Ai^2 + Bi^2}$; PyTorch's are up to 3e-6 near -2.1. Below -1e10 the phase costs digits of
    double precision, and below $-2^{52}$, where it would cost digits of single precision too, the
    result is 0. The function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.airy_ai(jnp.asarray([0.0, 1.0], "float32"))
    Array([0.35502806, 0.13529241], dtype=float32)
    """
    return _airy(input)


_airy = differentiable("airy_ai", airy)
