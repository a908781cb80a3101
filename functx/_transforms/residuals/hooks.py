"""Residual hooks: the region in which what a backward pass keeps is packed."""

from __future__ import annotations

import contextlib
import inspect
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from functx._core import describe, fail
from functx._core.context.user_contexts import UserContext
from functx._core.jax_compat import differentiating


__all__ = ["disable_residual_hooks", "residual_hooks"]

ResidualHook = Callable[[Any], Any]


class Hooks:
    """A pair of hooks as a part of the key of every program recorded under them.

    JAX keeps such keys as long as its caches last, so a hook that holds anything is held weakly:
    it dies with the region and the pullbacks that need it. Functions made of the same code that
    hold nothing are the same hook; a lambda in a loop does not make a new program each time.
    """

    def __init__(self, pack: ResidualHook, unpack: ResidualHook, integers: bool):
        self._pack, self._unpack, self.integers = weakly(pack), weakly(unpack), integers
        self._key = identity(pack, self._pack), identity(unpack, self._unpack), integers
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hooks) and self._key == other._key

    @property
    def pack(self) -> ResidualHook:
        """The hook itself, which lives at least as long as the region."""
        return self._pack()

    @property
    def unpack(self) -> ResidualHook:
        """The hook that undoes `pack`, which lives at least as long as the region."""
        return self._unpack()


def weakly(hook: ResidualHook) -> Callable[[], Any]:
    """A reference to `hook`, a weak one if its class allows it."""
    if inspect.ismethod(hook):
        return weakref.WeakMethod(hook)
    try:
        return weakref.ref(hook)
    except TypeError:  # some functions written in C
        return lambda: hook


def identity(hook: ResidualHook, reference: Callable[[], Any]) -> Any:
    """A value that is equal for two hooks that do the same."""
    if isinstance(hook, types.FunctionType):
        holds = hook.__closure__ or hook.__defaults__ or hook.__kwdefaults__ or vars(hook)
        if not holds:
            return hook.__code__, id(hook.__globals__)
    return reference if isinstance(reference, weakref.ref) else hook


_state = UserContext(__name__, None)  # Hooks | str: why there must be none | None
# Hooks that a transform has used. While JAX holds a program made under them it holds them too, and
# running that program asks for no hooks again.
_met: weakref.WeakSet[Hooks] = weakref.WeakSet()


def hooks_here() -> Hooks | None:
    """The hooks of the region that the caller is in, for a transform that will use them."""
    state = _state.value
    if state is None or isinstance(state, str):
        return None
    _met.add(state)
    return state


def residual_hooks(
    pack: ResidualHook, unpack: ResidualHook, *, integers: bool = False
) -> AbstractContextManager[None]:
    """A region in which the residuals of a backward pass are packed when they are kept.

    Every functx transform that keeps residuals obeys: `vjp`, `grad`, `value_and_grad`, `jacrev`,
    `hessian`, `linearize` and their kin. The innermost region wins. Outside functx, `jax.grad` and
    `jax.vjp` do not know of it.

    - `pack(residual)`: called once for each array that is kept. In eager code it may return
      anything, the name of a file too; while tracing, trees of arrays and of what is static.
    - `unpack(packed)`: called once for each packed residual and each call of the pullback. It
      returns an array of the residual's shape and dtype (`TypeError`, `ValueError`).
    - `integers`: whether indices and masks go through the hooks as well, not only what is real
      or complex. What has no dimensions never does: it may be a number that was written by hand,
      and takes no room.

    Derivatives of higher order take what `unpack` returns for the residual itself: neither hook
    is differentiated, so that rounding does not stop a gradient.

    The region must be around the transform. In a function that is being differentiated, one that
    no transform inside uses would do nothing, and is refused when it ends (`RuntimeError`).

    >>> pack, unpack = lambda x: x.astype("bfloat16"), lambda x: x.astype("float32")
    >>> with functx.residuals.residual_hooks(pack, unpack):
    ...     functx.grad(lambda x: x @ x)(jnp.ones(2, "float32"))
    Array([2., 2.], dtype=float32)
    """
    for name, hook in (("pack", pack), ("unpack", unpack)):
        if not callable(hook):
            message = f"`{name}` must be callable, got {describe(hook)}"
            fail("residual_hooks", message, error=TypeError)
    return _entered(pack, unpack, integers)


@contextlib.contextmanager
def _entered(pack: ResidualHook, unpack: ResidualHook, integers: bool) -> Iterator[None]:
    if isinstance(_state.value, str):
        fail("residual_hooks", _state.value)
    hooks = Hooks(pack, unpack, integers)
    with _state(hooks):
        yield
    if differentiating() and hooks not in _met:
        fail(
            "residual_hooks",
            "inside a function that is being differentiated nothing has used the hooks",
            hint="enter the region around functx.grad or functx.vjp; for a part of a function, "
            "a checkpoint decides what is kept",
        )


@contextlib.contextmanager
def disable_residual_hooks(message: str) -> Iterator[None]:
    """A region that refuses residual hooks, with `message`; the innermost message counts.

    - `message`: what the `RuntimeError` says of whoever enters `residual_hooks` inside. Where
      hooks are in force already, the region itself is refused.

    >>> with functx.residuals.disable_residual_hooks("this code counts on exact residuals"):
    ...     functx.grad(lambda x: x * x)(jnp.float32(3))
    Array(6., dtype=float32)
    """
    if not isinstance(message, str):
        got = f"`message` must be a string, got {describe(message)}"
        fail("disable_residual_hooks", got, error=TypeError)
    if isinstance(_state.value, Hooks):
        fail("disable_residual_hooks", message, hint="residual hooks are in force here")
    with _state(message):
        yield
