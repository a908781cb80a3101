"""How much a backward pass keeps, as something that a test asserts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functx._core import describe, fail
from functx._transforms.residuals.saved import saved_residuals

from .hiding import of_findings


__tracebackhide__ = of_findings


__all__ = ["assert_residuals"]


def assert_residuals(func: Callable[..., Any], *args: Any, bytes: int, **kwargs: Any) -> None:
    """Asserts that the backward pass of `func(*args, **kwargs)` keeps no more than `bytes`.

    - `func`: a function of any trees, differentiated by all real and complex arguments.
    - `args`, `kwargs`: its arguments; `jax.ShapeDtypeStruct`s may stand for arrays.
    - `bytes`: the bound, an int of at least 0.

    Errors: AssertionError, which lists what is kept, as `functx.residuals.saved_residuals` does;
    ValueError for another `bytes`.

    >>> functx.testing.assert_residuals(lambda x: x[1:] - x[:-1], jnp.ones(3), bytes=0)
    """
    if isinstance(bytes, bool) or not isinstance(bytes, int) or bytes < 0:
        got = f"`bytes` must be an integer of at least 0, got {describe(bytes)}"
        fail("assert_residuals", got, error=ValueError)
    kept = saved_residuals(func, *args, **kwargs)
    if kept.bytes > bytes:
        raise AssertionError(f"the backward pass keeps {kept.bytes} bytes, not {bytes}:\n{kept!r}")
