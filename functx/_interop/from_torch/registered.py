"""Functions that users give for operators that the catalog lacks, or in the place of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from functx._core import describe, fail


_F = TypeVar("_F", bound=Callable[..., object])

_registered: dict[str, Callable[..., object]] = {}


def register(operator: str) -> Callable[[_F], _F]:
    """Makes a function what `from_torch` calls for an operator of PyTorch's or of a library of it.

    - `operator`: its name with its namespace, such as `"mylib::scale"` or
      `"aten::_standard_gamma"`, for all overloads; `"mylib::scale.Tensor"` is one of them.

    The function takes the operator's arguments as its schema has them, arrays for tensors, strings
    such as `"float32"` for dtypes, and returns an array or a tuple of arrays. What is registered
    goes before functx's own operator, and holds for programs that are exported later. Its
    derivatives are those of the function: give it rules with `functx.Function` where PyTorch's
    backward pass is not what JAX derives.

    Returns a decorator, which hands the function on.

    Errors: ValueError for a name without a namespace, TypeError for what is no string or no
    function.

    >>> @functx.interop.register("mylib::scale")
    ... def scale(x, factor):
    ...     return functx.mul(x, factor)
    """
    if not isinstance(operator, str):
        fail("register", f"`operator` must be a string, got {describe(operator)}", error=TypeError)
    if not re.fullmatch(r"\w+::\w+(\.\w+)?", operator):
        fail(
            "register",
            f"`operator` must be a namespace and a name, got {operator!r}",
            hint='for instance "mylib::scale" or "aten::elu"',
            error=ValueError,
        )

    def enter(function: _F) -> _F:
        if not callable(function):
            what = f"`{operator}` must be given a function, got {describe(function)}"
            fail("register", what, error=TypeError)
        _registered[operator] = function
        return function

    return enter


def registered(namespace: str, name: str, overload: str) -> Callable[..., object] | None:
    """What was registered for an operator, if anything was."""
    whole = f"{namespace}::{name}"
    return _registered.get(f"{whole}.{overload}") or _registered.get(whole)
