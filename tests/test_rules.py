"""Own derivative rules hold under every nest of transforms.

The rules here are three times too large on purpose, so that a transform that differentiates the
implementation is seen. The oracle is plain JAX: with `x0` for `stop_gradient(x)`,
`3 sin(x) - 2 sin(x0)` has the value of `sin` and, to every order, three times its derivatives.
"""

from __future__ import annotations

import gc
import itertools
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from functx._core.rules import derivative_rules


MIX = np.array([[0.6, 0.3], [-0.2, 0.5]])
POINT = np.array([0.7, -0.4])
DIRECTION = np.array([0.9, -1.3])


def wave(x):
    return jnp.sin(MIX @ x)


def wave_jvp(primals, output, tangents):
    return 3 * jnp.cos(MIX @ primals[0]) * (MIX @ tangents[0])


def wave_vjp(primals, output, cotangent):
    return (MIX.T @ (3 * jnp.cos(MIX @ primals[0]) * cotangent),)


def wave_truth(x):
    return 3 * wave(x) - 2 * wave(lax.stop_gradient(x))


def growth(x):
    return jnp.exp(MIX @ x)


def growth_jvp(primals, output, tangents):
    return 3 * output * (MIX @ tangents[0])


def growth_vjp(primals, output, cotangent):
    return (MIX.T @ (3 * output * cotangent),)


def growth_truth(x):
    return jnp.exp(3 * (MIX @ x) - 2 * (MIX @ lax.stop_gradient(x)))


WAVE = {
    "both": derivative_rules(wave, jvp=wave_jvp, vjp=wave_vjp),
    "forward": derivative_rules(wave, jvp=wave_jvp),
    "reverse": derivative_rules(wave, vjp=wave_vjp),
}
GROWTH = {
    "both": derivative_rules(growth, jvp=growth_jvp, vjp=growth_vjp),
    "forward": derivative_rules(growth, jvp=growth_jvp),
    "reverse": derivative_rules(growth, vjp=growth_vjp),
}

# Each takes and returns a function from vectors to vectors.
NESTS = {
    "grad": lambda f: jax.grad(lambda x: DIRECTION @ f(x)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (DIRECTION * x,))[1],
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](DIRECTION * x)[0],
    "vmap0": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, 2 * x, x * x])).sum(0),
    "vmap-1": lambda f: lambda x: jax.vmap(f, -1, -1)(jnp.stack([x, -x, x * x], -1)).sum(-1),
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: lax.scan(lambda c, a: (f(a * c), c), x, np.array([0.8, 1.2]))[0],
    "cond": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: 2 * x, x),
    "fori_loop": lambda f: lambda x: lax.fori_loop(0, 2, lambda i, c: f(c) - i * c, x),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](DIRECTION * x),
    "jacfwd": lambda f: lambda x: jax.jacfwd(f)(x) @ DIRECTION,
    "jacrev": lambda f: lambda x: jax.jacrev(f)(x) @ DIRECTION,
    "hessian": lambda f: lambda x: jax.hessian(lambda x: DIRECTION @ f(x))(x).sum(0),
}


def nested(names, f):
    for name in reversed(names):
        f = NESTS[name](f)
    return f


def check(nests, functions, truth):
    """One compiled program computes all `nests` of all `functions`, and of the truth."""

    def everything(x):
        return {
            (names, kind): nested(names, f)(x)
            for names in nests
            for kind, f in {**functions, "truth": truth}.items()
        }

    got = jax.jit(everything)(POINT)
    for names, kind in got:
        np.testing.assert_allclose(
            got[names, kind], got[names, "truth"], rtol=1e-9, atol=1e-9, err_msg=f"{names} {kind}"
        )


@pytest.mark.parametrize("outer", NESTS)
def test_nests_of_two(outer):
    check([(outer, inner) for inner in NESTS], WAVE, wave_truth)


@pytest.mark.parametrize("pair", [("scan", "grad"), ("vmap-1", "jacrev"), ("checkpoint", "vjp")])
def test_nests_of_three(pair):
    check([(*pair, inner) for inner in NESTS], WAVE, wave_truth)


@pytest.mark.parametrize("outer", ["grad", "jacfwd", "vmap0", "fori_loop"])
def test_nests_with_the_output_as_a_residual(outer):
    check([(outer, inner) for inner in NESTS], GROWTH, growth_truth)


@pytest.mark.parametrize("kind", WAVE)
def test_first_and_second_order_in_closed_form(kind):
    f = WAVE[kind]
    angle = MIX @ POINT
    np.testing.assert_allclose(f(POINT), np.sin(angle))
    np.testing.assert_allclose(jax.jacrev(f)(POINT), 3 * np.cos(angle)[:, None] * MIX)
    second = -3 * np.einsum("i,ij,ik->ijk", np.sin(angle), MIX, MIX)
    for one, two in itertools.product((jax.jacfwd, jax.jacrev), repeat=2):
        np.testing.assert_allclose(one(two(f))(POINT), second, rtol=1e-12)


