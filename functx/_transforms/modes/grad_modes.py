"""`no_grad` and its kin: what is computed in a region is a constant of all derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload, TypeVar

import jax
from jax import lax

from functx._core import describe, fail, require_bool
from functx._core.context.grad_modes import Modes
from functx._core.numbers.weak_types import strong

from .regions import Change, current_modes, ImmediateRegion, Region, within


__all__ = [
    "detach",
    "enable_grad",
    "inference_mode",
    "is_fwd_grad_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_fwd_grad_enabled",
    "set_grad_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@overload
def no_grad(func: F) -> F: ...
@overload
def no_grad() -> Region: ...
def no_grad(func: Any = None) -> Any:
    """A region in which results of operators have no derivative; a decorator, with or without `()`.

    - `func`: the function to decorate. Without it, the call is a region, or a decorator.

    In `with functx.no_grad():` the results of operators are constants of every derivative, in
    forward and in reverse mode; plain `jax.numpy` is not seen. As a decorator, whatever the
    function returns (or yields) is constant too, by what means ever it was computed.

    `functx.grad` and its kin differentiate in such a region all the same; to transforms around the
    region their results are constants.

    >>> def f(x):
    ...     with functx.no_grad():
    ...         scale = functx.exp(x)
    ...     return scale * x
    >>> functx.grad(f)(jnp.float32(0))
    Array(1., dtype=float32)
    >>> functx.grad(lambda x: x * functx.no_grad(jnp.exp)(x))(jnp.float32(0))
    Array(1., dtype=float32)
    """
    return _region("no_grad", func, lambda modes: modes._replace(grad=False))


@overload
def enable_grad(func: F) -> F: ...
@overload
def enable_grad() -> Region: ...
def enable_grad(func: Any = None) -> Any:
    """A region inside one of `no_grad` in which derivatives are as usual; also a decorator.

    - `func`: the function to decorate. Without it, the call is a region, or a decorator.

    >>> def f(x):
    ...     with functx.no_grad(), functx.enable_grad():
    ...         return functx.exp(x)
    >>> functx.grad(f)(jnp.float32(0))
    Array(1., dtype=float32)
    """
    return _region("enable_grad", func, lambda modes: modes._replace(grad=True))


def set_grad_enabled(mode: bool) -> ImmediateRegion:
    """Sets the mode at once: until another call, or for the `with` or the function it is given to.

    - `mode`: `True` is `enable_grad`, `False` is `no_grad`.

    The mode is that of the thread, and of the asyncio task. Set inside a function that JAX traces,
    it is set while tracing only, so prefer a `with`.

    >>> with functx.set_grad_enabled(False):
    ...     functx.is_grad_enabled()
    False
    """
    return _setting("set_grad_enabled", mode, lambda modes: modes._replace(grad=mode))


def is_grad_enabled() -> bool:
    """Whether the results of operators have derivatives here: False inside `no_grad`.

    >>> functx.is_grad_enabled(), functx.no_grad(functx.is_grad_enabled)()
    (True, False)
    """
    return current_modes().grad


@overload
def inference_mode(mode: bool = True) -> Region: ...
@overload
def inference_mode(mode: F) -> F: ...
def inference_mode(mode: Any = True) -> Any:
    """`no_grad` that is strict: to differentiate through a result is an error, not a zero.

    - `mode`: `False` is a region inside one of inference mode with none. A function is decorated.

    Reverse mode refuses once a cotangent reaches a value made inside, so that comparing it, or
    `detach` of it, is fine. Forward mode refuses at once, where the value is made. Nothing else
    can be told from a constant: what does not depend on a differentiated argument never refuses.

    Errors: RuntimeError when differentiated.

    >>> with functx.inference_mode():
    ...     features = functx.exp(jnp.zeros(2, "float32"))
    >>> functx.grad(lambda w: (w * features).sum())(jnp.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    >>> functx.grad(functx.inference_mode(jnp.exp))(jnp.float32(0))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
      ...
    RuntimeError: inference_mode: f32[], made in inference mode, is being differentiated. ...
    """
    if isinstance(mode, bool):
        return Region("inference_mode", lambda _: Modes(not mode, not mode, mode))
    if not callable(mode):
        got = describe(mode)
        fail("inference_mode", f"`mode` must be a bool or a function, got {got}", error=TypeError)
    return within("inference_mode", mode, lambda _: Modes(False, False, True))


def is_inference_mode_enabled() -> bool:
    """Whether operators are in inference mode here.

    >>> functx.is_inference_mode_enabled()
    False
    """
    return current_modes().inference


def set_fwd_grad_enabled(mode: bool) -> ImmediateRegion:
    """Sets the mode as `functx.set_grad_enabled` does, for tangents alone.

    - `mode`: `False` gives the results of operators a tangent of zeros in forward mode.

    >>> f = functx.autograd.forward_ad.set_fwd_grad_enabled(False)(jnp.sin)
    >>> functx.jvp(f, (jnp.float32(0),), (jnp.float32(1),))[1], functx.grad(f)(jnp.float32(0))
    (Array(0., dtype=float32), Array(1., dtype=float32))
    """
    who = "forward_ad.set_fwd_grad_enabled"
    return _setting(who, mode, lambda modes: modes._replace(forward=mode))


def is_fwd_grad_enabled() -> bool:
    """Whether what operators compute here has tangents.

    >>> functx.autograd.forward_ad.is_fwd_grad_enabled()
    True
    """
    return current_modes().forward


def detach(input: T) -> T:
    """`input` as a constant of every derivative.

    - `input`: an array or a tree of arrays. The result has its values, shapes and dtypes.

    >>> functx.grad(lambda x: x * functx.detach(x))(jnp.float32(3))
    Array(3., dtype=float32)
    """
    return jax.tree.map(
        lambda x: lax.stop_gradient(strong(x)) if isinstance(x, jax.Array) else x, input
    )


def _region(who: str, func: Any, change: Change) -> Any:
    return Region(who, change) if func is None else within(who, func, change)


def _setting(who: str, mode: Any, change: Change) -> ImmediateRegion:
    require_bool(who, "mode", mode)
    return ImmediateRegion(who, change)
