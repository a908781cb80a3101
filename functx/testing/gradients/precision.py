"""Functions in double precision, where differences say more: whether they compute in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import category
from functx._transforms.programs.walking import equations, type_of


DOUBLE = {2: np.dtype(np.float64), 3: np.dtype(np.complex128)}
_NARROWING = ("convert_element_type", "pure_callback")


def widened(x: Any) -> Any:
    """An array of numbers in double precision, if it is floating or complex; with 64 bit on."""
    kind = category(x.dtype)
    return jax.device_put(np.asarray(x).astype(DOUBLE[kind])) if kind >= 2 else x


def in_double(x: Any) -> np.ndarray:
    """NumPy's array of numbers in double precision, whether 64 bit is on or not."""
    x = np.asarray(x)
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def narrow(x: Any) -> bool:
    """Whether an array is floating or complex, and not in double precision."""
    kind = category(x.dtype)
    return kind >= 2 and x.dtype != DOUBLE[kind]


def narrowest(func: Callable[..., Any], arrays: Sequence[Any]) -> str | None:
    """The dtype to which the function brings numbers in double precision, or None."""
    try:
        program = jax.make_jaxpr(func)(*arrays)
    except Exception:
        return None  # it cannot be traced; eagerly it may be differentiated all the same
    for eqn in equations(program.jaxpr):
        if eqn.primitive.name in _NARROWING:
            double = any(type_of(x).dtype in DOUBLE.values() for x in eqn.invars)
            less = [type_of(x).dtype for x in eqn.outvars if narrow(type_of(x))]
            if double and less:
                return less[0].name
    return None
