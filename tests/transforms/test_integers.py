"""`allow_int`: gradients of trees that hold what has none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


FLOAT0 = jax.dtypes.float0
TREE = {
    "x": jnp.asarray([1.0, 2.0]),
    "n": 3,
    "m": np.arange(2),
    "on": jnp.asarray(True),
    "key": jax.random.key(0),
}


def loss(tree):
    return (tree["x"] ** 2).sum() * jnp.asarray(tree["n"], float) + tree["on"].astype(float)


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert np.shape(x) == np.shape(y) and x.dtype == y.dtype
        if x.dtype != FLOAT0:
            np.testing.assert_allclose(x, y)


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit, functx.jit], ids=["eager", "jit", "functx"])
def test_gradients_are_those_of_jax(jit):
    want = jax.grad(loss, allow_int=True)(TREE)
    assert [x.dtype == FLOAT0 for x in jax.tree.leaves(want)] == [True] * 4 + [False]
    same(jit(functx.grad(loss, allow_int=True))(TREE), want)
    value, gradient = jit(functx.value_and_grad(loss, allow_int=True))(TREE)
    assert value == 16
    same(gradient, want)
    gradient, (value, aux) = jit(
        functx.grad_and_value(lambda t: (loss(t), t["n"]), has_aux=True, allow_int=True)
    )(TREE)
    assert (value, aux) == (16, 3)
    same(gradient, want)


def test_several_arguments_and_names():
    f = lambda n, x, *, k: x * jnp.asarray(n * k, float)
    got = functx.grad(f, argnums=(0, "k", 1), allow_int=True)(3, jnp.asarray(2.0, float), k=5)
    assert [x.dtype == FLOAT0 for x in got] == [True, True, False] and got[2] == 15


def test_nothing_but_integers():
    same(functx.grad(lambda n: 2.0 * n, allow_int=True)(3), np.zeros((), FLOAT0))
    value, gradient = functx.value_and_grad(lambda n: (n * 0.5).sum(), allow_int=True)(np.arange(3))
    assert value == 1.5 and gradient.dtype == FLOAT0 and gradient.shape == (3,)


def test_complex_gradients_beside_integers():
    f = lambda z, n: functx.imag(z * z) * jnp.asarray(n, float)
    got = functx.grad(f, argnums=(0, 1), allow_int=True)(jnp.asarray(1 + 2j, complex), 2)
    assert (
        got[0] == functx.grad(lambda z: f(z, 2))(jnp.asarray(1 + 2j, complex))
        and got[1].dtype == FLOAT0
    )


@pytest.mark.parametrize("options", [{}, {"chunk_size": 2}, {"out_dims": (0, 1)}])
@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_lanes(options, jit):
    if "out_dims" in options:
        options = options | {"chunk_size": 2}
    f = functx.grad(lambda x, n: x * n.sum().astype(float), argnums=(0, 1), allow_int=True)
    n = np.arange(10).reshape(5, 2)
    slopes, still = jit(functx.vmap(f, **options))(jnp.ones(5), n)
    np.testing.assert_array_equal(slopes, n.sum(1))
    assert still.dtype == FLOAT0 and still.shape == ((2, 5) if "out_dims" in options else (5, 2))


def test_integers_are_never_unused():
    unused = TREE | {"u": [jnp.ones(2)]}
    got = functx.grad(loss, allow_int=True, unused="none")(unused)
    assert got["u"] == [None] and got["n"].dtype == FLOAT0
    with pytest.raises(RuntimeError, match=r"grad: `args\[0\]\['u'\]\[0\]` is unused"):
        functx.grad(loss, allow_int=True, unused="error")(unused)


def test_residual_hooks_see_what_is_differentiated():
    seen = []
    with functx.residuals.residual_hooks(lambda x: seen.append(x.shape) or x, lambda x: x):
        functx.grad(loss, allow_int=True)(TREE)
    assert seen == [(2,)]


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: functx.grad(loss)(TREE), r"grad: `args\[0\]\['key'\]` must be an array"),
        (lambda: functx.grad(loss)({"n": 3}), r"got 3\n.*; allow_int=True passes over it"),
        (lambda: functx.jacrev(loss)({"n": 3}), r"got 3\n.*with respect to it$"),
        (lambda: functx.grad(loss, allow_int=1), "grad: `allow_int` must be a bool, got 1"),
        (
            lambda: functx.grad(loss, allow_int=True)(TREE | {"s": len}),
            r"`args\[0\]\['s'\]` must be an array.*\n.*close over the rest",
        ),
        (lambda: functx.grad(loss, allow_int=True)(len), r"`args\[0\]` must be an array, got .*$"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(TypeError, match=said):
        call()


def test_modules_with_functions_among_their_leaves():
    eqx = pytest.importorskip("equinox", reason="its modules are trees with functions in them")
    module = eqx.nn.MLP(2, 1, 3, 1, key=jax.random.key(0))
    said = r"`args\[0\].*activation` must be an array.*\n.*eqx.partition.*eqx.filter_grad"
    for wrapped in (module, {"net": [module]}):
        with pytest.raises(TypeError, match=said):
            functx.grad(lambda m: 0.0)(wrapped)
    params, rest = eqx.partition(module, eqx.is_inexact_array)
    scored = lambda m: m(jnp.ones(2)).sum()
    got = functx.grad(lambda p: scored(eqx.combine(p, rest)))(params)
    same(jax.tree.leaves(got), jax.tree.leaves(eqx.filter_grad(scored)(module)))
