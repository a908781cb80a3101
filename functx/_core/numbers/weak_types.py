"""Arrays that JAX types weakly, and how they become arrays like others.

To JAX `jnp.full(3, 300)` is still the number that it was made of, and gives way to any dtype that
it meets. To functx, as to PyTorch, an array has its dtype however it was made. So what takes arrays
makes them strong before it does anything else, and all that comes after may read a weak type as "a
Python number": inside a compiled program nothing else tells the two apart.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

import jax
import numpy as np
from jax import lax
from jax.core import Tracer

from functx._core.jax_compat import staging_trace

from .wide_integers import MAY_HOLD_WIDE, wide_integers_fit


T = TypeVar("T")

_WITHOUT_DTYPE = frozenset((bool, float, complex, str, type(None)))
_array_classes: set[type] = set()  # those met so far: JAX has no public name for them


# The method of an argument's class that is asked for the result of an operator, in its place.
CALLS_OPERATORS = "__functx_operator__"
# What a look at arguments finds: nothing to do; integers, which a dtype may not hold; or weakly
# typed arrays, NumPy's integers that would wrap, and arguments that call operators themselves.
PLAIN, INTEGERS, TO_CONVERT = range(3)


def found_among(values: Collection[Any]) -> int:
    """What there is to do about `values`: `PLAIN`, `INTEGERS` or `TO_CONVERT`.

    Sequences among them are looked into for what must be converted, and not for integers.
    """
    found = PLAIN
    try:
        for x in values:  # what every eager call pays for
            kind = type(x)
            if kind in _array_classes:
                if x.aval.weak_type:
                    return TO_CONVERT
            elif kind is int:
                found = INTEGERS
            elif kind not in _WITHOUT_DTYPE and not _is_plain(x):
                return TO_CONVERT
    except AttributeError:  # of a traced reference, whose type has no such thing
        if not all(map(_is_plain, values)):
            return TO_CONVERT
        return INTEGERS if int in map(type, values) else PLAIN
    return found


def _is_plain(x: Any) -> bool:
    kind = type(x)
    if kind is tuple or kind is list:
        return found_among(x) != TO_CONVERT
    if kind in MAY_HOLD_WIDE:
        return wide_integers_fit((x,))
    if isinstance(x, jax.Array):
        _array_classes.add(kind)
    elif isinstance(x, (tuple, list)):
        return found_among(x) != TO_CONVERT
    elif hasattr(kind, CALLS_OPERATORS):
        return False
    return not is_weak(x)


def caller_among(values: Collection[Any]) -> Any:
    """The first of `values`, or of the items of sequences among them, that calls operators itself.

    Its class has the method `__functx_operator__(spec, call, args, kwargs)`.
    """
    for x in values:
        if hasattr(type(x), CALLS_OPERATORS):
            return x
        if isinstance(x, (tuple, list)) and (inner := caller_among(x)) is not None:
            return inner
    return None


def is_weak(x: Any) -> bool:
    """Whether `x` is an array, traced or not, that JAX types weakly."""
    if not isinstance(x, (jax.Array, np.ndarray)):  # JAX has a class of NumPy's that may be, too
        return False
    return bool(getattr(getattr(x, "aval", None), "weak_type", False))


def strong(x: T) -> T:
    """`x`; if JAX types it weakly, an array with its values and dtype that is typed strongly."""
    return _converted(x) if is_weak(x) else x


def strong_sequence(x: Any) -> Any:
    """`strong(x)`; in a tuple or a list, `strong` of each item."""
    if isinstance(x, (tuple, list)):
        items = map(strong_sequence, x)
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return strong(x)


def strong_tree(tree: T) -> T:
    """`tree` with its arrays strong, and its other leaves as they are."""
    leaves, structure = jax.tree.flatten(tree)
    return structure.unflatten(map(strong, leaves)) if any(map(is_weak, leaves)) else tree


def _converted(x: Any) -> Any:
    if isinstance(x, Tracer):
        return _with_own_dtype(x)
    if staging_trace() is None:
        return _compiled(x)
    with jax.ensure_compile_time_eval():  # a constant stays one, whose values are known
        return _with_own_dtype(x)


def _with_own_dtype(x: Any) -> jax.Array:
    return lax.convert_element_type(x, x.dtype)


_compiled = jax.jit(_with_own_dtype)  # a third of the time of an eager call
