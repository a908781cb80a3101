"""A correlation is the same whatever computes it, and whatever has lanes."""

from __future__ import annotations

import functools as ft
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from functx._ops.nn.convolution_lowerings import on_cpus as lowering_on_cpus
from functx._ops.nn.convolution_lowerings.depthwise import by_elements
from functx._ops.nn.convolution_lowerings.geometry import Geometry, Part
from functx._ops.nn.convolution_lowerings.im2col import by_windows
from functx._ops.nn.convolution_lowerings.phases import by_phases
from functx._ops.nn.convolution_lowerings.primitive import correlate, spread
from functx._ops.nn.convolution_lowerings.xla_kernels import by_lanes
from functx.testing.checks.programs import compiled


def geometry(strides, pads, dilations, groups, image, kernel):
    double = np.dtype("float64")
    return Geometry(strides, pads, dilations, groups, image, kernel, double, double)


# What it is, and the channels and filters of a group.
CASES = {
    "lanes": (geometry((2, 1), ((1, 0), (0, 2)), (1, 2), 1, (6, 5), (2, 3)), 2, 3),
    "groups": (geometry((2, 1), ((0, 1), (2, 0)), (2, 1), 2, (7, 4), (2, 3)), 2, 1),
    "elements": (geometry((3, 1), ((0, 2), (1, 1)), (1, 2), 3, (7, 6), (2, 3)), 1, 1),
    "volumes": (
        geometry((2, 1, 1), ((1, 0), (0, 2), (0, 0)), (1, 2, 1), 2, (5, 5, 3), (2, 3, 2)),
        2,
        1,
    ),
    "large kernel": (geometry((1, 2), ((3, 0), (0, 1)), (1, 1), 2, (10, 9), (9, 8)), 2, 1),
    "few places": (geometry((2, 3), ((0, 1), (2, -1)), (1, 2), 1, (3, 6), (2, 3)), 2, 8),
    "few places in a volume": (
        geometry((1, 2, 1), ((1, 0), (0, 1), (0, 0)), (1, 1, 1), 1, (2, 2, 1), (2, 2, 1)),
        1,
        9,
    ),
    "one element": (geometry((2, 1), ((0, 0), (1, 1)), (1, 1), 1, (3, 2), (1, 1)), 2, 3),
    "one element, wide": (geometry((1,), ((0, 0),), (1,), 1, (3,), (1,)), 32, 33),
}


def normal(*shape):
    return jnp.asarray(np.random.default_rng(sum(shape)).normal(size=shape))


def three_parts(of, channels, filters, lanes=2):
    return {
        Part.IMAGE: normal(lanes, 2, channels * of.groups, *of.image),
        Part.KERNEL: normal(lanes, filters * of.groups, channels, *of.kernel),
        Part.RESULT: normal(lanes, 2, filters * of.groups, *of.result),
    }


WAYS = ["fastest", "a loop", "windows", "blocks", "a block of a row"]
PROGRAMS = [*itertools.product(WAYS, CASES), ("elements", "elements")]


@pytest.mark.parametrize("wanted", Part)
@pytest.mark.parametrize("program, case", PROGRAMS)
def test_programs_for_cpus_agree_with_the_general_one(program, case, wanted, monkeypatch):
    of, channels, filters = CASES[case]
    if program in ("a loop", "blocks", "a block of a row"):
        monkeypatch.setattr(lowering_on_cpus, "_MANY", 0)
        monkeypatch.setattr(lowering_on_cpus, "windows_pay", lambda *_, **__: False)
        if program == "a loop":
            monkeypatch.setattr(lowering_on_cpus, "WINDOW", 0)
            monkeypatch.setattr(lowering_on_cpus, "_SLICES", 0)
        monkeypatch.setattr(lowering_on_cpus, "_BLOCK", 100 if program == "blocks" else 1)
    compute = {"windows": by_windows, "elements": by_elements}.get(
        program, lowering_on_cpus.on_cpus
    )
    parts = three_parts(of, channels, filters)
    given = [parts[part] for part in Part if part != wanted]
    both = jax.jit(lambda a, b: [f(wanted, of, a, b) for f in (compute, by_lanes)])
    got, expected = both(*given)
    assert got.shape == parts[wanted].shape
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def types(of, batch, filters, channels, lanes=1):
    """The types of the three parts of a group."""
    sizes = {Part.IMAGE: of.image, Part.KERNEL: of.kernel, Part.RESULT: of.result}
    counts = {
        Part.IMAGE: (batch, channels * of.groups),
        Part.KERNEL: (filters * of.groups, channels),
        Part.RESULT: (batch, filters * of.groups),
    }
    return {p: jax.ShapeDtypeStruct((lanes, *counts[p], *sizes[p]), of.dtype) for p in Part}


