"""A sample as a differentiable function of arrays, with lanes, tangents and cotangents."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx
from functx._core import available, category
from functx.testing.dtype_facts import dtype_named
from functx.testing.opinfo import OpInfo, Sample

from .programs import CheckProgram, compiled, ProgramCall


ArrayFunction = Callable[..., Any]
ArrayList = list[Any]


def vjp_of(f: ArrayFunction, n: int) -> ArrayFunction:
    """`(inputs, cotangents) -> cotangents of the inputs`; `f` takes `n` arrays."""
    return lambda *args: functx.vjp(f, *args[:n])[1](tuple(args[n:]))


def jvp_of(f: ArrayFunction, n: int) -> ArrayFunction:
    """`(inputs, tangents) -> tangents of the outputs`; `f` takes `n` arrays."""
    return lambda *args: functx.jvp(f, tuple(args[:n]), tuple(args[n:]))[1]


@dataclasses.dataclass(frozen=True, eq=False)
class DifferentiableCase:
    """`f` takes the sample's floating and complex arrays and gives those of the output.

    `lanes` holds the same arrays under other seeds. What is not differentiable (indices,
    masks, integer outputs) is fixed at the sample's values. The programs are shared by the
    checks that ask for them.
    """

    f: ArrayFunction
    xs: ArrayList
    lanes: list[ArrayList]
    what: str
    at: Callable[..., ProgramCall]  # all outputs of the sample's own program, of the inputs
    outputs_kept: list[int]  # those of them that `f` gives

    @ft.cached_property
    def outputs(self) -> list[jax.ShapeDtypeStruct]:
        return list(jax.eval_shape(self.f, *self.xs))

    @ft.cached_property
    def tangents(self) -> ArrayList:
        return random_like(self.xs, seed=13)

    @ft.cached_property
    def cotangents(self) -> ArrayList:
        return random_like(self.outputs, seed=11)

    def kept(self, outputs: Sequence[Any]) -> ArrayList:
        """Of all outputs, those that `f` gives."""
        return [outputs[i] for i in self.outputs_kept]

    @ft.cached_property
    def pushed(self) -> CheckProgram:
        """Tangents of the outputs, of inputs and their tangents."""
        return CheckProgram(jvp_of(self.f, len(self.xs)))

    @ft.cached_property
    def pulled(self) -> CheckProgram:
        """Cotangents of the inputs, of inputs and cotangents of the outputs."""
        return CheckProgram(vjp_of(self.f, len(self.xs)))


@ft.lru_cache(maxsize=128)
def differentiable_case(info: OpInfo, sample: Sample) -> DifferentiableCase | None:
    """The case of a sample, or None if nothing in it carries a tangent."""
    if sample.values_only:
        return None
    sample = sized(info, sample)
    program, arrays = whole_program(info, sample)
    f = program.f
    moving = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]
    if not any(arrays[i].size for i in moving):
        return None
    shapes = jax.eval_shape(f, *arrays)
    kept = [i for i, y in enumerate(shapes) if category(y.dtype) >= 2]
    if not kept or not any(y.size for y in shapes):
        return None

    def moved(arrays: ArrayList, xs: Sequence[Any]) -> ArrayList:
        given = dict(zip(moving, xs, strict=True))
        return [given.get(i, x) for i, x in enumerate(arrays)]

    def over_moving(*xs: jax.Array) -> tuple[jax.Array, ...]:
        # As values of the program: operators judge constants while they are traced, at some cost.
        outputs = f(*moved([lax.optimization_barrier(x) for x in arrays], xs))
        return tuple(outputs[i] for i in kept)

    lanes = [[lane.arrays()[i] for i in moving] for lane in sample.lanes or (sample,)]
    at = lambda *xs: program(*moved(arrays, xs))
    xs, what = [arrays[i] for i in moving], f"{info.id}{sample!r}"
    return DifferentiableCase(over_moving, xs, lanes, what, at, kept)


def whole_function(info: OpInfo, sample: Sample) -> tuple[ArrayFunction, ArrayList]:
    """The operator as a function of all the sample's arrays, and these; outputs as a tuple.

    Random operators get a fixed key; outputs pass through the entry's gauge.
    """
    op = info.with_key(jax.random.key(7)) if info.random else info.op
    call = sample.over_arrays(op)

    def f(*arrays: jax.Array) -> tuple[jax.Array, ...]:
        out = call(*arrays)
        return tuple(jax.tree.leaves(info.determined(out)))

    return f, sample.arrays()


@ft.lru_cache(maxsize=256)
def whole_program(info: OpInfo, sample: Sample) -> tuple[CheckProgram, ArrayList]:
    """The operator as one program of all the sample's arrays, for all checks; and these."""
    f, arrays = whole_function(info, sample)
    return CheckProgram(f), arrays


@ft.lru_cache(maxsize=256)
def sized(info: OpInfo, sample: Sample) -> Sample:
    """The sample with every size that depends on values given: the largest of all lanes."""
    missing = info.unmeasured(sample)
    if not missing:
        return sample
    lanes = sample.lanes or (sample,)
    measure = compiled(lambda *arrays: info.measures(missing, sample.with_arrays(arrays)))
    measured = [measure(*lane.arrays()) for lane in lanes]
    sizes = {name: max(int(sizes[name]) for sizes in measured) for name in missing}
    assert info.spec is not None  # only declared operators measure sizes
    arguments = info.spec.arguments

    def give(s: Sample) -> Sample:  # by name: a size may have been left out by position
        return dataclasses.replace(s, args=(), kwargs={**arguments(s.args, s.kwargs), **sizes})

    return dataclasses.replace(give(sample), lanes=tuple(map(give, sample.lanes)))


def widened(sample: Sample, wider: Mapping[str, str]) -> Sample:
    """The call with arrays of wider dtypes, and with these where it names narrower ones."""
    put = lambda x: jax.device_put(np.asarray(x).astype(wider.get(x.dtype.name, x.dtype)))
    named = lambda x: x if (name := wider.get(dtype_named(x) or "")) is None else np.dtype(name)
    new = sample.with_arrays(list(map(put, sample.arrays())))
    args, kwargs = jax.tree.map(named, (new.args, dict(new.kwargs)))
    return dataclasses.replace(new, args=args, kwargs=kwargs)


def random_like(shapes: Sequence[Any], seed: int) -> ArrayList:
    """Normal arrays of given shapes and dtypes: tangents and cotangents."""
    rng = np.random.default_rng(seed)

    def one(x: Any) -> np.ndarray:
        values = rng.standard_normal(x.shape)
        if category(x.dtype) == 3:
            values = values + 1j * rng.standard_normal(x.shape)
        return np.asarray(values, x.dtype)

    return [one(x) for x in shapes]


def stacked(lanes: Sequence[Sequence[Any]], dim: int = 0) -> ArrayList:
    """Lanes of arrays as arrays with the lanes along `dim`."""
    return [np.stack([np.asarray(x) for x in xs], dim) for xs in zip(*lanes, strict=True)]


def inner(a: Sequence[jax.Array], b: Sequence[jax.Array]) -> jax.Array:
    """The real inner product of two lists of arrays, where both are finite and a is not 0."""
    total = jnp.zeros((), available("float64"))
    for x, y in zip(a, b, strict=True):
        product = jnp.where(x == 0, 0, jnp.real(jnp.conj(x) * y))
        total = total + jnp.sum(product.astype(total.dtype))
    return total
