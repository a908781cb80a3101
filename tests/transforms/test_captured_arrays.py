"""Arrays from outside of a transform: not written to, and in whatever layout."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


TRANSFORMS = {
    "grad": lambda f, x: functx.grad(lambda x: f(x).sum())(x),
    "vjp": lambda f, x: functx.vjp(f, x),
    "jvp": lambda f, x: functx.jvp(f, (x,), (x,)),
    "linearize": lambda f, x: functx.linearize(f, x),
    "jacrev": lambda f, x: functx.jacrev(f)(x),
    "jacfwd": lambda f, x: functx.jacfwd(f)(x),
    "vmap": lambda f, x: functx.vmap(f)(x),
    "vmap of grad": lambda f, x: functx.vmap(functx.grad(lambda x: f(x).sum()))(x),
    "jit": lambda f, x: functx.jit(f)(x),
}
PLACES = {
    "0": 0,
    "0, 0, 0": (0, 0, 0),
    ":1": np.s_[:1],
    ":, :1": np.s_[:, :1],
    ":, :1, :": np.s_[:, :1, :],
}
X = jnp.ones((2, 3, 4))


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("place", PLACES)
def test_writing_is_refused_with_the_remedy(name, place):
    captured = jnp.zeros((2, 3, 4))
    for of in (lambda y: y, lambda y: functx.movedim(y, 0, 0), lambda y: functx.unbind(y[None])[0]):

        def writes(x, of=of):
            of(captured)[PLACES[place]] = x.sum()
            return x

        with pytest.raises(TypeError, match=r"immutable(.|\n)*x\.at\[idx\]\.set\(y\)"):
            TRANSFORMS[name](writes, X)
    assert not captured.any()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_is_traced_is_not_written_into_numpy_arrays(name):
    captured = np.zeros((2, 3, 4))

    def writes(x):
        captured[0] = x[0]
        return x

    with pytest.raises((ValueError, jax.errors.TracerArrayConversionError)):
        TRANSFORMS[name](writes, X)
    assert not captured.any()


def test_a_traced_number_in_a_list_keeps_its_derivative():
    x = jnp.asarray(3.0, "float64")
    by_list = functx.vjp(lambda x: functx.tensor([x]) ** 2, x)[1]
    by_view = functx.vjp(lambda x: functx.reshape(x, (1,)) ** 2, x)[1]
    assert by_list(jnp.ones(1))[0] == by_view(jnp.ones(1))[0] == 6


def products(x, y):
    return functx.matmul(functx.sin(x), functx.transpose(y, 0, 1)) * functx.sum(x)


LAYOUTS = {
    "in Fortran order": lambda x: np.array(x, order="F"),
    "a strided view": lambda x: np.repeat(np.asarray(x), 2, -1)[:, ::2],
    "read backwards": lambda x: np.flip(np.flip(np.asarray(x)).copy()),
    "committed": lambda x: jax.device_put(x, jax.devices()[-1]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_derivatives_of_arrays_in_other_layouts(layout):
    rng = np.random.default_rng(0)
    x, y, t, u, w = (rng.standard_normal(s) for s in ((2, 3), (4, 3), (2, 3), (4, 3), (2, 4)))
    pulled = lambda x, y, w: functx.vjp(products, x, y)[1](w)
    pushed = lambda x, y, t, u: functx.jvp(products, (x, y), (t, u))[1]
    scaled = functx.grad(lambda x, y: products(x, y).sum(), (0, 1))
    for f, arrays in ((pulled, (x, y, w)), (pushed, (x, y, t, u)), (scaled, (x, y))):
        got = f(*map(LAYOUTS[layout], arrays))
        jax.tree.map(np.testing.assert_array_equal, got, f(*map(jnp.asarray, arrays)))
