"""Eager transforms run call by call, and mean what JAX's own mean."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import concrete_or_error

import functx
from functx._transforms.eager.layers import LayerValue


X = jnp.asarray([0.5, 1.5, 2.5])


def mixed(x):
    """Calls that are compiled, calls that are not, control flow, and constants."""
    scaled = functx.exp(x) * jax.nn.relu(x - 1) + jax.jit(lambda y: y * x)(functx.sin(x))
    carried, _ = jax.lax.scan(lambda c, a: (c * a, None), scaled[0], scaled)
    return carried + jax.checkpoint(lambda y: (y**2).sum())(scaled)


@pytest.mark.parametrize("f", [mixed, functx.grad(mixed), functx.hessian(mixed)])
def test_derivatives_are_those_of_compiled_programs(f):
    np.testing.assert_allclose(f(X), jax.jit(f)(X), rtol=1e-12)


def test_lanes_and_tangents_are_those_of_compiled_programs():
    batch = jnp.stack([X, X[::-1]])
    mapped = functx.vmap(functx.grad(mixed), out_dims=1)
    np.testing.assert_allclose(mapped(batch), jax.jit(mapped)(batch), rtol=1e-12)
    pushed = lambda x: functx.jvp(functx.vmap(mixed), (x,), (x + 1,))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12),
        pushed(batch),
        jax.jit(pushed)(batch),
    )


def test_no_cotangent_is_not_a_cotangent_of_zero():
    def f(x):
        root = functx.sqrt(x)  # its derivative at zero is infinite, and is not asked for
        return jax.jit(lambda r, y: (r, y * 2))(root, x)[1]

    assert functx.grad(f)(jnp.float64(0)) == 2


@pytest.mark.parametrize("which", [0, 1])
def test_of_a_scan_one_output_alone_has_a_cotangent(which):
    def run(x):
        return jax.lax.scan(lambda total, y: (total + y, total * y), x.sum(), x)

    f = lambda x: run(x)[which].sum()
    np.testing.assert_array_equal(functx.grad(f)(X), jax.jit(functx.grad(f))(X))


LANES_OF_SLOPES = lambda f: functx.vmap(functx.grad(f))


@pytest.mark.parametrize("transform", [functx.grad, functx.vmap, LANES_OF_SLOPES])
def test_constants_are_arrays(transform):
    made = []

    def f(x):
        made.extend([jnp.asarray(2.0), jnp.asarray(np.float32(1)), jnp.asarray(np.ones(2))])
        return x * 2

    transform(f)(X[0] if transform is functx.grad else X)
    assert all(isinstance(x, jax.Array) for x in made)


def test_values_are_known_in_eager_code():
    f = lambda x: x**3 if x > 1 else x
    assert functx.grad(f)(jnp.float64(2)) == 12
    assert functx.grad(f)(jnp.float64(0.5)) == 1


def test_values_that_moving_ones_decide_are_known():
    known = lambda x: x * concrete_or_error(float, x)
    assert functx.grad(known)(jnp.float64(3)) == 3
    assert functx.jvp(known, (jnp.float64(3),), (jnp.float64(1),))[1] == 3


def test_values_that_are_the_same_in_all_lanes_are_known():
    f = lambda x: x * (2 if functx.zeros_like(x) == 0 else 3)
    np.testing.assert_array_equal(functx.vmap(f)(X), 2 * X)


def test_dims_of_lanes_and_results_that_depend_on_nothing():
    matrix = jnp.arange(6.0).reshape(2, 3)
    row, constant = functx.vmap(lambda x: (x * 2, X), in_dims=1, out_dims=1)(matrix)
    np.testing.assert_array_equal(row, matrix * 2)
    np.testing.assert_array_equal(constant, np.stack([X] * 3, 1))
    assert functx.jvp(lambda x: (x, X), (X,), (X,))[1][1].tolist() == [0, 0, 0]


def test_mutable_arrays_go_the_way_of_jax():
    def f(x):
        ref = jax.new_ref(x)
        ref[...] = ref[...] * x
        return ref[...]

    assert functx.grad(f)(jnp.float64(3)) == jax.grad(f)(jnp.float64(3)) == 6


def test_a_pullback_keeps_each_array_once_and_no_copy_of_an_argument():
    _, pull = functx.vjp(lambda x: functx.sin(x) * x * x, X)
    kept = jax.tree.leaves(pull)
    assert len({id(x) for x in kept}) == len(kept)
    assert sum(x is X for x in kept) == 1


def test_what_nothing_depends_on_is_not_kept():
    _, pull = functx.vjp(lambda x: (functx.exp(x), functx.sin(x))[1], X)
    assert len(jax.tree.leaves(pull)) == 1


def test_values_that_escape_are_refused():
    kept = []
    functx.grad(lambda x: kept.append(x) or x)(jnp.float64(1))
    with pytest.raises(jax.errors.UnexpectedTracerError):
        functx.sin(kept[0])

    def outer(x):
        functx.grad(lambda y: kept.append(y) or y)(x)
        return kept[-1] * x

    with pytest.raises(jax.errors.UnexpectedTracerError):
        functx.grad(outer)(jnp.float64(1))


@pytest.mark.parametrize("wrap", [jax.jit, jax.checkpoint, lambda f: f])
def test_what_a_function_captures_is_let_go_with_it(wrap):
    def captured():
        held = jnp.arange(3.0) + 1
        f = wrap(lambda x: (x * held).sum())
        functx.grad(f)(X), functx.vmap(f)(X[None]), functx.jvp(f, (X,), (X,))
        return weakref.ref(held)

    held = captured()
    gc.collect()
    assert held() is None


def test_a_program_is_compiled_once():
    runs = []
    square = jax.jit(lambda x: runs.append(None) or x * x)
    for x in (1.0, 2.0, 3.0):
        functx.grad(square)(jnp.float64(x))
    assert len(runs) == 1


@pytest.mark.parametrize("setting", ["debug_nans", "debug_infs", "disable_jit", "checking_leaks"])
def test_settings_that_look_into_calls_are_obeyed(setting):
    seen = []

    def f(x):
        seen.append(type(x))
        return functx.sum(functx.sin(x))

    def run():
        functx.grad(f)(X), functx.vmap(f)(X[None]), functx.jvp(f, (X,), (X,))

    run()
    assert set(seen) == {LayerValue}
    seen.clear()
    with jax.checking_leaks() if setting == "checking_leaks" else getattr(jax, setting)(True):
        run()
    assert len(seen) == 3
    assert LayerValue not in seen


def test_arrays_of_numpy_may_be_written_to_before_the_cotangents_come():
    weights = np.full(3, 3.0)
    _, pull = functx.vjp(lambda x: functx.mul(x, weights), X)
    weights[:] = 0
    np.testing.assert_array_equal(pull(jnp.ones(3))[0], [3, 3, 3])


@pytest.mark.parametrize("transform", [functx.grad, functx.vmap, LANES_OF_SLOPES])
def test_results_larger_than_memory_are_refused(transform):
    large = transform(lambda x: functx.sum(functx.expand(x, (2**40,))))
    with pytest.raises(MemoryError, match="expand: the result would be .* all the memory there is"):
        large(X[0] if transform is functx.grad else X)


def test_options_are_told_apart_by_type_and_unhashable_ones_are_mended():
    table = X[None] * X[:, None]
    over = lambda dim: functx.grad(lambda x: functx.logsumexp(x, dim).sum())(table)
    np.testing.assert_allclose(over([0, 1]), jax.grad(lambda x: jax.nn.logsumexp(x))(table))
    total = lambda keep: functx.vmap(lambda x: functx.sum(x, 0, keepdim=keep))(table)
    assert [total(keep).shape for keep in (True, False)] == [(3, 1), (3,)]
    with pytest.raises(TypeError, match="sum: `keepdim` must be"):
        functx.grad(lambda x: functx.sum(x, 0, keepdim=1.5))(X)
