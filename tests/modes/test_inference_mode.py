"""Values made in inference mode refuse to be differentiated, instead of a silent zero."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.asarray([0.7, -0.4])
REFUSAL = "Inference tensors cannot be saved for backward"


def test_regions_nest_and_restore():
    assert not functx.is_inference_mode_enabled()
    with functx.inference_mode():
        assert functx.is_inference_mode_enabled()
        with functx.inference_mode(False):
            assert not functx.is_inference_mode_enabled()
        assert functx.is_inference_mode_enabled()
    assert not functx.is_inference_mode_enabled()


def test_inference_mode_is_no_grad_too():
    with functx.inference_mode():
        assert not functx.is_grad_enabled()
        assert not functx.autograd.forward_ad.is_fwd_grad_enabled()
        with functx.inference_mode(False):
            assert functx.is_grad_enabled()


DECORATORS = {
    "func": (functx.inference_mode, True),
    "mode=func": (lambda f: functx.inference_mode(mode=f), True),
    "()": (lambda f: functx.inference_mode()(f), True),
    "True": (lambda f: functx.inference_mode(True)(f), True),
    "mode=True": (lambda f: functx.inference_mode(mode=True)(f), True),
    "False": (lambda f: functx.inference_mode(False)(f), False),
    "mode=False": (lambda f: functx.inference_mode(mode=False)(f), False),
}


@pytest.mark.parametrize("form", DECORATORS)
def test_decorates_in_every_form(form):
    decorate, mode = DECORATORS[form]

    @decorate
    def square(x):
        assert functx.is_inference_mode_enabled() is mode
        return x * x

    np.testing.assert_array_equal(square(X), X * X)
    assert square.__name__ == "square"
    if mode:
        with pytest.raises(RuntimeError, match=REFUSAL):
            functx.grad(lambda x: square(x).sum())(X)
    else:
        np.testing.assert_allclose(functx.grad(lambda x: square(x).sum())(X), 2 * X)


@pytest.mark.parametrize("mode", [None, 1, "on"])
def test_mode_is_a_bool_or_a_function(mode):
    with pytest.raises(TypeError, match="inference_mode: `mode` must be a bool or a function, got"):
        functx.inference_mode(mode)


def features(x):
    with functx.inference_mode():
        return functx.sin(x)


WAYS = {
    "grad": lambda f: functx.grad(lambda x: (f(x) * x).sum()),
    "grad of a sum": lambda f: functx.grad(lambda x: (f(x) + x).sum()),
    "vjp": lambda f: lambda x: functx.vjp(f, x)[1](x),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (x,)),
    "jacfwd": functx.jacfwd,
    "jax.grad": lambda f: jax.grad(lambda x: f(x).sum()),
    "vmap of grad": lambda f: functx.vmap(functx.grad(f)),
    "hessian": lambda f: functx.hessian(lambda x: (f(x) * x).sum()),
    "grad of checkpoint": lambda f: functx.grad(lambda x: jax.checkpoint(f)(x).sum()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_differentiating_is_refused(way, jit):
    with pytest.raises(RuntimeError, match=REFUSAL):
        jit(WAYS[way](features))(X)


def test_values_are_the_usual_ones():
    np.testing.assert_array_equal(features(X), functx.sin(X))
    np.testing.assert_array_equal(jax.jit(jax.vmap(features))(X), functx.sin(X))


def test_what_does_not_depend_on_a_differentiated_argument_never_refuses():
    c = features(X)
    f = lambda s: (c * s + c).sum()
    np.testing.assert_array_equal(functx.grad(f)(X), c)
    np.testing.assert_array_equal(functx.jvp(f, (X,), (X,))[1], (c * X).sum())


def test_reverse_mode_refuses_only_what_a_cotangent_reaches():
    def f(x):
        c = features(x)
        return (jnp.where(c > 0, x, 0) + functx.detach(c) * x).sum(), c

    got, c = functx.grad(f, has_aux=True)(X)
    np.testing.assert_allclose(got, np.asarray(c > 0) + np.asarray(c))


def test_derivatives_of_functions_in_the_region_are_as_usual():
    with functx.inference_mode():
        np.testing.assert_allclose(functx.grad(lambda x: functx.sin(x).sum())(X), np.cos(X))
        np.testing.assert_allclose(functx.jacfwd(functx.sin)(X), np.diag(np.cos(X)))


def test_derivatives_taken_in_the_region_refuse_another_derivative():
    @functx.inference_mode
    def slope(x):
        return functx.grad(lambda x: functx.sin(x).sum())(x)

    with pytest.raises(RuntimeError, match=REFUSAL):
        functx.jacrev(slope)(X)


def test_the_refusal_says_what_to_do():
    with pytest.raises(RuntimeError, match=r"(?s)f64\[2\], made in inference mode.*no_grad"):
        functx.vjp(features, X)[1](X)
