"""Python integers that the dtype of the arrays beside them cannot hold.

Converted, they would wrap, as they do in PyTorch: 300 beside int8 is 44, and -1 beside uint8 is
255. So they are refused before they are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from functx._core.errors import refuse
from functx._core.numbers.dtypes import available, category, LONG
from functx._core.numbers.promotion import Promote, result_dtype

from .parameters import Parameters
from .roles import RoleKind


# Elsewhere numbers become floating, or the rule decides what they become.
_KEEP_INTEGERS = frozenset(
    (Promote.DEFAULT, Promote.NO_OPMATH, Promote.SAME, Promote.BOOL_TO_LONG, Promote.ALWAYS_BOOL)
)
_LIMITS: dict[Any, tuple[int, int]] = {
    limits.dtype: (int(limits.min), int(limits.max))
    for kind in ("int", "uint")
    for limits in (np.iinfo(f"{kind}{bits}") for bits in (8, 16, 32, 64))
}
_MOST = _LIMITS[np.dtype("int32")]  # what is wider may be refused where 64 bit is off


def number_check(
    parameters: Parameters, promote: Promote, zero_dim_promotes_alike: bool
) -> Callable[[Sequence[Any], Mapping[str, Any]], None] | None:
    """A check of a call's Python integers, or None if the operator takes no numbers.

    An operator whose own rule decides how dtypes promote has no such check.
    """
    numbers = [
        name
        for name, role in parameters.roles.items()
        if role.kind in (RoleKind.ARRAY, RoleKind.SCALAR)
        and role.takes_number
        and role.fits is None
    ]
    if promote not in _KEEP_INTEGERS or not numbers or len(parameters.traced) < 2:
        return None

    def check(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        values = (*args, *kwargs.values())
        if int not in map(type, values) or _fit_at_sight(values):
            return
        given = parameters.bound(tuple(args), kwargs)
        integers = {name: given[name] for name in numbers if type(given.get(name)) is int}
        beside = [given.get(name) for name in parameters.promoting if name not in integers]
        if not integers or not all(map(_is_integer_array, leaves := jax.tree.leaves(beside))):
            return
        if leaves:
            _refuse_outside(
                integers, result_dtype(leaves, zero_dim_promotes_alike=zero_dim_promotes_alike)
            )

    return check


def _fit_at_sight(values: Sequence[Any]) -> bool:
    """Whether all integers among `values` fit the dtypes of all arrays among them, as most do."""
    integers = [x for x in values if type(x) is int]
    low, high = _MOST
    for x in values:
        kind = type(x)
        if kind is list or kind is tuple:
            return False
        limits = _LIMITS.get(getattr(x, "dtype", None))
        if limits is not None:
            low, high = max(low, limits[0]), min(high, limits[1])
    return low <= min(integers) and max(integers) <= high


def _is_integer_array(x: Any) -> bool:
    return isinstance(x, (jax.Array, np.ndarray, np.generic)) and category(x.dtype) == 1


def _refuse_outside(integers: Mapping[str, int], dtype: np.dtype) -> None:
    limits, widest = np.iinfo(dtype), np.iinfo(available(LONG))
    for name, x in integers.items():
        if not widest.min <= x <= widest.max:  # `wide_integers` refuses what no dtype holds
            continue
        if not limits.min <= x <= limits.max:
            refuse(
                f"`{name}` must fit {dtype.name}, got {x}",
                hint="arrays of a wider dtype have room for it: x.astype('int64')",
            )
