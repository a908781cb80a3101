"""Keywords that a function lacks, refused with what to write instead."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable
from typing import Any, cast, TypeVar

from .errors import fail, nearest


F = TypeVar("F", bound=Callable[..., Any])

# What operators and constructors have in PyTorch.
OF_OPERATORS = {
    "generator": "it draws no random numbers, so there is nothing to take from a generator",
    "layout": "arrays are dense; XLA chooses their layout",
    "memory_format": "XLA chooses the layout of arrays",
    "out": "operators return their result; arrays are immutable",
    "pin_memory": "move arrays with jax.device_put",
    "requires_grad": "arrays record nothing: functx.grad(f, argnums=...) differentiates a function",
}
# What transforms have in PyTorch and JAX.
_AGAIN = "nothing to ask for: every derivative can be differentiated again"
_OF_TRANSFORMS = {
    "allow_int": "functx.grad has it; elsewhere argnums= names the floating arguments",
    "allow_unused": "unused='none' gives None; functx.autograd.grad has PyTorch's options",
    "cache_enabled": "XLA computes a cast once, however often it is used",
    "create_graph": _AGAIN,
    "device_type": "`device=` says whose lists count: autocast(dtype, device='cuda')",
    "dynamic": "shapes are static: arrays of another shape compile another program",
    "fullgraph": "always so: what cannot be traced is an error",
    "holomorphic": "complex arguments need no flag: functx.grad is PyTorch's gradient of a real "
    "output, functx.jacrev the derivative of a holomorphic function, with as_real=True of any",
    "materialize_grads": "unused='zeros', the default, gives zeros",
    "retain_graph": _AGAIN,
    "strict": "functx.autograd.functional and functx.jvp have it, functx.grad unused='error'",
    "vectorize": "functx.jacrev takes chunk_size=, how many rows are computed at once",
}
_FOREIGN = OF_OPERATORS | _OF_TRANSFORMS
_RENAMED = {"argnum": "argnums", "fun": "func", "in_axes": "in_dims", "out_axes": "out_dims"}
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def explain_unknown_keywords(
    who: str = "", others: str = "", beside: Callable[..., Any] | None = None
) -> Callable[[F], F]:
    """A decorator: unknown keywords get a TypeError that says what to write.

    - `who`: the function's name, where it is not its own.
    - `others`: the hint for all that are neither known elsewhere nor near; by default the
      function's parameters.
    - `beside`: a function whose keywords are taken too.
    """

    def decorate(func: F) -> F:
        name = who or func.__name__
        known = _keywords(func) + (_keywords(beside) if beside else ())
        all_known = frozenset(known).issuperset

        @ft.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs and not all_known(kwargs):
                strange = next(keyword for keyword in kwargs if keyword not in known)
                hint = _remedy(strange, known) or others or f"there are {', '.join(known)}"
                fail(name, f"`{strange}` does not exist here", hint=hint, error=TypeError)
            return func(*args, **kwargs)

        return cast(F, call)

    return decorate


def _keywords(func: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.kind in _BY_NAME)


def _remedy(strange: str, known: tuple[str, ...]) -> str:
    if _RENAMED.get(strange) in known:
        return f"it is `{_RENAMED[strange]}` here"
    return _FOREIGN.get(strange, "") or nearest(strange, known)
