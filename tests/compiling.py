"""Programs that are compiled here and now, for tests that look at what XLA says of them."""

import contextlib
import gc

import jax
from jax.experimental.compilation_cache import compilation_cache


@contextlib.contextmanager
def compiling_anew():
    """No program is from JAX's cache on disk, neither one to come nor one that is alive.

    Such a program has the names, lines and number of the process that compiled it. XLA tells
    programs apart by their numbers.
    """
    before = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # it looks at the setting once
    jax.clear_caches()
    gc.collect()
    yield
    jax.config.update("jax_enable_compilation_cache", before)
    compilation_cache.reset_cache()
