"""PyTorch's complex convention. The numbers of torch.func 2.13 are in the comments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.testing.checks.programs import compiled


Z = jnp.asarray([1 + 2j, -0.5 + 0.25j, 3 - 1j])
W = jnp.asarray([0.5 - 1j, 2j, 1 + 0j])
X = jnp.asarray([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def mixing_real_and_complex():
    with jax.numpy_dtype_promotion("standard"):
        yield


def energy(z):
    return (z * jnp.conj(z)).real.sum()


def real_inner(a, b):
    return float(jnp.vdot(a, b).real)


def test_the_gradient_points_uphill():
    # torch.func.grad of |z|^2 is 2z
    np.testing.assert_allclose(functx.grad(energy)(Z), 2 * Z)


def test_the_gradient_is_the_conjugate_of_jaxs():
    f = lambda z: (jnp.sin(z) * z).real.sum()
    np.testing.assert_allclose(functx.grad(f)(Z), jnp.conj(jax.grad(f)(Z)))


def test_the_pullback_of_a_holomorphic_function_conjugates_its_derivative():
    # torch.func.vjp(lambda z: z * z, z)[1](w) is w * conj(2z)
    (got,) = functx.vjp(lambda z: z * z, Z)[1](W)
    np.testing.assert_allclose(got, W * jnp.conj(2 * Z))


@pytest.mark.parametrize(
    "f, x, tangent, cotangent",
    [
        (lambda z: z * jnp.conj(z) * z, Z, W, Z * 1j),
        (lambda x: x * (1 + 2j), X, X, W),
        (lambda z: jnp.abs(z), Z, W, X),
        (lambda z: jnp.fft.fft(jnp.conj(z)), Z, W, W),
    ],
)
def test_vjp_is_the_real_adjoint_of_jvp(f, x, tangent, cotangent):
    _, pushed = functx.jvp(f, (x,), (tangent,))
    (pulled,) = functx.vjp(f, x)[1](cotangent)
    np.testing.assert_allclose(real_inner(cotangent, pushed), real_inner(pulled, tangent))
    assert pulled.dtype == x.dtype


def test_real_arguments_beside_complex_ones_have_real_gradients():
    f = lambda x, z: (x * z * jnp.conj(z)).real.sum()
    gx, gz = functx.grad(f, (0, 1))(X, Z)
    np.testing.assert_allclose(gx, jnp.abs(Z) ** 2)
    np.testing.assert_allclose(gz, 2 * X * Z)


def test_jacobians_of_holomorphic_functions_are_the_complex_derivative():
    f = lambda z: 1j * z * z + z.sum()
    want = jnp.diag(2j * Z) + jnp.ones((3, 3))
    for jacobian in (functx.jacrev, functx.jacfwd):
        for chunk_size in (None, 2):
            np.testing.assert_allclose(jacobian(f, chunk_size=chunk_size)(Z), want)
    _, along = functx.jvp(f, (Z,), (W,))
    np.testing.assert_allclose(functx.jacfwd(f)(Z) @ W, along)


def test_hessian_of_a_holomorphic_function():
    np.testing.assert_allclose(functx.hessian(lambda z: (z**3).sum())(Z), jnp.diag(6 * Z))


def test_jacrev_of_real_outputs_has_gradients_for_rows():
    # as torch.autograd.functional.jacobian has them
    np.testing.assert_allclose(functx.jacrev(lambda z: (1j * z).real)(Z), -1j * jnp.eye(3))


def test_jacfwd_of_complex_outputs_of_real_inputs():
    np.testing.assert_allclose(functx.jacfwd(lambda x: 1j * x * x)(X), jnp.diag(2j * X))


def test_hvp_and_vhp_agree_on_real_functions_of_complex_arguments():
    f = lambda z: (jnp.abs(z) ** 4).sum()
    value, forward = functx.hvp(f, Z, W)
    _, reverse = functx.vhp(f, Z, W)
    np.testing.assert_allclose(forward, reverse)
    np.testing.assert_allclose(value, f(Z))
    _, along = functx.jvp(functx.grad(f), (Z,), (W,))
    np.testing.assert_allclose(forward, along)


NOT_HOLOMORPHIC = {
    "z * conj(z)": lambda z: z * jnp.conj(z),
    "conj": jnp.conj,
    "real part": lambda z: z.real + 0j,
    "in one element": lambda z: z.at[1].set(jnp.conj(z[1])),
    "nearly": lambda z: z * z + 1e-4 * jnp.conj(z),
}
JACOBIANS = {"jacrev": functx.jacrev, "jacfwd": functx.jacfwd}


@pytest.mark.parametrize("f", NOT_HOLOMORPHIC.values(), ids=NOT_HOLOMORPHIC)
@pytest.mark.parametrize("transform", ["jacrev", "jacfwd"])
def test_functions_that_are_not_holomorphic_have_no_complex_jacobian(f, transform):
    jacobian = JACOBIANS[transform](f)
    message = f"^{transform}: `func` is not holomorphic here(.|\n)*as_real=True"
    calls = [lambda: jacobian(Z), lambda: functx.debug.checked(jax.jit(jacobian))(Z)]
    if f is jnp.conj:  # the lanes of others are judged alike
        calls.append(lambda: functx.vmap(jacobian)(Z[None]))
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()
    assert jnp.isnan(jax.jit(jacobian)(Z)).all()


def test_a_hessian_needs_a_holomorphic_function():
    with pytest.raises(ValueError, match="^hessian: `func` is not holomorphic here"):
        functx.hessian(lambda z: (z * z * jnp.conj(z)).sum())(Z)


@pytest.mark.parametrize(
    "f",
    [
        jnp.sin,
        lambda z: jnp.fft.fft(z) * z,
        lambda z: jnp.conj(jnp.sin(jnp.conj(z))),
        lambda z: lax.complex(z.real, z.imag) ** 2,
        lambda z: jnp.linalg.inv(jnp.diag(z) + 1) @ z,
        lambda z: jnp.zeros_like(z),
        lambda z: z[:0],
    ],
)
def test_holomorphic_functions_pass_however_they_are_written(f):
    both = lambda z: [functx.jacrev(f)(z), functx.jacfwd(f)(z)]
    reverse, forward = both(Z)
    np.testing.assert_allclose(reverse, forward, rtol=1e-4)
    for dtype in ("complex64", "complex128"):  # by a program, one that does not pass is NaN
        for got in compiled(both)(Z.astype(dtype)):
            np.testing.assert_allclose(got, reverse, rtol=1e-4, atol=1e-6)


def test_nan_says_nothing_about_being_holomorphic():
    assert jnp.isnan(functx.jacrev(lambda z: z * jnp.nan)(Z)).any()


def test_jacobians_of_real_and_imaginary_parts():
    f = lambda z: z * jnp.conj(z) * z
    parts = jnp.stack([Z.real, Z.imag], -1)

    def of_parts(parts):
        out = f(lax.complex(parts[..., 0], parts[..., 1]))
        return jnp.stack([out.real, out.imag], -1)

    want = compiled(jax.jacobian(of_parts))(parts)
    assert want.shape == (3, 2, 3, 2)
    np.testing.assert_allclose(functx.jacrev(f, as_real=True)(Z), want)
    np.testing.assert_allclose(functx.jacfwd(f, as_real=True)(Z), want)
    np.testing.assert_allclose(
        functx.hessian(f, as_real=True)(Z), compiled(jax.hessian(of_parts))(parts), atol=1e-12
    )


def test_as_real_takes_every_pair_of_real_and_complex():
    jacobian = functx.jacrev(lambda x, z: {"a": x * z, "b": abs(z)}, (0, 1), as_real=True)(X, Z)
    shapes = jax.tree.map(jnp.shape, jacobian)
    assert shapes == {"a": ((3, 2, 3), (3, 2, 3, 2)), "b": ((3, 3), (3, 3, 2))}
    _, aux = functx.jacfwd(lambda z: (z, "aux"), as_real=True, has_aux=True)(Z)
    assert aux == "aux"


@pytest.mark.parametrize(
    "run, message",
    [
        (
            lambda: functx.jacfwd(energy)(Z),
            r"jacfwd: `output` is real, f64\[\], while `args\[0\]` is complex(.|\n)*jacrev or grad",
        ),
        (
            lambda: functx.jacrev(lambda x: {"c": x + 1j})(X),
            r"jacrev: `output\['c'\]` is complex, c128\[3\], while `args\[0\]` is real(.|\n)*fwd",
        ),
        (
            lambda: functx.hessian(energy)(Z),
            r"hessian: `output` is real, f64\[\], while `args\[0\]` is complex(.|\n)*hvp",
        ),
        (
            lambda: functx.grad(lambda z: z.sum())(Z),
            r"grad: `func` must return a real scalar, got c128\[\](.|\n)*holomorphic",
        ),
        (
            lambda: functx.vjp(jnp.abs, Z)[1](W),
            r"vjp: `cotangents` must be like the output of `func`, f64\[3\], got c128\[3\]",
        ),
    ],
)
def test_refusals(run, message):
    with pytest.raises(TypeError, match="^" + message):
        run()
