"""Random numbers that ignore their key, their lane, each other, or their distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import core
from jax.extend.core import Primitive
from jax.extend.random import define_prng_impl, threefry_prng_impl
from jax.interpreters import batching, mlir

from functx._core import category
from functx.testing.calls import Calls, Given
from functx.testing.checks.forward import expected
from functx.testing.opinfo import OpInfo, Sample

from .derivatives import inexact
from .mutant import Cells, Mistake, Mutant, planted
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


def _equal_bits(key: Any, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    bits = threefry_prng_impl.random_bits(key, bit_width, shape)
    return jnp.broadcast_to(bits.reshape(-1)[:1].reshape((1,) * len(shape)), shape)


# Each number that is drawn at once with others is the first of them.
equal_numbers = define_prng_impl(
    key_shape=threefry_prng_impl.key_shape,
    seed=threefry_prng_impl.seed,
    split=threefry_prng_impl.split,
    random_bits=_equal_bits,
    fold_in=threefry_prng_impl.fold_in,
    name="equal_numbers",
    tag="equal",
)


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
        return op(given | {name: jax.random.wrap_key_data(same_lanes.bind(_bits_of(key)))})

    def equal(op: Calls, given: Given) -> Any:
        key = given.get(name)
        if key is None:
            return op(given)
        return op(given | {name: jax.random.wrap_key_data(_bits_of(key), impl=equal_numbers)})

    def redrawn(op: Calls, given: Given) -> Any:
        key, out = given.get(name), op(given)
        if key is None:
            return out
        rest = {k: v for k, v in given.items() if k != name}
        return _redrawn(subject.info, Sample(*op.call_of(rest)), out, key)

    def stretched(op: Calls, given: Given) -> Any:
        return jax.tree.map(
            lambda y: y * jnp.asarray(1.05, y.dtype) if inexact(y) else y, op(given)
        )

    def mean_off(op: Calls, given: Given) -> Any:
        return jax.tree.map(_with_mean_off, op(given))

    likely = (("keys", dtype), ("moments", dtype), ("lanes", dtype), ("reference", dtype))
    spread = (("moments", dtype), ("reference", dtype))
    law = (("distribution", dtype), ("conventions", dtype))
    mistakes: list[tuple[str, Mistake, Cells]] = [
        ("key ignored", fixed, likely),
        ("one key for all lanes", shared, likely),
        ("spread 5 % too wide", stretched, spread),
        ("mean 5 % off", mean_off, spread),
    ]
    if subject.info.sampler is not None:
        mistakes.append(("elements all equal", equal, law))
    if subject.info.moments is not None:
        mistakes.append(("another law", redrawn, law))
    for kind, mistake, cells in mistakes:
        op = planted(subject.calls, lambda given: True, mistake)
        if kind.endswith("lanes") or any(subject.shows(s, op) for s in subject.samples()):
            yield Mutant(kind, "", op, cells, lambda sample: True)


def _bits_of(key: jax.Array) -> jax.Array:
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(key) if typed else key


def _redrawn(info: OpInfo, sample: Sample, out: Any, key: jax.Array) -> Any:
    """Floating numbers with the same means and deviations, of the negative exponential law."""
    if any(isinstance(x, core.Tracer) for x in sample.arrays()):
        return out  # its moments are not known here
    assert info.moments is not None
    leaves, tree = jax.tree.flatten(out)
    moments = (jax.tree.leaves(m) for m in expected(info, info.moments, sample))
    mean, std = (np.concatenate([np.reshape(x, -1) for x in m]) for m in moments)
    draw = 1 - jax.random.exponential(key, (sum(y.size for y in leaves),), float)
    numbers = jnp.split(mean + std * draw, np.cumsum([y.size for y in leaves])[:-1])
    new = lambda y, x: x.reshape(y.shape).astype(y.dtype) if category(y.dtype) == 2 else y
    return tree.unflatten(map(new, leaves, numbers))


def _with_mean_off(y: Any) -> Any:
    kind = category(y.dtype)
    if kind == 0:
        return ~y
    return y + (jnp.ones((), y.dtype) if kind == 1 else jnp.asarray(0.05, y.dtype))
