"""Options that are True or False take nothing else, which would stand for either."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.ones(2, "float32")
A = functx.autograd
OPTIONS = {
    "grad": (lambda **k: functx.grad(jnp.sum, **k), ["has_aux"]),
    "grad_and_value": (lambda **k: functx.grad_and_value(jnp.sum, **k), ["has_aux"]),
    "value_and_grad": (lambda **k: functx.value_and_grad(jnp.sum, **k), ["has_aux"]),
    "vjp": (lambda **k: functx.vjp(jnp.sin, X, **k), ["has_aux", "retain"]),
    "jvp": (lambda **k: functx.jvp(jnp.sin, (X,), (X,), **k), ["has_aux", "strict"]),
    "linearize": (lambda **k: functx.linearize(jnp.sin, X, **k), ["has_aux"]),
    "jacrev": (lambda **k: functx.jacrev(jnp.sin, **k), ["has_aux", "as_real"]),
    "jacfwd": (lambda **k: functx.jacfwd(jnp.sin, **k), ["has_aux", "as_real"]),
    "hessian": (lambda **k: functx.hessian(jnp.sum, **k), ["has_aux", "as_real"]),
    "hvp": (lambda **k: functx.hvp(jnp.sum, X, X, **k), ["has_aux"]),
    "vhp": (lambda **k: functx.vhp(jnp.sum, X, X, **k), ["has_aux"]),
    "tap_grads": (lambda **k: functx.taps.tap_grads(jnp.sum, **k), ["has_aux"]),
    "fused_update": (lambda **k: functx.taps.fused_update(jnp.sum, jnp.add, **k), ["has_aux"]),
    "functional_call": (
        lambda **k: functx.functional_call(jnp.multiply, X, X, **k),
        ["tie_weights", "strict"],
    ),
    "checkpoint": (lambda **k: functx.checkpoint(jnp.sin, **k), ["prevent_cse"]),
    "debug.checking": (lambda **k: functx.debug.checking(**k), ["enabled"]),
    "custom_linear_solve": (
        lambda **k: functx.implicit.custom_linear_solve(lambda x: 2 * x, X, **k),
        ["symmetric"],
    ),
    "autograd.grad": (
        lambda **k: A.grad(jnp.sum, X, **k),
        ["allow_unused", "is_grads_batched", "materialize_grads", "has_aux"],
    ),
    "autograd.functional.jacobian": (
        lambda **k: A.functional.jacobian(jnp.sin, X, **k),
        ["create_graph", "strict", "vectorize"],
    ),
    "autograd.functional.hvp": (
        lambda **k: A.functional.hvp(jnp.sum, X, X, **k),
        ["create_graph", "strict"],
    ),
}
CASES = [(who, name) for who, (_, names) in OPTIONS.items() for name in names]


@pytest.mark.parametrize(("who", "name"), CASES)
def test_an_option_that_is_true_or_false_takes_bools_alone(who, name):
    call, _ = OPTIONS[who]
    for given, shown in [("no", "'no'"), (1, "1"), (np.bool_(True), "bool")]:
        with pytest.raises(TypeError, match=f"^{who}: `{name}` must be a bool, got {shown}"):
            call(**{name: given})
