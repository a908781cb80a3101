"""`explain_out_of_memory`: what a function needed when the device ran out."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import jax

from functx._aot.graphs.signature import spec_of
from functx._transforms.arguments import require_callable
from functx._transforms.generics import P, Y
from functx._transforms.programs.partition import is_array

from .analysis import measured, recorded
from .devices import allocated_besides, limit_of
from .errors import OutOfMemoryError, refuse_memory
from .report import MemoryReport
from .suggestions import hint_for


__all__ = ["explain_out_of_memory"]

_WHO = "memory.explain_out_of_memory"


def explain_out_of_memory(func: Callable[P, Y]) -> Callable[P, Y]:
    """`func`, whose error says what needed the memory where the device runs out of it.

    - `func`: a function of trees of arrays; its outermost call, compiled or not. It may be a
      decorator.

    A call waits until the results are there, since a device may run out after a call returns. That
    costs nothing else as long as all goes well.

    Errors: `functx.memory.OutOfMemoryError`, which is a MemoryError and a RuntimeError, in the
    place of JAX's `RESOURCE_EXHAUSTED` and of an operator's MemoryError. It names the largest
    buffers with their operators and lines, and has the `report` of `functx.memory.analyze`. The
    process and all arrays stay usable, donated arguments aside. All other errors are those of
    `func`.

    >>> @functx.memory.explain_out_of_memory
    ... @jax.jit
    ... def outer(x):
    ...     return functx.outer(x, x) @ x
    >>> outer(jnp.ones(3, "float32"))
    Array([3., 3., 3.], dtype=float32)
    """
    require_callable(_WHO, func)

    @ft.wraps(func)
    def explained(*args: P.args, **kwargs: P.kwargs) -> Y:
        try:
            return jax.block_until_ready(func(*args, **kwargs))
        except (jax.errors.JaxRuntimeError, MemoryError) as error:
            if isinstance(error, OutOfMemoryError) or not _ran_out(error):
                raise
            _explain(func, args, kwargs, error)

    return explained


def _ran_out(error: Exception) -> bool:
    # Where a device runs out after a call has returned, the status is INTERNAL.
    said = str(error)
    exhausted = said.startswith("RESOURCE_EXHAUSTED") or "out of memory" in said.lower()
    return isinstance(error, MemoryError) or exhausted


def _explain(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception
) -> NoReturn:
    """Raises the error with what is known of the call."""
    given: Any = jax.tree.map(lambda x: spec_of(x) if is_array(x) else x, (tuple(args), kwargs))
    said = str(error).removeprefix("RESOURCE_EXHAUSTED: ").removeprefix("INTERNAL: ")
    said = said.partition("\n")[0].rstrip(".")
    report, hint = _report(func, given[0], given[1]), ""
    message = f"the device ran out of memory ({said})"
    if report is not None:
        message += f" in `{report.name}`, which needs {report.peak_bytes:,} bytes at once"
        others = allocated_besides((args, kwargs))
        if 100 * others > report.peak_bytes:
            message += f", while {others:,} bytes of others are in use"
        hint = hint_for(func, given[0], given[1], limit_of())
    refuse_memory(OutOfMemoryError, _WHO, message, hint, report, error)


def _report(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> MemoryReport | None:
    """What the call needs, or None of one that cannot be recorded."""
    try:
        return measured(recorded(_WHO, func, args, kwargs))
    except Exception:  # whatever it is, the user is to see that the memory ran out
        return None
