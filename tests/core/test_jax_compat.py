"""What is taken from inside JAX, to spare an import, is what JAX shows publicly."""

import ast
from pathlib import Path

import jax
import jax.extend.core
import jax.extend.core.primitives
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from functx._core import jax_compat


def shown():
    """The names that type checkers are told come from `jax.extend.core`."""
    tree = ast.parse(Path(jax_compat.__file__).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jax.extend"):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize(("module", "name"), list(shown()))
def test_it_is_the_public_one(module, name):
    public = {"jax.extend.core": jax.extend.core}.get(module, jax.extend.core.primitives)
    assert getattr(jax_compat, name) is getattr(public, name)


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_types_are_those_that_jax_gives(kind):
    mesh = jax.make_mesh((2,), ("rows",), (kind,), devices=jax.devices()[:2])
    x = jnp.ones((4, 3))
    over_rows = NamedSharding(mesh, PartitionSpec("rows"))
    for y in (x, jnp.asarray(2), jax.device_put(x, over_rows), np.ones(3), jax.random.key(0)):
        assert jax_compat.type_of(y) == jax.typeof(y)
