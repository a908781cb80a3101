"""Roots, fixed points and solutions have the derivatives of their closed forms, under every nest.

The solvers are `while` loops, which reverse mode cannot differentiate, and stop early on purpose.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.testing.checks.programs import compiled


MIX = np.array([[1.6, 0.3], [-0.2, 1.5]])
POINT = np.array([0.7, -0.4])
DIRECTION = np.array([0.9, -1.3])


INVERSE = np.linalg.inv(MIX)


def newton(f, x):
    def step(state):
        x, steps = state
        return x - cramer(lambda v: jax.jvp(f, (x,), (v,))[1], f(x)), steps + 1

    def unfinished(state):
        return (jnp.abs(f(state[0])).max() > 1e-12) & (state[1] < 30)

    return lax.while_loop(unfinished, step, (x, 0))[0]


def cramer(linear, b):
    (p, r), (q, s) = linear(jnp.asarray([1.0, 0.0])), linear(jnp.asarray([0.0, 1.0]))
    return jnp.stack([s * b[0] - q * b[1], p * b[1] - r * b[0]]) / (p * s - q * r)


def repeat(f, x):
    return lax.while_loop(
        lambda pair: pair[1] < 60, lambda pair: (f(pair[0]), pair[1] + 1), (x, 0)
    )[0]


def by_root(a):
    return functx.implicit.custom_root(
        lambda x: jnp.sinh(MIX @ x) - a, jnp.zeros(2), newton, cramer
    )


def by_fixed_point(a):
    """x = arcsinh(a) - (M - 1) x, a contraction."""
    step = lambda x: jnp.arcsinh(a) - (MIX - np.eye(2)) @ x
    return functx.implicit.custom_fixed_point(step, jnp.zeros(2), repeat, cramer)


def by_linear_solve(a):
    return functx.implicit.custom_linear_solve(lambda x: MIX @ x, jnp.arcsinh(a))


def truth(a):
    return INVERSE @ jnp.arcsinh(a)


KINDS = {"root": by_root, "fixed point": by_fixed_point, "linear solve": by_linear_solve}

# Each takes and returns a function from vectors to vectors.
NESTS = {
    "grad": lambda f: functx.grad(lambda x: DIRECTION @ f(x)),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (DIRECTION * x,))[1],
    "vmap": lambda f: lambda x: functx.vmap(f)(jnp.stack([x, 2 * x, x * x])).sum(0),
    "jit": functx.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: lax.scan(lambda c, a: (f(a * c), c), x, np.array([0.8, 1.2]))[0],
    "cond": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: 2 * x, x),
    "linearize": lambda f: lambda x: functx.linearize(f, x)[1](DIRECTION * x),
    "hessian": lambda f: lambda x: functx.hessian(lambda x: DIRECTION @ f(x))(x).sum(0),
}


@pytest.mark.parametrize("outer", ["grad", "jvp", "vmap", "jit", "scan", "cond"])
def test_nests_of_two(outer):
    def everything(x):
        return {
            (inner, kind): NESTS[outer](NESTS[inner](f))(x)
            for inner, (kind, f) in itertools.product(NESTS, {**KINDS, "truth": truth}.items())
        }

    got = compiled(everything)(POINT)
    for inner, kind in got:
        want = got[inner, "truth"]
        np.testing.assert_allclose(got[inner, kind], want, 1e-9, 1e-9, err_msg=f"{inner} {kind}")


def test_third_derivatives():
    third = lambda f: functx.jacfwd(functx.hessian(lambda a: f(a).sum()))
    got = compiled(lambda a: [third(f)(a) for f in (by_root, truth)])(POINT)
    np.testing.assert_allclose(got[0], got[1], rtol=1e-9, atol=1e-12)


def test_a_root_of_a_tree_in_all_that_the_equation_closes_over():
    def root(a, scale):
        def f(x):
            return {"u": scale * x["u"] - x["v"][None], "v": x["v"] ** 3 - a}

        def solve(f, guess):
            v = jnp.cbrt(a_at_hand)
            return {"u": v[None] / 2.0, "v": v}

        a_at_hand = lax.stop_gradient(a)
        return functx.implicit.custom_root(f, {"u": jnp.ones(1), "v": jnp.ones(())}, solve)["u"][0]

    slope = functx.grad(root, argnums=(0, 1))
    np.testing.assert_allclose(slope(np.float64(8), np.float64(2)), (1 / 24, -0.5), rtol=1e-12)


def test_a_solver_that_is_no_jax_program():
    def bisect(f, x):
        low, high = 0.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if float(f(jnp.asarray(middle))) < 0 else (low, middle)
        return jnp.asarray(low)

    root = lambda a: functx.implicit.custom_root(lambda x: x**3 - a, jnp.asarray(1.0), bisect)
    assert functx.grad(root)(np.float64(8)) == pytest.approx(1 / 12)
    assert functx.jvp(root, (np.float64(8),), (2.0,))[1] == pytest.approx(1 / 6)


def test_complex_unknowns():
    def root(a):
        solve = lambda f, x: lax.fori_loop(0, 30, lambda _, x: x - f(x) / (2 * x), x)
        return functx.implicit.custom_root(lambda x: x * x - a, jnp.asarray(1 + 1j), solve)

    np.testing.assert_allclose(
        functx.jvp(root, (np.complex128(2j),), (1j,))[1], 1j / (2 * (1 + 1j))
    )
    loss = lambda f: functx.grad(lambda a: jnp.abs(f(a) - 2) ** 2)
    np.testing.assert_allclose(
        loss(root)(np.complex128(2j)), loss(jnp.sqrt)(np.complex128(2j)), rtol=1e-12
    )


def test_an_equation_of_conjugates():
    """x + conj(x)/2 = a has real part 2a/3 and imaginary part 2a."""
    solve = lambda f, _: solved
    solved = jnp.asarray(2 + 6j)
    root = lambda a: functx.implicit.custom_root(
        lambda x: x + x.conj() / 2 - a, jnp.asarray(0j), solve
    )
    a = jnp.asarray(3 + 3j)
    np.testing.assert_allclose(functx.jvp(root, (a,), (1 + 1j,))[1], 2 / 3 + 2j)
    np.testing.assert_allclose(functx.vjp(root, a)[1](1 + 1j)[0], 2 / 3 + 2j)


def test_the_guess_has_no_derivative():
    root = lambda guess: functx.implicit.custom_root(
        lambda x: jnp.sinh(x) - 1.0, guess, newton_of_one
    )
    assert functx.grad(root)(0.5) == 0


def newton_of_one(f, x):
    return lax.fori_loop(0, 20, lambda _, x: x - f(x) / jax.grad(f)(x), x)


def test_a_tangent_solver_of_ones_own_serves_both_modes():
    seen = []

    def twice_too_large(linear, b):
        seen.append(b)
        return 2 * b / linear(jnp.ones_like(b))

    root = lambda a: functx.implicit.custom_root(
        lambda x: x**3 - a, jnp.asarray(1.0), newton_of_one, twice_too_large
    )
    assert functx.grad(root)(np.float64(8)) == pytest.approx(2 / 12)
    assert functx.jvp(root, (np.float64(8),), (1.0,))[1] == pytest.approx(2 / 12)
    assert len(seen) >= 2


def test_a_transposed_solver_of_ones_own_serves_reverse_mode_alone():
    plain = lambda matvec, b: jnp.linalg.solve(MIX, b)
    transposed = lambda vecmat, b: 5 * jnp.linalg.solve(MIX.T, b)
    f = lambda b: functx.implicit.custom_linear_solve(
        lambda x: MIX @ x, b, plain, transpose_solve=transposed
    )
    np.testing.assert_allclose(functx.jvp(f, (POINT,), (DIRECTION,))[1], INVERSE @ DIRECTION)
    pulled = functx.vjp(f, jnp.asarray(POINT))[1](DIRECTION)[0]
    np.testing.assert_allclose(pulled, 5 * INVERSE.T @ DIRECTION)


IDENTITY = lambda f, x: x


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: functx.implicit.custom_root(3, 1.0, IDENTITY),
            TypeError,
            "`f` must be callable, got 3",
        ),
        (
            lambda: functx.implicit.custom_root(jnp.sin, 1, IDENTITY),
            TypeError,
            r"custom_root: `initial_guess` must be floating or complex, got i64\[\]",
        ),
        (
            lambda: functx.implicit.custom_root(lambda x: jnp.stack([x, x]), 1.0, IDENTITY),
            ValueError,
            r"`f\(initial_guess\)` must be f32\[\], got f32\[2\]",
        ),
        (
            lambda: functx.implicit.custom_fixed_point(lambda x: (x, x), 1.0, IDENTITY),
            ValueError,
            r"custom_fixed_point: `f\(initial_guess\)` must be a tree like",
        ),
        (
            lambda: functx.implicit.custom_root(lambda x: x, {"a": 1.0}, lambda f, x: {"a": 1}),
            ValueError,
            r"what `solve` returns at \['a'\] must be f32\[\], got i64\[\]",
        ),
        (
            lambda: functx.implicit.custom_root(
                lambda x: x, {"a": 1.0}, lambda f, x: {"a": jnp.ones(3)}
            ),
            ValueError,
            r"what `solve` returns at \['a'\] must be f32\[\], got f64\[3\]",
        ),
        (
            lambda: functx.implicit.custom_linear_solve(jnp.sin, 1.0, solve="lu"),
            TypeError,
            "`solve` must be callable, got 'lu'",
        ),
        (
            lambda: functx.implicit.custom_linear_solve(lambda x: x, 1.0, lambda m, b: (b, b)),
            ValueError,
            "what `solve` returns must be a tree like",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


CLOSING = {
    "custom_root: `solve` .* through `f`": lambda a: functx.implicit.custom_root(
        lambda x: x * x - a, jnp.ones(()), lambda f, x: jnp.sqrt(a)
    ),
    "custom_root: `tangent_solve` .* through `f`": lambda a: functx.implicit.custom_root(
        lambda x: x - a, jnp.ones(()), lambda f, x: x - f(x), lambda linear, b: b * a / 2
    ),
    "custom_fixed_point: `solve` .* through `f`": lambda a: functx.implicit.custom_fixed_point(
        lambda x: (x + a / x) / 2, jnp.ones(()), lambda f, x: jnp.sqrt(a)
    ),
    "custom_linear_solve: `solve` .* through `matvec`": lambda a: (
        functx.implicit.custom_linear_solve(lambda x: x * a, jnp.ones(()), lambda f, b: b / a)
    ),
    "custom_linear_solve: `transpose_solve` .* through `matvec`": lambda a: (
        functx.implicit.custom_linear_solve(
            lambda x: x * a, jnp.ones(()), transpose_solve=lambda f, b: b / a
        )
    ),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("message", CLOSING)
def test_a_solver_that_closes_over_a_traced_array_is_named(message, compiled):
    gradient = functx.grad(CLOSING[message])
    expected = message.replace(".*", "closes over a traced array; take it")
    with pytest.raises((RuntimeError, jax.errors.UnexpectedTracerError), match=f"^{expected}\n"):
        (jax.jit(gradient) if compiled else gradient)(jnp.asarray(2.0))
