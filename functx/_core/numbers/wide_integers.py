"""Integers that the widest dtype cannot hold; NumPy's of 64 bits JAX would wrap to 32."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NoReturn

import jax
import numpy as np

from functx._core.errors import describe, refuse, Refused

from .dtypes import available, LONG


_LONG = (np.dtype("int64"), np.dtype("uint64"))
MAY_HOLD_WIDE = frozenset((np.ndarray, np.int64, np.uint64, np.longlong, np.ulonglong))
_nothing_wide_in = (MAY_HOLD_WIDE | {list, tuple}).isdisjoint


def wide_integers_fit(values: Collection[Any]) -> bool:
    """Whether 32 bits lose nothing of NumPy's integers among `values` and in their sequences."""
    if _nothing_wide_in(map(type, values)):  # what every eager call pays for
        return True
    for x in values:
        kind = type(x)
        if kind in MAY_HOLD_WIDE:
            if not _fits(x):
                return False
        elif (kind is list or kind is tuple) and not wide_integers_fit(x):
            return False
    return True


def _fits(x: Any) -> bool:
    if x.dtype not in _LONG or jax.config.read("jax_enable_x64") or x.size == 0:
        return True
    narrow = np.iinfo(available(x.dtype))
    return bool(x.min() >= narrow.min and x.max() <= narrow.max)


def refuse_wide(name: str, value: Any) -> None:
    """Refuses the first integer, NumPy's or Python's, that does not fit, as the argument `name`."""
    for x in jax.tree.leaves(value):
        if type(x) in MAY_HOLD_WIDE and not _fits(x):
            widest = available(x.dtype)
            limits = np.iinfo(widest)
            outside = np.ravel(x)[np.ravel((x < limits.min) | (x > limits.max))][0]
            _refuse(name, int(outside), widest)
        if isinstance(x, int) and not _within(x, widest := available(LONG)):
            _refuse(name, x, widest)


def _within(x: int, dtype: np.dtype) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= x <= limits.max)


def _refuse(name: str, x: int, widest: np.dtype) -> NoReturn:
    with_64_bit = _within(x, np.dtype(f"{widest.kind}8"))
    refuse(
        f"`{name}` must fit {widest.name}, the widest integer, got {describe(x)}",
        hint="functx.enable_x64() gives 64-bit integers"
        if with_64_bit
        else "where a float will do, it has more room: 1e30",
        error=OverflowError,
    )


def require_representable(who: str, named: Iterable[tuple[str, Any]]) -> None:
    """Has `who` refuse integers that would wrap."""
    try:
        for name, value in named:
            refuse_wide(name, value)
    except Refused as refused:
        worded = refused.by(who)
    else:
        return
    raise worded
