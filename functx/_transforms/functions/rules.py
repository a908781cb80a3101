"""The methods of a `Function` class, read and checked once for each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from functx._core import fail


class FunctionRules(NamedTuple):
    """The methods of a `Function`; `None` where the class does not override one."""

    name: str
    forward: Callable[..., Any]
    setup: Callable[..., Any] | None
    backward: Callable[..., Any] | None
    jvp: Callable[..., Any] | None
    vmap: Callable[..., Any] | None


def rules_of(function: type, base: type) -> FunctionRules:
    """The rules of `function`, a subclass of `base`."""
    name = function.__name__

    def given(method: str) -> Callable[..., Any] | None:
        own = getattr(function, method)
        return None if own is getattr(base, method) else own

    forward, setup, vmap = given("forward"), given("setup_context"), given("vmap")
    if forward is None:
        fail(name, "it must implement the forward method", error=NotImplementedError)
    backward, vjp = given("backward"), given("vjp")
    if backward is not None and vjp is not None:
        fail(name, "Implementing both 'backward' and 'vjp' is ambiguous: they are the same rule")
    if vmap is not None and getattr(function, "generate_vmap_rule", False):
        fail(name, "it has both generate_vmap_rule=True and a `vmap` of its own; delete one")
    if vmap is not None and setup is None:
        fail(
            name,
            "with a `vmap` of its own, it must override the setup_context staticmethod",
            hint="forward(*args) computes, setup_context(ctx, inputs, output) keeps: of what "
            "`vmap` computes, lane by lane",
        )
    return FunctionRules(name, forward, setup, backward or vjp, given("jvp"), vmap)
