"""JAX's settings as users have them, who have these libraries beside functx."""

import importlib.util

import jax
import pytest

import functx


# They are a step of their own, `pytest tests/ecosystem`, with `.[ecosystem]`.
collect_ignore_glob = ["test_*.py"] if importlib.util.find_spec("equinox") is None else []


@pytest.fixture(autouse=True)
def default_settings():
    with (
        functx.x64(False),
        jax.numpy_dtype_promotion("standard"),
        jax.default_matmul_precision("default"),
    ):
        yield
