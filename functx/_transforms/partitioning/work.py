"""How many bytes a value takes, and how much work an equation is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from functx._core.jax_compat import JaxprEqn, Literal
from functx._transforms.programs.walking import inner_programs, type_of


# Floating-point operations that one element of a result counts for: it is read and written, too,
# which a processor does no faster.
PER_ELEMENT = 10

# What a symbolic size counts for: its value is not known while a program is planned.
SYMBOLIC = 64

_RANDOM = ("random_", "threefry", "rng_")
_FREE = ("reshape", "squeeze", "expand_dims", "broadcast_in_dim", "stop_gradient", "copy")


def bytes_of(x: Any) -> int:
    """What the value of an atom of a program takes; a key counts as one number for each element."""
    itemsize = getattr(getattr(type_of(x), "dtype", None), "itemsize", 0)
    return _size(x) * itemsize


def work_of(eqn: JaxprEqn) -> int:
    """Floating-point operations, about: `PER_ELEMENT` for an element, products as they are.

    The body of a loop counts as often as it runs, of `cond` the dearest branch; a `while_loop`
    counts as a thousand steps.
    """
    name = eqn.primitive.name
    results = sum(map(_size, eqn.outvars))
    if name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return 2 * results * _product(type_of(eqn.invars[0]).shape[i] for i in contracted)
    if name == "conv_general_dilated":
        weight = type_of(eqn.invars[1]).shape
        filters = weight[eqn.params["dimension_numbers"].rhs_spec[0]]
        return 2 * results * _product(weight) // max(1, filters)
    inner = [sum(map(work_of, program.eqns)) for program in inner_programs(eqn)]
    if inner:
        times = {"scan": eqn.params.get("length", 1), "while": 1000}.get(name, 1)
        return times * (max(inner) if name == "cond" else sum(inner))
    if name in _FREE:
        return results
    operands = sum(_size(x) for x in eqn.invars if not isinstance(x, Literal))
    return PER_ELEMENT * max(results, operands)


def is_heavy(eqn: JaxprEqn) -> bool:
    """Whether the equation is a product, or anything else that is more than element by element."""
    name = eqn.primitive.name
    elements = sum(_size(x) for x in (*eqn.invars, *eqn.outvars) if not isinstance(x, Literal))
    heavy = ("dot_general", "conv", "sort", "fft", "cholesky", "scan", "while", "function_call")
    return name.startswith(heavy) or work_of(eqn) > 4 * PER_ELEMENT * max(elements, 1)


def is_fixed(eqn: JaxprEqn) -> bool:
    """Whether the equation must not run twice: it draws random numbers or has effects."""
    inside = (one for program in inner_programs(eqn) for one in program.eqns)
    return bool(eqn.effects) or eqn.primitive.name.startswith(_RANDOM) or any(map(is_fixed, inside))


def _size(x: Any) -> int:
    return _product(type_of(x).shape)


def _product(sizes: Iterable[Any]) -> int:
    return math.prod(size if isinstance(size, int) else SYMBOLIC for size in sizes)
