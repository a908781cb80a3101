"""Operators on arrays that several devices hold: inside `jax.shard_map`, and split by XLA."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from functx.testing.opinfo import OpInfo, Sample

from .cases import (
    ArrayFunction,
    ArrayList,
    differentiable_case,
    DifferentiableCase,
    sized,
    stacked,
    vjp_of,
    whole_function,
)
from .compare import assert_close, Closeness, closeness, DERIVATIVES
from .programs import CheckProgram, CheckSteps, compiled


DEVICES = 8  # that lanes are split over


def check_varying(info: OpInfo, sample: Sample) -> None:
    """Inside `shard_map`, operators and pullbacks can be traced: what loops carry varies alike."""
    f, arrays = whole_function(info, sized(info, sample))
    jax.eval_shape(_on_one_device(f), *arrays)
    case = differentiable_case(info, sample)
    if case is not None:
        jax.eval_shape(_pullback_on_one_device(case), *case.xs)


def check_shard_map(info: OpInfo, sample: Sample) -> CheckSteps:
    """Inside `shard_map` (over one device), values and pullbacks are those outside."""
    f, arrays = whole_function(info, sized(info, sample))
    want, got = yield [CheckProgram(f)(*arrays), CheckProgram(_on_one_device(f))(*arrays)]
    what = f"shard_map({info.id}){sample!r}"
    assert_close(got, want, what=what, close=closeness(info, sample))
    case = differentiable_case(info, sample)
    if case is None:
        return
    inside = CheckProgram(_pullback_on_one_device(case))
    want, got = yield [case.pulled(*case.xs, *case.cotangents), inside(*case.xs)]
    assert_close(got, want, what=f"shard_map(vjp({case.what}))", close=DERIVATIVES)


def _pullback_on_one_device(case: DifferentiableCase) -> Callable[..., Any]:
    pullback = vjp_of(case.f, len(case.xs))
    return _on_one_device(lambda *xs: pullback(*xs, *case.cotangents))


def _on_one_device(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of arrays that vary over the axis of a mesh, which has one device."""

    def mapped(*arrays: jax.Array) -> Any:
        mesh = jax.make_mesh((1,), ("devices",), axis_types=(AxisType.Auto,))
        rows = PartitionSpec("devices")
        each = lambda *xs: tuple(y[None] for y in f(*(x[0] for x in xs)))
        over_mesh = jax.shard_map(each, mesh=mesh, in_specs=rows, out_specs=rows)
        return tuple(y[0] for y in over_mesh(*(x[None] for x in arrays)))

    return mapped


def enough_devices() -> bool:
    """Whether there are as many devices as `check_sharded` splits lanes over."""
    return len(jax.devices()) >= DEVICES


def check_sharded(info: OpInfo, sample: Sample) -> CheckSteps:
    """With lanes split over eight devices, or arrays on all of them, results are those of one.

    Dimensions are not split: there what XLA makes of plain JAX is not right itself. It takes the
    padding of indices for indices, convolves what is split in space with a kernel in parts wrongly,
    and errs in the pullback of `jnp.cumprod` (seen in JAX 0.10.2).
    """
    if not sample.arrays():
        return False
    sample = sized(info, sample)
    f, arrays = whole_function(info, sample)
    lanes = [lane.arrays() for lane in sample.lanes or (sample,)]
    what = f"{info.id}{sample!r}"
    yield from _hold_split(f, arrays, lanes, what, closeness(info, sample))
    case = differentiable_case(info, sample)
    if case is not None:
        pullback = vjp_of(case.f, len(case.xs))
        lanes = [[*xs, *case.cotangents] for xs in case.lanes]
        yield from _hold_split(pullback, lanes[0], lanes, f"vjp({case.what})", DERIVATIVES)


def _hold_split(
    f: ArrayFunction, xs: ArrayList, lanes: Sequence[ArrayList], what: str, close: Closeness
) -> CheckSteps:
    given = xs, stacked(list(itertools.islice(itertools.cycle(lanes), DEVICES)))
    both = lambda xs, lanes: (f(*xs), jax.vmap(f)(*lanes))
    [want] = yield [CheckProgram(both)(*given)]
    devices = jax.devices()[:DEVICES]
    mesh = jax.make_mesh((DEVICES,), ("lanes",), axis_types=(AxisType.Auto,), devices=devices)
    layouts = [NamedSharding(mesh, spec) for spec in (PartitionSpec(), PartitionSpec("lanes"))]
    got = compiled(both)(*map(jax.device_put, given, layouts))
    assert_close(got, want, what=f"{what}, split over {DEVICES} devices", close=close)
