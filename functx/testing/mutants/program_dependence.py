"""What a program's outputs depend on, and where its derivative jumps, read off its jaxpr."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal

from functx._core import category
from functx._transforms.programs.walking import inner_programs, own_programs


Reached = frozenset[int]  # numbers of inputs, and marks of equations
# Is shown each equation and what its operands depend on; gives marks for what it computes.
Mark = Callable[[Any, Reached], Reached]


def dependence(jaxpr: Any, given: Sequence[Reached], mark: Mark) -> list[Reached]:
    """What each output depends on, where the inputs depend on `given`."""
    known: dict[Any, Reached] = dict(zip(jaxpr.invars, given, strict=True))
    read = lambda atom: frozenset() if isinstance(atom, Literal) else known.get(atom, frozenset())
    for eqn in jaxpr.eqns:
        inputs = list(map(read, eqn.invars))
        union = frozenset().union(*inputs)
        union |= mark(eqn, union)
        outputs = [union] * len(eqn.outvars)
        for inner in (*inner_programs(eqn), *own_programs(eqn)):
            if _is_call(eqn, inner):
                outputs = dependence(inner, inputs, mark)
            else:
                every = dependence(inner, [union] * len(inner.invars), mark)
                outputs = [union.union(*every)] * len(eqn.outvars)
        known.update(zip(eqn.outvars, outputs, strict=True))
    return list(map(read, jaxpr.outvars))


def _is_call(eqn: Any, inner: Any) -> bool:
    loops = ("scan", "while", "cond")
    alike = len(inner.invars) == len(eqn.invars) and len(inner.outvars) == len(eqn.outvars)
    return eqn.primitive.name not in loops and alike


_ORDERING = {"argmax", "argmin", "sort", "top_k", "approx_top_k", "sign"}
_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge", "max", "min", "clamp"}
_WINDOWED = {"select_and_gather_add", "select_and_scatter_add", "select_and_scatter"}


def compared(eqn: Any) -> list[float] | None:
    """The numbers with which an equation compares floating-point values; None if it does not.

    A comparison with an infinity makes no kink: it is how initial and missing values are told.
    """
    floating = any(category(x.aval.dtype) >= 2 for x in eqn.invars if _typed(x))
    if not floating or eqn.primitive.name not in _ORDERING | _COMPARING | _WINDOWED:
        return None
    scalars = [x.val for x in eqn.invars if isinstance(x, Literal) and np.ndim(x.val) == 0]
    return [float(v.real) for v in scalars] if all(map(np.isfinite, scalars)) else None


def _typed(atom: Any) -> bool:
    dtype = getattr(atom.aval, "dtype", None)
    return dtype is not None and not jax.numpy.issubdtype(dtype, jax.dtypes.extended)
