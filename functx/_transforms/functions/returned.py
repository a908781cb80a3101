"""Checks what derivative rules return: an entry for each leaf of the argument or output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import describe, fail
from functx._core.devices.manual_axes import axes_of_type, varying_over
from functx._core.rules.tangent_types import ArrayType, inexact, zeros_of
from functx._transforms.arguments import kind_of, outline

from .trees import is_array, spread


def gradients(
    name: str,
    got: Any,
    structures: Sequence[Any],
    passed: int,
    types: Sequence[ArrayType | None],
    static: Sequence[Any],
) -> list[Any]:
    """The leaves of what `backward` returns: `None`, or an array like the argument's.

    - `structures`: of the arguments.
    - `types`, `static`: of the leaves of all of them, what is `None` of arrays and of the rest.
    - `passed`: how many arguments the call named; those that follow are defaults.
    """
    got = got if type(got) is tuple else (got,)
    count = len(structures)
    if all(g is None for g in got[count:]):
        got = got[:count]
    if len(got) > count or len(got) < passed:
        if got == (None,):
            return [None] * len(types)
        fail(
            name,
            f"`backward` returned an incorrect number of gradients (expected {count}, got "
            f"{len(got)})",
            hint="one for each argument of `apply`; None stands for no gradient",
        )
    got = (*got, *[None] * (count - len(got)))
    leaves: list[Any] = []
    for i, (structure, part) in enumerate(zip(structures, got, strict=True)):
        here = slice(len(leaves), len(leaves) + structure.num_leaves)
        own, numbers = types[here], any(kind_of(x) != "other" for x in static[here])
        if part is not None and all(t is None for t in own) and not numbers:
            fail(
                name,
                f"`backward` returned a gradient different from None at position {i}, but the "
                "corresponding forward input was not an array",
            )
        what = f"the gradient at position {i}"
        for x, like in zip(_spread(name, "backward", what, structure, part), own, strict=True):
            leaves.append(None if like is None else _gradient(name, i, x, like))
    return leaves


def tangents(
    name: str, got: Any, structure: Any, types: Sequence[ArrayType | None], active: Sequence[bool]
) -> list[Array]:
    """The tangents of the outputs that are `active`, from what `jvp` returned.

    `types` are those of the leaves of the output, `None` if static; `active` says of each.
    """
    found: list[Array] = []
    leaves = _spread(name, "jvp", "the tangent of the output", structure, got)
    for i, (x, like, is_active) in enumerate(zip(leaves, types, active, strict=True)):
        if not is_active:
            if x is not None and like is not None:
                fail(
                    name,
                    f"`jvp` returned a tangent for output {i}, which is not differentiable. You "
                    "should return None at that position instead",
                )
            continue
        assert like is not None
        found.append(zeros_of(like) if x is None else _tangent(name, i, x, like))
    return found


def _spread(name: str, rule: str, what: str, structure: Any, got: Any) -> list[Any]:
    try:
        return spread(structure, got)
    except ValueError:
        shown = outline(jax.tree.structure(got, is_leaf=lambda x: x is None))
    expected = outline(structure)
    message = f"`{rule}` must return {what} with the structure {expected}, got {shown}"
    fail(name, message, error=TypeError)


def _gradient(name: str, i: int, x: Any, like: ArrayType) -> Array | None:
    if x is None or not inexact(like):
        return None
    x = _number(name, f"the gradient at position {i} that `backward` returns", x)
    if x.shape != like.shape:
        x = _summed(name, i, x, like)
    return _converted(x, like)


def _summed(name: str, i: int, x: Array, like: ArrayType) -> Array:
    """`x`, which an argument that was broadcast may get, summed to the argument's shape."""
    extra = x.ndim - len(like.shape)
    ones = [k for k, n in enumerate(like.shape) if n == 1 and x.shape[extra + k] != 1]
    if extra < 0 or any(x.shape[extra + k] != n for k, n in enumerate(like.shape) if k not in ones):
        fail(
            name,
            f"`backward` returned an invalid gradient at position {i}: expected shape "
            f"{list(like.shape)}, or one that broadcasting made of it, got {describe(x)}",
        )
    return jnp.sum(x, (*range(extra), *[extra + k for k in ones])).reshape(like.shape)


def _tangent(name: str, i: int, x: Any, like: ArrayType) -> Array:
    what = f"the tangent of output {i} that `jvp` returns"
    x = _number(name, what, x)
    if x.shape != like.shape:
        fail(
            name,
            f"{what} has an invalid shape: expected shape {list(like.shape)}, got {describe(x)}",
        )
    if kind_of(x) == "complex" and kind_of(like) != "complex":
        fail(name, f"{what} must be real, like {describe(like)}, got {describe(x)}")
    return _converted(x, like)


def _number(name: str, what: str, x: Any) -> Array:
    if not is_array(x) and not isinstance(x, (int, float, complex, np.generic)):
        fail(name, f"{what} must be an array or None, got {describe(x)}", error=TypeError)
    return jnp.asarray(x)


def _converted(x: Array, like: ArrayType) -> Array:
    """`x` in the dtype of `like`; the real part where the argument is real."""
    if kind_of(x) == "complex" and kind_of(like) != "complex":
        x = jnp.real(x)
    return varying_over(lax.convert_element_type(x, like.dtype), axes_of_type(like))
