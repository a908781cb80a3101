"""Functions without closures: what they close over becomes an argument."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import fail
from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun
from functx._core.rules.function_primitives import ClosesOver


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


class Solver(NamedTuple):
    """A function of the user's that solves, which may close over nothing that is traced.

    - `who`, `name`: the function it is given to, and as which argument.
    - `equation`: the argument that may close over such, since derivatives are those of it.
    """

    who: str
    name: str
    equation: str
    solve: Callable[..., Any]

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """A region that calls it, in which JAX's error of a closure names it."""
        try:
            yield
        except (jax.errors.UnexpectedTracerError, ClosesOver) as error:
            told = "Encountered an unexpected tracer", f"{self.who}: the function closes over"
            if not str(error).startswith(told):
                raise
            reason = error
        else:
            return
        try:
            fail(
                self.who,
                f"`{self.name}` closes over a traced array; take it through `{self.equation}`",
                hint=f"the derivative is that of `{self.equation}`, which may close over anything; "
                f"`{self.name}` gets it as its first argument",
                error=type(reason),
            )
        except type(reason) as worded:
            raise worded from reason
