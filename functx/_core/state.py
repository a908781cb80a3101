"""Ambient state that tracing reads. It is part of every `jax.jit` cache key, ours and users'."""

from __future__ import annotations

import jax


autocast_dtype = jax.make_user_context(default_value=None)  # np.dtype | None
checking_values = jax.make_user_context(default_value=False)  # set by functx.debug.checked
