"""The default dtype: what Python's floats become, and what is computed from integers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from functx._core.context.user_contexts import chosen_default
from functx._core.errors import fail, Refused
from functx._core.numbers.dtypes import available, default_float, DTypeLike, FLOATS, named_dtype


def get_default_dtype() -> np.dtype[Any]:
    """The default dtype that holds here: float32, unless another one was set.

    >>> functx.get_default_dtype()
    dtype('float32')
    """
    return default_float()


def set_default_dtype(d: DTypeLike) -> None:
    """Sets the default dtype for the whole process.

    - `d`: float16, bfloat16, float32 or float64, by name or as an object.

    The default dtype is that of Python's floats, of arrays that are made of nothing (`zeros`,
    `rand`, `linspace`), and of results with a fraction that are computed from integers (`sin`, a
    quotient). Complex numbers have complex128 beside float64, complex64 beside the others.

    As in PyTorch, all threads see the default dtype, but for those in a region of
    `functx.default_dtype`. It is part of the key of every compiled program, so no program that was
    compiled before is used with another default. Where 64 bit is turned off after float64 was set,
    the default is float32 as long as 64 bit is off.

    Errors: TypeError for other dtypes, RuntimeError for float64 while 64 bit is off.

    >>> functx.set_default_dtype(functx.bfloat16)
    >>> functx.sin(jnp.arange(2)).dtype
    dtype(bfloat16)
    >>> functx.set_default_dtype(functx.float32)
    """
    chosen_default.set_global(_floating("set_default_dtype", d))


def default_dtype(d: DTypeLike) -> AbstractContextManager[None]:
    """Sets the default dtype for a region and the current thread.

    - `d`: float16, bfloat16, float32 or float64, by name or as an object.

    The innermost region counts, whatever `set_default_dtype` says meanwhile.

    Errors: TypeError for other dtypes, RuntimeError for float64 while 64 bit is off.

    >>> with functx.x64(), functx.default_dtype(functx.float64):
    ...     functx.div(jnp.arange(2), 3).dtype
    dtype('float64')
    """
    return chosen_default(_floating("default_dtype", d))


def _floating(who: str, d: Any) -> np.dtype[Any]:
    try:
        dtype = named_dtype(d, "d")
    except Refused as refused:
        worded = refused.by(who)
    else:
        if dtype.name not in FLOATS:
            what = f"`d` must be {', '.join(FLOATS[:-1])} or {FLOATS[-1]}, got {dtype.name}"
            fail(who, what, error=TypeError)
        if available(dtype) != dtype:
            fail(
                who,
                f"`d` must be at most 32 bits wide while 64 bit is off, got {dtype.name}",
                hint="functx.enable_x64() first, or with functx.x64() around the region",
            )
        return dtype
    raise worded
