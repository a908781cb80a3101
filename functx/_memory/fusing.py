"""Which values a compiler never writes to memory: it computes them where they are read.

A model of what XLA does on every platform: what is done element by element is computed in one
kernel with what reads it, unless that is a product, a convolution, a loop or a call of a library,
or several steps read it, and to compute it several times is dear or takes more reading.
"""

from __future__ import annotations

from collections.abc import Sequence

from .values import Value


_CHEAP = (
    *("add", "sub", "mul", "neg", "max", "min", "abs", "sign", "select_n", "clamp", "add_any"),
    *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "is_finite", "floor"),
    *("ceil", "round", "convert_element_type", "broadcast_in_dim", "iota", "slice", "real"),
    *("imag", "conj", "square", "copy", "dynamic_slice", "transpose", "rev", "pad", "complex"),
    *("shift_left", "shift_right_logical", "shift_right_arithmetic", "stop_gradient"),
)
_DEAR = (
    *("exp", "exp2", "log", "log1p", "expm1", "tanh", "logistic", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "atan2", "sinh", "cosh", "asinh", "acosh", "atanh", "sqrt", "rsqrt"),
    *("cbrt", "pow", "integer_pow", "div", "rem", "erf", "erfc", "erf_inv", "lgamma", "digamma"),
)
_ELEMENTWISE = frozenset((*_CHEAP, *_DEAR))
_ALSO_READ = ("reduce_", "argmax", "argmin", "reduce", "dynamic_update_slice", "gather")


def fused(values: Sequence[Value]) -> set[Value]:
    """The values that are never in memory. What these are computed from is read where they are.

    - `values`: in the order in which they are made. Their `inherited` is set.
    """
    found: set[Value] = set()
    for value in reversed(values):  # readers come before what they read
        if _is_fused(value):
            found.add(value)
            for source in value.sources:
                source.inherited = max(source.inherited, value.last)
    return found


def _is_fused(value: Value) -> bool:
    if value.returned or value.primitive not in _ELEMENTWISE or not value.reads:
        return False
    if len(value.reads) > 1 and (value.primitive in _DEAR or not _at_most_unary(value)):
        return False
    return all(_computes(primitive, value.primitive) for primitive in value.reads.values())


def _at_most_unary(value: Value) -> bool:
    """Whether to read what it is computed from takes no more than to read the value itself."""
    return sum(x.bytes for x in value.sources) <= value.bytes


def _computes(primitive: str, operand: str) -> bool:
    """Whether a step of this primitive computes an operand that another would make."""
    if operand == "transpose" and primitive == "dot_general":
        return True
    return primitive in _ELEMENTWISE or primitive.startswith(_ALSO_READ)
