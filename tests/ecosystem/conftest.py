"""JAX's settings as users have them, who have these libraries beside functx."""

import jax
import pytest

import functx


@pytest.fixture(autouse=True)
def default_settings():
    with (
        functx.x64(False),
        jax.numpy_dtype_promotion("standard"),
        jax.default_matmul_precision("default"),
    ):
        yield
