"""What XLA is told before it starts."""

import os

import pytest

from functx.cli.settings import DEVICES, set_environment


@pytest.fixture
def environment(monkeypatch):
    """One without any of it."""
    for name in ("NVIDIA_TF32_OVERRIDE", "XLA_FLAGS"):
        monkeypatch.setenv(name, "")  # what is set from here on is undone
        monkeypatch.delenv(name)
    return os.environ


def test_on_gpus_single_precision_is_whole_and_sums_have_one_order(environment):
    set_environment("cuda:0")
    assert environment["NVIDIA_TF32_OVERRIDE"] == "0"
    assert "--xla_gpu_deterministic_ops=true" in environment["XLA_FLAGS"].split()


def test_the_cpu_counts_as_several_devices(environment):
    set_environment()
    assert environment["XLA_FLAGS"] == f"--xla_force_host_platform_device_count={DEVICES}"


def test_what_the_environment_says_stays(environment):
    said = "--xla_gpu_deterministic_ops=false --xla_force_host_platform_device_count=2"
    environment.update({"NVIDIA_TF32_OVERRIDE": "1", "XLA_FLAGS": said})
    set_environment("gpu")
    assert environment["NVIDIA_TF32_OVERRIDE"] == "1" and environment["XLA_FLAGS"] == said


def test_flags_are_added_once_and_beside_others(environment):
    environment["XLA_FLAGS"] = "--xla_dump_to=/tmp/dump"
    set_environment("gpu")
    once = environment["XLA_FLAGS"]
    assert once.startswith("--xla_dump_to=/tmp/dump ") and len(once.split()) == 3
    set_environment("gpu")
    assert environment["XLA_FLAGS"] == once
