"""A check runs as one compiled program: dispatching its pieces would compile each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as one program. On CPUs without parallel code generation: programs here are small."""
    options = {"xla_cpu_parallel_codegen_split_count": 1} if _on_cpu() else None
    return jax.jit(f, compiler_options=options)


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"
