"""Arrays split over devices: the check of it finds what is right on one of them alone."""

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.custom_partitioning import custom_partitioning

from functx.testing import call, OpInfo, run_cell
from functx.testing.checks import sharding


def samples(make):
    yield call(make.nonzero(3))


def partitioned(mesh, arguments, result):
    layout = arguments[0].sharding
    return mesh, lambda x: jnp.cumsum(x, 0), layout, (layout,)


of_parts = custom_partitioning(lambda x: jnp.cumsum(x, 0))
of_parts.def_partition(partition=partitioned, sharding_rule="i j -> i j")


@jax.custom_batching.custom_vmap
def adding_up(x):
    return x


@adding_up.def_vmap
def _(size, batched, x):
    return of_parts(x), True


def test_the_cpu_of_the_tests_shows_itself_as_eight_devices():
    assert sharding.enough_devices() or jax.default_backend() != "cpu"


def test_what_adds_up_the_lanes_of_each_device_alone_fails():
    run_cell(OpInfo(lambda x: jnp.sin(x), samples), "float32", "sharded")
    wrong = lambda x: adding_up(jax.lax.stop_gradient(x)) + x
    with pytest.raises(AssertionError, match="split over 8 devices"):
        run_cell(OpInfo(wrong, samples), "float32", "sharded")
