"""Functions with a fault of a known kind, for tests of what finds it."""

import jax
import jax.numpy as jnp
import numpy as np


def loops_over_lanes(x):
    @jax.custom_batching.custom_vmap
    def f(x):
        return jnp.sin(x)

    @f.def_vmap
    def _(size, batched, x):
        return jnp.stack([jnp.sin(x[i]) for i in range(size)]), True

    return f(x)


def differs_under_jit(x):
    return x + 1 if isinstance(x, jax.core.Tracer) else x


def differs_by_layout(x):
    return x + 1 if isinstance(x, np.ndarray) else jnp.asarray(x)
