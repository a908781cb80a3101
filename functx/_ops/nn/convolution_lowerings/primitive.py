"""Correlations of images with kernels, as one primitive that is closed under transposition.

With `n` images in a batch, `c` channels, `f` filters and `l` lanes that do not mix, a correlation
ties three arrays together, each bilinear in the other two:

    image [l, n, c, *], kernel [l, f, c / groups, *], result [l, n, f, *].

If `vmap` adds a lane to one operand alone, the lane makes the batch, the channels or the filters
larger. If both operands have the lane, it is one of `l`. XLA has no lanes, only groups, and on CPUs
multiplies each group with the zeros between it and all others.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.interpreters import ad, batching, mlir
from jax.sharding import auto_axes, NamedSharding, PartitionSpec

from functx._core import category
from functx._core.devices.manual_axes import equally_varying, sharded_explicitly
from functx._core.numbers.product_precision import precision_of_convolutions
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import bilinear_along_curves
from functx._core.rules.tangent_types import tangent_type

from .geometry import Geometry, Part
from .im2col import by_windows
from .on_cpus import on_cpus
from .phases import has_few_phases
from .xla_kernels import by_lanes


_INDICES = {Part.IMAGE: "nc", Part.KERNEL: "fc", Part.RESULT: "nf"}  # indices of dimensions 1 and 2


def correlate(image: Array, kernel: Array, geometry: Geometry) -> Array:
    """The result of an image `[n, c, *]` and a kernel `[f, c / groups, *]`."""
    operands = [image[None], kernel[None]]
    if category(image.dtype) < 2:  # XLA convolves integers on few devices
        return by_windows(Part.RESULT, geometry, *operands)[0]
    return _bind(operands, Part.RESULT, geometry)[0]


def spread(kernel: Array, result: Array, geometry: Geometry) -> Array:
    """The image of a kernel and a result: each element of the result adds the kernel, times itself,
    to the image.
    """
    geometry = geometry._replace(output=Part.IMAGE)
    operands = [kernel[None], result[None]]
    if category(result.dtype) < 2 or not has_few_phases(geometry):
        with jax.default_matmul_precision(precision_of_convolutions()):
            return by_windows(Part.IMAGE, geometry, *operands)[0]
    return _bind(operands, Part.IMAGE, geometry)[0]


def _bind(
    operands: Sequence[Array],
    wanted: Part,
    geometry: Geometry,
    like: Any = None,
    precision: Any = "as it is set here",
) -> Array:
    if precision == "as it is set here":
        precision = precision_of_convolutions()
    options = {"wanted": wanted, "geometry": geometry, "like": like, "precision": precision}
    return _correlation.bind(*equally_varying(operands), **options)


# It takes the two parts that are not `wanted`, in their order. `like` is the type of the result,
# where the operands' explicit shardings do not tell it. `precision` is the setting of JAX's that
# was in force at the call, and is of its derivatives too.
_correlation = Primitive("correlation", __name__)


@ft.lru_cache(maxsize=1024)
def _compiled(**options: Any) -> Any:
    return jax.jit(ft.partial(_correlation.bind, **options))


def _run(*operands: Array, **options: Any) -> Array:
    return _compiled(**options)(*operands)


@ft.lru_cache(maxsize=1024)
def _type(*operands: Any, wanted: Part, geometry: Geometry, like: Any, precision: Any) -> Any:
    if like is not None:
        return like
    lanes, axes = operands[0].shape[0], operands[0].sharding.spec[0]
    one = [_of_lanes(x, 1, None) for x in operands]
    (aval,) = jax.make_jaxpr(ft.partial(by_lanes, wanted, geometry))(*one).out_avals
    return _of_lanes(aval.strip_weak_type(), lanes, axes)


def _of_lanes(aval: Any, lanes: int, axes: Any) -> Any:
    """`aval` with this many lanes, sharded over some axes of a mesh."""
    sharding = aval.sharding
    spec = PartitionSpec(axes, *sharding.spec[1:])
    sharding = NamedSharding(sharding.mesh, spec)
    return aval.update(shape=(lanes, *aval.shape[1:]), sharding=sharding)


def _jvp(
    operands: Sequence[Array],
    dots: Sequence[Any],
    *,
    wanted: Part,
    geometry: Geometry,
    like: Any,
    precision: Any,
) -> tuple[Array, Any]:
    out = _bind(operands, wanted, geometry, like, precision)
    terms = []
    for i, dot in enumerate(dots):
        if type(dot) is not ad.Zero:
            moved = [*operands]
            moved[i] = dot
            terms.append(_bind(moved, wanted, geometry, like, precision))
    return out, ft.reduce(jnp.add, terms) if terms else ad.Zero(tangent_type(out))


def _transpose(
    cotangent: Any,
    *operands: Any,
    wanted: Part,
    geometry: Geometry,
    like: Any,
    precision: Any,
) -> list[Any]:
    unknown = [ad.is_undefined_primal(x) for x in operands]
    if type(cotangent) is ad.Zero:
        return [ad.Zero(x.aval) if u else None for x, u in zip(operands, unknown, strict=True)]
    parts = _given_beside(wanted)
    asked = parts[unknown.index(True)]
    known = unknown.index(False)
    given = {wanted: cotangent, parts[known]: operands[known]}
    aval = operands[1 - known].aval
    like = aval.strip_weak_type() if sharded_explicitly(aval) else None
    out = _bind([given[part] for part in sorted(given)], asked, geometry, like, precision)
    return [out if u else None for u in unknown]


def _batch(
    operands: Sequence[Array],
    dims: Sequence[int | None],
    *,
    wanted: Part,
    geometry: Geometry,
    like: Any,
    precision: Any,
) -> tuple[Array, int]:
    moved = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True)]
    if None not in dims:
        lanes = moved[0].shape[:2]
        flat = [x.reshape(math.prod(lanes), *x.shape[2:]) for x in moved]
        out = _bind(flat, wanted, geometry, precision=precision)
        return out.reshape(*lanes, *out.shape[1:]), 0
    own = 0 if dims[1] is None else 1
    part = _given_beside(wanted)[own]
    (index,) = {*_INDICES[part]} & {*_INDICES[wanted]}
    size = moved[own].shape[0]
    moved[own] = _with_lanes_in(moved[own], part, index, geometry.groups)
    out = _bind(moved, wanted, geometry, precision=precision)
    return _lanes_of(out, size, wanted, index, geometry.groups), 0


def _given_beside(wanted: Part) -> list[Part]:
    return [part for part in Part if part != wanted]


def _place(part: Part, index: str, groups: int) -> tuple[int, int]:
    """The dimension of an index, and the number of groups that it goes through; groups stay
    outermost.
    """
    grouped = index == "f" or (index == "c" and part == Part.IMAGE)
    return 1 + _INDICES[part].index(index), groups if grouped else 1


def _with_lanes_in(x: Array, part: Part, index: str, groups: int) -> Array:
    """`x: [lanes, l, ...]` with the lanes moved into the dimension of an index."""
    axis, groups = _place(part, index, groups)
    size = x.shape[axis + 1] // groups
    split = x.reshape(*x.shape[: axis + 1], groups, size, *x.shape[axis + 2 :])
    x = jnp.moveaxis(split, 0, axis + 1)
    return x.reshape(*x.shape[:axis], groups * x.shape[axis + 1] * size, *x.shape[axis + 3 :])


def _lanes_of(x: Array, size: int, part: Part, index: str, groups: int) -> Array:
    """The inverse of `_with_lanes_in`."""
    axis, groups = _place(part, index, groups)
    each = x.shape[axis] // (groups * size)
    split = x.reshape(*x.shape[:axis], groups, size, each, *x.shape[axis + 1 :])
    x = jnp.moveaxis(split, axis + 1, 0)
    return x.reshape(*x.shape[: axis + 1], groups * each, *x.shape[axis + 3 :])


def _lowered(program: Any) -> Any:
    def run(*operands: Array, wanted: Part, geometry: Geometry, like: Any, precision: Any) -> Array:
        types = [jax.typeof(x) for x in operands]
        compute: Any = ft.partial(program, wanted, geometry)
        if any(map(sharded_explicitly, types)):  # XLA shards the steps in between
            out = _type(*types, wanted=wanted, geometry=geometry, like=like, precision=None)
            compute = auto_axes(compute, out_sharding=out.sharding)
        with jax.default_matmul_precision(precision):
            return compute(*operands)

    return mlir.lower_fun(run, multiple_results=False)


_correlation.def_impl(_run)
_correlation.def_abstract_eval(_type)
ad.primitive_jvps[_correlation] = _jvp
ad.primitive_transposes[_correlation] = _transpose
batching.primitive_batchers[_correlation] = _batch
mlir.register_lowering(_correlation, _lowered(by_lanes))
mlir.register_lowering(_correlation, _lowered(on_cpus), platform="cpu")

bilinear_along_curves(_correlation)
