"""`laplacian` and `forward_laplacian`, against traces of dense Hessians."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
import functx.nn.functional as F
from functx.curvature import forward_laplacian, laplacian
from functx.testing.checks.programs import compiled


RNG = np.random.default_rng(0)
X = jnp.asarray(RNG.standard_normal(6))
LAYERS = [jnp.asarray(RNG.standard_normal(s)) / 3 for s in [(8, 6), (8, 8), (1, 8)]]
PARTICLES = jnp.asarray(RNG.standard_normal((5, 3)))
FEATURES = jnp.asarray(RNG.standard_normal((3, 7)))


def network(layers, x):
    for layer in layers:
        x = jnp.tanh(layer @ x + 0.1)
    return x[0]


def dense(f):
    """The trace of the Hessian of `f`, a function of one array, for each output."""

    def trace(x):
        flat = lambda v: f(v.reshape(x.shape))
        return jax.tree.map(
            lambda h: jnp.trace(h, axis1=-2, axis2=-1),
            jax.jacfwd(jax.jacfwd(flat))(x.reshape(-1)),
        )

    return trace


def same(got, want, tolerance=1e-10):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, tolerance, 1e-12), got, want)


@jax.custom_jvp
def steep(x):
    return jnp.sin(x)


@steep.defjvp
def _steep_jvp(primals, tangents):
    return steep(primals[0]), 3 * jnp.cos(primals[0]) * tangents[0]


@jax.custom_vjp
def steeper(x):
    return jnp.sin(x)


steeper.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (5 * jnp.cos(x) * ct,))


def by_loops(x):
    def step(carry, row):
        h, count = carry
        return (jnp.sin(h) * row.sum() + x[0] * count, count + 1.0), (h * row[0], row * x[1])

    (h, count), (ys, rows) = lax.scan(step, (jnp.ones(3), 0.0), x.reshape(3, 2))
    return (h * count).sum() * ys.sum() + (rows**3).sum()


def by_branches(x):
    h = lax.cond(x[0] > -9, lambda h: h**2 * h[0], lambda h: jnp.ones_like(h), x)
    still = lax.cond(x[0] > 9, lambda h: h**2, lambda h: jnp.ones_like(h), x)
    turns = lambda c: (c[0] + 1, c[1] * jnp.sin(x[:2]), c[2] + x[0])
    _, h2, y = lax.while_loop(lambda c: (c[0] < 3) & (c[2] < 1e9), turns, (0, h[:2], x[1]))
    return (jax.checkpoint(jnp.tanh)(h2) * y * still[:2]).sum()


def by_own_rules(x):
    return (steep(x) * x).sum() * F.gelu(x).sum() + functx.matmul(steep(x), functx.sigmoid(x))


def by_products(x):
    square = jnp.outer(x, jnp.cos(x)) + jnp.eye(6)
    batched = jnp.einsum("ij,ik->i", square[:3, :2], jnp.exp(square)[:3])
    kernel = x[:3].reshape(1, 1, 3)
    image = lax.conv_general_dilated(x.reshape(1, 1, 6) ** 2, kernel, (1,), "VALID")
    return batched.sum() * jnp.linalg.inv(square).sum() + (image**2).sum() / x.prod()


def by_order(x):
    ordered = jnp.sort(jnp.sin(x) * x)
    return (jnp.maximum(ordered, x) ** 2).sum() + jnp.max(x) ** 3 + jnp.abs(x * x[0]).sum()


FUNCTIONS = [by_loops, by_branches, by_own_rules, by_products, by_order]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_is_the_trace_of_the_hessian(f):
    got, want = compiled(lambda x: (laplacian(f)(x), dense(f)(x)))(X)
    same(got, want)


def test_the_forward_rule_of_a_custom_vjp_is_the_transpose():
    f = lambda x: (steeper(x) ** 2).sum()
    same(compiled(laplacian(f))(X), (50 * jnp.cos(X) ** 2 - 10 * jnp.sin(X) ** 2).sum())


def particles(r):
    """Features of each particle, and pairs of them: each element depends on few coordinates."""
    h = jnp.tanh(r @ FEATURES)
    apart = r[:, None] - r[None, :]
    distance = jnp.sqrt((apart**2).sum(-1) + jnp.eye(5))
    both = jnp.concatenate([h, jnp.sin(h) * 2, jnp.ones((5, 1)), r], 1)
    mixed = jnp.einsum("hf,nf->hn", jnp.ones((4, 18)), both)
    flipped = jnp.transpose(h[::-1], (1, 0)).reshape(-1)
    return {
        "apart": apart,
        "distance": jnp.exp(-distance),
        "both": both,
        "mixed": mixed,
        "flipped": flipped**2,
        "value": both.sum() * jnp.exp(-distance).sum() + jnp.prod(mixed.sum(0)) * h[0].sum(),
    }


def test_keeps_the_rows_of_the_inputs_that_an_element_depends_on():
    def both(r):
        return forward_laplacian(particles)(r), jax.jacfwd(particles)(r), dense(particles)(r)

    got, jacobian, want = compiled(both)(PARTICLES)
    same(got.jacobian, jacobian)
    same(got.laplacian, want)


def sizes(f, *args):
    """Of all arrays that the program of `f` computes."""
    return [int(np.prod(x.aval.shape)) for e in jax.make_jaxpr(f)(*args).eqns for x in e.outvars]


@pytest.mark.parametrize("bent", [jnp.tanh, functx.tanh, F.gelu])
def test_rows_of_separate_particles_are_three(bent):
    energy = lambda r: bent(r @ FEATURES).sum(1)
    many = jnp.ones((50, 3))
    largest = max(sizes(lambda r: laplacian(energy)(r), many))
    assert largest <= 3 * 50 * 7 * 3, "rows for the 150 inputs would be 52500 numbers"


def test_what_does_not_move_has_no_rows():
    weights = jnp.ones((40, 40))
    f = lambda x, w: x.sum() * (jnp.tanh(w @ w) @ w).sum() + lax.stop_gradient(x**2).sum()
    assert max(sizes(laplacian(f), X, weights)) == weights.size
    same(laplacian(f)(X, weights), 0.0)


def test_trees_arguments_and_aux():
    def f(d, scale, *, shift):
        value = (d["a"] ** 3).sum() * scale**2 + shift * (d["b"] ** 2).sum()
        return {"y": value, "z": (d["a"] * scale, 7.0)}, {"aux": d["a"] * 2, "name": "f"}

    d, scale = {"a": X, "b": X[:2]}, jnp.asarray(2.0)
    forward = forward_laplacian(f, (0, "scale"), has_aux=True)
    aux = {}

    def run(d, scale):
        found, aux["aux"] = forward(d, scale=scale, shift=3.0)
        alone, _ = laplacian(f, has_aux=True)(d, scale, shift=3.0)
        jacobian = jax.jacfwd(lambda d, scale: f(d, scale, shift=3.0)[0], (0, 1))(d, scale)
        return found, alone, jacobian, f(d, scale, shift=3.0)[0], aux["aux"]["aux"]

    found, alone, jacobian, value, array = compiled(run)(d, scale)
    assert found._fields == ("value", "jacobian", "laplacian") and aux["aux"]["name"] == "f"
    same(found.value, value, 1e-6)
    same(array, 2 * X)
    same(found.jacobian, jacobian)
    assert found.laplacian["z"][1] == 0 and found.laplacian["z"][1].dtype == jnp.float32
    want = 6 * X.sum() * scale**2 + 3 * 2 * 2 + 2 * (X**3).sum()
    same(found.laplacian["y"], want)
    same(alone["y"], 6 * X.sum() * scale**2 + 3 * 2 * 2)


def test_complex_outputs_and_insides():
    f = lambda x: (lax.complex(jnp.cos(x), jnp.sin(x)) * lax.complex(x[0], x[1])).sum()
    g = lambda x: jnp.abs(jnp.fft.fft(x * x)) ** 2
    got, want = compiled(lambda x: [(lap(f)(x), lap(g)(x)) for lap in (laplacian, dense)])(X)
    same(got, want, 1e-9)


def test_composes():
    def loss(layers, lap):
        return lap(lambda x: network(layers, x))(X) ** 2

    def all_of_them(lap):
        gradient = jax.grad(lambda layers: loss(layers, lap))(LAYERS)
        third = jax.jacfwd(lap(lambda x: network(LAYERS, x)))(X)
        lanes = functx.vmap(lap(lambda x: network(LAYERS, x)))(jnp.stack([X, 2 * X]))
        return gradient, third, lanes

    got, want = compiled(lambda: [all_of_them(lap) for lap in (laplacian, dense)])()
    same(got, want)
    biharmonic = compiled(laplacian(laplacian(lambda x: (x**4).sum() * x[0])))
    same(biharmonic(X), 24 * 6 * X[0] + 96 * X[0])


def test_collectives_cross_lanes():
    f = lambda x: (x**3).sum() * lax.psum(x.sum(), "lanes")
    got, want = compiled(
        lambda xs: [jax.vmap(lap(f), axis_name="lanes")(xs) for lap in (laplacian, dense)]
    )(jnp.stack([X, 2 * X]))
    same(got, want)


def test_chunks_are_as_many_as_fit():
    f = lambda x: network(LAYERS, x)
    chunked = [laplacian(f, chunk_size=4), laplacian(f, chunk_size="auto", max_bytes=2000)]
    *got, want = compiled(lambda x: [lap(x) for lap in (*chunked, laplacian(f))])(X)
    same(got, [want, want])


def test_does_half_the_work_of_nested_forward_mode():
    x = jnp.ones(64)
    layers = [jnp.ones((64, 64))] * 4 + [jnp.ones((1, 64))]
    f = lambda x: network(layers, x)

    def nested(x):
        along = lambda v: jax.jvp(lambda x: jax.jvp(f, (x,), (v,))[1], (x,), (v,))[1]
        return jax.vmap(along)(jnp.eye(64)).sum()

    flops = [jax.jit(g).lower(x).cost_analysis()["flops"] for g in (laplacian(f), nested, dense(f))]
    assert flops[0] < 0.6 * flops[1] and flops[0] < 0.6 * flops[2]


def test_empty_and_single():
    assert laplacian(lambda x: x.sum() + 1.0)(jnp.zeros(0)) == 0
    assert laplacian(lambda x: x**3)(2.0) == 12.0
    same(laplacian(lambda x: (x**3).sum())(X[:1]), 6 * X[0])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: laplacian(3), TypeError, r"laplacian: `func` must be callable"),
        (lambda: laplacian(jnp.sin, chunk_size=0), ValueError, r"`chunk_size` must be at least 1"),
        (lambda: laplacian(jnp.sin, ()), ValueError, r"`argnums` must not be empty"),
        (lambda: laplacian(jnp.sin, has_aux=1), TypeError, r"`has_aux` must be"),
        (lambda: laplacian(jnp.sin)(jnp.arange(3)), TypeError, r"`args\[0\]` must be real"),
        (
            lambda: forward_laplacian(jnp.sin)({"w": lax.complex(X, X)}),
            TypeError,
            r"forward_laplacian: `args\[0\]\['w'\]` must be real, got c128\[6\]\n  hint: take its",
        ),
        (lambda: laplacian(jnp.argmax)(X), TypeError, r"`output` must be real or complex"),
        (lambda: laplacian(lambda x: "y")(X), TypeError, r"`output` must be an array"),
        (lambda: laplacian(jnp.sin, has_aux=True)(X), TypeError, r"must return a pair"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert re.search(message, str(caught.value))
