"""What is allocated on devices, by their own account where they keep one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
from jax import core

from functx._core import describe, fail
from functx._core.devices.placement import as_device
from functx._core.errors import Refused


__all__ = ["max_memory_allocated", "mem_get_info", "memory_allocated", "memory_stats"]

# PyTorch's names of what XLA's allocators count; their own names are shown, too.
_PYTORCHS = {
    "allocated_bytes.all.current": "bytes_in_use",
    "allocated_bytes.all.peak": "peak_bytes_in_use",
    "allocation.all.allocated": "num_allocs",
    "reserved_bytes.all.current": "pool_bytes",
    "reserved_bytes.all.peak": "peak_pool_bytes",
}


def memory_allocated(device: Any = None) -> int:
    """How many bytes are in use on a device.

    - `device`: `"cpu"`, `"gpu"`, `"cuda:0"`, or a `jax.Device`; by default that of new arrays.

    GPUs and TPUs count themselves, temporaries of running programs included. Where a device does
    not, as CPUs, it is the sum of the arrays that are alive, of each the part that is on the
    device.

    >>> before = functx.memory.memory_allocated("cpu")
    >>> x = jax.device_put(jnp.ones((100, 10), "float32"), jax.devices("cpu")[0])
    >>> functx.memory.memory_allocated("cpu") - before
    4000
    """
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use on a device at once, since the process began.

    - `device`: as for `functx.memory.memory_allocated`.

    XLA cannot begin anew with it. Errors: RuntimeError for a device that keeps no account, as CPUs.
    """
    who = "memory.max_memory_allocated"
    return _own_account(who, chosen_device(who, device))["peak_bytes_in_use"]


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """How many bytes of a device are free, and how many XLA's allocator may use in all.

    - `device`: as for `functx.memory.memory_allocated`.

    Errors: RuntimeError for a device that keeps no account, as CPUs.
    """
    who = "memory.mem_get_info"
    own = _own_account(who, chosen_device(who, device))
    return own["bytes_limit"] - own["bytes_in_use"], own["bytes_limit"]


def memory_stats(device: Any = None) -> dict[str, int]:
    """What a device counts of its memory, by name.

    - `device`: as for `functx.memory.memory_allocated`.

    PyTorch's names stand for what XLA counts too: `"allocated_bytes.all.current"`,
    `"allocated_bytes.all.peak"`, `"reserved_bytes.all.current"` and so on; the names of the
    device's own account, such as `"bytes_limit"`, are there beside them. A name of what nobody
    counts is missing. Of a device without an account, such as a CPU, there are
    `"allocated_bytes.all.current"` and `"allocation.all.current"`, of arrays that are alive.

    >>> sorted(functx.memory.memory_stats("cpu"))
    ['allocated_bytes.all.current', 'allocation.all.current']
    """
    device = chosen_device("memory.memory_stats", device)
    own = device.memory_stats()
    if own is None:
        sizes = [size for x in live_arrays(device) for size in _sizes(x, device)]
        return {
            "allocated_bytes.all.current": sum(sizes),
            "allocation.all.current": len(sizes),
        }
    named = {name: own[theirs] for name, theirs in _PYTORCHS.items() if theirs in own}
    return named | dict(own)


def limit_of(device: Any = None) -> int | None:
    """How many bytes a device has, if it says so."""
    own = chosen_device("memory", device).memory_stats()
    return None if own is None else own.get("bytes_limit")


def _own_account(who: str, device: Any) -> dict[str, int]:
    own = device.memory_stats()
    if own is None:
        hint = "functx.memory.memory_allocated sums up the arrays that are alive there"
        fail(who, f"{device} keeps no account of its memory", hint=hint)
    return own


def chosen_device(who: str, device: Any) -> Any:
    """The device that a user named, or that new arrays go to."""
    if device is None:
        chosen: Any = jax.config.values["jax_default_device"]
        return chosen if isinstance(chosen, jax.Device) else jax.devices(chosen)[0]
    try:
        found = as_device(device)
    except Refused as refused:
        raise refused.by(who) from None
    if not isinstance(found, jax.Device):
        fail(who, f"`device` must be one device, got {describe(device)}", error=TypeError)
    return found


def live_arrays(device: Any = None) -> list[jax.Array]:
    """The arrays that are alive on a device, or on any."""
    if device is not None:
        return [x for x in jax.live_arrays(device.platform) if device in x.sharding.device_set]
    platforms = dict.fromkeys(x.platform for x in jax.local_devices())
    platforms |= dict.fromkeys(["cpu"])
    return [x for platform in platforms for x in jax.live_arrays(platform)]


def parts(x: jax.Array) -> Iterator[tuple[Any, int]]:
    """The devices on which the parts of an array are, with the bytes of each."""
    size = math.prod(x.sharding.shard_shape(x.shape)) * x.dtype.itemsize
    for device in sorted(x.sharding.addressable_devices, key=lambda device: device.id):
        yield device, size


def _sizes(x: jax.Array, device: Any) -> list[int]:
    return [size for there, size in parts(x) if there == device]


def allocated_besides(tree: Any) -> int:
    """The bytes in use on the default device by what is not in `tree`."""
    device = chosen_device("memory", None)
    arrays = [x for x in jax.tree.leaves(tree) if isinstance(x, jax.Array)]
    given = {id(x): x for x in arrays if not isinstance(x, core.Tracer)}
    own = sum(size for x in given.values() for size in _sizes(x, device))
    return max(0, memory_allocated(device) - own)
