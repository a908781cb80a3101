"""Functions without closures: what they close over becomes an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun


class Explicit(NamedTuple):
    """A function with what it closes over as its first argument: `function(closed, *args)`."""

    function: Callable[..., Any]
    closed: tuple[list[Array], list[Array]]  # what can have a derivative, and what can not


def explicit(func: Callable[..., Any], *args: Any) -> Explicit:
    """`func` as a function that closes over nothing, for arguments like `args`.

    Its derivative in `closed` is that of `func` in all that it closes over, traced values among it.
    """
    program, shape = jax.make_jaxpr(func, return_shape=True)(*args)
    tree = jax.tree.structure(shape)
    inexact = [jnp.issubdtype(x.dtype, jnp.inexact) for x in program.consts]

    def function(closed: tuple[list[Array], list[Array]], *args: Any) -> Any:
        active, fixed = map(iter, closed)
        consts = [next(active if is_active else fixed) for is_active in inexact]
        run = jaxpr_as_fun(ClosedJaxpr(program.jaxpr, consts))
        return tree.unflatten(run(*jax.tree.leaves(args)))

    parts: tuple[list[Array], list[Array]] = ([], [])
    for x, is_active in zip(program.consts, inexact, strict=True):
        parts[not is_active].append(jnp.asarray(x))
    return Explicit(function, parts)
