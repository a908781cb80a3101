"""How many bytes a value takes, and how much work an equation is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from functx._core.jax_compat import JaxprEqn, Literal
from functx._core.rules.function_primitives import function_call
from functx._transforms.programs.walking import inner_programs, own_programs, type_of


# Floating-point operations that one element of a result counts for: it is read and written, too,
# which a processor does no faster.
PER_ELEMENT = 10

# What a symbolic size counts for: its value is not known while a program is planned.
SYMBOLIC = 64

_RANDOM = ("random_", "threefry", "rng_")
_FREE = ("reshape", "squeeze", "expand_dims", "broadcast_in_dim", "stop_gradient", "copy")
_HEAVY = (
    *(
        "dot_general",
        "conv_general_dilated",
        "correlation",
        "scan",
        "while",
        "sort",
        "top_k",
        "fft",
        "svd",
        "eig",
    ),
    *("eigh", "cholesky", "lu", "geqrf", "qr", "householder_product", "triangular_solve", "schur"),
    *("hessenberg", "tridiagonal", "tridiagonal_solve", "custom_linear_solve", "shard_map"),
)
_MOVING = (
    *("transpose", "slice", "dynamic_slice", "dynamic_update_slice", "concatenate", "pad", "rev"),
    *("gather", "scatter", "iota", "convert_element_type", "bitcast_convert_type", "stack"),
    *("unstack", "split", "optimization_barrier", "select_n", "device_put"),
)


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
    if (product := _product_operations(eqn)) is not None:
        return product
    inner = [sum(map(work_of, program.eqns)) for program in _programs(eqn)]
    if inner:
        times = _steps(eqn, endless=1000)
        return times * (max(inner) if name == "cond" else sum(inner))
    if name in _FREE:
        return results
    operands = sum(_size(x) for x in eqn.invars if not isinstance(x, Literal))
    return PER_ELEMENT * max(results, operands)


def operations_of(eqn: JaxprEqn) -> int:
    """Floating-point operations alone: one for an element, products as they are, none to move."""
    name = eqn.primitive.name
    if (product := _product_operations(eqn)) is not None:
        return product
    inner = [sum(map(operations_of, program.eqns)) for program in _programs(eqn)]
    if inner:
        return _steps(eqn) * (max(inner) if name == "cond" else sum(inner))
    if name in (*_FREE, *_MOVING):
        return 0
    reduces = name.startswith(("reduce_", "cum", "arg", "scatter_", "scatter-", "sort"))
    return _size(eqn.invars[0]) if reduces else sum(map(_size, eqn.outvars))


def _product_operations(eqn: JaxprEqn) -> int | None:
    """Those of a product of matrices or a convolution, of any other equation None."""
    results = sum(map(_size, eqn.outvars))
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return 2 * results * _product(type_of(eqn.invars[0]).shape[i] for i in contracted)
    if eqn.primitive.name == "conv_general_dilated":
        weight = type_of(eqn.invars[1]).shape
        filters = weight[eqn.params["dimension_numbers"].rhs_spec[0]]
        return 2 * results * _product(weight) // max(1, filters)
    if (
        eqn.primitive.name == "correlation"
    ):  # functx's own: of image, kernel and result, two give one
        shapes = [type_of(x).shape for x in eqn.invars]
        shapes.insert(int(eqn.params["wanted"]), type_of(eqn.outvars[0]).shape)
        return 2 * _product(shapes[2]) * _product(shapes[1][2:])
    return None


def _programs(eqn: JaxprEqn) -> list[Any]:
    """What the equation runs: programs inside of it, or that of a function with own rules."""
    own = own_programs(eqn) if eqn.primitive is function_call else ()
    return [*inner_programs(eqn), *own]


def _steps(eqn: JaxprEqn, endless: int = 1) -> int:
    """How often the equation runs its program, `endless` times if nobody knows."""
    if eqn.primitive.name == "scan":
        return _product([eqn.params["length"]])
    return endless if eqn.primitive.name == "while" else 1


def is_heavy(eqn: JaxprEqn) -> bool:
    """Whether the equation is a product, or anything else that is more than element by element."""
    inner = (one for program in _programs(eqn) for one in program.eqns)
    return eqn.primitive.name in _HEAVY or any(map(is_heavy, inner))


def is_fixed(eqn: JaxprEqn) -> bool:
    """Whether the equation must not run twice: it draws random numbers or has effects."""
    inside = (one for program in inner_programs(eqn) for one in program.eqns)
    return bool(eqn.effects) or eqn.primitive.name.startswith(_RANDOM) or any(map(is_fixed, inside))


def is_kept(primitive: Any, *types: Any, **params: Any) -> bool:
    """A policy for `jax.checkpoint`: whether results of a primitive are dear to compute again.

    Those of products and the like are, and random numbers.
    """
    name = primitive.name
    if primitive is function_call:
        return any(map(is_heavy, params["call"].trace(*types).jaxpr.eqns))
    return name in _HEAVY or name.startswith(_RANDOM)


def _size(x: Any) -> int:
    return _product(getattr(type_of(x), "shape", ()))


def _product(sizes: Iterable[Any]) -> int:
    return math.prod(size if isinstance(size, int) else SYMBOLIC for size in sizes)
