"""Snapshots of live arrays, leaks, and what devices count."""

from __future__ import annotations

import gc
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import functx
from functx.memory import (
    assert_no_leaks,
    max_memory_allocated,
    mem_get_info,
    memory_allocated,
    memory_stats,
    snapshot,
)


CPU = jax.devices("cpu")[0]


def test_a_difference_shows_what_came_and_what_went():
    gc.collect()
    old = jnp.zeros((7, 3), "float32")
    before = snapshot()
    new = [jnp.full((5, 2), i, "int16") for i in range(3)]
    del old
    difference = snapshot() - before
    assert {(x.type, x.bytes, x.count, x.device) for x in difference.groups} == {
        ("i16[5,2]", 20, 3, "cpu:0"),
        ("f32[7,3]", 84, -1, "cpu:0"),
    }
    assert difference.bytes == 60 - 84 and difference.count == 2
    assert difference == snapshot().since(before)
    assert str(difference).splitlines()[1].split() == ["-84", "-1", "f32[7,3]", "cpu:0"]
    del new
    assert (snapshot() - before).count == -1


def test_a_snapshot_counts_and_is_a_table():
    kept = [jnp.zeros((11, 13), "float32") for _ in range(2)]
    got = snapshot("cpu")
    (group,) = (x for x in got.groups if x.type == "f32[11,13]")
    assert (group.count, group.bytes, group.total_bytes) == (2, 572, 1144)
    assert got.bytes == sum(x.total_bytes for x in got.groups)
    lines = str(got).splitlines()
    assert lines[0].split() == ["bytes", "count", "array", "device"]
    assert lines[-1].split()[2:] == ["in", "all"]
    sizes = [x.total_bytes for x in got.groups]
    assert sizes == sorted(sizes, reverse=True)
    assert len(kept) == 2


def test_deleted_arrays_are_gone():
    x = jnp.zeros(1000, "float32")
    before = memory_allocated()
    x.delete()
    assert memory_allocated() == before - 4000


def test_allocated_bytes_follow_arrays_exactly():
    gc.collect()
    before = memory_allocated("cpu")
    x = jnp.zeros((3, 5), "float64")
    assert memory_allocated("cpu") == memory_allocated(CPU) == before + 120
    assert memory_stats()["allocated_bytes.all.current"] == before + 120
    del x
    assert memory_allocated() == before


def test_of_a_spread_array_each_device_has_its_part():
    mesh = jax.sharding.Mesh([CPU], ("a",))
    x = jax.device_put(jnp.zeros((4, 2), "float32"), NamedSharding(mesh, PartitionSpec("a")))
    assert "f32[4,2]" in {group.type for group in snapshot().groups}
    assert x.shape == (4, 2)


def test_a_device_that_keeps_an_account_is_asked(monkeypatch):
    own = {
        "bytes_in_use": 300,
        "peak_bytes_in_use": 500,
        "bytes_limit": 1000,
        "num_allocs": 7,
        "pool_bytes": 600,
    }
    device = types.SimpleNamespace(memory_stats=lambda: own)
    monkeypatch.setattr("functx._memory.devices.chosen_device", lambda *_: device)
    assert memory_allocated() == 300 and max_memory_allocated() == 500
    assert mem_get_info() == (700, 1000)
    stats = memory_stats()
    assert stats["allocated_bytes.all.peak"] == 500 and stats["bytes_limit"] == 1000
    assert stats["reserved_bytes.all.current"] == 600 and stats["allocation.all.allocated"] == 7
    assert "reserved_bytes.all.peak" not in stats


@pytest.mark.parametrize("function", [max_memory_allocated, mem_get_info])
def test_what_a_cpu_does_not_know_is_refused(function):
    with pytest.raises(RuntimeError, match=rf"^memory\.{function.__name__}: .* keeps no account"):
        function("cpu")


def test_devices_are_named_as_everywhere():
    with pytest.raises(ValueError, match=r"^memory\.memory_stats: `device` must be"):
        memory_allocated("cpu0")
    with pytest.raises(TypeError, match=r"^memory\.snapshot: `device` must be"):
        snapshot(3)
    with pytest.raises(
        RuntimeError, match=r"^memory\.memory_stats: `device` 'cpu:99' is not there"
    ):
        memory_allocated("cpu:99")


def test_what_is_kept_is_a_leak():
    kept = []

    def f(x):
        kept.append(functx.exp(x))
        return x

    with pytest.raises(
        AssertionError, match=r"1 array is left, of 24 bytes\n24 bytes  f32\[6\] in a list"
    ):
        with assert_no_leaks():
            float(functx.sum(f(jnp.ones(6, "float32"))))


def test_a_new_array_in_the_place_of_an_old_one_is_a_leak():
    old = [jnp.ones(3, "float32")]

    def replaced():
        number, tried = id(old.pop()), []
        for _ in range(500):
            tried.append(jnp.ones(3, "float32"))
            if id(tried[-1]) == number:
                break
        return tried[-1]

    with pytest.raises(AssertionError, match="1 array is left"):
        with assert_no_leaks():
            kept = replaced()
    del kept


def test_what_an_attribute_holds_is_named():
    class Model:
        pass

    model = Model()
    with pytest.raises(AssertionError, match=r"f32\[3\] as 'cache' in a dict"):
        with assert_no_leaks():
            model.__dict__["cache"] = jnp.ones(3, "float32")


def test_what_is_let_go_is_none():
    loss = lambda x: functx.sum(functx.sin(x) ** 2)
    x = jnp.ones(5, "float32")

    def step(x):
        cycle = []
        cycle.append((cycle, functx.grad(loss)(x)))  # the collector's to find
        return float(cycle[0][1].sum())

    step(x)
    with assert_no_leaks("cpu"):
        for _ in range(3):
            step(x)
            jax.jit(functx.vmap(loss))(jnp.ones((2, 3), "float32"))


def test_an_error_inside_is_raised_as_it_is():
    kept = []
    with pytest.raises(RuntimeError, match="sizes"):
        with assert_no_leaks():
            kept.append(jnp.ones(3, "float32"))
            raise RuntimeError("sizes")


def test_replaying_a_program_does_not_grow():
    run = jax.jit(lambda x: functx.matmul(x, x))
    x = run(jnp.ones((8, 8), "float32"))
    with assert_no_leaks():
        for _ in range(100):
            run(x)


def test_what_is_alive_keeps_its_contents_while_others_come_and_go():
    rng = np.random.default_rng(0)
    update = jax.jit(lambda x: x + 1, donate_argnums=0)
    gc.collect()
    before, held = memory_allocated(), {}
    for i in range(300):
        match rng.integers(4):
            case 0 if held:
                held.pop(rng.choice(list(held)))
            case 1 if held:
                x, value = held.pop(rng.choice(list(held)))
                held[i] = update(x), value + 1
            case 2 if held:
                held.pop(rng.choice(list(held)))[0].delete()
            case _:
                held[i] = jnp.full(int(rng.choice([1, 30, 64, 1000, 1999])), i, "float32"), i
        assert memory_allocated() - before == sum(x.nbytes for x, _ in held.values())
    assert all(bool((x == value).all()) for x, value in held.values())
