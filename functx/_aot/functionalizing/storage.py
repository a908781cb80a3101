"""One array that all views of it share, and the call of a functionalized function it lives in."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp

from functx._core import describe, fail, refuse
from functx._core.context.grad_modes import without_grad_mode
from functx._core.context.user_contexts import grad_modes
from functx._core.jax_compat import current_trace, running_in
from functx._core.rules.custom_derivatives import derivative_rules


class RunningCalls(threading.local):
    """The calls of functionalized functions that run in this thread, the outermost first."""

    def __init__(self) -> None:
        self.open: list[RunningCall] = []


_calls = RunningCalls()


class RunningCall:
    """One call of a functionalized function: arrays are mutable while it runs."""

    def __init__(self) -> None:
        self.running = True

    def __enter__(self) -> RunningCall:
        _calls.open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _calls.open.remove(self)
        self.running = False


def current_call(who: str) -> RunningCall:
    """The innermost call that runs; refuses to go on outside of any."""
    if not _calls.open:
        fail(
            who,
            "no functionalized function is running, and arrays are mutable in one alone",
            hint="functx.aot.functionalize(f) runs f with arrays that can be written in place",
        )
    return _calls.open[-1]


class Storage:
    """The array that views read and write: a write replaces it by a new one.

    It belongs to the call in which it was made, and to the transform that ran there.
    """

    def __init__(self, value: jax.Array, call: RunningCall) -> None:
        self._value, self._call, self._trace = value, call, current_trace()
        self.shape, self.dtype = value.shape, value.dtype

    @property
    def alive(self) -> bool:
        """Whether the call that the array belongs to runs."""
        return self._call.running

    def read(self) -> jax.Array:
        """The array as it is after all writes so far."""
        if not self._call.running:
            refuse(
                f"this mutable array, {describe(self._value)}, was used after the functionalized "
                "function that it belongs to had returned",
                hint="return it, or x.clone() of it: what is returned comes back as a plain array",
            )
        return self._value

    def write(self, value: jax.Array) -> None:
        """Replaces the array."""
        self.check_writable()
        self._value = value

    def check_writable(self) -> None:
        """Refuses a write from inside of another transform than the array was made in."""
        self.read()
        if (trace := current_trace()) is self._trace:
            return
        there, here = running_in(self._trace), running_in(trace)
        refuse(
            f"an array made outside of the `{here}` that runs here (in {there}) cannot be written "
            f"inside of it, got {describe(self._value)}",
            hint="pass its value in, x.clone(), write to functx.aot.mutable(value) inside, return "
            "that, and x.copy_(result) outside; a loop carries it, a batched write needs an array "
            "with a lane for each",
        )


def hidden_from_derivatives(old: jax.Array, new: jax.Array) -> jax.Array:
    """`new`, with the derivative of `old`: what PyTorch's in-place writes in `no_grad` leave."""
    return _hidden(old, new) if jnp.issubdtype(old.dtype, jnp.inexact) else new


def hidden_if_no_grad(old: jax.Array, new: jax.Array) -> jax.Array:
    """`new`, or in a region without derivatives `new` with the derivative of `old`."""
    modes = grad_modes.value
    return new if modes is None or modes.grad else hidden_from_derivatives(old, new)


_hidden = without_grad_mode(
    derivative_rules(
        lambda old, new: new,
        jvp=lambda primals, output, tangents: tangents[0],
        name="in-place write",
        of="primals",
    )
)
