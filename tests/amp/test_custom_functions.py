"""`custom_fwd` and `custom_bwd`: the rules of functions under autocast."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.amp import autocast, custom_bwd, custom_fwd, is_autocast_enabled


A = jnp.asarray(np.linspace(0, 1, 6).reshape(2, 3), "float32")
B = jnp.asarray(np.linspace(1, 2, 6).reshape(3, 2), "float32")


def product(**options):
    """A product of matrices with own rules, and what they saw."""
    seen = []

    class Product(functx.Function):
        @staticmethod
        @custom_fwd(**options)
        def forward(ctx, a, b, others=None):
            assert ctx.needs_input_grad  # so it runs again where another one is asked for
            leaves = [x.dtype.name for x in jax.tree.leaves((a, b, others)) if hasattr(x, "dtype")]
            seen.append(("forward", is_autocast_enabled(), *leaves))
            ctx.save_for_backward(a, b)
            return functx.mm(a, b)

        @staticmethod
        @custom_bwd
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append(("backward", is_autocast_enabled(), grad.dtype.name))
            return functx.mm(grad, b.T), functx.mm(a.T, grad), None

    return Product.apply, seen


def test_backward_runs_in_the_region_of_forward():
    apply, seen = product()
    with autocast(jnp.float16):
        y, pull = functx.vjp(apply, A, B)
    grads = pull(jnp.ones_like(y))
    assert y.dtype == "float16" and [g.dtype.name for g in grads] == ["float32", "float32"]
    assert ("forward", True, "float32", "float32") in seen
    assert ("backward", True, "float16") in seen
    half = [x.astype("float16") for x in (A, B)]
    ones = jnp.ones((2, 2), "float16")
    np.testing.assert_array_equal(grads[0], functx.mm(ones, half[1].T).astype("float32"))


def test_outside_of_a_region_nothing_changes():
    apply, seen = product()
    y, pull = functx.vjp(apply, A, B)
    with autocast(jnp.float16):  # the rule's region is that of forward: none
        pull(jnp.ones_like(y))
    assert {entry[1] for entry in seen} == {False}


def test_cast_inputs_casts_what_is_inside_containers_and_turns_autocast_off():
    apply, seen = product(cast_inputs=jnp.float32)
    half, wide, whole = A.astype("float16"), A.astype("float64"), jnp.arange(3)
    others = {"half": [half], "wide": (wide,), "whole": whole, "name": "x", "none": None}
    with autocast(jnp.float16):
        y, pull = functx.vjp(lambda a, b: apply(a, b, others), half, B)
    grads = pull(jnp.ones_like(y))
    assert y.dtype == "float32" and [g.dtype.name for g in grads] == ["float16", "float32"]
    names = ["float32", "float32", "float32", "int64", "float64"]
    assert ("forward", False, *names) in seen and ("backward", False, "float32") in seen
    seen.clear()
    functx.vjp(lambda a: apply(a, half.T), half)  # outside of a region it casts nothing
    assert seen[0] == ("forward", False, "float16", "float16")


def test_setup_context_notes_the_region_too():
    class Square(functx.Function):
        @staticmethod
        def forward(a):
            return functx.mm(a, a)

        @staticmethod
        @custom_fwd
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        @custom_bwd
        def backward(ctx, grad):
            (a,) = ctx.saved_tensors
            product = functx.mm(grad, a.T)
            seen.append(product.dtype.name)
            return product + functx.mm(a.T, grad)

    seen = []
    square = A @ B
    with autocast(jnp.bfloat16):
        y, pull = functx.vjp(Square.apply, square)
    assert pull(y)[0].dtype == "float32" and set(seen) == {"bfloat16"}


@pytest.mark.parametrize("transform", [jax.jit, functx.checkpoint, functx.vmap])
def test_transforms_run_forward_in_the_region_of_the_call(transform):
    apply, seen = product()

    def f(a):
        with autocast(jnp.bfloat16):
            y = apply(a, B)
        return functx.sum(y.astype("float32") ** 2)

    if transform is functx.vmap:
        functx.grad(lambda a: functx.sum(functx.vmap(f)(a)))(A[None])
    else:
        functx.hessian(transform(f))(A)
    assert {entry[1] for entry in seen} == {True}


def test_refusals():
    class Bare(functx.Function):
        @staticmethod
        def forward(ctx, a):
            return functx.exp(a)

        @staticmethod
        @custom_bwd
        def backward(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="has noted no autocast region"):
        functx.grad(lambda a: functx.sum(Bare.apply(a)))(A)
    with pytest.raises(TypeError, match="`cast_inputs` must be a floating dtype, got int64"):
        custom_fwd(cast_inputs="int64")
    with pytest.raises(TypeError, match="`cast_inputs` must be a dtype"):
        custom_fwd(cast_inputs=3)
    with pytest.raises(TypeError, match="`device=` says whose lists count"):
        custom_fwd(device_type="cuda")
    with pytest.raises(TypeError, match="must be callable"):
        custom_bwd(3)
