"""How JAX is set while checks run: 64 bit, strict promotion, full precision, a warm cache."""

from __future__ import annotations

import os
from pathlib import Path

import jax


def compilation_cache() -> Path:
    """Where compiled programs are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "functx"


def configure(
    *, device: str = "cpu", x64: bool = True, strict: bool = True, shared: bool = False
) -> None:
    """Sets JAX up, before it is first used.

    `strict` holds rules to what checks demand: no mixed dtypes, full precision. `shared` says
    that several processes run on the device, so none may take all its memory.
    """
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    if shared:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if device.partition(":")[0] == "cpu" and "JAX_PLATFORMS" not in os.environ:
        jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", x64)
    if strict:
        jax.config.update("jax_numpy_dtype_promotion", "strict")
        jax.config.update("jax_default_matmul_precision", "highest")
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        jax.config.update("jax_compilation_cache_dir", str(compilation_cache()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.02)
