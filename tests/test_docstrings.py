"""Every example in a docstring runs, with `functx`, `jnp` and `jax` in scope."""

import doctest
import importlib
import pkgutil

import jax
import jax.numpy as jnp
import pytest

import functx


MODULES = [m.name for m in pkgutil.walk_packages(functx.__path__, "functx.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE
    names = {"functx": functx, "jnp": jnp, "jax": jax}
    assert doctest.testmod(module, extraglobs=names, optionflags=flags).failed == 0
