"""Functions of Hermitian matrices: values and derivatives, also where eigenvalues meet."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import functx
from functx._ops.linalg.divided_differences import divided_difference
from functx.linalg import hermitian_function
from functx.testing.checks.programs import compiled


def normal(seed, *shape, is_complex=False):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if is_complex else x


def hermitian(seed, n, is_complex=False):
    A = normal(seed, n, n, is_complex=is_complex)
    return (A + A.conj().T) / 2


def with_spectrum(values, seed=0, is_complex=False):
    n = len(values)
    Q, _ = np.linalg.qr(normal(seed, n, n, is_complex=is_complex))
    return jnp.asarray(Q @ np.diag(values) @ Q.conj().T)


WEIGHTS = jnp.asarray(normal(9, 3, 3))
SPECTRA = {
    "apart": [0.5, 1.5, 3.0],
    "equal": [1.0, 1.0, 1.0],
    "two equal": [1.0, 1.0, 2.0],
    "two nearly": [1.0, 1 + 1e-9, 2.0],
    "three nearly": [1.0, 1 + 1e-4, 1 + 3e-4],
    "close": [1.0, 1.02, 1.3],
}


def wave(x):
    return jnp.exp(jax.lax.complex(jnp.zeros_like(x), -x))


every_spectrum = pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA)


def by_function(A):
    return jnp.sum(jnp.sin(hermitian_function(A, jnp.exp)) * WEIGHTS)


def by_series(A):
    return jnp.sum(jnp.sin(functx.matrix_exp((A + A.mT) / 2)) * WEIGHTS)


DERIVATIVES = {
    "reverse": functx.grad,
    "forward": functx.jacfwd,
    "hessian": functx.hessian,
    "forward twice": lambda f: functx.jacfwd(functx.jacfwd(f)),
    "reverse twice": lambda f: functx.jacrev(functx.jacrev(f)),
    "reverse of forward": lambda f: functx.jacrev(functx.jacfwd(f)),
    "third": lambda f: functx.grad(along(along(f))),
}


def along(f):
    return lambda A: functx.jvp(f, (A,), (jnp.asarray(hermitian(1, 3)),))[1]


@ft.cache
def derivatives(f, *transforms):
    """One program for all spectra."""
    return compiled(lambda *at: [transform(f)(*at) for transform in transforms])


@every_spectrum
def test_derivatives_are_those_of_the_same_function_without_eigenvectors(values):
    A = with_spectrum(values)
    got, want = (derivatives(f, *DERIVATIVES.values())(A) for f in (by_function, by_series))
    for name, one, other in zip(DERIVATIVES, got, want, strict=True):
        atol = 1e-12 * np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=0, atol=atol, err_msg=name)


def test_a_hessian_in_single_precision_keeps_its_digits_at_a_gap_of_2e_6():
    A = with_spectrum([1.0, 1 + 2e-6, 2.0]).astype("float32")

    def energy(A):
        weights = jnp.asarray(WEIGHTS, A.dtype)
        return jnp.sum(hermitian_function(A, jnp.sqrt) ** 3 * weights)

    run = lambda A: [functx.hessian(energy)(A.astype(dtype)) for dtype in ("float32", "float64")]
    got, want = map(np.asarray, jax.jit(run)(A))
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("is_complex", [False, True])
def test_values_are_those_of_scipy(is_complex):
    A = hermitian(2, 4, is_complex)
    B = A @ A + np.eye(4)

    def run(A, B):
        root, logarithm = (hermitian_function(B, f) for f in (jnp.sqrt, jnp.log))
        return root, logarithm, hermitian_function(A, wave)

    root, logarithm, turned = compiled(run)(A, B)
    np.testing.assert_allclose(root, scipy.linalg.sqrtm(B), atol=1e-12)
    np.testing.assert_allclose(logarithm, scipy.linalg.logm(B), atol=1e-12)
    np.testing.assert_allclose(turned, scipy.linalg.expm(-1j * A), atol=1e-12)


def test_complex_matrices_have_gradients_of_steepest_ascent():
    A, B, E = (hermitian(seed, 3, True) for seed in (3, 4, 5))
    loss = lambda A: jnp.real(jnp.sum(hermitian_function(A, jnp.exp) * B))
    step = 1e-6
    run = lambda A: (functx.grad(loss)(A), loss(A + step * E), loss(A - step * E))
    gradient, above, below = map(np.asarray, compiled(run)(A))
    np.testing.assert_allclose(gradient, gradient.conj().T, atol=1e-14)
    slope = (above - below) / (2 * step)
    np.testing.assert_allclose(np.real(np.vdot(gradient, E)), slope, rtol=1e-8)


def test_a_complex_function_of_a_real_matrix_has_a_real_gradient():
    A = with_spectrum([1.0, 1.0, 2.0])
    weighted = lambda x: jnp.sum(jnp.imag(x) * WEIGHTS)
    loss = lambda A: weighted(hermitian_function(A, wave))
    plain = lambda A: weighted(functx.matrix_exp(-0.5j * (A + A.mT).astype(complex)))
    run = lambda A: [[t(f)(A) for f in (loss, plain)] for t in (functx.grad, functx.hessian)]
    (got, want), hessians = compiled(run)(A)
    assert got.dtype == A.dtype
    np.testing.assert_allclose(got, want, atol=1e-13)
    np.testing.assert_allclose(*hessians, atol=1e-12)


def test_a_projector_moves_as_second_order_perturbation_theory_says():
    A, E = with_spectrum([1.0, 1.0, 3.0]), hermitian(6, 3)
    below = lambda A: hermitian_function(A, lambda x: jnp.where(x < 2, 1.0, 0.0))
    energy = lambda t: jnp.trace(below(A + t * E) @ (A + t * E))
    run = lambda t: (below(A), jax.grad(energy)(t), jax.grad(jax.grad(energy))(t))
    P, first, second = map(np.asarray, compiled(run)(0.0))
    np.testing.assert_allclose(P @ P, P, atol=1e-14)
    Q = np.eye(3) - P
    np.testing.assert_allclose(first, np.trace(P @ E), atol=1e-13)
    np.testing.assert_allclose(second, -2 * np.trace(P @ E @ Q @ E) / (3 - 1), atol=1e-12)


def test_a_function_of_singular_values_by_the_matrix_of_twice_the_size():
    def polar(A):
        zero = jnp.zeros_like(A)
        return hermitian_function(jnp.block([[zero, A], [A.mT, zero]]), jnp.sign)[:3, 3:]

    run = compiled(lambda A, E: functx.jvp(polar, (A,), (E,)))
    A, E = normal(7, 3, 3), normal(8, 3, 3)
    U, _, Vh = np.linalg.svd(A)
    np.testing.assert_allclose(run(A, E)[0], U @ Vh, atol=1e-13)
    twice, tangent = run(2 * np.eye(3), E)  # all singular values are equal
    np.testing.assert_allclose(twice, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(tangent, (E - E.T) / 4, atol=1e-14)


def occupied(x, temperature, level):
    return jax.nn.sigmoid((level - x) / temperature)


def energy(A, temperature, level):
    return jnp.sum(hermitian_function(A, occupied, temperature, level) ** 2 * WEIGHTS)


def energy_by_series(A, temperature, level):
    one = jnp.eye(3)
    e = functx.matrix_exp(((A + A.mT) / 2 - level * one) / temperature)
    return jnp.sum(jnp.linalg.inv(one + e) ** 2 * WEIGHTS)


EVERY = (0, 1, 2)
IN_ALL = (
    lambda f: functx.grad(f, argnums=EVERY),
    lambda f: functx.jacfwd(functx.grad(f, argnums=EVERY), argnums=EVERY),
    lambda f: functx.grad(lambda *at: sum(map(jnp.sum, functx.jacfwd(f, argnums=EVERY)(*at)))),
)


@every_spectrum
def test_parameters_have_derivatives_beside_those_of_the_matrix(values):
    at = with_spectrum(values), jnp.float64(0.7), jnp.float64(1.2)
    got, want = (derivatives(f, *IN_ALL)(*at) for f in (energy, energy_by_series))
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


def test_batches_and_lanes():
    A = np.stack([with_spectrum(values) for values in SPECTRA.values()])
    temperatures = np.linspace(0.5, 1, len(A))
    loss = lambda A, t: jnp.sum(hermitian_function(A, occupied, t, 1.0) ** 2)
    slopes = functx.grad(loss, argnums=(0, 1))
    logarithm = lambda A: hermitian_function(A, jnp.log)
    of_square = functx.grad(lambda A: jnp.sum(logarithm(A) ** 2))
    each = compiled(lambda A, t: (slopes(A, t), of_square(A), logarithm(A)))
    alone = [each(*at) for at in zip(A, temperatures, strict=True)]
    want, gradients, values = jax.tree.map(lambda *xs: np.stack(xs), *alone)
    np.testing.assert_allclose(logarithm(A), values, atol=1e-14)
    np.testing.assert_allclose(compiled(of_square)(A), gradients, atol=1e-13)
    for one, other in zip(functx.vmap(slopes)(A, temperatures), want, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_one_triangle_is_read():
    A = np.asarray(with_spectrum([0.5, 1.5, 3.0]))
    below = np.tri(3, k=-1, dtype=bool)
    lower, upper = np.where(below.T, np.nan, A), np.where(below, np.nan, A)
    run = lambda A, lower, upper: [
        hermitian_function(A, jnp.log),
        hermitian_function(lower, jnp.log, UPLO="L"),
        hermitian_function(upper, jnp.log, UPLO="U"),
    ]
    want, *halves = compiled(run)(A, lower, upper)
    for got in halves:
        np.testing.assert_allclose(got, want, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    A = jnp.eye(2, dtype=dtype)

    def run(A):
        gradient = functx.grad(lambda A: jnp.real(hermitian_function(A, jnp.exp)).sum())
        bools = hermitian_function(A, lambda x: x > 0)  # which are numbers
        return hermitian_function(A, jnp.exp), bools, gradient(A), hermitian_function(A, wave)

    want = [dtype, dtype, dtype, np.result_type(A.dtype, "complex64")]
    assert [x.dtype for x in jax.eval_shape(run, A)] == want
    if dtype == "float32":
        assert [x.dtype for x in run(A)] == want


def test_matrices_without_elements():
    A = jnp.zeros((2, 0, 0))
    assert hermitian_function(A, jnp.exp).shape == (2, 0, 0)
    assert compiled(functx.hessian(lambda A: hermitian_function(A, jnp.exp).sum()))(A).size == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: hermitian_function(A[0], jnp.exp), RuntimeError, r"`A` must be \[..., n, n\]"),
        (lambda A: hermitian_function(A, jnp.exp, UPLO="X"), RuntimeError, "`UPLO` must be"),
        (
            lambda A: hermitian_function(A.astype(int), jnp.exp),
            TypeError,
            r"float.*got i",
        ),
        (lambda A: hermitian_function(A, jnp.sum), ValueError, r"for each eigenvalue, got f64\[\]"),
        (lambda A: hermitian_function(A, jnp.power, A), ValueError, r"0-d, got f64\[3,3\]\n.*vmap"),
        (
            lambda A: jax.grad(lambda t: hermitian_function(A, lambda x: x * t).sum())(1.0),
            ValueError,
            r"closes over f64\[\], which is being traced\n  hint: .*\(A, function, x\)",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=f"^linalg.hermitian_function: .*{message}"):
        call(with_spectrum([1.0, 2.0, 3.0]))


def test_divided_differences_of_a_power_are_sums_of_products():
    """$x^3$ at $x, y, z$ gives $x + y + z$, wherever they are."""
    run = compiled(lambda *x: divided_difference(lambda x: x**3, *x))
    for points in ([1.0, 2.0, 4.0], [1.0, 1.0, 1.0], [2.0, 1 + 1e-12, 1.0], [3.0, 3.0, -1e8]):
        got = run(*points)
        np.testing.assert_allclose(got, sum(points), rtol=1e-13)


def test_divided_differences_across_a_step_are_quotients():
    step = lambda x: jnp.where(x < 0, 1.0, 0.0)
    at = np.asarray([-1e-9, -2e-9]), np.asarray([1e-9, -1e-9])
    got = compiled(lambda *x: divided_difference(step, *x))(*at)
    np.testing.assert_allclose(got, [-1 / 2e-9, 0])


def test_divided_differences_of_close_points_keep_their_digits():
    """Of exp at $x \\pm h$: $e^x \\sinh(h) / h$."""
    h = np.logspace(-12, 0, 25)
    got = compiled(lambda *x: divided_difference(jnp.exp, *x))(0.3 - h, 0.3 + h)
    np.testing.assert_allclose(got, np.exp(0.3) * np.sinh(h) / h, rtol=2e-14)
