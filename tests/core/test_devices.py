"""What `device=` takes, and what is refused: names, indices, devices and layouts of JAX."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import functx


HERE = jax.devices("cpu")[0]
CALLS = {
    "zeros": lambda device: functx.zeros(2, device=device),
    "rand": lambda device: functx.rand(2, device=device),
    "tensor": lambda device: functx.tensor([1.0, 2.0], device=device),
    "asarray": lambda device: functx.asarray(np.ones(2), device=device),
    "ones_like": lambda device: functx.ones_like(jnp.ones(2), device=device),
}


@pytest.fixture(params=CALLS)
def name(request):
    return request.param


@pytest.mark.parametrize("device", ["cpu", "cpu:0", HERE, None])
def test_devices_that_are_there(name, device):
    assert CALLS[name](device).devices() <= set(jax.devices())
    if device is not None:
        assert CALLS[name](device).devices() == {HERE}


def test_layouts(name):
    layout = NamedSharding(jax.make_mesh((1,), ("x",)), PartitionSpec("x"))
    assert CALLS[name](layout).sharding == layout


@pytest.mark.parametrize("device", ["cuda:1000", "cpu:1000", "tpu:999999999"])
def test_devices_that_are_absent(name, device):
    with pytest.raises(
        RuntimeError, match=f"^{name}: `device` '{device}' is not there; JAX has "
    ) as e:
        CALLS[name](device)
    assert str(jax.devices()[0]) in str(e.value)


WRONG = ["cuda0", "", ":", "cpu:", "cpu:-1", "cpu:x", "cpu:0:1", "cpu 0", "CPU", "cpu:\u00b2"]


@pytest.mark.parametrize(
    "device", [*WRONG, "cpu:\u0663", "cpu:\n", "xpu", "meta", f"cpu:{'9' * 5000}"]
)
def test_bad_names(name, device):
    with pytest.raises(
        ValueError, match=f"^{name}: `device` must be 'cpu', 'gpu', 'cuda:0', a jax.De"
    ):
        CALLS[name](device)


@pytest.mark.parametrize("device", [0, 1.5, True, b"cpu", ["cpu"], jax.Device])
def test_what_is_no_device(name, device):
    with pytest.raises(
        TypeError, match=f"^{name}: `device` must be 'cpu', 'gpu', 'cuda:0', a jax.De"
    ):
        CALLS[name](device)


def test_the_second_of_several():
    program = """
import functx, jax
first, second = jax.devices("cpu")
print(functx.zeros(2, device="cpu:1").devices() == {second})
print(functx.Generator("cpu:1").key.devices() == {second})
try:
    functx.zeros(2, device="cpu:2")
except RuntimeError as error:
    print(str(error) == f"zeros: `device` 'cpu:2' is not there; JAX has {first}, {second}")
"""
    flag = "import os; os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'"
    command = [sys.executable, "-c", flag + program]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert said == ["True"] * 3
