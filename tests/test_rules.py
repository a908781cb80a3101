"""Own derivative rules hold under every nest of transforms; `nests` says how that is seen."""

from __future__ import annotations

import functools as ft
import gc
import itertools
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P
from nests import check, DIRECTION, growth, growth_truth, MIX, NESTS, POINT, wave, wave_truth

from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing.checks.programs import compiled


def wave_jvp(primals, output, tangents):
    return 3 * jnp.cos(MIX @ primals[0]) * (MIX @ tangents[0])


def wave_vjp(primals, output, cotangent):
    return (MIX.T @ (3 * jnp.cos(MIX @ primals[0]) * cotangent),)


def growth_jvp(primals, output, tangents):
    return 3 * output * (MIX @ tangents[0])


def growth_vjp(primals, output, cotangent):
    return (MIX.T @ (3 * output * cotangent),)


def kinds(forward, jvp, vjp, of="both"):
    return {
        "both": derivative_rules(forward, jvp=jvp, vjp=vjp, of=of),
        "forward": derivative_rules(forward, jvp=jvp),
        "reverse": derivative_rules(forward, vjp=vjp),
    }


KINDS = "both", "forward", "reverse"
WAVE = kinds(wave, wave_jvp, wave_vjp, "primals")
GROWTH = kinds(growth, growth_jvp, growth_vjp, "output")


@pytest.mark.parametrize("outer", NESTS)
def test_nests_of_two(outer):
    check([(outer, inner) for inner in NESTS], WAVE, wave_truth)


@pytest.mark.parametrize("pair", [("scan", "grad"), ("vmap-1", "jacrev"), ("checkpoint", "vjp")])
def test_nests_of_three(pair):
    check([(*pair, inner) for inner in NESTS], WAVE, wave_truth)


@pytest.mark.parametrize("outer", ["grad", "jacfwd", "vmap0", "fori_loop"])
def test_nests_with_the_output_as_a_residual(outer):
    check([(outer, inner) for inner in NESTS], GROWTH, growth_truth)


