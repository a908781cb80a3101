"""Special functions whose costly part is left out where no element needs it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._ops.special.rare_elements import with_rare_elements


ON_CPU = jax.default_backend() == "cpu"


@pytest.fixture
def chosen():
    """The sum of two arrays where an element of the first is negative, else 100 more."""
    return with_rare_elements(
        lambda x, y: jnp.any(x < 0), lambda x, y: x + y, lambda x, y: x + y + 100
    )


@pytest.mark.parametrize("x, more", [([1.0, 2.0], 100), ([1.0, -2.0], 0)])
def test_arrays_without_rare_elements_take_the_short_way(chosen, x, more):
    x, y = jnp.asarray(x), jnp.ones(2)
    assert np.array_equal(jax.jit(chosen)(x, y), x + y + more * ON_CPU)


@pytest.mark.parametrize("in_axes", [0, (0, None), (None, 0)])
@pytest.mark.parametrize("least", [1.0, -1.0])
def test_all_lanes_decide_together(chosen, in_axes, least):
    arrays = jnp.asarray([[least, 2.0], [5.0, 6.0]]), jnp.asarray([[3.0, 4.0], [7.0, 8.0]])
    axes = (in_axes, in_axes) if in_axes == 0 else in_axes
    x, y = (each if axis == 0 else each[0] for each, axis in zip(arrays, axes, strict=True))
    got = jax.vmap(chosen, in_axes)(x, y)
    plain = jax.vmap(jnp.add, in_axes)(x, y)
    assert np.array_equal(got, plain + 100 * (least > 0) * ON_CPU)


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"])
def test_far_arguments_change_no_other_value(name):
    function = getattr(functx.special, name)
    x = jnp.linspace(0.5, 60, 400)
    alone, beside = function(x), function(jnp.append(x, 1e30))
    scale = 1 / np.sqrt(x)
    assert np.all(np.abs(alone - beside[:-1]) <= 4e-16 * scale)
    assert np.abs(beside[-1]) < 1e-15


@pytest.mark.parametrize(
    "function",
    [functx.special.zeta, lambda s, q: functx.polygamma(3, q)],
    ids=["zeta", "polygamma"],
)
def test_negative_arguments_change_no_other_value(function):
    q = jnp.asarray([0.0, 0.3, 1.0, 4.5, 1e6, jnp.inf, jnp.nan])
    s = jnp.full_like(q, 4.0)
    alone = function(s, q)
    beside = function(jnp.append(s, 4.0), jnp.append(q, -1.5))
    np.testing.assert_allclose(alone, beside[:-1], rtol=1e-15)
    assert np.isfinite(beside[-1])
