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
    A = normal(7, m, n, is_complex=is_complex)
    U, S, Vh = np.linalg.svd(A, full_matrices=False)

    def run(A):
        shrunk = singular_value_function(A, lambda s, t: jnp.maximum(s - t, 0), 1.0)
        polar = singular_value_function(A, jnp.ones_like)
        return shrunk, polar, singular_value_sum(A, jnp.sqrt)

    shrunk, polar, total = compiled(run)(A)
    np.testing.assert_allclose(shrunk, U * np.maximum(S - 1, 0) @ Vh, atol=1e-13)
    np.testing.assert_allclose(polar, U @ Vh, atol=1e-13)
    np.testing.assert_allclose(total, np.sqrt(S).sum(), rtol=1e-13)


@pytest.mark.parametrize("m, n", [(3, 3), (4, 2), (2, 3)])
def test_the_polar_factor_of_equal_values_moves_by_what_is_skew_and_outside(m, n):
    """$dP = U_1 (U_1^H E V - V^H E^H U_1) V^H / 2 s + (1 - P P^H) E (1 + ...) / s$."""
    A = with_values([2.0] * min(m, n), m, n)
    E = normal(8, m, n)
    polar = lambda A: singular_value_function(A, jnp.ones_like)
    P, dP = map(np.asarray, compiled(lambda A, E: functx.jvp(polar, (A,), (E,)))(A, E))
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
    def run(nearly, exact, zeros):
        found = []
        for f in (jnp.ones_like, lambda s: 1 / s, jnp.log):
            function = ft.partial(singular_value_function, function=f)
            found += [function(zeros), functx.grad(lambda A, of=function: of(A).sum())(zeros)]
        found.append(functx.grad(lambda A: singular_value_sum(A, lambda s: s))(zeros))
        return [singular_value_function(A, jnp.ones_like) for A in (nearly, exact)], found

    zeros = np.zeros((2, 3))
    polar, found = compiled(run)(with_values([2.0, 0.0], 2, 2), np.diag([2.0, 0.0]), zeros)
    assert np.linalg.norm(polar[0]) < 1.5
    np.testing.assert_allclose(polar[1], np.diag([1, 0]))
    for got in found:
        np.testing.assert_array_equal(got, zeros)


def test_parameters_have_derivatives_beside_those_of_the_matrix():
    def shrunk(A, t, c):
        loss = singular_value_sum(A, lambda s, t: jnp.sqrt(s * s + t), t)
        return loss + jnp.sum(c * singular_value_function(A, lambda s, t: s / (s * s + t), t) ** 2)

    def by_inverses(A, t, c):
        inverse = jnp.linalg.inv(A.T @ A + t * jnp.eye(2))
        return jnp.trace(hermitian_function(A.T @ A, lambda x, t: jnp.sqrt(x + t), t)) + jnp.sum(
            c * (A @ inverse) ** 2
        )

    at = with_values([1.0, 1.0], 3, 2), np.float64(0.7), np.float64(1.3)
    every = (0, 1, 2)
    transforms = (
        lambda f: functx.grad(f, argnums=every),
        lambda f: functx.hessian(f, argnums=every),
        lambda f: functx.jacfwd(functx.jacfwd(f, argnums=every), argnums=every),
    )
    run = lambda *at: [[t(f)(*at) for t in transforms] for f in (shrunk, by_inverses)]
    got, want = compiled(run)(*at)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def times_i(s):
    return jax.lax.complex(jnp.zeros_like(s), s)


def test_complex_functions():
    A = np.asarray(with_values([1.0, 1.0, 2.0]))
    turned = lambda A: singular_value_function(A, times_i)
    loss = lambda A: jnp.sum(jnp.imag(turned(A)) ** 3)
    total = lambda A: singular_value_sum(A, lambda s: jnp.exp(times_i(s**2)))
    step = 1e-6

    def run(A):
        E = direction(A)
        slope = (total(A + step * E) - total(A - step * E)) / (2 * step)
        of_loss = functx.grad(loss)(A), functx.hessian(loss)(A)
        gradient = functx.grad(lambda A: jnp.imag(total(A)))(A)
        return turned(A), of_loss, gradient, along(total)(A), slope

    value, (first, second), gradient, got, slope = compiled(run)(A)
    np.testing.assert_allclose(value, 1j * A, atol=1e-14)
    np.testing.assert_allclose(first, 3 * A**2, atol=1e-13)
    np.testing.assert_allclose(second.reshape(9, 9), np.diag(6 * A.ravel()), atol=1e-13)
    assert gradient.dtype == A.dtype
    np.testing.assert_allclose(got, slope, atol=1e-8)


def test_batches_lanes_and_compiled_programs():
    A = np.stack([with_values(values[:2], 2, 3) for values in VALUES.values()])
    slopes = [functx.grad(along(loss)) for loss in (loss_of(tanh_of), log_sum)]
    of_each = [tanh_of, log_sum, *slopes, functx.grad(log_sum)]
    each = compiled(lambda x: [f(x) for f in of_each])
    *want, gradients = map(np.stack, zip(*map(each, A), strict=True))
    together = compiled(lambda A: functx.grad(lambda A: jnp.sum(log_sum(A)))(A))(A)
    np.testing.assert_allclose(together, gradients, atol=1e-13)
    lanes = compiled(lambda A: [tanh_of(A), log_sum(A), *(functx.vmap(f)(A) for f in slopes)])(A)
    for one, other, atol in zip(lanes, want, (1e-14, 1e-14, 1e-12, 1e-12), strict=True):
        np.testing.assert_allclose(one, other, atol=atol)
    np.testing.assert_allclose(tanh_of(A), want[0], atol=1e-14)
    np.testing.assert_allclose(log_sum(A), want[1], atol=1e-14)
    np.testing.assert_allclose(functx.vmap(slopes[1])(A), want[3], atol=1e-12)  # eager lanes


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    A, real = jnp.eye(3, 2, dtype=dtype), jnp.finfo(dtype).dtype

    def run(A):
        gradients = [functx.grad(lambda A: jnp.real(tanh_of(A)).sum())(A), functx.grad(log_sum)(A)]
        return [tanh_of(A), log_sum(A), *gradients, singular_value_sum(A, times_i)]

    want = [dtype, real, dtype, dtype, np.result_type(real, "complex64")]
    assert [x.dtype for x in jax.eval_shape(run, A)] == want
    if dtype == "float32":
        assert [x.dtype for x in run(A)] == want


def test_matrices_without_elements():
    shapes = (2, 0, 0), (0, 3), (3, 0), (2, 0, 3), (0, 2, 2)
    matrices = [np.zeros(shape) for shape in shapes]
    hessians = [functx.hessian(lambda A, f=f: f(A).sum()) for f in (tanh_of, log_sum)]
    found = compiled(lambda every: [[hessian(A).size for hessian in hessians] for A in every])
    for A, sizes in zip(matrices, found(matrices), strict=True):
        assert tanh_of(A).shape == A.shape
        np.testing.assert_array_equal(log_sum(A), np.zeros(A.shape[:-2]))
        assert sizes == [0, 0]


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
