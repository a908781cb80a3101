"""What products do with coefficients of zero, halves and integers."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx


def test_addmm_ignores_its_input_at_beta_zero():
    nothing, x = jnp.full((2, 2), jnp.nan), jnp.eye(2)
    np.testing.assert_allclose(functx.addmm(nothing, x, x, beta=0), np.eye(2))
    gradient = functx.grad(lambda z: functx.addmm(z, x, x, beta=0).sum())(nothing)
    np.testing.assert_allclose(gradient, np.zeros((2, 2)))


def test_addmm_has_derivatives_in_its_coefficients():
    z, x = jnp.full((2, 2), 3.0), jnp.eye(2)

    def total(beta, alpha):
        return functx.addmm(z, x, x, beta=beta, alpha=alpha).sum()

    zero = jnp.float64(0)
    np.testing.assert_allclose(functx.grad(total, argnums=(0, 1))(zero, zero), (12, 2))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_accumulate_in_float32(dtype):
    x = jnp.full((1, 5000), 0.1, dtype)
    want = np.asarray(x, "float64") @ np.asarray(x, "float64").T
    got = np.asarray(functx.matmul(x, x.T), "float64")
    assert functx.matmul(x, x.T).dtype == dtype
    np.testing.assert_allclose(got, want, rtol=float(jnp.finfo(dtype).eps))


def test_integers_wrap_around_except_in_sums_of_one_operand():
    x = jnp.full((2, 2), 100, "int8")
    np.testing.assert_array_equal(functx.matmul(x, jnp.ones((2, 2), "int8")), np.int8(-56))
    total = functx.einsum("ij->", x)
    assert (total.dtype, total.item()) == ("int64", 400)
