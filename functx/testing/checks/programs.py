"""A check runs as one compiled program: dispatching its pieces would compile each of them."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax


# The programs are small and run once: on CPUs nearly all of a check is XLA compiling it. These
# make that several times cheaper. Eager operators keep the pipeline that users get.
_CHEAPER: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as one program, compiled quickly rather than well."""
    return jax.jit(f, compiler_options=_options(jax.default_backend()))


@ft.cache
def _options(platform: str) -> dict[str, Any] | None:
    """Those of the options that this XLA knows: their names are not part of JAX's interface."""
    return {k: v for k, v in _CHEAPER.items() if _known(k, v)} if platform == "cpu" else None


def _known(name: str, value: Any) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options={name: value}).lower().compile()
    except Exception:
        return False
    return True
