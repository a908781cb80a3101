"""Dtypes: their category, their place in PyTorch's lattice, and what 64 bit means here."""

from __future__ import annotations

import enum
from typing import Any, NoReturn, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core.context.user_contexts import chosen_default
from functx._core.errors import describe, foreign_hint, refuse


DTypeLike: TypeAlias = Any

_f16, _f32, _f64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
_bf16, _c64, _c128 = np.dtype(jnp.bfloat16), np.dtype("complex64"), np.dtype("complex128")

LONG = np.dtype("int64")
_COMPLEX = {_f16: _c64, _bf16: _c64, _f32: _c64, _f64: _c128}  # XLA has no complex32
_REAL = {_c64: _f32, _c128: _f64}

BOOLS = ("bool",)
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEXES = ("complex64", "complex128")


class Accepts(enum.Enum):
    """The dtypes an operator takes, of those PyTorch has."""

    ANY = BOOLS + INTEGERS + FLOATS + COMPLEXES
    REAL = BOOLS + INTEGERS + FLOATS
    NUMBER = INTEGERS + FLOATS + COMPLEXES
    REAL_NUMBER = INTEGERS + FLOATS
    INTEGRAL = BOOLS + INTEGERS
    INTEGER = INTEGERS
    BOOL = BOOLS
    INEXACT = FLOATS + COMPLEXES
    FLOATING = FLOATS
    LAPACK = ("float32", "float64") + COMPLEXES
    LAPACK_REAL = ("float32", "float64")
    WHOLE = BOOLS + INTEGERS + LAPACK  # no halves: Fourier transforms
    WHOLE_REAL = BOOLS + INTEGERS + LAPACK_REAL

    @property
    def words(self) -> str:
        """What errors call these dtypes: their kind, or one by one where they are fewer."""
        if self.name.startswith(("LAPACK", "WHOLE")):
            return " or ".join([", ".join(self.value[:-1]), self.value[-1]])
        return self.name.lower().replace("_", " ")


def category(dtype: Any) -> int:
    """bool 0, integer 1, floating 2, complex 3."""
    if dtype == np.bool_:
        return 0
    if jnp.issubdtype(dtype, np.integer):
        return 1
    return 3 if jnp.issubdtype(dtype, np.complexfloating) else 2


def complex_of(dtype: Any) -> np.dtype:
    """The complex dtype as wide as a floating one: complex64 for float32 and narrower."""
    return _COMPLEX.get(np.dtype(dtype), np.dtype(dtype))


def real_of(dtype: Any) -> np.dtype:
    """The real dtype of a complex one's parts; any other dtype itself."""
    return _REAL.get(np.dtype(dtype), np.dtype(dtype))


def accumulator(dtype: Any) -> np.dtype:
    """The dtype in which sums and products of `dtype` are computed: float32 for halves.

    Passed as `preferred_element_type`, it leaves the operands as they are: units that multiply
    halves are used where a device has them.
    """
    dtype = np.dtype(dtype)
    return _f32 if dtype in (_f16, _bf16) else dtype


def default_float() -> np.dtype:
    """The default dtype: that of Python's floats, and of what is computed from integers.

    `functx.set_default_dtype` decides. While 64 bit is off, float64 is float32 like everywhere.
    """
    return available(chosen_default.value)


def default_complex() -> np.dtype:
    """The default dtype of complex numbers, whose parts have the default dtype or a wider one."""
    return complex_of(default_float())


def default_of(kind: int) -> np.dtype:
    """The dtype of Python's numbers of a category: bool, int64, and the default dtypes."""
    if kind < 2:
        return np.dtype(bool) if kind == 0 else available(LONG)
    return default_float() if kind == 2 else default_complex()


def available(dtype: Any) -> np.dtype:
    """`dtype`, or its 32-bit form while 64 bit is off."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def is_numeric(dtype: Any) -> bool:
    """Whether arrays of a dtype hold numbers that XLA has, or bools."""
    try:
        return jnp.issubdtype(dtype, np.number) or np.dtype(dtype) == np.bool_
    except TypeError:
        return False


def only_stores(dtype: Any) -> bool:
    """Whether a dtype of numbers is one in which nothing is computed here: float8, int4."""
    return dtype.itemsize == 1 and dtype.name not in Accepts.ANY.value and is_numeric(dtype)


def refuse_storage(dtype: np.dtype, got: str) -> NoReturn:
    """Refuses a dtype that only stores numbers where numbers are computed."""
    refuse(
        f"{dtype.name} only stores numbers, and none are computed in it, got {got}",
        hint="compute in another dtype, as of x.astype('float32'), and convert the result",
        error=TypeError,
    )


def as_dtype(dtype: DTypeLike, argument: str = "dtype") -> np.dtype:
    """The available NumPy dtype that `functx.float32`, `"float32"` or `float` name."""
    return available(named_dtype(dtype, argument))


def named_dtype(dtype: DTypeLike, argument: str) -> np.dtype:
    """The NumPy dtype that `as_dtype` would give with 64 bit on, whether it is on or off."""
    try:
        named = jnp.dtype(dtype.dtype if isinstance(dtype, (jax.Array, np.ndarray)) else dtype)
    except (TypeError, ValueError):
        named = None
    if dtype is None or named is None or not is_numeric(named):
        wanted = "a dtype" if named is None else "a dtype of numbers"
        refuse(
            f"`{argument}` must be {wanted}, got {describe(dtype)}",
            hint=foreign_hint(dtype)
            or "for instance functx.float32, jnp.bfloat16, 'int64' or np.dtype('bool')",
            error=TypeError,
        )
    return named


def lowest(dtype: Any) -> Any:
    """The least value of a real dtype: -inf, the least integer, or False."""
    kind = category(dtype)
    if kind == 0:
        return np.False_
    return int(jnp.iinfo(dtype).min) if kind == 1 else -np.inf


def highest(dtype: Any) -> Any:
    """The greatest value of a real dtype: inf, the greatest integer, or True."""
    kind = category(dtype)
    if kind == 0:
        return np.True_
    return int(jnp.iinfo(dtype).max) if kind == 1 else np.inf


def holds(dtype: Any, value: Any) -> Any:
    """Whether `dtype` holds each number of `value` without overflow, as PyTorch sees it.

    Negative integers wrap in unsigned dtypes, and infinities are floating values.
    """
    value = jnp.asarray(value)
    target, kind = category(dtype), category(value.dtype)
    if target == 3:
        each = real_of(dtype)
        return holds(each, jnp.real(value)) & holds(each, jnp.imag(value))
    if target == 0 or kind in (0, 3):
        return jnp.ones(value.shape, bool)
    if target == 2:
        finite = lax.abs(value.astype(available(float))) <= float(jnp.finfo(dtype).max)
        return finite | ~jnp.isfinite(value)
    info = jnp.iinfo(dtype)
    if kind == 2:
        return jnp.isfinite(value) & (value >= float(info.min)) & (value <= float(info.max))
    own = np.iinfo(value.dtype)
    low = max(info.min or -info.max, own.min)
    return (value >= low) & (value <= min(info.max, own.max))
