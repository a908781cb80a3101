"""Functions of singular values: values and derivatives, also where these meet or vanish."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.linalg import hermitian_function, singular_value_function, singular_value_sum
from functx.testing.checks.programs import compiled


def normal(seed, *shape, is_complex=False):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if is_complex else x


def with_values(values, m=3, n=3, seed=0, is_complex=False):
    U, V = (np.linalg.qr(normal(seed + k, k, k, is_complex=is_complex))[0] for k in (m, n))
    S = np.zeros((m, n))
    np.fill_diagonal(S, values)
    return jnp.asarray(U @ S @ V.conj().T)


VALUES = {
    "apart": [3.0, 1.5, 0.5],
    "equal": [1.0, 1.0, 1.0],
    "two equal": [2.0, 1.0, 1.0],
    "two nearly": [2.0, 1 + 1e-9, 1.0],
    "two of zero": [1.0, 0.0, 0.0],
    "zeros": [0.0, 0.0, 0.0],
    "nearly zero": [1.0, 2e-9, 1e-9],
}
every_spectrum = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
every_shape = pytest.mark.parametrize("m, n, is_complex", [(3, 3, False), (4, 2, True)])


def tanh_of(A):
    return singular_value_function(A, jnp.tanh)


def tanh_of_twice_the_size(A):
    """The upper right block of the function of a Hermitian matrix."""
    m, n = A.shape
    zeros = (jnp.zeros((k, k), A.dtype) for k in (m, n))
    first, last = zeros
    return hermitian_function(jnp.block([[first, A], [A.conj().T, last]]), jnp.tanh)[:m, m:]


def log_sum(A):
    return singular_value_sum(A, lambda s: jnp.log1p(s**2))


def log_determinant(A):
    return functx.linalg.slogdet(jnp.eye(A.shape[1], dtype=A.dtype) + A.conj().T @ A).logabsdet


def loss_of(function):
    def loss(A):
        out = function(A)
        weights = jnp.asarray(normal(9, *out.shape))
        return jnp.sum(jnp.real(out * out) * weights + jnp.imag(out))

    return loss


def direction(A, seed=1):
    return jnp.asarray(normal(seed, *A.shape, is_complex=jnp.iscomplexobj(A)))


def along(f, seed=1):
    return lambda A: functx.jvp(f, (A,), (direction(A, seed),))[1]


def back(f, seed=1):
    """The same number as `along`, in reverse mode."""
    return lambda A: jnp.real(jnp.vdot(direction(A, seed), functx.grad(f)(A)))


DERIVATIVES = {
    "value": lambda f: f,
    "reverse": functx.grad,
    "forward": along,
    "reverse of forward": lambda f: functx.grad(along(f)),
    "reverse twice": lambda f: functx.grad(back(f)),
    "forward of reverse": lambda f: along(functx.grad(f)),
    "forward twice": lambda f: along(along(f), 2),
    "third": lambda f: functx.grad(along(along(f), 2)),
}


@ft.cache
def derivatives(f):
    """One program for all spectra."""
    return compiled(lambda A: [transform(f)(A) for transform in DERIVATIVES.values()])


PAIRS = {
    "function": (loss_of(tanh_of), loss_of(tanh_of_twice_the_size)),
    "sum": (log_sum, log_determinant),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@every_shape
@every_spectrum
def test_derivatives_are_those_without_singular_vectors(values, m, n, is_complex, pair):
    A = with_values(values[:n], m, n, is_complex=is_complex)
    got, want = (derivatives(f)(A) for f in pair)
    for name, one, other in zip(DERIVATIVES, got, want, strict=True):
        atol = 3e-13 * max(1, np.abs(other).max())
        np.testing.assert_allclose(one, other, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("m, n", [(3, 3), (4, 2), (2, 4), (9, 2)])
@pytest.mark.parametrize("is_complex", [False, True])
def test_values_are_those_of_the_decomposition(m, n, is_complex):
    A = jnp.asarray(normal(7, m, n, is_complex=is_complex))
    U, S, Vh = np.linalg.svd(A, full_matrices=False)
    got = singular_value_function(A, lambda s, t: jnp.maximum(s - t, 0), 1.0)
    np.testing.assert_allclose(got, U * np.maximum(S - 1, 0) @ Vh, atol=1e-13)
    np.testing.assert_allclose(singular_value_function(A, jnp.ones_like), U @ Vh, atol=1e-13)
    np.testing.assert_allclose(singular_value_sum(A, jnp.sqrt), np.sqrt(S).sum(), rtol=1e-13)


@pytest.mark.parametrize("m, n", [(3, 3), (4, 2), (2, 3)])
def test_the_polar_factor_of_equal_values_moves_by_what_is_skew_and_outside(m, n):
    """$dP = U_1 (U_1^H E V - V^H E^H U_1) V^H / 2 s + (1 - P P^H) E (1 + ...) / s$."""
    A = with_values([2.0] * min(m, n), m, n)
    E = jnp.asarray(normal(8, m, n))
    P, dP = functx.jvp(lambda A: singular_value_function(A, jnp.ones_like), (A,), (E,))
    want = (E - P @ E.T @ P) / 4
    if m > n:
        want += (E - P @ P.T @ E) / 4
    if m < n:
        want += (E - E @ P.T @ P) / 4
    np.testing.assert_allclose(dP, want, atol=1e-14)


@pytest.mark.parametrize("m, n", [(3, 3), (4, 2), (2, 4)])
def test_the_nuclear_norm_is_a_sum(m, n):
    A = with_values([2.0, 1.0, 1.0][: min(m, n)], m, n)
    norm = ft.partial(functx.linalg.matrix_norm, ord="nuc")
    total = ft.partial(singular_value_sum, function=lambda s: s)
    for one, other in zip(derivatives(norm)(A), derivatives(total)(A), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_an_inverse_of_what_is_large_enough_moves_as_the_pseudoinverse_at_constant_rank():
    inverse = lambda s: jnp.where(s > 0.1, 1 / jnp.where(s > 0.1, s, 1), 0)
    ours = lambda A: singular_value_function(A, inverse).T
    theirs = ft.partial(functx.linalg.pinv, rtol=1e-9)
    A, B = jnp.asarray(normal(3, 4, 2)), jnp.asarray(normal(4, 2, 3))
    E, F = jnp.asarray(normal(5, 4, 2)), jnp.asarray(normal(6, 2, 3))
    of_rank_two = lambda f: lambda t: f((A + t * E) @ (B + t * F))
    for order in range(3):
        got, want = (compiled(nth(of_rank_two(f), order))(0.0) for f in (ours, theirs))
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def nth(f, order):
    for _ in range(order):
        f = jax.jacfwd(f)
    return f


def test_where_a_value_is_0_what_depends_on_its_vectors_counts_as_0():
    A = with_values([2.0, 0.0], 2, 2)
    polar = singular_value_function(A, jnp.ones_like)
    U, _, Vh = np.linalg.svd(A)
    exact = jnp.diag(jnp.asarray([2.0, 0.0]))
    np.testing.assert_allclose(singular_value_function(exact, jnp.ones_like), np.diag([1, 0]))
    assert np.linalg.norm(polar) < 1.5
    zeros = jnp.zeros((2, 3))
    for f in (jnp.ones_like, lambda s: 1 / s, jnp.log):
        np.testing.assert_array_equal(singular_value_function(zeros, f), zeros)
        slope = functx.grad(lambda A, f=f: singular_value_function(A, f).sum())(zeros)
        np.testing.assert_array_equal(slope, zeros)
    total = functx.grad(lambda A: singular_value_sum(A, lambda s: s))(zeros)
    np.testing.assert_array_equal(total, zeros)


def test_parameters_have_derivatives_beside_those_of_the_matrix():
    def shrunk(A, t, c):
        loss = singular_value_sum(A, lambda s, t: jnp.sqrt(s * s + t), t)
        return loss + jnp.sum(c * singular_value_function(A, lambda s, t: s / (s * s + t), t) ** 2)

    def by_inverses(A, t, c):
        inverse = jnp.linalg.inv(A.T @ A + t * jnp.eye(2))
        return jnp.trace(hermitian_function(A.T @ A, lambda x, t: jnp.sqrt(x + t), t)) + jnp.sum(
            c * (A @ inverse) ** 2
        )

    at = with_values([1.0, 1.0], 3, 2), jnp.float64(0.7), jnp.float64(1.3)
    for transform in (
        lambda f: functx.grad(f, argnums=(0, 1, 2)),
        lambda f: functx.hessian(f, argnums=(0, 1, 2)),
        lambda f: functx.jacfwd(functx.jacfwd(f, argnums=(0, 1, 2)), argnums=(0, 1, 2)),
    ):
        got, want = (compiled(transform(f))(*at) for f in (shrunk, by_inverses))
        for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def times_i(s):
    return jax.lax.complex(jnp.zeros_like(s), s)


def test_complex_functions():
    A = with_values([1.0, 1.0, 2.0])
    turned = lambda A: singular_value_function(A, times_i)
    np.testing.assert_allclose(turned(A), 1j * np.asarray(A), atol=1e-14)
    loss = lambda A: jnp.sum(jnp.imag(turned(A)) ** 3)
    np.testing.assert_allclose(functx.grad(loss)(A), 3 * A**2, atol=1e-13)
    got = compiled(functx.hessian(loss))(A).reshape(9, 9)
    np.testing.assert_allclose(got, np.diag(6 * A.ravel()), atol=1e-13)
    total = lambda A: singular_value_sum(A, lambda s: jnp.exp(times_i(s**2)))
    assert functx.grad(lambda A: jnp.imag(total(A)))(A).dtype == A.dtype
    step, E = 1e-6, direction(A)
    slope = (total(A + step * E) - total(A - step * E)) / (2 * step)
    np.testing.assert_allclose(along(total)(A), slope, atol=1e-8)


def test_batches_lanes_and_compiled_programs():
    A = jnp.stack([with_values(values[:2], 2, 3) for values in VALUES.values()])
    each = jnp.stack([tanh_of(x) for x in A])
    np.testing.assert_allclose(tanh_of(A), each, atol=1e-14)
    np.testing.assert_allclose(log_sum(A), [log_sum(x) for x in A], atol=1e-14)
    for loss in (loss_of(tanh_of), log_sum):
        slopes = functx.grad(along(loss))
        one = compiled(slopes)
        want = [one(x) for x in A]
        for got in (functx.vmap(slopes)(A), jax.jit(functx.vmap(slopes))(A)):
            np.testing.assert_allclose(got, jnp.stack(want), atol=1e-12)
    together = functx.grad(lambda A: jnp.sum(log_sum(A)))(A)
    np.testing.assert_allclose(together, [functx.grad(log_sum)(x) for x in A], atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    A, real = jnp.eye(3, 2, dtype=dtype), jnp.finfo(dtype).dtype
    assert tanh_of(A).dtype == dtype
    assert log_sum(A).dtype == real
    assert functx.grad(lambda A: jnp.real(tanh_of(A)).sum())(A).dtype == dtype
    assert functx.grad(log_sum)(A).dtype == dtype
    assert singular_value_sum(A, times_i).dtype == np.result_type(real, "complex64")


def test_matrices_without_elements():
    for shape in ((2, 0, 0), (0, 3), (3, 0), (2, 0, 3), (0, 2, 2)):
        A = jnp.zeros(shape)
        assert tanh_of(A).shape == shape
        np.testing.assert_array_equal(log_sum(A), np.zeros(shape[:-2]))
        for f in (tanh_of, log_sum):
            hessian = compiled(functx.hessian(lambda A, f=f: f(A).sum()))
            assert hessian(A).size == 0


def test_a_matrix_that_is_not_finite_has_nan():
    A = jnp.asarray([[1.0, jnp.inf], [0.0, 1.0]])
    assert jnp.isnan(tanh_of(A)).all()
    assert jnp.isnan(log_sum(A))


@pytest.mark.parametrize("of", [singular_value_function, singular_value_sum])
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A, of: of(A[0], jnp.exp), RuntimeError, r"`A` must be \[..., m, n\]"),
        (lambda A, of: of(A.astype(int), jnp.exp), TypeError, r"float.*got i"),
        (lambda A, of: of(A, jnp.sum), ValueError, r"for each singular value, got f64\[\]"),
        (lambda A, of: of(A, jnp.power, A), ValueError, r"0-d, got f64\[3,3\]\n.*vmap"),
        (
            lambda A, of: jax.grad(lambda t: of(A, lambda x: x * t).sum())(1.0),
            ValueError,
            r"closes over f64\[\], which is being traced\n  hint: .*\(A, function, x\)",
        ),
    ],
)
def test_refusals(call, error, message, of):
    with pytest.raises(error, match=f"^linalg.{of.__name__}: .*{message}"):
        call(with_values([1.0, 2.0, 3.0]), of)
