"""Keywords that PyTorch and JAX have, and functx does not, are refused with what to write."""

import jax.numpy as jnp
import pytest

import functx


X = jnp.ones(3, "float32")
SCALAR = lambda x: (x * x).sum()


@pytest.mark.parametrize(
    "call, said",
    [
        (
            lambda: functx.tensor(1.0, requires_grad=True),
            r"tensor: `requires_grad`.*\n.*functx.grad",
        ),
        (lambda: functx.from_numpy(X, requires_grad=True), "from_numpy: `requires_grad`"),
        (lambda: functx.vmap(SCALAR, in_axes=0), r"vmap: `in_axes`.*\n.*it is `in_dims` here"),
        (lambda: functx.vmap(SCALAR, out_axes=0), r"vmap: `out_axes`.*\n.*it is `out_dims` here"),
        (
            lambda: functx.vmap(SCALAR, axis_nam="i"),
            r"vmap: `axis_nam`.*\n.*did you mean 'axis_name'",
        ),
        (lambda: functx.grad(fun=SCALAR), r"grad: `fun`.*\n.*it is `func` here"),
        (lambda: functx.grad(SCALAR, holomorphic=True), r"grad: `holomorphic`.*\n.*functx.jacrev"),
        (
            lambda: functx.vjp(SCALAR, X, allow_int=True),
            r"vjp: `allow_int`.*\n.*functx.grad has it",
        ),
        (lambda: functx.grad(SCALAR, argnms=0), r"grad: `argnms`.*\n.*did you mean 'argnums'"),
        (lambda: functx.grad(SCALAR, zzz=0), r"grad: `zzz`.*\n.*func, argnums, has_aux, unused"),
        (lambda: functx.jacrev(SCALAR, holomorphic=True), r"jacrev: `holomorphic`.*\n.*as_real"),
        (lambda: functx.hessian(SCALAR, argnum=0), r"hessian: `argnum`.*\n.*it is `argnums` here"),
        (
            lambda: functx.jit(SCALAR, static_argnum=0),
            r"jit: `static_argnum`.*\n.*'static_argnums'",
        ),
        (lambda: functx.jit(SCALAR, fullgraph=True), r"jit: `fullgraph`.*\n.*always so"),
        (lambda: functx.vjp(SCALAR, primals=(X,)), r"vjp: `primals`.*\n.*func, has_aux"),
        (
            lambda: functx.autograd.grad(SCALAR, X, create_graph=True),
            r"autograd.grad: `create_graph`.*\n.*can be differentiated again",
        ),
    ],
)
def test_a_foreign_keyword_is_refused_with_what_to_write(call, said):
    with pytest.raises(TypeError, match=f"^{said}"):
        call()


def test_an_operator_says_nothing_of_what_transforms_have():
    with pytest.raises(TypeError, match="unexpected keyword argument 'in_axes'(.|\n)*signature is"):
        functx.sum(X, in_axes=0)


def test_a_holomorphic_function_has_the_derivative_that_the_hint_promises():
    z = jnp.asarray(1 + 2j, "complex64")
    assert functx.jacrev(lambda z: z * z)(z) == 2 * z
    assert functx.jacrev(jnp.conj, as_real=True)(z).tolist() == [[1, 0], [0, -1]]
