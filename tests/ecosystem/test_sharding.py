"""Jobs over eight devices equal those on one, and send what the page says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from . import sharded_jobs
from .sharded_jobs import collectives, JOBS, lower, make_mesh, place


pytestmark = pytest.mark.skipif(len(jax.devices()) < 8, reason="jobs are split over eight devices")

jobs = pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name.replace(" ", "-"))


def same(got, want):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6),
        got,
        want,
    )


def parts(result, dim=0):
    """In how many parts a dimension is split, alike in each leaf."""
    leaves = jax.tree.leaves(result)
    [count] = {x.shape[dim] // x.sharding.shard_shape(x.shape)[dim] for x in leaves}
    return count


def on_one_device(job):
    values = sharded_jobs.arguments()
    return jax.jit(job.run)(*(values[name] for name in job.takes))


@jobs
def test_split_by_the_compiler(job):
    mesh = make_mesh(8)
    given = place(job, mesh)
    compiled = lower(job, mesh).lower(*given).compile()
    got = compiled(*given)
    same(got, on_one_device(job))
    assert {name for name, _ in collectives(compiled)} == job.sends
    for dim, axis in enumerate(job.out):
        assert parts(got, dim) == (8 if axis else 1)


@jobs
def test_split_by_explicit_axes(job):
    mesh = make_mesh(8, AxisType.Explicit)
    given = place(job, mesh)
    with jax.set_mesh(mesh):
        compiled = lower(job, mesh, "explicit").lower(*given).compile()
        got = compiled(*given)
    same(got, on_one_device(job))
    assert {name for name, _ in collectives(compiled)} == (job.sends if job.explicit else set())
    assert parts(got) == (8 if job.out and job.out[0] and job.explicit else 1)


@pytest.mark.parametrize(
    "job", [job for job in JOBS if job.explicit], ids=lambda job: job.name.replace(" ", "-")
)
def test_split_by_hand(job):
    mesh = make_mesh(8)
    given = place(job, mesh)
    compiled = lower(job, mesh, "shard_map").lower(*given).compile()
    same(compiled(*given), on_one_device(job))
    assert {name for name, _ in collectives(compiled)} == job.sends


def test_what_jax_does_with_split_arrays():
    split = NamedSharding(make_mesh(8), PartitionSpec("devices"))
    x = jax.device_put(jnp.arange(64.0), split)
    assert parts(jax.jit(lambda x: jax.lax.map(jnp.sin, x, batch_size=16))(x)) == 1
    with pytest.raises(ValueError, match="63"):
        jax.device_put(jnp.arange(63.0), split)
