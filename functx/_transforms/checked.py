"""`checked`: what operators require of values, raised from inside compiled programs."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from functx._core import fail
from functx._core.context.user_contexts import checking_results, checking_values
from functx._core.operators.concrete_values import peek
from functx._core.operators.value_requirements import checkify, raise_checked
from functx._core.randomness.ambient_generator import drawing, recording

from .arguments import require_bools
from .concretization import tracing
from .generics import P, Y
from .numbers import array_of_program, giving_arrays


__all__ = ["checked", "checking"]


def checked(func: Callable[P, Y]) -> Callable[P, Y]:
    """`func`, which raises where operators meet values that they refuse, wherever it runs.

    - `func`: a function of any trees; the result returns what it returns.

    Eager operators check indices and probabilities on the CPU. Under `jit` and on accelerators they
    cannot, and a read out of range gives NaN (a write, nothing); this transform compiles the checks
    in, and reports the first that failed. It costs the time of the checks and a wait for the
    result.

    Errors: what the operator raises eagerly, with the value. If a `vmap` is outside, the first lane
    that failed counts. Failures of `checkify.check` of JAX in `func` are reported too.

    >>> look_up = functx.debug.checked(jax.jit(lambda i: functx.index_select(jnp.zeros(3), 0, i)))
    >>> look_up(jnp.asarray([7]))
    Traceback (most recent call last):
    ...
    IndexError: index_select: `index` must lie in [0, 2], got 7
    """

    with_draw = recording(giving_arrays(func))

    @ft.wraps(func)
    def with_checks(*args: Any, **kwargs: Any) -> Any:
        return tracing("debug.checked", drawing, run, *args, **kwargs)

    def run(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        where = [i for i, x in enumerate(leaves) if isinstance(x, (jax.Array, np.ndarray))]

        def over_arrays(*arrays: Any) -> Any:
            full = list(leaves)
            for i, x in zip(where, arrays, strict=True):
                full[i] = x
            args, kwargs = tree.unflatten(full)
            return with_draw(*args, **kwargs)

        with checking_values(True):
            error, out = checkify().checkify(over_arrays)(*(leaves[i] for i in where))
        raise_checked(_at_hand(error))
        return jax.tree.map(array_of_program, out)

    return with_checks


def _at_hand(error: Any) -> Any:
    """The error of checkify's with values: of all lanes, where `vmap` maps `checked`."""
    leaves, structure = jax.tree.flatten(error)
    if not any(isinstance(x, Tracer) for x in leaves):
        return error
    values = [peek(x) for x in leaves]
    if any(x is None for x in values):
        fail(
            "debug.checked",
            "what it found cannot be raised while a program is being recorded",
            hint="put it outside: functx.debug.checked(jax.jit(f))",
        )
    return structure.unflatten(values)


def checking(enabled: bool = True) -> AbstractContextManager[None]:
    """A region in which eager calls check what costs as much as the operator: singular matrices.

    - `enabled`: False is a region inside one of `checking` without these checks.

    On every device, each such call waits for its result. What is compiled in the region is not
    checked: `functx.debug.checked` does that.

    Errors: `functx.linalg.LinAlgError` for matrices that are singular or not positive definite, in
    the region; TypeError unless `enabled` is a bool.

    >>> with functx.debug.checking():
    ...     functx.linalg.inv(jnp.zeros((2, 2)))
    Traceback (most recent call last):
    ...
    functx.linalg.LinAlgError: linalg.inv: `A` must be invertible, which matrix 0 is not
    """
    require_bools("debug.checking", enabled=enabled)
    return checking_results(enabled)
