"""Snapshots of the arrays that are alive, and what two moments differ in."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import itertools
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jax

from functx._core import describe, fail

from .devices import chosen_device, live_arrays, parts


__all__ = ["assert_no_leaks", "snapshot"]


@dataclasses.dataclass(frozen=True)
class ArrayGroup:
    """Arrays that are alike, on one device.

    - `type`: dtype and shape of the part on the device, `"f32[8,4]"`.
    - `device`: the device, `"cpu:0"`.
    - `bytes`: what one of them takes there.
    - `count`: how many there are; of a difference, how many more, or fewer.
    """

    type: str
    device: str
    bytes: int
    count: int

    @property
    def total_bytes(self) -> int:
        """What all of them take."""
        return self.bytes * self.count


@dataclasses.dataclass(frozen=True)
class LiveArrays:
    """The arrays that are alive at a moment, or by what two moments differ; `str` is a table.

    - `groups`: an `ArrayGroup` for each type and device, those that take the most first.
    """

    groups: tuple[ArrayGroup, ...]

    @property
    def count(self) -> int:
        """How many arrays there are; one that is spread counts on each device."""
        return sum(x.count for x in self.groups)

    @property
    def bytes(self) -> int:
        """What they take together."""
        return sum(x.total_bytes for x in self.groups)

    def since(self, before: LiveArrays) -> LiveArrays:
        """What is alive now and was not then; what is gone since counts negative.

        - `before`: an earlier snapshot.

        `after - before` is the same.
        """
        counts = _counted(self)
        counts.subtract(_counted(before))
        return _grouped(counts)

    def __sub__(self, before: LiveArrays) -> LiveArrays:
        return self.since(before) if isinstance(before, LiveArrays) else NotImplemented

    def __str__(self) -> str:
        rows = [("bytes", "count", "array", "device")]
        rows += [(f"{x.total_bytes:,}", f"{x.count:,}", x.type, x.device) for x in self.groups]
        rows.append((f"{self.bytes:,}", f"{self.count:,}", "in all", ""))
        sizes, counts = (max(len(row[i]) for row in rows) for i in (0, 1))
        types = max(len(row[2]) for row in rows)
        return "\n".join(
            f"{size:>{sizes}}  {count:>{counts}}  {kind:<{types}}  {device}".rstrip()
            for size, count, kind, device in rows
        )


def snapshot(device: Any = None) -> LiveArrays:
    """The arrays that are alive now, by shape, dtype and device.

    - `device`: `"cpu"`, `"gpu"`, `"cuda:0"`, or a `jax.Device`; by default all of them.

    Arrays that Python's garbage collector has not come to yet are alive: `gc.collect()` comes
    first where cycles hold arrays. JAX keeps no record of where an array was made;
    `jax.profiler.device_memory_profile()` knows it.

    >>> before = functx.memory.snapshot("cpu")
    >>> with jax.default_device(jax.devices("cpu")[0]):
    ...     kept = [jnp.ones((2, 3), "float32") for _ in range(4)]
    >>> print(functx.memory.snapshot("cpu") - before)
    bytes  count  array     device
       96      4  f32[2,3]  cpu:0
       96      4  in all
    """
    only = None if device is None else chosen_device("memory.snapshot", device)
    return _of(live_arrays(only), only)


def _of(arrays: list[jax.Array], only: Any = None) -> LiveArrays:
    counts: Counter[tuple[str, str, int]] = Counter()
    for x in arrays:
        part = jax.ShapeDtypeStruct(x.sharding.shard_shape(x.shape), x.dtype)
        for device, size in parts(x):
            if only is None or device == only:
                counts[describe(part), f"{device.platform}:{device.id}", size] += 1
    return _grouped(counts)


def _counted(arrays: LiveArrays) -> Counter[tuple[str, str, int]]:
    return Counter({(x.type, x.device, x.bytes): x.count for x in arrays.groups})


def _grouped(counts: Counter[tuple[str, str, int]]) -> LiveArrays:
    groups = [ArrayGroup(*key, count) for key, count in counts.items() if count]
    groups.sort(key=lambda x: (-abs(x.total_bytes), x.type, x.device))
    return LiveArrays(tuple(groups))


@contextlib.contextmanager
def assert_no_leaks(device: Any = None) -> Iterator[None]:
    """A region after which no array is alive that was made in it.

    - `device`: as for `functx.memory.snapshot`.

    The garbage collector runs at the end. An array that a name outside holds by then counts, the
    result of a call too: let go of it first, or put what is tested into a function. An error in the
    region is raised as it is, and nothing is checked then.

    Errors: AssertionError for arrays that are left, with their types and what holds them.

    >>> with functx.memory.assert_no_leaks():
    ...     _ = float(functx.sum(jnp.ones(3, "float32")))
    >>> cache = []
    >>> with functx.memory.assert_no_leaks():
    ...     cache.append(jnp.ones(3, "float32"))
    Traceback (most recent call last):
    AssertionError: memory.assert_no_leaks: 1 array is left, of 12 bytes
    12 bytes  f32[3] in a list
      hint: jax.checking_leaks() finds arrays of a trace that are kept beyond it
    """
    who = "memory.assert_no_leaks"
    only = None if device is None else chosen_device(who, device)
    before = {id(x): weakref.ref(x) for x in live_arrays(only)}
    yield
    gc.collect()
    left = [x for x in live_arrays(only) if id(x) not in before or before[id(x)]() is not x]
    if not left:
        return
    total = sum(x.nbytes for x in left)
    many = "1 array is left" if len(left) == 1 else f"{len(left)} arrays are left"
    shown = itertools.islice(left, _SHOWN)
    lines = [f"{x.nbytes:,} bytes  {describe(x)}{_held(x, left)}" for x in shown]
    rest = [f"and {len(left) - _SHOWN} more"] if len(left) > _SHOWN else []
    hint = "jax.checking_leaks() finds arrays of a trace that are kept beyond it"
    message = "\n".join([f"{many}, of {total:,} bytes", *lines, *rest])
    fail(who, message, hint=hint, error=AssertionError)


_SHOWN = 10  # arrays in an error


def _held(x: jax.Array, left: list[jax.Array]) -> str:
    """What holds an array, as far as Python's garbage collector knows."""
    for holder in gc.get_referrers(x):
        if isinstance(holder, dict):
            for key, value in list(holder.items()):
                if value is x:
                    return f" as {key!r} in a dict"
        elif isinstance(holder, (list, tuple, set)) and holder is not left:
            return f" in a {type(holder).__name__}"
    return ""
