"""The one file that may lean on what is private to JAX, each use with its reason.

Supported: JAX 0.10 and 0.11.
"""

from __future__ import annotations

from typing import Any

import jax
from jax import core
from jax.extend.core import Primitive
from jax.interpreters import mlir


__all__ = ["staging_trace"]


_probe_p = Primitive("functx_probe")
_probe_p.def_impl(lambda: False)
_probe_p.def_abstract_eval(lambda: core.ShapedArray((), jax.numpy.bool_.dtype))
mlir.register_lowering(_probe_p, mlir.lower_fun(lambda: jax.numpy.asarray(False), False))


def staging_trace() -> Any:
    """The innermost trace that records a program (`jit`, `scan`, `checkpoint`), or None.

    A primitive without arguments passes through `grad` and `vmap`, which interpret, and
    stops at a trace that records. JAX offers no public question "am I being staged?"
    (`unsafe_am_i_under_a_jit` answers only yes or no), hence `Tracer._trace`.
    """
    probe = _probe_p.bind()
    return probe._trace if isinstance(probe, core.Tracer) else None