@pytest.mark.parametrize("kind", KINDS)
def test_first_and_second_order_in_closed_form(kind):
    f = WAVE[kind]
    angle = MIX @ POINT
    modes = itertools.product((jax.jacfwd, jax.jacrev), repeat=2)
    of_second_order = [one(two(f)) for one, two in modes]
    run = compiled(lambda x: (f(x), jax.jacrev(f)(x), [g(x) for g in of_second_order]))
    value, first, seconds = run(POINT)
    np.testing.assert_allclose(value, np.sin(angle))
    np.testing.assert_allclose(first, 3 * np.cos(angle)[:, None] * MIX)
    second = -3 * np.einsum("i,ij,ik->ijk", np.sin(angle), MIX, MIX)
    for got in seconds:
        np.testing.assert_allclose(got, second, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_residual_is_a_function_of_the_primals(kind):
    derivatives = [kinds(jnp.exp, lambda p, y, t: y * t[0], lambda p, y, ct: (y * ct,))[kind]]
    for _ in range(3):
        derivatives.append(jax.grad(derivatives[-1]))
    got = compiled(lambda x: [f(x) for f in derivatives])(0.5)
    np.testing.assert_allclose(got, [np.exp(0.5)] * 4, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_second_order_under_scan_equals_the_unrolled_loop(kind):
    f = WAVE[kind]

    def scanned(x):
        return lax.scan(lambda c, _: (f(c), None), x, length=3)[0].sum()

    def unrolled(x):
        return f(f(f(x))).sum()

    modes = (jax.jacfwd, jax.jacrev), (jax.jacrev, jax.jacrev), (jax.jacfwd, jax.jacfwd)
    run = lambda x: [[one(two(f))(x) for one, two in modes] for f in (scanned, unrolled)]
    for got, want in zip(*compiled(run)(POINT), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10)


def polar(point, scale):
    """Trees in and out; the integer `power` and the integer output have no tangent."""
    power = jnp.asarray(point["power"], jnp.float64)
    radius = scale * jnp.sqrt(point["x"] ** 2 + point["y"] ** 2) ** power
    return {"radius": radius, "angle": jnp.arctan2(point["y"], point["x"]), "n": point["power"] + 1}


def polar_jvp(primals, output, tangents):
    point, scale = primals
    dpoint, dscale = tangents
    assert dpoint["power"] is None
    x, y, n = point["x"], point["y"], jnp.asarray(point["power"], jnp.float64)
    square = x * x + y * y
    radial = n * (x * dpoint["x"] + y * dpoint["y"]) / square
    angle = (x * dpoint["y"] - y * dpoint["x"]) / square
    return {
        "radius": output["radius"] * radial + output["radius"] / scale * dscale,
        "angle": angle,
        "n": None,
    }


def polar_vjp(primals, output, cotangent):
    point, scale = primals
    assert cotangent["n"] is None
    x, y, n = point["x"], point["y"], jnp.asarray(point["power"], jnp.float64)
    square = x * x + y * y
    radius = cotangent["radius"] * output["radius"]
    angle = cotangent["angle"] / square
    along = n * radius / square
    cotangents = {"x": along * x - angle * y, "y": along * y + angle * x, "power": None}
    return cotangents, radius / scale


def derivatives(f, dims, argnums):
    """Per row; of the sum over rows, which share what is not batched; and of second order."""

    def each(x, y, scale):
        out = f({"x": x, "y": y, "power": 3}, scale)
        return out["radius"] * jnp.cos(out["angle"]) + jnp.asarray(out["n"], jnp.float64)

    def whole(*args):
        return jax.vmap(each, dims)(*args).sum()

    return lambda *args: (
        jax.vmap(jax.grad(each, argnums), dims)(*args),
        jax.grad(whole, argnums)(*args),
        jax.jacfwd(jax.grad(whole, argnums), argnums)(*args),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_trees_integers_and_batching(kind):
    f = kinds(polar, polar_jvp, polar_vjp)[kind]
    rows = np.linspace(0.5, 2, 4), np.linspace(-1, 1.5, 4), np.linspace(1.2, 1.9, 4)
    cells = [(0, (0, 0, None)), ((1, 2), (0, None, None))]
    cells += [((0, 1, 2), dims) for dims in [(0, 0, None), (None, 0, 0)]]

    def arguments(dims):
        return [x[1] if d is None else x for x, d in zip(rows, dims, strict=True)]

    def everything(g):
        return [derivatives(g, dims, argnums)(*arguments(dims)) for argnums, dims in cells]

    got, want = (compiled(ft.partial(everything, g))() for g in (f, polar))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-9, 1e-12), got, want)


def test_an_integer_output_alone_has_no_tangent():
    f = derivative_rules(lambda x: jnp.int32(x), jvp=lambda *_: pytest.fail("has no tangent"))
    value, tangent = jax.jvp(f, (2.5,), (1.0,))
    assert value == 2 and tangent.dtype == jax.dtypes.float0
    assert jax.grad(lambda x: f(x).astype(x.dtype) * x)(2.5) == 2


def test_what_is_not_differentiated_costs_no_operand():
    f = derivative_rules(jnp.multiply, jvp=lambda p, y, t: t[0] * p[1] + p[0] * t[1])
    trace = jax.make_jaxpr(lambda x, y, t: jax.jvp(lambda x: f(x, y), (x,), (t,)))(1.0, 2.0, 3.0)
    (tangent,) = [eqn for eqn in trace.eqns if eqn.primitive.name == "function_tangent"]
    assert len(tangent.invars) == 4, "two primals, one output and the one tangent"
    assert "function_tangent" not in str(jax.make_jaxpr(jax.grad(lambda x: x + f(2.0, 3.0)))(1.0))


def test_a_derivative_keeps_what_its_rules_look_at():
    """The primals alone or the output alone, and both where nothing is said."""
    x = jnp.ones(7)
    for of, kept in {"both": 2, "primals": 1, "output": 1}.items():
        rule = lambda primals, output, tangents, of=of: (
            tangents[0] * (output if of == "output" else primals[0])
        )
        function = derivative_rules(jnp.sin, jvp=rule, of=of)
        pulled = jax.vjp(lambda x, f=function: f(2 * x), x)[1]
        assert sum(leaf.shape == (7,) for leaf in jax.tree.leaves(pulled)) == kept


def test_none_stands_for_no_gradient():
    f = derivative_rules(jnp.multiply, vjp=lambda primals, output, ct: (None, ct * primals[0]))
    assert jax.grad(f, (0, 1))(2.0, 3.0) == (0, 2)
    assert jax.jvp(f, (2.0, 3.0), (1.0, 1.0)) == (6, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_complex_cotangents_are_plain_transposes(kind):
    f = kinds(jnp.square, lambda p, y, t: 2 * p[0] * t[0], lambda p, y, ct: (2 * p[0] * ct,))[kind]
    z, dz = np.array([1 + 2j, -0.5j]), np.array([0.3 - 1j, 2 + 1j])

    def run(square, double):
        along = [jax.jvp(g, (z,), (dz,))[1] for g in (square, double)]
        back = [jax.vjp(g, z)[1](dz)[0] for g in (square, double)]
        return along, back, jax.grad(lambda z: jnp.abs(square(z)).sum())(z)

    slope = jax.grad(lambda z: f(z).sum(), holomorphic=True)
    both = compiled(lambda: (run(f, slope), run(jnp.square, lambda z: 2 * z)))()
    jax.tree.map(lambda got, want: np.testing.assert_allclose(got, want), *both)


@pytest.mark.parametrize("kind", KINDS)
def test_a_real_function_of_a_complex_argument(kind):
    f = kinds(
        lambda z: (z * z.conj()).real,
        lambda p, y, t: 2 * (p[0].conj() * t[0]).real,
        lambda p, y, ct: (2 * p[0].conj() * ct.astype(p[0].dtype),),
    )[kind]
    z, dz = 1.5 - 2j, 0.4 + 1j
    np.testing.assert_allclose(jax.jvp(f, (z,), (dz,))[1], 2 * (z.conjugate() * dz).real)
    np.testing.assert_allclose(jax.grad(f)(z), 2 * z.conjugate())


def test_forward_mode_passes_a_while_loop():
    def doubled(f):
        return lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1])), (0, x))[
            1
        ]

    along = lambda f: jax.jvp(f, (POINT,), (DIRECTION,))[1]
    thrice = lambda f: lambda x: f(f(f(x)))
    run = lambda: [(along(doubled(f)), along(thrice(f))) for f in WAVE.values()]
    for got, want in compiled(run)():
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_replicated_operand_is_summed_over_the_devices():
    f = derivative_rules(
        jnp.multiply, vjp=lambda primals, output, ct: (ct * primals[1], ct * primals[0])
    )
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))

    @ft.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("d")), out_specs=P())
    def loss(w, x):
        return lax.psum((f(w, x) ** 2).sum(), "d")

    hessian = jax.jit(jax.hessian(loss))(POINT, DIRECTION)
    np.testing.assert_allclose(hessian, np.diag(2 * DIRECTION**2))


