"""`jet` and `mixed_partial`, against nested forward mode and closed forms."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
import functx.nn.functional as F
from functx.curvature import jet, mixed_partial
from functx.testing.checks.programs import compiled


ORDER = 5
RNG = np.random.default_rng(1)
CURVE = [jnp.asarray(x) for x in RNG.uniform(0.2, 0.8, (ORDER + 1, 3))]


def polynomial(t, curve):
    return sum(t**k / math.factorial(k) * x for k, x in enumerate(curve))


def nested(f, *curves):
    """The value and the derivatives of `f` along curves, by `jvp` of `jvp`."""
    along = lambda t: f(*(polynomial(t, curve) for curve in curves))
    found = [along(0.0)]
    for _ in curves[0][1:]:
        along = (lambda g: lambda t: jax.jvp(g, (t,), (1.0,))[1])(along)
        found.append(along(0.0))
    return found


def by_jet(f, *curves):
    points, *terms = zip(*curves, strict=True)
    output, derivatives = jet(f, points, terms)
    return [output, *derivatives]


def same(got, want, tolerance=1e-9):
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, tolerance, 1e-10), got, want)


@jax.custom_jvp
def steep(x):
    return jnp.sin(x)


@steep.defjvp
def _steep_jvp(primals, tangents):
    return steep(primals[0]), 3 * jnp.cos(primals[0]) * tangents[0]


# Of each recurrence, and of some functions that have none.
ELEMENTARY = {
    "cos": jnp.cos,
    "cosh": jnp.cosh,
    "div": lambda x: x[0] / x,
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "log": jnp.log,
    "log1p": jnp.log1p,
    "logistic": jax.nn.sigmoid,
    "power of 5": lambda x: x**5,
    "power of -3": lambda x: x**-3,
    "reciprocal": lambda x: 1 / x,
    "sin": jnp.sin,
    "sinh": jnp.sinh,
    "sqrt": jnp.sqrt,
    "square": jnp.square,
    "tanh": jnp.tanh,
    "arctan": jnp.arctan,
    "power": lambda x: x ** x[0],
    "rule of JAX": steep,
    "softplus": F.softplus,
}


def test_elementary_functions():
    names = list(ELEMENTARY)
    run = lambda way: lambda curve: [way(ELEMENTARY[name], curve) for name in names]
    got, want = compiled(lambda curve: (run(by_jet)(curve), run(nested)(curve)))(CURVE[:5])
    for name, g, w in zip(names, got, want, strict=True):
        for k, pair in enumerate(zip(g, w, strict=True)):
            np.testing.assert_allclose(*pair, 1e-9, 1e-9, err_msg=f"{name}, order {k}")


def by_loops(x, y):
    def step(h, row):
        return jnp.sin(h) * row + y, h * row

    h, ys = lax.scan(step, jnp.ones(3), jnp.stack([x, x * y]))
    h = lax.cond(x[0] > -9, lambda h: h * x, lambda h: jnp.ones(3), h)
    _, h = lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] * y), (0, h))
    return jax.checkpoint(jnp.cos)(h), ys @ functx.sigmoid(x), jnp.argmax(x)


def by_products(x, y):
    square = jnp.outer(x, y) + 2 * jnp.eye(3)
    image = jnp.convolve(x * y, y)
    return (
        jnp.linalg.solve(square, x),
        image,
        jnp.sort(x * y),
        jnp.einsum("ij,j,i->i", square, x, y),
    )


@pytest.mark.parametrize("f", [by_loops, by_products])
def test_functions_of_two_arguments(f):
    only = lambda *xs: [y for y in f(*xs) if y.dtype == jnp.float64]
    curves = CURVE[:4], CURVE[1:5]
    got, want = compiled(lambda *cs: (by_jet(only, *cs), nested(only, *cs)))(*curves)
    same(got, want)


def test_high_orders_have_closed_forms():
    line = [jnp.float64(0.3), jnp.float64(1), *[jnp.float64(0)] * 11]
    got = compiled(lambda line: by_jet(lambda x: jnp.sin(2 * x) + jnp.exp(-x) + 1 / x, line))(line)
    shifted = lambda k: (jnp.cos, lambda x: -jnp.sin(x), lambda x: -jnp.cos(x), jnp.sin)[
        (k - 1) % 4
    ]
    want = [
        2**k * shifted(k)(0.6) + (-1) ** k * (math.exp(-0.3) + math.factorial(k) / 0.3 ** (k + 1))
        for k in range(13)
    ]
    same(got, want)


def test_program_grows_with_a_power_of_the_order():
    def equations(order):
        zeros = [(jnp.zeros(()),)] * (order - 1)
        run = lambda x: jet(lambda x: F.silu(jnp.tanh(x)), (x,), [(x,), *zeros])
        return str(jax.make_jaxpr(run)(1.0)).count("=")

    assert equations(8) < 8 * equations(4), (
        "some order**3, where nested forward mode has 16 times as much"
    )


def test_trees_aux_and_integers():
    f = lambda d, y: ({"a": d["w"] * y, "i": jnp.argmax(y), "c": 3.0}, ({"n": y}, "name"))
    primals = {"w": CURVE[0]}, CURVE[1]
    series = [({"w": CURVE[2]}, CURVE[3]), ({"w": CURVE[4]}, CURVE[5])]
    output, (first, second), aux = jet(f, primals, series, has_aux=True)
    same(output["a"], CURVE[0] * CURVE[1])
    same(first["a"], CURVE[2] * CURVE[1] + CURVE[0] * CURVE[3])
    same(second["a"], CURVE[4] * CURVE[1] + 2 * CURVE[2] * CURVE[3] + CURVE[0] * CURVE[5])
    assert first["i"] == 0 and first["i"].dtype == output["i"].dtype
    assert second["c"] == 0 and second["c"].dtype == output["c"].dtype
    same(aux[0]["n"], CURVE[1])
    assert aux[1] == "name"
    assert jet(jnp.sin, (CURVE[0],), [])[1] == []


def test_one_term_is_jvp():
    y, [dy] = jet(jnp.tanh, (CURVE[0],), [(CURVE[1],)])
    same((y, dy), functx.jvp(jnp.tanh, (CURVE[0],), (CURVE[1],)))


def test_complex_curves():
    curve = [lax.complex(a, b) for a, b in zip(CURVE[:4], CURVE[1:5], strict=True)]
    f = lambda z: [jnp.exp(z) / z, jnp.abs(z) ** 2, jnp.real(jnp.sqrt(z))]
    got = compiled(lambda curve: by_jet(f, curve))(curve)

    def along(t):
        t = t.astype(curve[0].dtype)
        return f(sum(t**k / math.factorial(k) * x for k, x in enumerate(curve)))

    for k in range(1, 4):
        along = (lambda g: lambda t: jax.jvp(g, (t,), (jnp.ones_like(t),))[1])(along)
        same(got[k], compiled(along)(jnp.float64(0)))


def test_composes():
    def loss(x, way):
        lanes = jax.vmap(lambda x: way(lambda x: jnp.tanh(x * x).sum(), [x, *CURVE[1:4]])[3])
        return lanes(jnp.stack([x, 2 * x])).sum()

    got, want = compiled(lambda x: [jax.grad(loss)(x, way) for way in (by_jet, nested)])(CURVE[0])
    same(got, want)


def test_mixed_partials():
    f = lambda x, y, z: {"a": jnp.sin(x * y) * z[0], "b": x**3 * y**2 + x}
    at = jnp.float64(0.3), jnp.float64(0.7), CURVE[0]
    nest = jax.jacfwd(jax.jacfwd(jax.jacfwd(f, 0), 0), 1)
    got, want = compiled(lambda *at: (mixed_partial(f, (2, 1))(*at), nest(*at)))(*at)
    same(got, want)
    same(got["b"], 12 * at[0] * at[1])
    same(mixed_partial(f, (0, 0))(*at), f(*at))
    points = jnp.linspace(0.1, 0.9, 4)
    waves = mixed_partial(lambda x, y, *, rate: jnp.exp(rate * x) * y**4, (3, 4))
    got = functx.vmap(lambda x: waves(x, x, rate=2.0))(points)
    same(got, 8 * 24 * jnp.exp(2 * points))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: jet(3, (1.0,), []), TypeError, "jet: `func` must be callable"),
        (lambda: jet(jnp.sin, 1.0, []), TypeError, "`primals` must be a tuple"),
        (lambda: jet(jnp.sin, (1.0,), 1.0), TypeError, "`series` must be a list of tuples"),
        (
            lambda: jet(jnp.sin, (1,), [(1.0,)]),
            TypeError,
            r"`primals\[0\]` must be real or complex",
        ),
        (
            lambda: jet(jnp.sin, (CURVE[0],), [(CURVE[0],), (CURVE[0][:2],)]),
            ValueError,
            r"`series\[1\]\[0\]` must be like `primals`, f64\[3\], got f64\[2\]",
        ),
        (lambda: jet(jnp.sin, (CURVE[0],), [CURVE[0]]), ValueError, "must have the structure of"),
        (lambda: mixed_partial(jnp.sin, 2), TypeError, "`orders` must be a tuple of integers"),
        (lambda: mixed_partial(jnp.sin, (-1,)), ValueError, "`orders` must not be negative"),
        (lambda: mixed_partial(jnp.sin, (1, 1))(0.5), ValueError, "has 2 entries for 1 positional"),
        (
            lambda: mixed_partial(jnp.sin, (1,))(CURVE[0]),
            ValueError,
            r"`args\[0\]`, of order 1, must be a number, got f64\[3\]\n  hint: functx.vmap",
        ),
        (
            lambda: mixed_partial(jnp.sin, (1,))(1),
            TypeError,
            r"`args\[0\]` must be real or complex",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
