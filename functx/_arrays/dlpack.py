"""Arrays of other libraries, which speak DLPack: their memory is shared where that is possible."""

from __future__ import annotations

import contextlib
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from functx._core.errors import describe, foreign_hint, refuse
from functx._core.numbers.dtypes import is_numeric
from functx._core.numbers.wide_integers import refuse_wide


def speaks_dlpack(x: Any) -> bool:
    """Whether `x` can hand its memory on."""
    return hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")


def of_dlpack(name: str, given: Any, copy: bool | None, device: Any = None) -> jax.Array:
    """The array that `given` is, which is the argument `name`.

    It is where `given` is, or on `device`. With `copy=None` it is copied where it must be, with
    `copy=False` that is refused.
    """
    if getattr(given, "requires_grad", False):
        refuse(
            f"`{name}` requires grad, which ends here, got {describe(given)}",
            hint=foreign_hint(given),
            error=TypeError,
        )
    _refuse_wide(name, given)
    try:
        try:
            out = jnp.from_dlpack(given, device=device, copy=False if copy is False else None)
        except jax.errors.JaxRuntimeError:  # memory with gaps, or read more than once
            if copy is False:
                _refuse_to_share(name, given)
            out = jnp.from_dlpack(_dense(given), device=device)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if copy is False and isinstance(error, ValueError):
            _refuse_to_share(name, given)
        refuse(f"`{name}` cannot be handed on by DLPack: {error}", error=type(error))
    dtype = str(getattr(given, "dtype", out.dtype)).rpartition(".")[2]
    if copy is False and dtype in _WIDE and out.dtype.name != dtype:  # 64 bit is off
        _refuse_to_share(name, given)
    if not is_numeric(out.dtype):
        refuse(f"`{name}` must be an array of numbers, got {describe(given)}", error=TypeError)
    # JAX's own `copy=True` shares memory of the CPU (seen in 0.10.2).
    return jnp.array(out, copy=True).block_until_ready() if copy else out


def _dense(given: Any) -> Any:
    """`given`, copied into memory of its own; NumPy has no bfloat16, PyTorch a method."""
    contiguous = getattr(given, "contiguous", None)
    return np.array(np.from_dlpack(given)) if contiguous is None else contiguous()


def _refuse_wide(name: str, given: Any) -> None:
    """Refuses integers that 32 bits do not hold, where they are in this process's memory."""
    may_be_wide = "int64" in str(getattr(given, "dtype", "int64"))
    if may_be_wide and int(given.__dlpack_device__()[0]) == _CPU:
        with contextlib.suppress(BufferError, RuntimeError):  # of a dtype that NumPy lacks
            refuse_wide(name, np.from_dlpack(given))


def _refuse_to_share(name: str, given: Any) -> NoReturn:
    what = f"`{name}` cannot become an array without a copy, got {describe(given)}"
    refuse(what, hint="copy=None makes one", error=ValueError)


_WIDE = {"int64", "uint64", "float64", "complex128"}
_CPU = 1  # among DLPack's kinds of devices