def test_results_are_never_weakly_typed():
    f = derivative_rules(lambda x: (x, 1.0), jvp=lambda p, y, t: (t[0], 0.0))
    for run in (f, jax.jit(f)):
        assert not any(y.weak_type for y in run(2.0))
    assert jax.jit(f)(np.float32(2))[0].dtype == np.float32


def test_the_compiled_program_is_the_hand_written_one():
    def instructions(f):
        lowered = jax.jit(jax.grad(lambda x: f(x).sum())).lower(POINT)
        return str(lowered.compile().as_text()).count(" = ")

    forward, reverse = jax.custom_jvp(wave), jax.custom_vjp(wave)
    forward.defjvp(lambda x, t: (wave(*x), wave_jvp(x, None, t)))
    reverse.defvjp(lambda x: (wave(x), x), lambda x, ct: wave_vjp((x,), None, ct))
    assert instructions(WAVE["forward"]) == instructions(forward)
    assert instructions(WAVE["reverse"]) == instructions(reverse)
    assert instructions(WAVE["both"]) == instructions(reverse)


WRONG = {
    "no tuple": (lambda p, y, ct: ct, TypeError, r"return a tuple of 2, .* got f64\[\]"),
    "too short": (lambda p, y, ct: (ct,), TypeError, r"return a tuple of 2, .*, got \(f64\[\],\)"),
    "tree": (
        lambda p, y, ct: (ct, {"b": ct}),
        TypeError,
        r"argument 1, \{'a': \*\}, got \{'b': f64",
    ),
    "shape": (lambda p, y, ct: (ct[None], None), ValueError, r"shape of f64\[\], got f64\[1\]"),
    "dtype": (
        lambda p, y, ct: (ct.astype(complex), None),
        TypeError,
        r"dtype of f64\[\], got c128\[\]",
    ),
    "no array": (lambda p, y, ct: ((ct, ct), None), TypeError, r"must be f64\[\], got \("),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_reverse_rule_that_returns_something_else(case):
    rule, error, message = WRONG[case]
    f = derivative_rules(lambda x, y: x * y["a"], vjp=rule, name="product")
    with pytest.raises(error, match=f"product: .*{message}"):
        jax.grad(f)(1.0, {"a": 2.0})


@pytest.mark.parametrize(
    "rule, error, message",
    [
        (lambda p, y, t: t[0], TypeError, r"tree like the output, \(\*, \*\), got f64\[3\]"),
        (lambda p, y, t: (t[0], t[0][:2]), ValueError, r"shape of f64\[3\], got f64\[2\]"),
        (
            lambda p, y, t: (t[0], t[0].astype(complex)),
            TypeError,
            r"dtype of f64\[3\], got c128\[3\]",
        ),
    ],
)
def test_a_forward_rule_that_returns_something_else(rule, error, message):
    f = derivative_rules(lambda x: (x, 2 * x), jvp=rule, name="pair")
    with pytest.raises(error, match=f"pair: .*`jvp`.*{message}"):
        jax.jvp(f, (np.ones(3),), (np.ones(3),))


def test_refusals_of_the_call_itself():
    with pytest.raises(ValueError, match="sin: `jvp` or `vjp` must be given"):
        derivative_rules(jnp.sin)
    with pytest.raises(
        ValueError, match="sin: `jvp` must be given where the rules are of='output'"
    ):
        derivative_rules(jnp.sin, vjp=lambda primals, output, ct: (ct,), of="output")
    with pytest.raises(TypeError, match="wave: expected arrays, got 'x'"):
        WAVE["both"]("x")

    def closing(x, c):
        return derivative_rules(lambda a: a * c, jvp=lambda p, y, t: t[0], name="inner")(x)

    with pytest.raises(RuntimeError, match=r"inner: the function closes over f64\[\]"):
        jax.jit(closing)(1.0, 2.0)


@pytest.mark.parametrize("name", ["eager", "vmap", "grad", "jit"])
def test_a_call_keeps_nothing_alive(name):
    run = {"eager": lambda f: f, "vmap": jax.vmap, "grad": jax.grad, "jit": jax.jit}[name]

    def once():
        def forward(x):
            return jnp.sin(x)

        f = derivative_rules(forward, jvp=lambda p, y, t: jnp.cos(p[0]) * t[0])
        run(f)(np.ones(3) if name == "vmap" else 1.0)
        return weakref.ref(forward)

    dead = once()
    gc.collect()
    assert dead() is None


def test_a_forward_rule_that_reads_the_output_alone_has_a_reverse_mode():
    scaled = derivative_rules(
        lambda x, c: jnp.exp(x) * c,
        jvp=lambda _, output, tangents: output * tangents[0],
        of="output",
        name="scaled",
    )
    x, c = jnp.asarray([0.1, 0.5], "float32"), jnp.asarray([2.0, 3.0], "float32")
    total = lambda x: jnp.sum(scaled(x, c))
    first, second = compiled(lambda x: (jax.grad(total)(x), jax.hessian(total)(x)))(x)
    np.testing.assert_allclose(first, np.exp(x) * c, rtol=1e-6)
    np.testing.assert_allclose(second, np.diag(np.exp(x) * c), rtol=1e-6)
