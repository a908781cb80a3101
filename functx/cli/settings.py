"""How JAX is set while checks run: 64 bit, strict promotion, full precision, a warm cache.

On GPUs, TF32 is off and sums come in one order; CPUs show themselves as several devices.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import jax

from functx.testing.checks.sharding import DEVICES


def set_environment(device: str = "cpu") -> None:
    """Sets the variables that XLA reads when it starts, unless they are set already."""
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    flags = {"xla_force_host_platform_device_count": str(DEVICES)}
    if device.partition(":")[0] != "cpu":
        flags["xla_gpu_deterministic_ops"] = "true"
    words = os.environ.get("XLA_FLAGS", "")
    added = [f"--{name}={value}" for name, value in flags.items() if name not in words]
    os.environ["XLA_FLAGS"] = " ".join([*words.split(), *added])


def compilation_cache() -> Path:
    """The folder where compiled programs are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "functx"


def configure(
    *, device: str = "cpu", x64: bool = True, strict: bool = True, shared: bool = False
) -> None:
    """Sets JAX up for checks, before JAX is first used.

    `strict` holds rules to what checks demand: no mixed dtypes, full precision. `shared` says
    that several processes run on the device, so none may take all its memory.
    """
    set_environment(device)
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
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    gc.set_threshold(50_000, 20, 100)  # tracing allocates so much that it costs a tenth else