def square(size, kernel, stride=1, groups=1, pads=None):
    pads = (kernel // 2 if pads is None else pads,) * 2
    return geometry((stride,) * 2, (pads,) * 2, (1,) * 2, groups, (size,) * 2, (kernel,) * 2)


# Layers of networks, whether results, images and kernels are products of matrices there.
LAYERS = [
    (square(3, 3), 4, 512, 512, "RIK"),
    (square(6, 3), 4, 256, 256, "RIK"),
    (square(12, 3), 1, 128, 128, "RIK"),
    (square(12, 3), 4, 128, 128, "K"),
    (square(24, 3), 4, 64, 64, "K"),
    (square(56, 3), 16, 64, 64, "K"),
    (square(96, 7, 2), 4, 64, 3, ""),
    (square(7, 5), 4, 64, 32, "K"),
    (square(7, 5), 1, 128, 128, "RIK"),
    (square(224, 11, 4), 2, 96, 3, "K"),
    (square(26, 17, pads=0), 1, 17, 17, "RIK"),
    (square(41, 27, pads=0), 1, 27, 27, "IK"),
    (square(96, 29), 1, 8, 8, ""),  # slices of two dimensions of 29
    (square(224, 17), 1, 32, 32, ""),  # a row's windows are large
    (square(24, 1), 4, 256, 64, "RIK"),
    (square(14, 1), 4, 16, 16, "K"),
    (square(14, 1), 1, 16, 16, "RIK"),
    (square(6, 3, groups=2), 4, 256, 256, "K"),
    (square(3, 3, groups=2), 4, 256, 256, "RIK"),
]


@pytest.mark.parametrize("of, batch, filters, channels, products", LAYERS)
def test_late_layers_are_products_of_matrices(of, batch, filters, channels, products):
    parts = types(of, batch, filters, channels)
    for wanted in Part:
        given = [parts[part] for part in Part if part != wanted]
        program = jax.make_jaxpr(ft.partial(lowering_on_cpus.on_cpus, wanted, of))(*given)
        assert ("conv_general_dilated" not in str(program)) == (wanted.name[0] in products)
        assert ("dot_general" in str(program)) == (wanted.name[0] in products)


@pytest.mark.parametrize("dtype, products", [("bfloat16", ""), ("complex64", "RIK")])
def test_halves_are_convolved_and_complex_numbers_where_places_are_very_few(dtype, products):
    for size, found in ((3, products), (6, "")):
        of = square(size, 3)._replace(dtype=np.dtype(dtype), sums=np.dtype(dtype))
        parts = types(of, 4, 128, 128)
        for wanted in Part:
            given = [parts[part] for part in Part if part != wanted]
            program = jax.make_jaxpr(ft.partial(lowering_on_cpus.on_cpus, wanted, of))(*given)
            assert ("dot_general" in str(program)) == (wanted.name[0] in found)


def test_lanes_that_loop_over_groups_choose_for_each_of_them():
    of = square(6, 3)
    for batch, loops in ((1, "RI"), (4, "RIK")):
        parts = types(of, batch, 128, 128, lanes=2)
        for wanted in Part:
            given = [parts[part] for part in Part if part != wanted]
            program = str(jax.make_jaxpr(ft.partial(lowering_on_cpus.on_cpus, wanted, of))(*given))
            assert ("scan" in program) == (wanted.name[0] in loops)
            assert ("dot_general" in program) == (batch == 1 or wanted == Part.KERNEL)


def plain(image, kernel, of):
    return lax.conv_general_dilated(
        image,
        kernel,
        of.strides,
        of.pads,
        rhs_dilation=of.dilations,
        feature_group_count=of.groups,
    )


MAPPED = [(0, 0), (0, None), (None, 1)]


@pytest.mark.parametrize("inner, outer", [*itertools.product(MAPPED, MAPPED)])
@pytest.mark.parametrize("case", ["lanes", "groups"])
def test_lanes_of_lanes_are_those_of_the_plain_convolution(case, inner, outer):
    of, channels, filters = CASES[case]
    parts = three_parts(of, channels, filters, lanes=3)
    image, kernel = (parts[part][0] for part in (Part.IMAGE, Part.KERNEL))
    scales = iter([1.0, 0.5, -0.3, 0.7])
    for dims in (inner, outer):
        grown = []
        for x, dim in zip((image, kernel), dims, strict=True):
            grown.append(x if dim is None else jnp.stack([x, next(scales) * jnp.cos(x)], dim))
        image, kernel = grown

    def all_of(f):
        nested = lambda g: jax.vmap(jax.vmap(g, inner), outer)
        value = nested(lambda x, w: f(x, w, of))
        total = lambda x, w: jnp.sum(jnp.sin(value(x, w)))
        each = jax.grad(lambda x, w: jnp.sum(jnp.sin(f(x, w, of))), (0, 1))
        outside = jax.grad(total, (0, 1))(image, kernel)
        return value(image, kernel), nested(each)(image, kernel), outside

    got, expected = compiled(lambda: [all_of(correlate), all_of(plain)])()
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10), got, expected
    )


STRIDES = [(2, (1, 0), 7), (3, (0, 2), 8), (3, (1, -1), 2)]


