"""Identities with a wrong batching rule: they hand lanes the values of other lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import core
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir


Fault = Literal["alone", "last"]

# The identity of the first operand. The others tell the batching rule what else is mapped.
mixing = Primitive("mixes_lanes")
mixing.def_impl(lambda x, *others, fault: x)
mixing.def_abstract_eval(lambda x, *others, fault: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(mixing, lambda ctx, x, *others, fault: [x])


def _mixing_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, fault: Fault) -> Any:
    return mixing.bind(*primals, fault=fault), tangents[0]


def _mixing_batch(args: Sequence[Any], dims: Sequence[Any], *, fault: Fault) -> Any:
    first, *others = dims
    x = args[0]
    if first is None:
        return x, None
    alone = all(dim is None for dim in others)
    last = first == x.ndim - 1 > 0
    if alone if fault == "alone" else last:
        x = jnp.flip(x, first)
    return mixing.bind(x, *args[1:], fault=fault), first


ad.primitive_jvps[mixing] = _mixing_jvp
batching.primitive_batchers[mixing] = _mixing_batch

# The identity with a right batching rule, whose tangents and cotangents have a wrong one.
spoiling = Primitive("spoils_tangents")
spoiling.def_impl(lambda x: x)
spoiling.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(spoiling, lambda ctx, x: [x])
tangent = Primitive("mixes_tangents")
tangent.def_impl(lambda x: x)
tangent.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(tangent, lambda ctx, x: [x])


def _spoiling_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    dot = tangents[0]
    return spoiling.bind(*primals), dot if type(dot) is ad.Zero else tangent.bind(dot)


def _tangent_transpose(cotangent: Any, x: Any) -> list[Any]:
    return [cotangent if type(cotangent) is ad.Zero else tangent.bind(cotangent)]


def _tangent_batch(args: Sequence[Any], dims: Sequence[Any]) -> Any:
    return tangent.bind(jnp.flip(args[0], dims[0])), dims[0]


ad.primitive_jvps[spoiling] = _spoiling_jvp
batching.primitive_batchers[spoiling] = lambda args, dims: (spoiling.bind(*args), dims[0])
ad.deflinear(tangent, lambda cotangent: _tangent_transpose(cotangent, None))
batching.primitive_batchers[tangent] = _tangent_batch


def mixes_lanes(x: Any, others: Sequence[Any], fault: Fault) -> jax.Array:
    """`x`. Lanes are reversed where it is mapped `alone`, or at the `last` dimension."""
    return mixing.bind(jnp.asarray(x), *map(jnp.asarray, others), fault=fault)


def mixes_tangents(x: Any) -> jax.Array:
    """`x`. Lanes are reversed where its tangents or cotangents are mapped."""
    return spoiling.bind(jnp.asarray(x))
