"""`use_deterministic_algorithms`: whether a program gives the same bits each time it runs."""

from __future__ import annotations

import os
import warnings

import jax

from functx._core.errors import fail, require_bool
from functx._core.jax_compat import backends_are_initialized


_FLAG = "--xla_gpu_deterministic_ops"
_enabled = _warns = _added = False


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Has every program give the same bits each time that it runs, for the whole process.

    - `mode`: whether.
    - `warn_only`: warn where it comes too late, in place of an error.

    CPUs and TPUs always do. On GPUs XLA adds up what meets in one place (`index_add`,
    `scatter_add`, gradients of `embedding` and of indexing) in the order in which threads arrive,
    and chooses algorithms by their speed of the moment. Its flag `--xla_gpu_deterministic_ops` says
    otherwise, of all programs of a process and not of single ones. JAX reads it when it starts its
    devices, so call this before anything is computed; the flag goes into the environment.

    Errors: TypeError unless `mode` is a bool, RuntimeError if JAX has started a GPU without the
    flag.

    >>> functx.use_deterministic_algorithms(True)
    >>> functx.are_deterministic_algorithms_enabled()
    True
    >>> functx.use_deterministic_algorithms(False)
    """
    global _enabled, _warns, _added
    require_bool("use_deterministic_algorithms", "mode", mode)
    require_bool("use_deterministic_algorithms", "warn_only", warn_only)
    if mode and not _asked_for():
        if not backends_are_initialized():
            os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAG}=true".strip()
            _added = True
        elif _has_gpu():
            _too_late(warn_only)
    if not mode and _added and not backends_are_initialized():
        words = os.environ.get("XLA_FLAGS", "").split()
        os.environ["XLA_FLAGS"] = " ".join(word for word in words if word != f"{_FLAG}=true")
        _added = False
    _enabled, _warns = mode, mode and warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` is on.

    >>> functx.are_deterministic_algorithms_enabled()
    False
    """
    return _enabled


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` is on, and warned where it came too late.

    >>> functx.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warns


def _asked_for() -> bool:
    """Whether the environment has the flag: the last one counts."""
    words = [word for word in os.environ.get("XLA_FLAGS", "").split() if word.startswith(_FLAG)]
    return bool(words) and words[-1].partition("=")[2].lower() in ("", "true", "1")


def _has_gpu() -> bool:
    try:
        return bool(jax.devices("gpu"))
    except RuntimeError:
        return False


def _too_late(warn_only: bool) -> None:
    what = "JAX has started its GPU, and reads the flag that does this only then"
    hint = f"call it before anything is computed, or set XLA_FLAGS={_FLAG}=true"
    if not warn_only:
        fail("use_deterministic_algorithms", what, hint=hint)
    warnings.warn(f"use_deterministic_algorithms: {what}\n  hint: {hint}", stacklevel=3)
