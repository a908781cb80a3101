"""What operators may know of values, and sizes that depend on them.

`peek` sees the values behind eager `grad`, `jvp` and `vmap`; a program being recorded by
`jit` has none.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import core
from jax.core import Tracer
from jax.interpreters import ad, batching, mlir

from functx._core.errors import refuse
from functx._core.jax_compat import staging_trace
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import constant_along_curves


peek_p = Primitive("functx_peek", __name__)
peek_p.def_impl(lambda x: x)
peek_p.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(peek_p, lambda ctx, x: [x])


def _peek_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    value = peek_p.bind(*primals)
    return value, ad.Zero(jax.typeof(value).to_tangent_aval())


def _peek_batch(args: Any, dims: Any) -> tuple[Any, Any]:
    # Unmapped (dim None) on purpose: whoever peeks wants every lane's value at once.
    return peek_p.bind(jnp.moveaxis(args[0], dims[0], 0)), None


ad.primitive_jvps[peek_p] = _peek_jvp
batching.primitive_batchers[peek_p] = _peek_batch
constant_along_curves(peek_p)


def _seen(x: Tracer) -> Any:
    value = peek_p.bind(x)
    return value.full_lower() if isinstance(value, Tracer) else value  # `jet` wraps constants


def peek(x: Any) -> np.ndarray | None:
    """The values of `x`, of all lanes at once (lanes lead), or None while being recorded."""
    if isinstance(x, Tracer):
        if staging_trace() is not None:  # the equation would stay in the program
            return None
        x = _seen(x)
    return None if isinstance(x, Tracer) else np.asarray(x)


def peek_on_cpu(x: Any) -> np.ndarray | None:
    """The values of `x`, if looking costs no transfer and no waiting for a device."""
    if isinstance(x, Tracer):
        if staging_trace() is not None:
            return None
        x = _seen(x)
    if isinstance(x, Tracer):
        return None
    if isinstance(x, jax.Array) and next(iter(x.devices())).platform != "cpu":
        return None
    return np.asarray(x)


def at_hand(x: Any) -> np.ndarray | None:
    """The values of an array in the host's memory, without a copy; None of anything else."""
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, Tracer) or not isinstance(x, jax.Array):
        return None
    return np.asarray(x) if next(iter(x.devices())).platform == "cpu" else None


def agreed_size(count: Any, parameter: str) -> int:
    """A count that decides an output's shape, as an int: the same one in every lane."""
    counts = peek(count)
    if counts is None:
        refuse(
            "the shape of the output depends on values, which `jit` does not know",
            hint=f"pass `{parameter}=`, or call it outside of `jit`",
        )
    distinct = np.unique(counts)
    if len(distinct) != 1:
        sizes = counts.tolist()
        refuse(
            f"the lanes of `vmap` differ in size: {parameter}={sizes}",
            hint=f"pass `{parameter}=` (what is missing is filled), or loop over the lanes",
        )
    return int(distinct[0])
