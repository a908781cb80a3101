# pyright: strict
"""Mistakes that a type checker finds: every marked line, and no other."""

from jax import Array

import functx


def loss(x: Array, scale: float = 1.0) -> Array:
    """A function to transform."""
    return functx.sum(x) * scale


x = functx.ones(2, 2)
functx.sin("abc")  # wrong
functx.sin([1.0])  # wrong
functx.sin(None)  # wrong
functx.add(x, "a")  # wrong
functx.where(x > 0, x, "a")  # wrong
functx.index_select(x, 0, [0])  # wrong
functx.cat(["a"])  # wrong
functx.cat(x)  # wrong
functx.nn.functional.dropout(x, "a")  # wrong
functx.linalg.svd([[1.0]])  # wrong
functx.unique(x, return_counts=True).shape  # wrong
functx.grad(loss, argnums=(0,))(x).shape  # wrong
functx.jacrev(loss)(x).keys()  # wrong
functx.jacrev(loss, chunk_size=[])  # wrong
functx.hessian(loss)(x, "a")  # wrong
functx.zeros("a")  # wrong
functx.zeros(2, "a")  # wrong
functx.zeros()  # wrong
functx.ones(2, dtype=3)  # wrong
functx.sum(x, dim="x")  # wrong
functx.sum(x, keepdim="yes")  # wrong
functx.flip(x, "a")  # wrong
functx.randn(2, 3.5)  # wrong
functx.rand(3, generator="abc")  # wrong
functx.rand((3,), generator=0)  # wrong
functx.normal(0.0, 1.0, (3,), generator=[])  # wrong
functx.bernoulli(x, generator=functx)  # wrong
functx.nn.functional.dropout(x, generator="abc")  # wrong
functx.sin(x, generator=functx.Generator())  # wrong
functx.max(x).values  # wrong
functx.nn.functional.gelu(x, approximate="none", extra=1)  # wrong
functx.softplus(x)  # wrong
functx.Tensor([1.0])  # wrong
functx.grad(loss)(x, 1.0, 2.0)  # wrong
functx.grad(loss)(x, "a")  # wrong
functx.grad(loss, allow_int="yes")  # wrong
functx.vmap(loss)()  # wrong
functx.vmap(3)  # wrong
functx.vmap(loss, randomness="some")  # wrong
functx.vmap(loss, axis_size="all")  # wrong
functx.vmap(loss, axis_name=[])  # wrong
functx.jit(loss)(x, scal=2.0)  # wrong
functx.grad(loss)(x).keys()  # wrong
functx.vjp(loss, x)[1]("a", "b")  # wrong
with functx.enable_x64():  # wrong
    pass