@pytest.mark.parametrize("kind", GROWTH)
def test_an_output_residual_is_a_function_of_the_primals(kind):
    rules = {
        "jvp": lambda primals, output, tangents: output * tangents[0],
        "vjp": lambda primals, output, cotangent: (output * cotangent,),
    }
    given = {"both": rules, "forward": {"jvp": rules["jvp"]}, "reverse": {"vjp": rules["vjp"]}}
    derivative = derivative_rules(jnp.exp, **given[kind])
    for _ in range(4):
        np.testing.assert_allclose(derivative(0.5), np.exp(0.5), rtol=1e-14)
        derivative = jax.grad(derivative)


@pytest.mark.parametrize("kind", WAVE)
def test_second_order_under_scan_equals_the_unrolled_loop(kind):
    f = WAVE[kind]

    def scanned(x):
        return lax.scan(lambda c, _: (f(c), None), x, length=3)[0].sum()

    def unrolled(x):
        return f(f(f(x))).sum()

    for hessian in (
        jax.hessian,
        lambda f: jax.jacrev(jax.grad(f)),
        lambda f: jax.jacfwd(jax.jacfwd(f)),
    ):
        np.testing.assert_allclose(hessian(scanned)(POINT), hessian(unrolled)(POINT), rtol=1e-10)


def polar(point, scale):
    """Trees in and out; the integer `power` and the integer output have no tangent."""
    power = jnp.asarray(point["power"], jnp.float64)
    radius = scale * jnp.hypot(point["x"], point["y"]) ** power
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
    """Per row, of the sum over rows with what is not batched shared by them, and of second order."""

    def each(x, y, scale):
        out = f({"x": x, "y": y, "power": 3}, scale)
        return out["radius"] * jnp.cos(out["angle"]) + out["n"].astype(x.dtype)

    def whole(*args):
        return jax.vmap(each, dims)(*args).sum()

    return lambda *args: (
        jax.vmap(jax.grad(each, argnums), dims)(*args),
        jax.grad(whole, argnums)(*args),
        jax.jacfwd(jax.grad(whole, argnums), argnums)(*args),
    )


@pytest.mark.parametrize("given", [("jvp", "vjp"), ("jvp",), ("vjp",)])
def test_trees_integers_and_batching(given):
    f = derivative_rules(polar, **{k: {"jvp": polar_jvp, "vjp": polar_vjp}[k] for k in given})

    rows = np.linspace(0.5, 2, 4), np.linspace(-1, 1.5, 4), np.linspace(1.2, 1.9, 4)
    for argnums, dims in itertools.product(
        [0, 2, (1, 2), (0, 1, 2)], [(0, 0, None), (0, None, None), (None, 0, 0)]
    ):
        args = tuple(x[1] if dim is None else x for x, dim in zip(rows, dims, strict=True))
        got, want = (jax.jit(derivatives(g, dims, argnums))(*args) for g in (f, polar))
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), got, want)


def test_an_integer_output_alone_has_no_tangent():
    f = derivative_rules(lambda x: jnp.int32(x), jvp=lambda *_: pytest.fail("has no tangent"))
    value, tangent = jax.jvp(f, (2.5,), (1.0,))
    assert value == 2 and tangent.dtype == jax.dtypes.float0
    assert jax.grad(lambda x: f(x) * x)(2.5) == 2


def test_what_is_not_differentiated_costs_no_operand():
    f = derivative_rules(jnp.multiply, jvp=lambda p, y, t: t[0] * p[1] + p[0] * t[1])
    traced = str(
        jax.make_jaxpr(lambda x, y, t: jax.jvp(lambda x: f(x, y), (x,), (t,)))(1.0, 2.0, 3.0)
    )
    (line,) = [line for line in traced.splitlines() if line.strip().startswith("] ")]
    assert len(line.split()) == 1 + 4, "two primals, one output and the one tangent"
    assert "function_tangent" not in str(jax.make_jaxpr(jax.grad(lambda x: x + f(2.0, 3.0)))(1.0))


def test_none_stands_for_no_gradient():
    f = derivative_rules(jnp.multiply, vjp=lambda primals, output, ct: (None, ct * primals[0]))
    assert jax.grad(f, (0, 1))(2.0, 3.0) == (0, 2)
    assert jax.jvp(f, (2.0, 3.0), (1.0, 1.0)) == (6, 2)


