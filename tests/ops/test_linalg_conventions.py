"""Gradients of linear algebra where matrices are singular, eigenvalues meet and norms vanish."""

import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest

import functx


inf, nan = math.inf, math.nan
L = functx.linalg


def f64(values):
    return jnp.asarray(values, "float64")


# What, order; the gradient PyTorch gives.
VECTOR_NORMS = [
    ([0, 0], 2, [0, 0]),
    ([0, 2], 2, [0, 1]),
    ([0, 0], 1, [0, 0]),
    ([0, -2], 1, [0, -1]),
    ([0, 0], 0.5, [0, 0]),
    ([0, 2], 0.5, [0, 1]),
    ([0, 0], 1.5, [0, 0]),
    ([0, 2], 3, [0, 1]),
    ([0, 0], 3, [0, 0]),
    ([3, -3], inf, [0.5, -0.5]),
    ([0, 0], inf, [0, 0]),
    ([3, -3], -inf, [0.5, -0.5]),
    ([0, 2], -inf, [0, 0]),
    ([0, 2], -1, [0, 0]),
    ([0, 0], -0.5, [0, 0]),
    ([3, -3], -1, [0.25, -0.25]),
    ([1, 2], 0, [0, 0]),
]


@pytest.mark.parametrize("x, ord, want", VECTOR_NORMS)
def test_gradients_of_norms_at_zeros_and_ties(x, ord, want):
    def norm(x):
        return L.vector_norm(x, ord)

    np.testing.assert_allclose(functx.grad(norm)(f64(x)), want)
    _, tangent = functx.jvp(norm, (f64(x),), (f64([1, 10]),))
    np.testing.assert_allclose(tangent, np.dot(want, [1, 10]))


def test_a_norm_of_complex_zero_has_gradient_zero():
    zero = jnp.zeros(2, "complex128")
    assert functx.grad(L.vector_norm)(zero).tolist() == [0, 0]


def leibniz(A):
    """The determinant as the polynomial that it is."""
    n = A.shape[-1]
    total = 0.0
    for order in itertools.permutations(range(n)):
        sign = (-1) ** sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        total = total + sign * math.prod(A[..., i, order[i]] for i in range(n))
    return total


