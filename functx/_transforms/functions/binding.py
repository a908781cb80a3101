"""The arguments of `apply`, as one tuple in the order of the parameters of `forward`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from functx._core import fail, nearest

from .rules import FunctionRules


class Bound(NamedTuple):
    """All arguments of a call, with the defaults of those that the caller left out.

    - `rules`: those that take them so.
    - `passed`: how many of them the call named; those that follow are defaults.
    """

    rules: FunctionRules
    args: tuple[Any, ...]
    passed: int


def bound(rules: FunctionRules, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """The arguments and rules of the call `apply(*args, **kwargs)`.

    Parameters of `forward` that take keywords only follow the others.
    """
    function = getattr(rules.forward, "__func__", rules.forward)
    code = getattr(function, "__code__", None)
    if kwargs or (code is not None and code.co_kwonlyargcount):
        return _by_signature(rules, args, kwargs)
    defaults = getattr(function, "__defaults__", None)
    if code is None or not defaults:
        return Bound(rules, args, len(args))
    before = (rules.setup is None) + (function is not rules.forward)  # of a class method, the class
    missing = code.co_argcount - before - len(args)
    whole = args + defaults[-missing:] if 0 < missing <= len(defaults) else args
    return Bound(rules, whole, len(args))


def _by_signature(rules: FunctionRules, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    parameters = _parameters(rules)
    _require_known(rules, parameters, kwargs)
    signature = inspect.Signature(parameters)
    try:
        call = signature.bind(*args, **kwargs)
    except TypeError as error:
        reason = str(error)
        fail(rules.name, f"`apply` cannot call forward{signature}: {reason}", error=TypeError)
    named = set(call.arguments)
    call.apply_defaults()
    whole: list[Any] = []
    passed = 0
    for parameter in parameters:
        value = call.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            whole += value
        elif parameter.kind is not parameter.VAR_KEYWORD:
            whole.append(value)
        passed = len(whole) if parameter.name in named else passed
    by_keyword = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    return Bound(_with_keywords(rules, by_keyword), tuple(whole), passed)


def _parameters(rules: FunctionRules) -> list[inspect.Parameter]:
    """The parameters of `forward`, without `ctx`."""
    try:
        parameters = list(inspect.signature(rules.forward).parameters.values())
    except (TypeError, ValueError):  # builtins need not say
        fail(
            rules.name,
            "`apply` takes no keyword arguments: `forward` does not tell its parameters",
            error=TypeError,
        )
    takes_ctx = rules.setup is None and parameters
    alone = takes_ctx and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL
    return parameters[1:] if alone else parameters


def _require_known(
    rules: FunctionRules, parameters: list[inspect.Parameter], kwargs: dict[str, Any]
) -> None:
    """Refuses keywords that no parameter of `forward` has: their gradients would have no place."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [parameter.name for parameter in parameters if parameter.kind in kinds]
    for strange in kwargs:
        if strange not in names:
            fail(
                rules.name,
                f"`apply` has no keyword argument {strange!r}",
                hint=nearest(strange, names) or f"those of `forward` are {', '.join(names)}",
                error=TypeError,
            )


def _with_keywords(rules: FunctionRules, names: tuple[str, ...]) -> FunctionRules:
    """`rules`, with a `forward` and a `vmap` whose last arguments go by keyword."""
    if not names:
        return rules

    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            keywords = dict(zip(names, args[-len(names) :], strict=True))
            return function(*args[: -len(names)], **keywords)

        return called

    vmap = None if rules.vmap is None else named(rules.vmap)
    return rules._replace(forward=named(rules.forward), vmap=vmap)
