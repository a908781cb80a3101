"""Random numbers that ignore their key, their lane, or their distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import core
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from functx._core import category
from functx.testing.calls import Calls, Given

from .derivatives import inexact
from .mutant import Mutant, planted
from .subject import Subject


# The identity of a key's bits; every lane receives the first lane's.
same_lanes = Primitive("same_lanes")
same_lanes.def_impl(lambda x: x)
same_lanes.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(same_lanes, lambda ctx, x: [x])


def _same_batch(args: Sequence[Any], dims: Sequence[Any]) -> Any:
    first = jax.lax.index_in_dim(args[0], 0, dims[0])
    return same_lanes.bind(jnp.broadcast_to(first, args[0].shape)), dims[0]


batching.primitive_batchers[same_lanes] = _same_batch


def random_mutants(subject: Subject) -> Iterator[Mutant]:
    """Of a random operator's entry."""
    spec = subject.calls.spec
    if spec is None or not subject.info.random:
        return
    name, dtype = spec.key_parameter, subject.dtype

    def fixed(op: Calls, given: Given) -> Any:
        return op(given | {name: jax.random.key(0)})

    def shared(op: Calls, given: Given) -> Any:
        key = given.get(name)
        if key is None:
            return op(given)
        typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
        bits = same_lanes.bind(jax.random.key_data(key) if typed else key)
        return op(given | {name: jax.random.wrap_key_data(bits)})

    def stretched(op: Calls, given: Given) -> Any:
        return jax.tree.map(
            lambda y: y * jnp.asarray(1.05, y.dtype) if inexact(y) else y, op(given)
        )

    def moved(op: Calls, given: Given) -> Any:
        return jax.tree.map(_moved, op(given))

    likely = (("keys", dtype), ("moments", dtype), ("lanes", dtype), ("reference", dtype))
    spread = (("moments", dtype), ("reference", dtype))
    for kind, mistake, cells in (
        ("key ignored", fixed, likely),
        ("one key for all lanes", shared, likely),
        ("spread 5 % too wide", stretched, spread),
        ("mean 5 % off", moved, spread),
    ):
        op = planted(subject.calls, lambda given: True, mistake)
        if kind.endswith("lanes") or any(subject.shows(s, op) for s in subject.samples()):
            yield Mutant(kind, "", op, cells, lambda sample: True)


def _moved(y: Any) -> Any:
    kind = category(y.dtype)
    if kind == 0:
        return ~y
    return y + (jnp.ones((), y.dtype) if kind == 1 else jnp.asarray(0.05, y.dtype))
