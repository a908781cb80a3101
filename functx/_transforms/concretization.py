"""JAX's errors about values that tracing does not have, in terms of the transform that traces."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax


# In this order: the second to last is the base of those before it.
_ASKED = (
    (
        jax.errors.TracerBoolConversionError,
        "whether an array is true, as `if`, `while`, `and` and `bool()` do",
        "functx.where(condition, a, b) chooses element by element; jax.lax.cond and "
        "jax.lax.while_loop choose what runs",
    ),
    (
        jax.errors.NonConcreteBooleanIndexError,
        "for the elements where a mask is true, whose number depends on values",
        "functx.where(mask, x, 0) keeps the shape; functx.masked_select(x, mask, size=n) takes n",
    ),
    (
        jax.errors.TracerIntegerConversionError,
        "for an array as a Python int, as `range()`, indices of lists and sizes do",
        "functx.select(x, dim, index) takes an array for the index; pass sizes as Python ints",
    ),
    (
        jax.errors.ConcretizationTypeError,
        "for the value of an array, as `float()`, `int()` and `.item()` do",
        "keep it an array, or ask for the value outside",
    ),
    (
        jax.errors.TracerArrayConversionError,
        "for an array as a NumPy array, as NumPy's functions do",
        "use the function of the same name in functx or jax.numpy; jax.pure_callback calls NumPy's",
    ),
)
CONCRETIZATION = tuple(error for error, _, _ in _ASKED)
_worded = "functx_worded"


def reword(who: str, error: Exception, function: str = "func") -> None:
    """Makes `error` say, in `who`'s name, what its `function` asked for and the remedy."""
    if hasattr(error, _worded):
        return
    setattr(error, _worded, True)
    _, asked, hint = next(entry for entry in _ASKED if isinstance(error, entry[0]))
    traced = f"while {who} traces it" if function == "func" else "while it is traced"
    message = f"{who}: `{function}` asks {asked}; {traced}, arrays have no values"
    error.args = (f"{message}\n  hint: {hint}\n  JAX says: {error}",)


@contextlib.contextmanager
def rewording(who: str, function: str) -> Iterator[None]:
    """A region that runs a function of the user's, `function` of `who`, which may be traced."""
    try:
        yield
    except CONCRETIZATION as error:
        reword(who, error, function)
        raise


def tracing(who: str, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls `func`, which the transform `who` traces."""
    try:
        return func(*args, **kwargs)
    except CONCRETIZATION as error:
        reword(who, error)
        raise
