"""Operators inside `jax.shard_map`, where types say over which axes of a mesh arrays vary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import AxisType, PartitionSpec

from functx.testing.opinfo import OpInfo, Sample

from .cases import Case, differentiable_case, sized, vjp_of, whole_function
from .compare import assert_close, closeness, DERIVATIVES
from .programs import Program, Steps


def check_varying(info: OpInfo, sample: Sample) -> None:
    """Inside `shard_map`, operators and pullbacks can be traced: what loops carry varies alike."""
    f, arrays = whole_function(info, sized(info, sample))
    jax.eval_shape(_on_one_device(f), *arrays)
    case = differentiable_case(info, sample)
    if case is not None:
        jax.eval_shape(_pullback_on_one_device(case), *case.xs)


def check_shard_map(info: OpInfo, sample: Sample) -> Steps:
    """Inside `shard_map` (over one device), values and pullbacks are those outside."""
    f, arrays = whole_function(info, sized(info, sample))
    want, got = yield [Program(f)(*arrays), Program(_on_one_device(f))(*arrays)]
    what = f"shard_map({info.id}){sample!r}"
    assert_close(got, want, what=what, close=closeness(info, sample))
    case = differentiable_case(info, sample)
    if case is None:
        return
    inside = Program(_pullback_on_one_device(case))
    want, got = yield [case.pulled(*case.xs, *case.cotangents), inside(*case.xs)]
    assert_close(got, want, what=f"shard_map(vjp({case.what}))", close=DERIVATIVES)


def _pullback_on_one_device(case: Case) -> Callable[..., Any]:
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
