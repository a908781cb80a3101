"""Autocast of plain `jax.numpy` code: a recorded program, run in other dtypes.

Operators in the program have cast already, while they were recorded. Other equations have not: they
are bound anew, to operands in other dtypes than the recorded ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from functx._core import joined
from functx._core.context.autocast_regions import AutocastRegion
from functx._core.context.user_contexts import autocast_region
from functx._core.jax_compat import JaxprEqn, Literal, Var
from functx._core.operators.autocasting import is_autocast
from functx._core.operators.catalog import operator_called
from functx._transforms.concretization import rewording
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.nested import can_rebind, rebind
from functx._transforms.programs.partition import partition
from functx._transforms.programs.recording import record
from functx._transforms.programs.walking import CALLS, CHECKPOINTS, opened, type_of


# What primitives do to their operands: products, cast down; what PyTorch casts up on GPUs; and what
# computes in the dtype that comes, the widest of several. All others keep the recorded dtypes.
LOWERED = {"conv_general_dilated", "dot_general"}
RAISED = {
    *("acos", "asin", "cosh", "erf_inv", "exp", "exp2", "expm1", "log", "log1p", "rsqrt", "sinh"),
    *("tan", "integer_pow", "pow", "square", "reduce_sum", "reduce_prod"),
    *("cumsum", "cumprod", "cumlogsumexp"),
}
FOLLOWING = {
    *("abs", "add", "add_any", "ceil", "clamp", "concatenate", "copy", "copy_p", "cos", "div"),
    *("dynamic_slice", "erf", "erfc", "expand_dims", "floor", "gather", "is_finite", "logistic"),
    *("max", "min", "mul", "neg", "nextafter", "pad", "reduce_max", "reduce_min", "rem"),
    *("reshape", "rev", "round", "select_n", "sign", "sin", "slice", "split", "sqrt"),
    *("squeeze", "stop_gradient", "sub", "tanh", "transpose", "broadcast_in_dim"),
    *("eq", "ge", "gt", "le", "lt", "ne"),
}


def rewritten(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `func` returns in the region in force, plain `jax.numpy` in it cast too."""
    region = autocast_region.value
    if region is None:
        return func(*args, **kwargs)
    call = partition((args, kwargs))

    def function(*arrays: Any) -> Any:
        args, kwargs = call.whole(arrays)
        return func(*args, **kwargs)

    with rewording("autocast", "func"):
        recorded = record(function, *call.arrays)
    return recorded.output(interpret(recorded, call.arrays, CastingVisitor(region)))


class CastingVisitor(Visitor):
    """Runs equations in the dtypes that autocast gives their operands."""

    def __init__(self, region: AutocastRegion) -> None:
        self.lower = region.lower

    def enters(self, eqn: JaxprEqn) -> bool:
        return can_rebind(eqn) and operator_called(eqn.params) is None

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        name = eqn.primitive.name
        if name in LOWERED and _may_be_lowered(eqn, operands):
            params = {**eqn.params, "preferred_element_type": self.lower}
            return _bound(eqn.replace(params=params), operands, self.lower)
        if name in RAISED:
            return _bound(eqn, operands, np.dtype("float32"))
        if name in FOLLOWING and (dtype := _widest(eqn, operands)) is not None:
            return _bound(eqn, operands, dtype)
        return bind(eqn, _as_recorded(eqn.invars, operands))

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        """Calls are in the dtypes that come, branches and loops in the recorded ones."""
        follows = eqn.primitive.name in (*CALLS, *CHECKPOINTS)

        def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
            results = interpret(program, operands, self)
            if not follows:
                results = _as_recorded(opened(program)[0].outvars, results)
            return results, carry, each

        operands = operands if follows else _as_recorded(eqn.invars, operands)
        return rebind(eqn, operands, inside)[0]


def _may_be_lowered(eqn: JaxprEqn, operands: Sequence[Any]) -> bool:
    """Whether a product is one of floating numbers that names no algorithm of certain dtypes."""
    precision = eqn.params.get("precision")
    named = precision if isinstance(precision, tuple) else (precision,)
    plain = all(x is None or isinstance(x, lax.Precision) for x in named)
    return plain and all(map(is_autocast, operands))


def _widest(eqn: JaxprEqn, operands: Sequence[Any]) -> np.dtype | None:
    """The dtype that operands of one recorded dtype take, None if there is no such.

    Constants without dimensions, which Python numbers become, count only beside others like them.
    """
    floating = [(x, y) for x, y in zip(eqn.invars, operands, strict=True) if is_autocast(y)]
    if len({type_of(x).dtype for x, _ in floating}) != 1:
        return None
    strong = [y for x, y in floating if not isinstance(x, Literal)]
    return joined([np.dtype(y.dtype) for y in strong or [y for _, y in floating]])


def _bound(eqn: JaxprEqn, operands: Sequence[Any], dtype: np.dtype) -> Sequence[Any]:
    """The results of an equation whose operands, constants among them, are cast to `dtype`."""
    given: list[Any] = [Var(x.aval) if isinstance(x, Literal) else x for x in eqn.invars]
    cast = [lax.convert_element_type(y, dtype) if is_autocast(y) else y for y in operands]
    return bind(eqn.replace(invars=given), cast)


def _as_recorded(atoms: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The values in the dtypes of the program's own."""
    return [
        lax.convert_element_type(y, type_of(x).dtype)
        if is_autocast(y) and y.dtype != type_of(x).dtype
        else y
        for x, y in zip(atoms, values, strict=True)
    ]
