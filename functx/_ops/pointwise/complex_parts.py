"""Complex numbers and their parts."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    category,
    describe,
    operator,
    Promote,
    refuse,
)


__all__ = ["complex", "conj", "imag", "real"]


@operator(promote=Promote.NONE, accepts=Accepts.REAL)
def complex(real: ArrayOnly, imag: ArrayOnly) -> Array:
    r"""Complex numbers $\mathrm{real} + i \cdot \mathrm{imag}$, broadcasting.

    Dtypes: both floating, and the same. float64 gives complex128, narrower ones complex64.

    >>> functx.complex(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([0.0, 3.0], "float32"))
    Array([1.+0.j, 2.+3.j], dtype=complex64)
    """
    if category(real.dtype) != 2 or real.dtype != imag.dtype:
        refuse(
            "`real` and `imag` must be floating and of the same dtype, "
            f"got {describe(real)} and {describe(imag)}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )
    wide = "float64" if real.dtype == "float64" else "float32"
    real, imag = jnp.broadcast_arrays(real.astype(wide), imag.astype(wide))
    return lax.complex(real, imag)


@operator(promote=Promote.COMPLEX_TO_FLOAT)
def real(input: ArrayLike) -> Array:
    """Real part of each element; a real array is itself.

    >>> functx.real(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([1.], dtype=float32)
    """
    return lax.real(input) if category(input.dtype) == 3 else input


@operator(promote=Promote.COMPLEX_TO_FLOAT)
def imag(input: ArrayLike) -> Array:
    """Imaginary part of each element. Real arrays are refused.

    >>> functx.imag(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([2.], dtype=float32)
    """
    if category(input.dtype) != 3:
        refuse(
            f"`input` must be complex, got {describe(input)}",
            hint="the imaginary part of a real array is zero everywhere",
        )
    return lax.imag(input)


@operator(aliases=("conj_physical",))
def conj(input: ArrayLike) -> Array:
    """Complex conjugate of each element; a real array is itself.

    >>> functx.conj(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([1.-2.j], dtype=complex64)
    """
    return lax.conj(input) if category(input.dtype) == 3 else input