@pytest.mark.parametrize(
    "stride, pads, size, kernel",
    [(*x, kernel) for x in STRIDES for kernel in (1, 2, 5) if x[2] + sum(x[1]) >= kernel],
)
def test_phases_of_an_image_are_put_together(stride, pads, size, kernel):
    of = geometry((stride, 1), (pads, (1, 1)), (1, 2), 1, (size, 5), (kernel, 2))
    parts = three_parts(of, 2, 3, lanes=1)
    given = parts[Part.KERNEL], parts[Part.RESULT]
    got = by_phases(of, given[0][0], given[1][0])
    expected = by_lanes(Part.IMAGE, of, *given)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_infinite_weights_meet_no_zeros_between_strides():
    of = geometry((2,), ((0, 0),), (1,), 1, (5,), (2,))
    kernel = jnp.asarray([[[jnp.inf, 1.0]]])
    np.testing.assert_array_equal(
        spread(kernel, jnp.ones((1, 1, 2)), of)[0, 0], [jnp.inf, 1, jnp.inf, 1, 0]
    )


@pytest.mark.parametrize("output", [Part.RESULT, Part.IMAGE])
@pytest.mark.parametrize("case", CASES)
def test_what_an_operator_computes_of_halves_is_not_rounded(case, output):
    of, channels, filters = CASES[case]
    half, single = np.dtype("bfloat16"), np.dtype("float32")
    of = of._replace(dtype=half, sums=single, output=output)
    parts = three_parts(of, channels, filters)
    exact = {part: x.astype(half) for part, x in parts.items()}
    for wanted in Part:
        given = [exact[part] for part in Part if part != wanted]
        got = jax.jit(lambda a, b, w=wanted: lowering_on_cpus.on_cpus(w, of, a, b))(*given)
        assert got.dtype == (single if wanted == output else half)
        wide = of._replace(dtype=single)
        expected = by_lanes(wanted, wide, *(x.astype(single) for x in given))
        np.testing.assert_allclose(got, expected.astype(got.dtype), rtol=1e-2, atol=1e-5)
        if wanted == output:
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_gradients_of_halves_are_halves():
    of, channels, filters = CASES["groups"]
    of = of._replace(dtype=np.dtype("bfloat16"), sums=np.dtype("float32"))
    parts = three_parts(of, channels, filters, lanes=1)
    image, kernel, result = (parts[part][0].astype(of.dtype) for part in Part)
    for f, args in ((correlate, (image, kernel)), (spread, (kernel, result))):
        out, pullback = jax.vjp(ft.partial(f, geometry=of), *args)
        assert out.dtype == of.sums
        assert [x.dtype for x in pullback(out)] == [of.dtype] * 2


@pytest.mark.parametrize("case", CASES)
def test_what_is_infinite_stays_in_its_group(case):
    of, channels, filters = CASES[case]
    parts = three_parts(of, channels, filters, lanes=2)
    image = parts[Part.IMAGE].at[0, :, 0].set(jnp.inf)
    out = jax.jit(jax.vmap(lambda x, w: correlate(x, w, of)))(image, parts[Part.KERNEL])
    untouched = np.ones(out.shape[:3], bool)
    untouched[0, :, :filters] = False
    assert np.isfinite(np.asarray(out)[untouched]).all()
    assert not np.isfinite(np.asarray(out)[~untouched]).all()


def test_gradients_of_explicitly_sharded_batches_are_sharded_like_their_operands():
    of, channels, filters = CASES["groups"]
    parts = three_parts(of, channels, filters)
    images, kernel = parts[Part.IMAGE][:, :1], parts[Part.KERNEL][0]
    loss = lambda w, x: jnp.sum(jnp.sin(correlate(x, w, of)))
    for f in (
        lambda w, x: jax.grad(loss)(w, x[0]),
        lambda w, x: jax.vmap(jax.grad(loss), (None, 0))(w, x),
        lambda w, x: jax.grad(lambda w: jnp.sum(jax.grad(loss)(w, x[0]) ** 2))(w),
    ):
        expected = f(kernel, images)
        mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Explicit,))
        with jax.set_mesh(mesh):
            sharded = jax.device_put(images, NamedSharding(mesh, P("data")))
            got = jax.jit(f)(jax.device_put(kernel, NamedSharding(mesh, P())), sharded)
        axes = ("data",) if got.ndim > kernel.ndim else ()
        assert jax.typeof(got).sharding.spec == P(*axes, *[None] * kernel.ndim)
        np.testing.assert_allclose(got, expected, rtol=1e-10)


@pytest.mark.parametrize("groups", [1, 2])
def test_what_two_functions_read_is_computed_before(groups):
    """XLA would transpose the output of its kernel in each of the two programs."""
    g = geometry((1, 1), ((1, 1), (1, 1)), (1, 1), groups, (6, 6), (3, 3))
    image, kernel = jnp.ones((2, 4, 6, 6)), jnp.ones((4, 4 // groups, 3, 3))

    def read_twice(image, kernel):
        out = correlate(image, kernel, g)
        return jnp.sin(out), out > 0

    program = jax.jit(read_twice).trace(image, kernel).lower(lowering_platforms=("cpu",))
    assert "optimization_barrier" in program.as_text()
