"""What jaxtyping sees under transforms."""

import jax
import jax.numpy as jnp
import pytest

import functx

from .libraries import library


beartype = library("beartype").beartype
jaxtyping = library("jaxtyping")
pytestmark = pytest.mark.filterwarnings("default")


def test_every_transform_traces_a_checked_function():
    @jaxtyping.jaxtyped(typechecker=beartype)
    def energy(x: jaxtyping.Float[jax.Array, "n"]) -> jaxtyping.Float[jax.Array, ""]:
        return functx.sum(functx.sin(x) ** 2)

    x = jnp.ones(3)
    for made in (functx.grad, functx.hessian, functx.jacrev, functx.jacfwd, functx.checkpoint):
        made(energy)(x)
    functx.vjp(energy, x)[1](jnp.ones(()))
    functx.jvp(energy, (x,), (x,))
    functx.hvp(energy, x, x)
    functx.vmap(functx.grad(energy), chunk_size=2)(jnp.ones((5, 3)))
    with pytest.raises(jaxtyping.TypeCheckError, match=r"f32\[5,3\]"):
        functx.grad(energy)(jnp.ones((5, 3)))
