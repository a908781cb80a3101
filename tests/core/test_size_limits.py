"""What does not fit is refused before XLA sees it: shapes beyond 64 bits, results beyond memory."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import ArrayLike, operator
from functx._core.operators import catalog
from functx._core.shapes import size_limits


ONE = jnp.ones(1, "float32")


@pytest.fixture
def little_memory(monkeypatch):
    """A machine of 2 GiB: nothing large is allocated here."""
    monkeypatch.setattr(size_limits, "_capacity", lambda: 2**31)
    jax.clear_caches()


def test_bytes_that_64_bits_do_not_count_are_refused_everywhere():
    huge = lambda x: functx.expand(x, (2**31, 2**31))
    for call in (huge, jax.jit(huge), functx.vmap(huge)):
        with pytest.raises(MemoryError, match=r"^expand: the result would be f32\[2147483648,21"):
            call(ONE[None] if call is not huge else ONE)
    with pytest.raises(MemoryError, match="more bytes than 64 bits count"):
        functx.zeros((2**40, 2**40, 0))
    with pytest.raises(OverflowError, match=r"^zeros: `size` must fit 64 bits, got 9223372036854"):
        functx.zeros(2**63)


def test_an_intermediate_beyond_64_bits_is_refused(monkeypatch):
    monkeypatch.setattr(catalog, "REGISTRY", dict(catalog.REGISTRY))
    monkeypatch.setattr(catalog, "OPERATORS", dict(catalog.OPERATORS))

    @operator()
    def detour(input: ArrayLike) -> jax.Array:
        return jnp.where(jnp.broadcast_to(input, (2**40, 2**40)) > 0, 1, 0)[0, 0]

    with pytest.raises(MemoryError, match=r"^detour: to compute it would take f32\[1099511627776,"):
        detour(ONE)


def test_an_eager_result_beyond_memory_is_refused(little_memory):
    with pytest.raises(
        MemoryError, match=r"^zeros: the result would be f32\[1073741824\] of 4 GiB"
    ):
        functx.zeros(2**30)
    with pytest.raises(MemoryError, match=r"^expand: .* and 2 GiB is all the memory there is"):
        functx.expand(ONE, (2**30,))


def test_in_a_larger_program_memory_decides_when_it_runs(little_memory):
    fused = jax.jit(lambda x: functx.sum(functx.expand(x, (2**30,))[:3]))
    assert fused(ONE) == 3
    assert jax.eval_shape(lambda: functx.zeros(2**40)).shape == (2**40,)


def test_memory_that_is_not_there_when_it_runs_is_a_memory_error(monkeypatch):
    monkeypatch.setattr(size_limits, "_capacity", lambda: 2**62)
    jax.clear_caches()
    with pytest.raises(MemoryError, match=r"^zeros: Out of memory allocating"):
        functx.zeros((2**54,), dtype=np.uint8)


@pytest.mark.parametrize(
    "membership, files, limits",
    [
        ("0::/a/b", {"a/b/memory.max": "4096", "a/memory.max": "max"}, [4096]),
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "8192"}, [8192]),
        ("0::/", {"memory.max": "1024"}, [1024]),
        ("5:cpu:/x\n4:memory,hugetlb:/of/host", {"memory/memory.limit_in_bytes": "2048"}, [2048]),
        ("5:cpu:/x", {"memory/memory.limit_in_bytes": "2048"}, []),
    ],
)
def test_a_container_limits_memory(tmp_path, membership, files, limits):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(f"{membership}\n")
    for name, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    assert list(size_limits.container_limits(tmp_path)) == limits


def test_systems_without_control_groups_limit_nothing(tmp_path):
    assert list(size_limits.container_limits(tmp_path)) == []


def test_padding_that_nothing_holds_is_refused():
    image, kernel = jnp.ones((1, 1, 2, 2)), jnp.ones((1, 1, 1, 2))
    with pytest.raises(MemoryError, match="conv2d: images of .* are more than memory holds"):
        functx.nn.functional.conv2d(image, kernel, padding="same", dilation=(1, 2**62))


@pytest.mark.parametrize(
    "pool, options, name",
    [
        (functx.nn.functional.max_pool1d, {"kernel_size": 3, "padding": 1}, "stride"),
        (functx.nn.functional.max_pool1d, {}, "kernel_size"),
        (functx.nn.functional.avg_pool1d, {"kernel_size": 3, "padding": 1}, "stride"),
        (functx.nn.functional.avg_pool1d, {}, "kernel_size"),
        (functx.nn.functional.lp_pool1d, {"norm_type": 2, "kernel_size": 2}, "stride"),
        (functx.nn.functional.lp_pool1d, {"norm_type": -np.inf}, "kernel_size"),
    ],
)
def test_windows_and_their_steps_are_no_wider_than_the_image(pool, options, name):
    # XLA aborts the process at some that are.
    row, huge = jnp.array([[2.0, 5.0, 3.0]]), {**options, "ceil_mode": True, name: 2**62}
    program = jax.jit(lambda x: pool(x, **huge)).lower(row).as_text()
    assert str(2**62) not in program
    np.testing.assert_array_equal(pool(row, **huge), pool(row, **huge | {name: 9}))
