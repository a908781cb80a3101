"""Programs that are compiled here and now, for tests that look at what XLA says of them."""

import contextlib

import jax
from jax.experimental.compilation_cache import compilation_cache


@contextlib.contextmanager
def compiling_anew():
    """No program is from the cache on disk, with the names and lines of one compiled before."""
    before = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # it looks at the setting once
    yield
    jax.config.update("jax_enable_compilation_cache", before)
    compilation_cache.reset_cache()
