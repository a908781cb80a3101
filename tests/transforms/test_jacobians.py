"""`jacrev`, `jacfwd`, `hessian`."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing.checks.programs import compiled


X = jnp.asarray([1.0, 2.0, 3.0])
Y = jnp.asarray([-1.0, 0.5, 2.0])
BOTH = [functx.jacrev, functx.jacfwd]

both = pytest.mark.parametrize("jacobian", BOTH)
chunks = pytest.mark.parametrize("chunk_size", [None, 1, 2, 7, "auto"])


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_allclose, got, want)


def tree_function(d, y):
    return {"product": d["w"] * y, "parts": (y.sum(), d["b"][None] * y[:2, None])}


@both
def test_shape_is_that_of_the_output_then_the_input(jacobian):
    f = lambda x: jnp.einsum("ij,jk->ki", jnp.ones((2, 3)), x)
    got = jacobian(f)(jnp.ones((3, 4)))
    assert got.shape == (4, 2, 3, 4)
    same(got, jax.jacfwd(f)(jnp.ones((3, 4))))


TREES = {"w": X, "b": jnp.ones(())}, Y


@ft.cache
def wanted_of_trees():
    return compiled(jax.jacobian(tree_function, (0, 1)))(*TREES)


@both
@pytest.mark.parametrize(
    "chunk_size, jit",
    [*((n, compiled) for n in (None, 1, 2, 7, "auto")), *((n, lambda f: f) for n in (None, 2))],
)
def test_trees_nest_output_argnums_input(jacobian, chunk_size, jit):
    got = jit(jacobian(tree_function, (0, 1), chunk_size=chunk_size))(*TREES)
    same(got, wanted_of_trees())
    assert got["parts"][1][0]["w"].shape == (2, 1, 3)


@both
@pytest.mark.parametrize(
    "argnums, pick",
    [
        (0, lambda x, y: x),
        (-1, lambda x, y: y),
        (-2, lambda x, y: x),
        ((-1, 0), lambda x, y: (y, x)),
        ((0,), lambda x, y: (x,)),
        ("y", lambda x, y: y),
    ],
)
def test_argnums(jacobian, argnums, pick):
    got = jacobian(lambda x, y: x * y**2, argnums)(X, Y)
    same(got, pick(jnp.diag(Y**2), jnp.diag(2 * X * Y)))


@both
def test_keyword_arguments(jacobian):
    f = lambda x, *, weight: x * weight
    same(jacobian(f, "weight")(X, weight=Y), jnp.diag(X))
    same(jacobian(f, (0, "weight"))(X, weight=Y), (jnp.diag(Y), jnp.diag(X)))


@both
@chunks
def test_aux_is_that_of_one_call(jacobian, chunk_size):
    f = lambda x: (jnp.sin(x), {"x": 2 * x, "name": "f"})
    got, aux = jacobian(f, has_aux=True, chunk_size=chunk_size)(X)
    same(got, jnp.diag(jnp.cos(X)))
    same(aux["x"], 2 * X)
    assert aux["name"] == "f"


@both
def test_scalars_and_empty_arrays(jacobian):
    assert jacobian(lambda x: x * x)(3.0) == 6
    assert jacobian(lambda x: x[:0])(X).shape == (0, 3)
    assert jacobian(lambda x: x.sum())(X[:0]).shape == (0,)


@both
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_jacobians_keep_the_dtype(jacobian, dtype):
    assert jacobian(jnp.sin)(X.astype(dtype)).dtype == dtype


@both
def test_outputs_of_several_dtypes(jacobian):
    f = lambda x: (x, x.astype("float32"))
    got = jacobian(f)(X)
    same(got[1], jnp.eye(3))


@both
@pytest.mark.parametrize("chunk_size", [1, 2, 3, "auto"])
def test_chunks_change_no_bit(jacobian, chunk_size):
    f = lambda x: jnp.cumsum(jnp.sin(x) * x[::-1])
    x = jnp.linspace(-1, 1, 7)
    whole = jacobian(f)(x)
    np.testing.assert_array_equal(jacobian(f, chunk_size=chunk_size)(x), whole)


def test_jacfwd_maps_randomness_over_columns():
    def noisy(x):
        return x * jax.random.normal(
            functx._core.randomness.ambient_generator.drawable().draw().derive(), (), x.dtype
        )

    functx.manual_seed(0)
    with pytest.raises(RuntimeError, match="draw"):
        functx.jacfwd(catching(noisy))(X)
    once = functx.jacfwd(noisy, randomness="same")(X)
    assert len(set(np.diag(once).tolist())) == 1
    for chunk_size in (None, 1, 2):
        functx.manual_seed(0)
        each = functx.jacfwd(noisy, randomness="different", chunk_size=chunk_size)(X)
        assert len(set(np.diag(each).tolist())) == 3
        np.testing.assert_array_equal(each, each * jnp.eye(3))


def catching(f):
    """An operator's wrapper in miniature: a refusal in the user's words."""

    def wrapped(*args):
        try:
            return f(*args)
        except functx._core.Refused as refusal:
            raise refusal.by("noisy") from None

    return wrapped


@chunks
def test_hessian(chunk_size):
    f = lambda x: (x**3).sum() * x[0]
    same(functx.hessian(f, chunk_size=chunk_size)(X), compiled(jax.hessian(f))(X))


@chunks
def test_hessian_of_trees(chunk_size):
    f = lambda d, y: {"s": (d["w"] ** 2 * y).sum(), "v": d["w"] * y}
    got = functx.hessian(f, (0, 1), chunk_size=chunk_size)({"w": X}, Y)
    same(got, compiled(jax.hessian(f, (0, 1)))({"w": X}, Y))


def test_hessian_with_aux_and_names():
    f = lambda x, y: ((x**2 * y).sum(), {"y": y})
    got, aux = functx.hessian(f, "y", has_aux=True)(X, y=Y)
    same(got, jnp.zeros((3, 3)))
    same(aux, {"y": Y})
    got, _ = functx.hessian(f, -2, has_aux=True)(X, Y)
    same(got, jnp.diag(2 * Y))


@pytest.mark.parametrize("jacobian", [*BOTH, functx.hessian])
@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"chunk_size": 0}, ValueError, "`chunk_size` must be at least 1, got 0"),
        ({"chunk_size": -2}, ValueError, "`chunk_size` must be at least 1, got -2"),
        ({"chunk_size": 1.5}, TypeError, "`chunk_size` must be None, an int or 'auto', got 1.5"),
        ({"chunk_size": "all"}, ValueError, "`chunk_size` must be None, an int or 'auto'"),
        ({"max_bytes": 10}, ValueError, "`max_bytes` goes with chunk_size='auto'"),
        ({"chunk_size": "auto", "max_bytes": 0}, ValueError, "`max_bytes` must be a positive int"),
        ({"argnums": ()}, ValueError, "`argnums` must not be empty"),
    ],
)
def test_option_refusals(jacobian, options, error, message):
    with pytest.raises(error, match=f"^{jacobian.__name__}: {message}"):
        jacobian(jnp.sin, **options)


@pytest.mark.parametrize("jacobian", [*BOTH, functx.hessian])
@pytest.mark.parametrize(
    "func, args, error, message",
    [
        (jnp.sin, (jnp.arange(3),), TypeError, r"`args\[0\]` must be real or complex"),
        (lambda x: {"i": x.argmax()}, (X,), TypeError, r"`output\['i'\]` must be real or complex"),
        (lambda x: None, (X,), TypeError, "must return at least one array, got None"),
        (jnp.sin, (), IndexError, "`argnums` 0 is out of range"),
    ],
)
def test_refusals(jacobian, func, args, error, message):
    with pytest.raises(error, match=f"^{jacobian.__name__}: .*{message}"):
        jacobian(func)(*args)


def test_jacfwd_randomness_refusal():
    with pytest.raises(ValueError, match="jacfwd: `randomness` must be 'error', 'different' or"):
        functx.jacfwd(jnp.sin, randomness="yes")
