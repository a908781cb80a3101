"""Dual numbers: what `jvp` computes, without a function to hand it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.autograd.forward_ad import dual_level, make_dual, unpack_dual, UnpackedDualTensor
from functx.testing.checks.programs import compiled


X = jnp.asarray([0.7, -0.4])
V = jnp.asarray([0.9, -1.3])


def wave(x):
    return functx.sin(x) * jnp.cos(x)


def test_a_dual_carries_its_tangent():
    with dual_level() as level:
        dual = make_dual(X, V)
        primal, tangent = unpack_dual(dual)
    assert level == 0
    assert primal is X and tangent is V


def test_results_have_the_derivative_along_the_tangent():
    with dual_level():
        got = unpack_dual(wave(make_dual(X, V)))
    want = jax.jvp(wave, (X,), (V,))
    assert isinstance(got, UnpackedDualTensor)
    np.testing.assert_array_equal(got.primal, want[0])
    np.testing.assert_array_equal(got.tangent, want[1])


def test_other_arrays_have_none():
    with dual_level():
        dual = make_dual(X, V)
        assert unpack_dual(X) == (X, None)
        for y in (dual > 0, functx.argmax(dual), dual.astype(int), functx.detach(dual), wave(X)):
            assert unpack_dual(y).tangent is None


def test_comparisons_of_duals_have_values():
    with dual_level():
        dual = make_dual(X, V)
        assert (dual == X).all()
        assert "positive" == ("positive" if dual[0] > 0 else "negative")


def test_only_duals_are_printed_with_a_tangent():
    with dual_level():
        assert "tangent=" in repr(make_dual(X, V))
        assert "tangent=" not in repr(X)


def test_at_the_end_of_a_level_tangents_are_gone():
    with dual_level():
        dual = make_dual(X, V)
        y = wave(dual)
    assert unpack_dual(dual) == (X, None)
    np.testing.assert_array_equal(unpack_dual(y).primal, wave(X))
    with dual_level():
        assert unpack_dual(dual) == (X, None)
        assert unpack_dual(make_dual(X, 2 * V)).tangent is not V
    with pytest.raises(jax.errors.UnexpectedTracerError):
        dual + 1


def test_a_level_is_left_by_exceptions():
    with pytest.raises(KeyError), dual_level():
        raise KeyError
    np.testing.assert_array_equal(X + 1, np.asarray(X) + 1)
    with pytest.raises(RuntimeError, match="must be called in a dual_level"):
        make_dual(X, V)


def test_levels_nest_without_confusion():
    with dual_level():
        x = make_dual(2.0, 1.0)
        with dual_level() as inner:
            y = make_dual(3.0, 1.0)
            assert unpack_dual(x) == (x, None)
            slope = unpack_dual(x * y).tangent  # of x y by y, which is x
        assert inner == 1
        assert unpack_dual(x * slope).tangent == 4  # of x², and not of x


def test_second_derivatives_by_nested_levels():
    with dual_level():
        x = make_dual(X, jnp.ones(2))
        with dual_level():
            first = unpack_dual(functx.sin(make_dual(x, jnp.ones(2)))).tangent
        second = unpack_dual(first).tangent
    np.testing.assert_allclose(second, -np.sin(X), rtol=1e-12)


def pushed(x, v=V):
    with dual_level():
        return unpack_dual(wave(make_dual(x, v))).tangent


COMPOSITIONS = {
    "jit": lambda f: jax.jit(f)(X),
    "jacrev": lambda f: functx.jacrev(f)(X),
    "jacfwd": lambda f: functx.jacfwd(f)(X),
    "vmap": lambda f: functx.vmap(f)(jnp.stack([X, 2 * X])),
    "checkpoint": lambda f: jax.jacrev(jax.checkpoint(f))(X),
    "scan": lambda f: jax.lax.scan(lambda c, _: (f(c), None), X, length=2)[0],
}


def test_composes_with_transforms():
    def truth(x):
        return jax.jvp(wave, (x,), (V,))[1]

    both = compiled(lambda: {name: (f(pushed), f(truth)) for name, f in COMPOSITIONS.items()})()
    for name, (got, want) in both.items():
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=name)


def test_transforms_inside_a_level_carry_the_tangent_through():
    with dual_level():
        dual = make_dual(X, V)
        of_grad = unpack_dual(functx.grad(lambda x: wave(x).sum())(dual)).tangent
        of_vmap = unpack_dual(functx.vmap(wave)(dual)).tangent
        of_jit = unpack_dual(jax.jit(wave)(dual)).tangent
    _, want = functx.hvp(lambda x: wave(x).sum(), X, V)
    np.testing.assert_allclose(of_grad, want, rtol=1e-12)
    for got in (of_vmap, of_jit):
        np.testing.assert_allclose(got, pushed(X), rtol=1e-12)


def test_batches_of_tangents_are_mapped_over():
    jac = functx.vmap(lambda v: pushed(X, v), out_dims=1)(jnp.eye(2))
    np.testing.assert_allclose(jac, functx.jacrev(wave)(X), rtol=1e-12)
    f = lambda x, y: functx.add(functx.sin(x), y)
    columns = functx.vmap(lambda v: functx.jvp(f, (X, X), (v, v))[1], out_dims=1)(jnp.eye(2))
    np.testing.assert_allclose(columns, np.diag(np.cos(X)) + np.eye(2), rtol=1e-12)


def test_reverse_over_forward_leaves_nothing_behind():
    def f(x):
        with dual_level():
            return unpack_dual(functx.exp(make_dual(jnp.ones(2), x))).tangent.sum()

    np.testing.assert_allclose(functx.grad(f)(X), np.full(2, np.e))
    np.testing.assert_array_equal(X + 0, X)


def test_own_rules_are_used():
    tripled = derivative_rules(jnp.sin, vjp=lambda xs, y, ct: (3 * jnp.cos(xs[0]) * ct,))
    with dual_level():
        got = unpack_dual(tripled(make_dual(X, V))).tangent
    np.testing.assert_allclose(got, 3 * np.cos(np.asarray(X)) * V, rtol=1e-12)


def test_igamma_has_forward_mode_in_both_arguments():
    """Which PyTorch refuses; values are checked with the other operators."""

    def both(a, x):
        with dual_level():
            return unpack_dual(functx.special.gammainc(make_dual(a, 1.0), make_dual(x, 1.0)))

    assert jax.eval_shape(both, 1.5, 0.8).tangent.shape == ()


BAD = {
    "size": (lambda: (X, jnp.ones(3)), RuntimeError, "forward gradient that has a different size"),
    "dtype": (lambda: (X, V.astype("float32")), TypeError, r"must have the dtype of f64\[2\]"),
    "integer tangent": (
        lambda: (X, jnp.ones(2, int)),
        ValueError,
        "Expected tangent to be floating point or complex",
    ),
    "integer primal": (
        lambda: (jnp.ones(2, int), V),
        ValueError,
        "Expected primal to be floating point or complex",
    ),
    "integers": (
        lambda: (jnp.ones(2, int), jnp.ones(2, int)),
        ValueError,
        "Expected primal to be floating point or complex",
    ),
    "dual tangent": (
        lambda: (X, make_dual(X, V)),
        RuntimeError,
        "`tangent`.* has a forward gradient at the same level",
    ),
    "dual primal": (
        lambda: (make_dual(X, V), V),
        RuntimeError,
        "`tensor`.* has a forward gradient at the same level",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refuses(case):
    arguments, error, message = BAD[case]
    with dual_level(), pytest.raises(error, match=message):
        make_dual(*arguments())


def test_numbers_take_the_dtype_of_the_primal():
    with dual_level():
        assert unpack_dual(make_dual(jnp.float32(2), 1.0)).tangent.dtype == jnp.float32


@pytest.mark.parametrize("transform", [jax.jit, functx.vmap])
def test_a_dual_is_made_where_the_level_was_entered(transform):
    with dual_level(), pytest.raises(RuntimeError, match="in the function that enters it"):
        transform(lambda x: make_dual(x, x))(X)


def test_outside_of_a_level_there_are_no_duals():
    with pytest.raises(RuntimeError, match="make_dual: it must be called in a dual_level"):
        make_dual(X, V)
    with pytest.raises(RuntimeError, match="unpack_dual: it must be called in a dual_level"):
        unpack_dual(X)
