"""Ambient state that tracing reads. It is part of every `jax.jit` cache key, ours and users'."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np

from functx._core.primitives.by_reference import Reference


class UserContext(Reference):
    """A user context of JAX's, of the module `home`: state that is part of every `jax.jit` key."""

    def __init__(self, home: str, default: Any) -> None:
        self.home, self._context = home, jax.make_user_context(default_value=default)

    @property
    def value(self) -> Any:
        """What is in force here, in this thread."""
        return self._context.value

    def __call__(self, value: Any) -> AbstractContextManager[None]:
        """A region in which `value` is in force."""
        return self._context(value)

    def set_global(self, value: Any) -> None:
        """Puts `value` in force for the process: in all threads, where they are in no region."""
        self._context.set_global(value)


autocast_dtype = UserContext(__name__, None)  # np.dtype | None; so far nothing in functx sets it
grad_modes = UserContext(__name__, None)  # grad_modes.Modes | None
chosen_default = UserContext(__name__, np.dtype("float32"))  # dtypes.default_float
checking_values = UserContext(__name__, False)  # set by functx.debug.checked
checking_results = UserContext(__name__, False)  # set by functx.debug.checking
wrapping_losses = UserContext(__name__, None)  # set by functx.memory, which tries checkpoints
showing_singular = UserContext(__name__, False)  # set by functx.debug.detect_anomaly
