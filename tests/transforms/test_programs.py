"""Under an outer jit a functx transform leaves no trace: the program is hand-written JAX's."""

import jax
import jax.numpy as jnp
import pytest

import functx


LAYERS = {"w": jnp.ones((8, 8), "float32"), "b": jnp.zeros(8, "float32")}
X = jnp.ones((16, 8), "float32")
V = jnp.ones(8, "float32")


def network(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w"] + p["b"]) @ p["w"] + p["b"])


def loss(p, x):
    return (network(p, x) ** 2).mean()


def fused(v):
    return jnp.sin(v) * v


PAIRS = {
    "grad": (functx.grad(loss), jax.grad(loss), (LAYERS, X)),
    "grad, argnums": (functx.grad(loss, (0, 1)), jax.grad(loss, (0, 1)), (LAYERS, X)),
    "value_and_grad": (functx.value_and_grad(loss), jax.value_and_grad(loss), (LAYERS, X)),
    "vjp": (
        lambda p, x: functx.vjp(network, p, x)[1](x),
        lambda p, x: jax.vjp(network, p, x)[1](x),
        (LAYERS, X),
    ),
    "jvp": (
        lambda p, x: functx.jvp(network, (p, x), (p, x)),
        lambda p, x: jax.jvp(network, (p, x), (p, x)),
        (LAYERS, X),
    ),
    "linearize": (
        lambda p, x: functx.linearize(network, p, x)[1](p, x),
        lambda p, x: jax.linearize(network, p, x)[1](p, x),
        (LAYERS, X),
    ),
    "vmap": (
        functx.vmap(network, in_dims=(None, 0)),
        jax.vmap(network, in_axes=(None, 0)),
        (LAYERS, X),
    ),
    "vmap, out_dims": (
        functx.vmap(fused, in_dims=1, out_dims=-1),
        jax.vmap(fused, in_axes=1, out_axes=-1),
        (X,),
    ),
    "vmap(grad)": (
        functx.vmap(functx.grad(loss), in_dims=(None, 0)),
        jax.vmap(jax.grad(loss), in_axes=(None, 0)),
        (LAYERS, X),
    ),
    "jacrev": (functx.jacrev(network), jax.jacrev(network), (LAYERS, V)),
    "jacrev, one argument": (functx.jacrev(fused), jax.jacrev(fused), (V,)),
    "jacfwd": (functx.jacfwd(network), jax.jacfwd(network), (LAYERS, V)),
    "jacfwd, one argument": (functx.jacfwd(fused), jax.jacfwd(fused), (V,)),
    "hessian": (
        functx.hessian(lambda v: fused(v).sum()),
        jax.hessian(lambda v: fused(v).sum()),
        (V,),
    ),
}


def instructions(f, args):
    text = jax.jit(lambda *xs: f(*xs)).lower(*args).compile().as_text()
    return sum(" = " in line for line in text.splitlines())


@pytest.mark.parametrize("name", PAIRS)
def test_as_many_instructions_as_jax(name):
    ours, theirs, args = PAIRS[name]
    assert instructions(ours, args) == instructions(theirs, args)


@pytest.mark.parametrize("jacobian", [functx.jacrev, functx.jacfwd])
@pytest.mark.parametrize("chunk_size", [None, 8])
def test_the_identity_is_no_constant_of_the_program(jacobian, chunk_size):
    jaxpr = jax.make_jaxpr(jacobian(fused, chunk_size=chunk_size))(jnp.ones(64))
    assert all(const.size < 64 * 64 for const in jaxpr.consts)


def test_chunks_under_jit_are_one_loop():
    chunked = functx.vmap(fused, chunk_size=2)
    few = jax.make_jaxpr(chunked)(jnp.ones((4, 3)))
    many = jax.make_jaxpr(chunked)(jnp.ones((400, 3)))
    assert len(few.eqns) == len(many.eqns)
