"""What JAX's persistent cache of compiled programs did, counted."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import jax.monitoring


__all__ = ["CacheCounts", "cache_counts"]

_REQUESTS = "/jax/compilation_cache/compile_requests_use_cache"
_HITS = "/jax/compilation_cache/cache_hits"
_SAVED = "/jax/compilation_cache/compile_time_saved_sec"
_COMPILING = "/jax/core/compile/backend_compile_duration"


@dataclasses.dataclass
class CacheCounts:
    """What was compiled in a region of `cache_counts`; `str` says so, and why there were misses.

    - `compiled`: programs that XLA was asked for, found ones included; `seconds`: what that took.
    - `requests`: those that JAX's cache was asked for; `hits`: those that it had.
    - `saved_seconds`: what compiling the found ones would have taken besides.
    """

    compiled: int = 0
    seconds: float = 0.0
    requests: int = 0
    hits: int = 0
    saved_seconds: float = 0.0

    @property
    def misses(self) -> int:
        """Programs that the cache was asked for and did not have."""
        return self.requests - self.hits

    def __str__(self) -> str:
        lines = [f"{self.compiled} programs in {self.seconds:.2f} s"]
        if not self.requests:
            folder = _setting("jax_compilation_cache_dir")
            why = "no folder is set" if folder is None else f"it was not asked, in {folder}"
            remedy = 'jax.config.update("jax_compilation_cache_dir", "a/folder")'
            return "\n".join([*lines, f"JAX's cache is not used: {why}\n  hint: {remedy}"])
        lines.append(
            f"JAX's cache: {self.hits} hits, {self.misses} misses, {self.saved_seconds:.2f} s saved"
        )
        if self.misses:
            least = _setting("jax_persistent_cache_min_compile_time_secs")
            lines.append(
                "a miss is a new function, shape, dtype, option or version of JAX, or a program "
                f"that took less than {least} s, which is not written\n"
                '  hint: jax.config.update("jax_explain_cache_misses", True) tells which'
            )
        return "\n".join(lines)


def _setting(name: str) -> Any:
    """A setting of JAX's, which type checkers know nothing of."""
    return getattr(jax.config, name)


@contextlib.contextmanager
def cache_counts() -> Iterator[CacheCounts]:
    """A region in which it is counted what XLA compiles, and what JAX's cache on disk has of it.

    functx has no cache of compiled programs of its own, which could be stale: JAX's keeps them, if
    `jax_compilation_cache_dir` names a folder. Gives a `CacheCounts`, which counts until the region
    ends, in all threads.

    >>> with functx.aot.cache_counts() as counts:
    ...     y = jax.jit(lambda x: functx.sin(x) + 41)(jnp.ones(7, "float32"))
    >>> counts.compiled > 0
    True
    """
    counts = CacheCounts()

    def happened(event: str, **_: Any) -> None:
        counts.requests += event == _REQUESTS
        counts.hits += event == _HITS

    def took(event: str, duration_secs: float, **_: Any) -> None:
        if event == _COMPILING:
            counts.compiled += 1
            counts.seconds += duration_secs
        elif event == _SAVED:
            counts.saved_seconds += duration_secs

    jax.monitoring.register_event_listener(happened)
    jax.monitoring.register_event_duration_secs_listener(took)
    try:
        yield counts
    finally:
        jax.monitoring.unregister_event_listener(happened)
        jax.monitoring.unregister_event_duration_listener(took)
