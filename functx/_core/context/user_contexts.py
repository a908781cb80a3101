"""Ambient state that tracing reads. It is part of every `jax.jit` cache key, ours and users'.

JAX keeps such state per thread, and the tasks of an event loop are many on one thread: a region
that one task has entered would be in force in the others while it awaits. So what is in force is
kept in a context variable, of which every task has its own, and what JAX is given to put into its
keys is an object that looks there when JAX compares it (`_Here`).
"""

from __future__ import annotations

import contextvars
import sys
import threading
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import jax
import numpy as np

from functx._core.primitives.by_reference import Reference


class _Unset:
    """No value: of a context variable outside of all regions, of a `_Here` not looked at yet."""


_UNSET = _Unset()


class UserContext(Reference):
    """A user context of JAX's, of the module `home`: state that is part of every `jax.jit` key.

    Make them at the top of a module: JAX's keys hold what belongs to one from then on.
    """

    made: ClassVar[list[UserContext]] = []  # all, in order

    def __init__(self, home: str, default: Any) -> None:
        self.made.append(self)
        self.home, self._in_keys = home, jax.make_user_context(default_value=default)
        self._variable = contextvars.ContextVar[Any](f"{home}.UserContext", default=_UNSET)
        self._thread = _Thread()

    @property
    def value(self) -> Any:
        """What is in force here, in this thread and this task."""
        value = self._in_keys.value
        return value.now() if type(value) is _Here else value

    def __call__(self, value: Any) -> AbstractContextManager[None]:
        """A region in which `value` is in force."""
        return _Region(self, value)

    def set_global(self, value: Any) -> None:
        """Puts `value` in force for the process: in all threads, where they are in no region."""
        self._in_keys.set_global(value)

    def enter(self, value: Any) -> contextvars.Token[Any]:
        """Puts `value` in force; what comes back is for `leave`."""
        thread = self._thread
        if thread.looking_here is None:
            thread.looking_here = self._in_keys(_Here(self))
            thread.looking_here.__enter__()
        thread.regions += 1
        return self._variable.set(value)

    def leave(self, token: contextvars.Token[Any]) -> None:
        """Puts in force what was before."""
        try:
            self._variable.reset(token)
        except ValueError:  # left in another task than entered: there is nothing to undo here
            pass
        thread = self._thread
        thread.regions = max(0, thread.regions - 1)
        # A task that was started inside the region stays in it when the region is left.
        if thread.regions == 0 and thread.looking_here is not None and not _in_event_loop():
            thread.looking_here.__exit__(None, None, None)
            thread.looking_here = None

    def of_task(self) -> Any:
        """What is in force by the context variable, where JAX's keys look at it."""
        value = self._variable.get()
        return self._in_keys.get_global() if value is _UNSET else value

    def look_again(self, here: _Here) -> None:
        """Gives JAX another object for the keys to come, `here` being part of one now."""
        if self._in_keys.value is here:
            self._in_keys(_Here(self)).__enter__()


class _Thread(threading.local):
    """How many regions of a context are open in a thread, and JAX's region that keys look in."""

    regions: int = 0
    looking_here: Any = None


class _Region:
    """A region in which a value of a context is in force."""

    __slots__ = ("_context", "_token", "_value")

    def __init__(self, context: UserContext, value: Any) -> None:
        self._context, self._value = context, value
        self._token: contextvars.Token[Any] | None = None

    def __enter__(self) -> None:
        self._token = self._context.enter(self._value)

    def __exit__(self, *exception: Any) -> None:
        token, self._token = self._token, None
        if token is not None:
            self._context.leave(token)


class _Here:
    """What a context's value is where JAX looks: a part of a key of JAX's caches.

    Until it is compared it stands for the value of whichever task runs. It is settled by the first
    comparison, and so a key that a cache keeps does not change; the next key gets another object.
    Equal to the value itself, so regions that are left find the programs of before.
    """

    __slots__ = ("_context", "_settled", "_thread")

    def __init__(self, context: UserContext) -> None:
        self._context, self._settled, self._thread = context, _UNSET, threading.get_ident()

    def now(self) -> Any:
        return self._context.of_task() if self._settled is _UNSET else self._settled

    def _value(self) -> Any:
        # Another thread may meet it in a cache before the thread that made it has looked.
        if self._settled is _UNSET and threading.get_ident() == self._thread:
            self._settled = self._context.of_task()
            self._context.look_again(self)
        return self._settled

    def __hash__(self) -> int:
        return hash(self._value())

    def __eq__(self, other: object) -> bool:
        mine, theirs = self._value(), other._value() if type(other) is _Here else other
        # by type too: NumPy's float64 calls itself equal to None
        return mine is theirs or (type(mine) is type(theirs) and mine == theirs)

    def __repr__(self) -> str:
        return repr(self.now())


def _in_event_loop() -> bool:
    """Whether an event loop of asyncio runs in this thread; asks for no import of it."""
    asyncio = sys.modules.get("asyncio.events")
    return asyncio is not None and asyncio._get_running_loop() is not None


autocast_region = UserContext(__name__, None)  # autocast_regions.AutocastRegion | None
grad_modes = UserContext(__name__, None)  # grad_modes.Modes | None
convolution_precision = UserContext(__name__, None)  # a setting of JAX's: backends.cudnn
chosen_default = UserContext(__name__, np.dtype("float32"))  # dtypes.default_float
checking_values = UserContext(__name__, False)  # set by functx.debug.checked
checking_results = UserContext(__name__, False)  # set by functx.debug.checking
wrapping_losses = UserContext(__name__, None)  # set by functx.memory, which tries checkpoints
showing_singular = UserContext(__name__, False)  # set by functx.debug.detect_anomaly
in_place_of_rules = UserContext(__name__, None)  # set by functx.testing.conventions
lookups_are_sought = UserContext(__name__, False)  # set by functx.sparse.row_grad
