"""Nests of transforms, and functions to put into them.

The rules that tests give these functions are three times too large on purpose, so that a transform
that differentiates the implementation is seen. The oracle is plain JAX: with `x0` for
`stop_gradient(x)`, `3 sin(x) - 2 sin(x0)` has the value of `sin` and, to every order, three times
its derivatives.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx
from functx.testing.checks.programs import compiled


MIX = np.array([[0.6, 0.3], [-0.2, 0.5]])
POINT = np.array([0.7, -0.4])
DIRECTION = np.array([0.9, -1.3])


def wave(x):
    return jnp.sin(MIX @ x)


def wave_truth(x):
    return 3 * wave(x) - 2 * wave(lax.stop_gradient(x))


def growth(x):
    return jnp.exp(MIX @ x)


def growth_truth(x):
    return jnp.exp(3 * (MIX @ x) - 2 * (MIX @ lax.stop_gradient(x)))


# Each takes and returns a function from vectors to vectors.
NESTS = {
    "grad": lambda f: jax.grad(lambda x: DIRECTION @ f(x)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (DIRECTION * x,))[1],
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](DIRECTION * x)[0],
    "vmap0": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, 2 * x, x * x])).sum(0),
    "vmap-1": lambda f: lambda x: jax.vmap(f, -1, -1)(jnp.stack([x, -x, x * x], -1)).sum(-1),
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: lax.scan(lambda c, a: (f(a * c), c), x, np.array([0.8, 1.2]))[0],
    "cond": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: 2 * x, x),
    "fori_loop": lambda f: lambda x: lax.fori_loop(0, 2, lambda i, c: f(c) - i * c, x),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](DIRECTION * x),
    "jacfwd": lambda f: lambda x: jax.jacfwd(f)(x) @ DIRECTION,
    "jacrev": lambda f: lambda x: jax.jacrev(f)(x) @ DIRECTION,
    "hessian": lambda f: lambda x: jax.hessian(lambda x: DIRECTION @ f(x))(x).sum(0),
}


# functx's transforms, in place of JAX's.
OWN = {
    "grad": lambda f: functx.grad(lambda x: DIRECTION @ f(x)),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (DIRECTION * x,))[1],
    "vjp": lambda f: lambda x: functx.vjp(f, x)[1](DIRECTION * x)[0],
    "vmap0": lambda f: lambda x: functx.vmap(f)(jnp.stack([x, 2 * x, x * x])).sum(0),
    "vmap-1": lambda f: lambda x: functx.vmap(f, -1, -1)(jnp.stack([x, -x, x * x], -1)).sum(-1),
    "jit": functx.jit,
    "checkpoint": lambda f: lambda x: functx.checkpoint(f)(x),
    "linearize": lambda f: lambda x: functx.linearize(f, x)[1](DIRECTION * x),
    "jacfwd": lambda f: lambda x: functx.jacfwd(f)(x) @ DIRECTION,
    "jacrev": lambda f: lambda x: functx.jacrev(f)(x) @ DIRECTION,
    "hessian": lambda f: lambda x: functx.hessian(lambda x: DIRECTION @ f(x))(x).sum(0),
}


def nested(names, f, own=()):
    """`f` in a nest, the outermost transform first; `own` are the places of functx's transforms."""
    for place, name in reversed(list(enumerate(names))):
        f = (OWN if place in own and name in OWN else NESTS)[name](f)
    return f


def check(nests, functions, truth, *, own=(), in_turn=False):
    """One compiled program computes all `nests` of all `functions`, and of the truth.

    With `in_turn`, each nest is that of one of the functions.
    """
    kinds, turns = tuple(functions), itertools.cycle(functions)
    cases = [(names, (next(turns),) if in_turn else kinds) for names in map(tuple, nests)]

    def everything(x):
        got = {
            (names, kind): nested(names, functions[kind], own)(x)
            for names, some in cases
            for kind in some
        }
        return got, {names: nested(names, truth)(x) for names, _ in cases}

    got, want = compiled(everything)(POINT)
    for (names, kind), value in got.items():
        np.testing.assert_allclose(
            value, want[names], rtol=1e-9, atol=1e-9, err_msg=f"{names} {kind}"
        )
