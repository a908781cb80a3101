"""Transforms inside transforms, inside and around JAX's own: the same as JAX's, nested alike.

Each step makes a function of `f64[3]` to `f64[3]` from another, once with functx and once
with JAX; a program holds all that one outer step makes.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing.checks.programs import compiled


X = jnp.asarray([0.3, -0.7, 1.1])
C = jnp.asarray([1.0, -0.5, 2.0])
TWO = jnp.stack([X, -X])


def base(x):
    return jnp.tanh(x) * jnp.roll(x, 1) + x.sum()


def dotted(f):
    return lambda x: f(x) @ C


OURS = {
    "grad": lambda f: functx.grad(dotted(f)),
    "vjp": lambda f: lambda x: functx.vjp(f, x)[1](C)[0],
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (C,))[1],
    "jvp, strict": lambda f: lambda x: functx.jvp(f, (x,), (C,), strict=True)[1],
    "linearize": lambda f: lambda x: functx.linearize(f, x)[1](C),
    "vmap": lambda f: lambda x: functx.vmap(f, -1)(x[:, None] * TWO.T).sum(0),
    "vmap, chunks": lambda f: lambda x: functx.vmap(f, chunk_size=1)(x * TWO).sum(0),
    "jacrev": lambda f: lambda x: functx.jacrev(f)(x) @ C,
    "jacfwd": lambda f: lambda x: functx.jacfwd(f)(x) @ C,
    "jacrev, chunks": lambda f: lambda x: functx.jacrev(f, chunk_size=2)(x) @ C,
    "hessian": lambda f: lambda x: functx.hessian(dotted(f))(x) @ C,
    "hvp": lambda f: lambda x: functx.hvp(dotted(f), x, C)[1],
    "vhp": lambda f: lambda x: functx.vhp(dotted(f), x, C)[1],
}
forward = lambda f: lambda x: jax.jvp(f, (x,), (C,))[1]
dense = lambda f: lambda x: jax.jacobian(f)(x) @ C
mapped = lambda f: lambda x: jax.vmap(f)(x * TWO).sum(0)
second = lambda f: lambda x: jax.hessian(dotted(f))(x) @ C
JAXS = {
    "grad": lambda f: jax.grad(dotted(f)),
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](C)[0],
    "jvp": forward,
    "jvp, strict": forward,
    "linearize": forward,
    "vmap": mapped,
    "vmap, chunks": mapped,
    "jacrev": dense,
    "jacfwd": dense,
    "jacrev, chunks": dense,
    "hessian": second,
    "hvp": second,
    "vhp": second,
}
PLAIN = {
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: jax.lax.scan(lambda x, _: (f(x) / 8, None), x, None, length=2)[0],
    "cond": lambda f: lambda x: jax.lax.cond(x[0] > 0, f, jnp.sin, x),
    "map": lambda f: lambda x: jax.lax.map(f, x * TWO).sum(0),
}


def agree(chains):
    """Both ways, all of `chains` in one program each; a chain is outermost first."""

    def program(steps):
        def run(x):
            results = []
            for chain in chains:
                f = base
                for name in reversed(chain):
                    f = (steps | PLAIN)[name](f)
                results.append(f(x))
            return results

        return compiled(run)

    for chain, got, want in zip(chains, program(OURS)(X), program(JAXS)(X), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12, err_msg=str(chain))


@pytest.mark.parametrize("outer", OURS)
def test_pairs(outer):
    agree([(outer, inner) for inner in ("vjp", "jvp", "linearize", "vmap, chunks", "hvp")])


@pytest.mark.parametrize("plain", PLAIN)
def test_around_and_inside_jax(plain):
    names = ("vjp", "jvp", "linearize", "vmap, chunks", "jacrev, chunks", "jacfwd")
    agree([(name, plain) for name in names] + [(plain, name) for name in names])


@pytest.mark.parametrize("outer", ["vjp", "jvp", "vmap", "linearize"])
def test_triples(outer):
    agree([(outer, *rest) for rest in itertools.product(["vjp", "jvp", "vmap"], repeat=2)])


def test_deep():
    agree([("vmap", "jvp", "vjp", "vmap, chunks", "jvp"), ("grad", "scan", "vmap", "hvp")])


@pytest.mark.parametrize("chain", [("vmap", "grad"), ("grad", "vmap"), ("jacrev", "jvp")])
def test_eager(chain):
    ours = OURS[chain[0]](OURS[chain[1]](base))(X)
    np.testing.assert_allclose(ours, JAXS[chain[0]](JAXS[chain[1]](base))(X), rtol=1e-12)