SINGULAR = {
    "zero": np.zeros((3, 3)),
    "zero of 2": np.zeros((2, 2)),
    "rank 1": np.outer([1.0, 2, 3], [1.0, -1, 2]),
    "rank 2": np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
    "rank 2 of 4": np.outer([1.0, 2, 3, 4], [1.0, 0, 2, 1]) + np.diag([1.0, 0, 0, 0]),
    "identity": np.eye(3),
    "reflection": np.diag([1.0, -1, 1]),
    "one by one": np.zeros((1, 1)),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_derivatives_of_the_determinant_are_its_polynomial_s(name):
    A = f64(SINGULAR[name])
    for derivative in (functx.grad, functx.jacfwd, functx.hessian):
        np.testing.assert_allclose(derivative(L.det)(A), derivative(leibniz)(A), atol=1e-12)
    both = functx.jacrev(functx.grad(L.det))(A)
    np.testing.assert_allclose(both, functx.hessian(leibniz)(A), atol=1e-12)


def test_third_derivatives_of_the_determinant_of_a_singular_matrix():
    A = f64([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    third = functx.jacfwd(functx.hessian(L.det))(A)
    np.testing.assert_allclose(third, functx.jacfwd(functx.hessian(leibniz))(A), atol=1e-9)


def test_complex_derivatives_of_a_singular_determinant():
    A = jnp.asarray([[1, 1j, 0], [1j, -1, 0], [2, 0, 1j]])
    ct = jnp.asarray(1 - 2j)
    got, want = (functx.vjp(f, A)[1](ct)[0] for f in (L.det, leibniz))
    np.testing.assert_allclose(got, want, atol=1e-12)
    T = jnp.asarray([[1j, 2, 0], [1, 1, 1j], [0, 1, 3]])
    got, want = (
        functx.jvp(lambda A, f=f: functx.jvp(f, (A,), (T,))[1], (A,), (A + T,))[1]
        for f in (L.det, leibniz)
    )
    np.testing.assert_allclose(got, want, atol=1e-12)


def test_slogdet_of_a_singular_matrix():
    sign, logabsdet = L.slogdet(f64([[1, 1], [1, 1]]))
    assert (sign.item(), logabsdet.item()) == (0, -inf)
    gradient = functx.grad(lambda A: L.slogdet(A).logabsdet)(f64([[1, 1], [1, 1]]))
    assert not np.isfinite(gradient).any()


def test_one_triangle_is_read_and_the_gradient_is_symmetric():
    A = f64([[4, nan], [2, 10]])
    np.testing.assert_allclose(L.cholesky(A), [[2, 0], [1, 3]])
    np.testing.assert_allclose(L.cholesky(A.mT, upper=True), [[2, 1], [0, 3]])
    np.testing.assert_allclose(L.eigh(A).eigenvalues, np.linalg.eigvalsh(A))
    gradient = functx.grad(lambda A: L.cholesky(A)[1, 0])(A)
    np.testing.assert_allclose(gradient, [[-0.125, 0.25], [0.25, 0]])


def test_eigenvalues_that_meet_have_the_gradient_of_their_sum():
    def weighted(A):
        return L.eigh(A).eigenvalues.sum()

    np.testing.assert_allclose(functx.grad(weighted)(jnp.eye(2)), np.eye(2))


@pytest.mark.parametrize("values", [[1, 1], [2, 0], [0, 0]])
def test_singular_values_that_meet_or_vanish_have_gradients(values):
    A = jnp.zeros((3, 2)).at[jnp.arange(2), jnp.arange(2)].set(f64(values))
    for of_values in (lambda A: L.svd(A).S.sum(), lambda A: L.svdvals(A).sum()):
        gradient = functx.grad(of_values)(A)
        U, _, Vh = L.svd(A, full_matrices=False)
        np.testing.assert_allclose(gradient, U @ Vh)


def test_singular_vectors_that_are_not_determined_have_no_finite_derivative():
    first = functx.grad(lambda A: L.svd(A).U[0, 0])(jnp.eye(2))
    assert not np.isfinite(first).all()


def test_what_completes_singular_vectors_is_orthonormal_and_constant():
    A = f64([[1, 2], [3, 4], [5, 7]])
    U, _, _ = L.svd(A)
    np.testing.assert_allclose(U.mT @ U, np.eye(3), atol=1e-12)
    extra = functx.jacfwd(lambda A: L.svd(A).U[:, 2])(A)
    assert not extra.any()


@pytest.mark.parametrize("mode", ["r", "complete"])
def test_qr_is_not_differentiated_where_pytorch_refuses(mode):
    tall = f64([[1, 2], [3, 4], [5, 7]])

    def total(A):
        return L.qr(A, mode).R.sum()

    assert np.isfinite(total(tall))
    for derivative in (functx.grad, functx.jacfwd):
        with pytest.raises(RuntimeError, match=r"linalg.qr: mode='\w+' must not be differentiated"):
            derivative(total)(tall)


def test_qr_modes_agree():
    A = f64([[1, 2], [3, 4], [5, 7]])
    np.testing.assert_allclose(L.qr(A, "r").R, L.qr(A).R)
    Q, R = L.qr(A, "complete")
    np.testing.assert_allclose(Q @ R, A, atol=1e-12)
    np.testing.assert_allclose(Q.mT @ Q, np.eye(3), atol=1e-12)
    assert L.qr(A, "r").Q.shape == (0,)


def test_names_in_the_root():
    A = f64([[2, 0], [0, 4]])
    assert functx.det(A) == 8
    np.testing.assert_allclose(functx.inverse(A), np.diag([0.5, 0.25]))
    assert functx.slogdet(A).sign == 1
    np.testing.assert_allclose(L.matmul(A, A), A * A)
