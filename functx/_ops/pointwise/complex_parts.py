"""Complex numbers, made of their parts and taken apart."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    category,
    complex_of,
    describe,
    operator,
    Promote,
    real_of,
    refuse,
)

from .circular import cosine, sine


__all__ = ["complex", "conj", "imag", "polar", "real", "view_as_complex", "view_as_real"]


@operator(promote=Promote.NONE, accepts=Accepts.REAL)
def complex(real: ArrayOnly, imag: ArrayOnly) -> Array:
    r"""Complex numbers with the parts `real` and `imag`: $\mathrm{real} + i \cdot \mathrm{imag}$.

    Shapes: `real` and `imag` broadcast.
    Dtypes: both floating, and the same. float64 gives complex128, narrower ones complex64.
    Errors: TypeError for other dtypes.

    >>> functx.complex(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([0.0, 3.0], "float32"))
    Array([1.+0.j, 2.+3.j], dtype=complex64)
    """
    return lax.complex(*_wide_pair(real=real, imag=imag))


@operator(promote=Promote.NONE, accepts=Accepts.REAL, autocast_cpu=Autocast.FLOAT32)
def polar(abs: ArrayOnly, angle: ArrayOnly) -> Array:
    """Complex numbers of the modulus `abs` and the argument `angle`, in radians.

    They are $r e^{it}$, with $r$ for `abs` and $t$ for `angle`. The gradient for `abs` is that of
    the product, also where `abs` is not positive (in PyTorch it is 0 at 0, and has the wrong sign
    below).

    Shapes: `abs` and `angle` broadcast.
    Dtypes: both floating, and the same. float64 gives complex128, narrower ones complex64.
    Errors: TypeError for other dtypes.

    >>> functx.polar(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([0.0, 0.0], "float32"))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    size, turn = _wide_pair(abs=abs, angle=angle)
    return lax.complex(size * cosine(turn), size * sine(turn))


def _wide_pair(**pair: Array) -> list[Array]:
    """Two floating arrays of one dtype, cast to the dtype of the parts of complex numbers."""
    first, second = pair.values()
    if category(first.dtype) != 2 or first.dtype != second.dtype:
        names = " and ".join(f"`{name}`" for name in pair)
        refuse(
            f"{names} must be floating and of the same dtype, "
            f"got {describe(first)} and {describe(second)}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )
    wide = real_of(complex_of(first.dtype))
    return jnp.broadcast_arrays(first.astype(wide), second.astype(wide))


@operator(promote=Promote.COMPLEX_TO_FLOAT)
def real(input: ArrayLike) -> Array:
    """Real part of each element of `input`; a real array is returned as it is.

    >>> functx.real(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([1.], dtype=float32)
    """
    return lax.real(input) if category(input.dtype) == 3 else input


@operator(promote=Promote.COMPLEX_TO_FLOAT)
def imag(input: ArrayLike) -> Array:
    """Imaginary part of each element of `input`. Errors: RuntimeError for real arrays.

    >>> functx.imag(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([2.], dtype=float32)
    """
    _check_complex(input, "the imaginary part of a real array is zero everywhere")
    return lax.imag(input)


@operator(promote=Promote.COMPLEX_TO_FLOAT, aliases=("view_as_real_copy",))
def view_as_real(input: ArrayOnly) -> Array:
    """Real and imaginary parts of the complex array `input` along a new last dimension.

    Results do not share memory: arrays are immutable.

    Shapes: `[...] -> [..., 2]`. Errors: RuntimeError for real arrays.

    >>> functx.view_as_real(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([[1., 2.]], dtype=float32)
    """
    _check_complex(input, "the parts of a real array are itself and zeros")
    return jnp.stack([lax.real(input), lax.imag(input)], axis=-1)


def _check_complex(input: Array, hint: str) -> None:
    if category(input.dtype) != 3:
        refuse(f"`input` must be complex, got {describe(input)}", hint=hint)


@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.FLOATING,
    aliases=("view_as_complex_copy",),
    autocast_cpu=Autocast.FLOAT32,
)
def view_as_complex(input: ArrayOnly) -> Array:
    """Complex numbers from the real and imaginary parts along the last dimension of `input`.

    Results do not share memory: arrays are immutable.

    Shapes: `[..., 2] -> [...]`.
    Dtypes: floating; float64 gives complex128, narrower ones complex64.
    Errors: RuntimeError for a last dimension of another size, TypeError for other dtypes.

    >>> functx.view_as_complex(jnp.asarray([[1.0, 2.0]], "float32"))
    Array([1.+2.j], dtype=complex64)
    """
    if input.ndim == 0 or input.shape[-1] != 2:
        refuse(f"`input` must end in a dimension of size 2, got {describe(input)}")
    parts = input.astype(real_of(complex_of(input.dtype)))
    return lax.complex(parts[..., 0], parts[..., 1])


@operator(aliases=("conj_physical",))
def conj(input: ArrayLike) -> Array:
    """Complex conjugate of each element of `input`; a real array is returned as it is.

    >>> functx.conj(jnp.asarray([1.0 + 2.0j], "complex64"))
    Array([1.-2.j], dtype=complex64)
    """
    return lax.conj(input) if category(input.dtype) == 3 else input
