"""Products of the rows of a batch with one matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

import functx
from functx._core import sharded_explicitly
from functx.testing.checks.sharding import DEVICES, enough_devices


def drawn(*shape):
    return jnp.asarray(np.random.default_rng(sum(shape)).standard_normal(shape))


@pytest.mark.parametrize("leading", [(2, 3), (2, 3, 4), (0, 3), (1, 1), (3, 0)])
def test_values_and_gradients_are_those_of_the_sum(leading):
    rows, matrix = drawn(*leading, 5), drawn(5, 4)
    loss = lambda product: lambda rows, matrix: jnp.sum(jnp.sin(product(rows, matrix)))
    by_sums = lambda rows, matrix: jnp.einsum("...k,kn->...n", rows, matrix)
    np.testing.assert_allclose(functx.matmul(rows, matrix), by_sums(rows, matrix), rtol=1e-12)
    got = jax.grad(loss(functx.matmul), (0, 1))(rows, matrix)
    want = jax.grad(loss(by_sums), (0, 1))(rows, matrix)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def ranks(function, *args):
    """The ranks of what the products in the program of a function read."""
    return {
        x.aval.ndim
        for equation in jax.make_jaxpr(function)(*args).eqns
        for inner in [equation, *getattr(equation.params.get("jaxpr"), "eqns", ())]
        if inner.primitive.name == "dot_general"
        for x in inner.invars
    }


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other backends keep all dimensions")
def test_on_a_cpu_the_rows_and_their_gradient_are_matrices():
    loss = lambda rows, matrix: jnp.sum(functx.matmul(rows, matrix) ** 2)
    assert ranks(jax.grad(loss, (0, 1)), drawn(2, 3, 5), drawn(5, 4)) == {2}


def test_dimensions_that_a_mesh_shards_stay_apart():
    if not enough_devices():
        pytest.skip(f"needs {DEVICES} devices")
    mesh = jax.make_mesh((DEVICES,), ("x",), axis_types=(AxisType.Explicit,))
    rows, matrix = drawn(2, 2 * DEVICES, 5), drawn(5, 4)
    with jax.set_mesh(mesh):
        spread = jax.device_put(rows, PartitionSpec(None, "x"))
        assert sharded_explicitly(jax.typeof(spread)) and not sharded_explicitly(jax.typeof(rows))
        product = jax.jit(functx.matmul)(spread, jax.device_put(matrix, PartitionSpec()))
        assert jax.typeof(product).sharding.spec == PartitionSpec(None, "x", None)
    np.testing.assert_allclose(product, rows @ matrix, rtol=1e-12)


def test_a_symbolic_batch_is_flattened_too():
    size = jax.export.symbolic_shape("b, t")
    rows = jax.ShapeDtypeStruct((*size, 5), "float64")
    matrix = jax.ShapeDtypeStruct((5, 4), "float64")
    program = jax.export.export(jax.jit(functx.matmul))(rows, matrix)
    given = drawn(2, 3, 5), drawn(5, 4)
    np.testing.assert_allclose(program.call(*given), given[0] @ given[1], rtol=1e-12)