@pytest.mark.parametrize("given", [("jvp", "vjp"), ("jvp",), ("vjp",)])
def test_complex_cotangents_are_plain_transposes(given):
    rules = {
        "jvp": lambda primals, output, tangents: 2 * primals[0] * tangents[0],
        "vjp": lambda primals, output, cotangent: (2 * primals[0] * cotangent,),
    }
    f = derivative_rules(jnp.square, **{k: rules[k] for k in given})
    z, dz = np.array([1 + 2j, -0.5j]), np.array([0.3 - 1j, 2 + 1j])
    for g in (f, jax.grad(lambda z: f(z).sum(), holomorphic=True)):
        want = jnp.square if g is f else (lambda z: 2 * z)
        np.testing.assert_allclose(jax.jvp(g, (z,), (dz,))[1], jax.jvp(want, (z,), (dz,))[1])
        np.testing.assert_allclose(jax.vjp(g, z)[1](dz)[0], jax.vjp(want, z)[1](dz)[0])
    norm = lambda f: lambda z: jnp.abs(f(z)).sum()
    np.testing.assert_allclose(jax.grad(norm(f))(z), jax.grad(norm(jnp.square))(z))


@pytest.mark.parametrize("given", [("jvp",), ("vjp",)])
def test_a_real_function_of_a_complex_argument(given):
    rules = {
        "jvp": lambda primals, output, tangents: 2 * (primals[0].conj() * tangents[0]).real,
        "vjp": lambda primals, output, cotangent: (2 * primals[0].conj() * cotangent,),
    }
    f = derivative_rules(lambda z: (z * z.conj()).real, **{k: rules[k] for k in given})
    z, dz = 1.5 - 2j, 0.4 + 1j
    np.testing.assert_allclose(jax.jvp(f, (z,), (dz,))[1], 2 * (z.conjugate() * dz).real)
    np.testing.assert_allclose(jax.grad(f)(z), 2 * z.conjugate())


def test_forward_mode_passes_a_while_loop():
    def doubled(f):
        return lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1])), (0, x))[
            1
        ]

    for f in WAVE.values():
        got = jax.jvp(doubled(f), (POINT,), (DIRECTION,))[1]
        want = jax.jvp(lambda x, f=f: f(f(f(x))), (POINT,), (DIRECTION,))[1]
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_results_are_never_weakly_typed():
    f = derivative_rules(lambda x: (x, 1.0), jvp=lambda p, y, t: (t[0], 0.0))
    for run in (f, jax.jit(f)):
        assert not any(y.weak_type for y in run(2.0))
    assert jax.jit(f)(np.float32(2))[0].dtype == np.float32


def test_the_compiled_program_is_the_hand_written_one():
    def program(f):
        return jax.jit(jax.grad(lambda x: f(x).sum())).lower(POINT).compile().as_text()

    def instructions(f):
        return sum(" = " in line for line in program(f).splitlines())

    by_hand = jax.custom_jvp(wave)
    by_hand.defjvp(lambda x, t: (wave(*x), wave_jvp(x, None, t)))
    assert instructions(WAVE["both"]) <= instructions(by_hand)
    assert instructions(WAVE["forward"]) <= instructions(by_hand)


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
        lambda p, y, ct: (jnp.float32(1) * ct.astype("float32"), None),
        TypeError,
        r"dtype of f64\[\], got f32\[\]",
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
        (lambda p, y, t: (t[0], t[0] * 1j), TypeError, r"dtype of f64\[3\], got c128\[3\]"),
    ],
)
def test_a_forward_rule_that_returns_something_else(rule, error, message):
    f = derivative_rules(lambda x: (x, 2 * x), jvp=rule, name="pair")
    with pytest.raises(error, match=f"pair: .*`jvp`.*{message}"):
        jax.jvp(f, (np.ones(3),), (np.ones(3),))


def test_refusals_of_the_call_itself():
    with pytest.raises(ValueError, match="sin: `jvp` or `vjp` must be given"):
        derivative_rules(jnp.sin)
    with pytest.raises(TypeError, match="wave: expected arrays, got 'x'"):
        WAVE["both"]("x")

    def closing(x, c):
        return derivative_rules(lambda a: a * c, jvp=lambda p, y, t: t[0], name="inner")(x)

    with pytest.raises(RuntimeError, match=r"inner: the function closes over f64\[\]"):
        jax.jit(closing)(1.0, 2.0)


@pytest.mark.parametrize("run", [lambda f: f, jax.grad, lambda f: jax.vmap(f), jax.jit])
def test_a_call_keeps_nothing_alive(run):
    def once():
        def forward(x):
            return jnp.sin(x)

        f = derivative_rules(forward, jvp=lambda p, y, t: jnp.cos(p[0]) * t[0])
        run(f)(1.0 if run is jax.grad else np.ones(3))
        return weakref.ref(forward)

    dead = once()
    gc.collect()
    assert dead() is None
