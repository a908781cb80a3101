"""Derivatives of solutions, beyond what the page of the solvers shows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx

from .libraries import library


diffrax = library("diffrax")
jaxopt = library("jaxopt")
optimistix = library("optimistix")
pytestmark = pytest.mark.filterwarnings("default")


def test_a_jacobian_in_chunks_is_that_of_jax():
    def solve(rate):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, rate: -rate * functx.sin(y)),
            diffrax.Heun(),
            t0=0.0,
            t1=1.0,
            dt0=0.1,
            y0=jnp.asarray([1.0, 2.0]),
            args=rate,
        ).ys[-1]

    rate = jnp.asarray([0.5, 1.5])
    want = jax.jit(jax.jacrev(solve))(rate)
    np.testing.assert_allclose(functx.jacrev(solve, chunk_size=1)(rate), want, rtol=1e-6)
    with pytest.raises(Exception, match="forward-mode autodiff|custom_vjp"):
        functx.jacfwd(solve)(rate)


def test_the_derivative_of_a_minimum_of_jaxopt():
    def ridge(w, x, y, penalty):
        return functx.mean((functx.mv(x, w) - y) ** 2) + penalty * functx.sum(w**2)

    x = jax.random.normal(jax.random.key(0), (20, 3))
    y = x @ jnp.asarray([1.0, -1.0, 2.0])
    solver = jaxopt.LBFGS(ridge, maxiter=100, tol=1e-6, implicit_diff=True)
    fitted = lambda penalty: solver.run(jnp.zeros(3), x, y, penalty).params
    exact = lambda penalty: jnp.linalg.solve(x.T @ x + 20 * penalty * jnp.eye(3), x.T @ y)
    penalty = jnp.asarray(0.1)
    np.testing.assert_allclose(
        functx.jacrev(fitted)(penalty), jax.jacrev(exact)(penalty), rtol=1e-2
    )


def test_optimistix_and_functx_implicit_agree():
    def theirs(a):
        find = optimistix.Newton(rtol=1e-6, atol=1e-6)
        return optimistix.root_find(lambda z, a: functx.cos(z) - a * z, find, 1.0, args=a).value

    slope = functx.grad(theirs)(jnp.asarray(1.0))
    root = theirs(jnp.asarray(1.0))
    np.testing.assert_allclose(slope, -root / (1 + jnp.sin(root)), rtol=1e-4)
