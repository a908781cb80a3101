"""Limits of size: shapes must fit 64 bits, the results of eager calls the memory.

XLA counts an array's bytes in 64 bits, and aborts the process where they overflow; an operating
system that promises more memory than it has ends it later. Both are refused while tracing, where
shapes are known: any shape that no array can have, and in eager calls, whose results come to
be, what no device here holds. In a larger program an array may be fused away, so there memory
decides when the program runs. A symbolic size counts as the least that there is.
"""

from __future__ import annotations

import contextlib
import functools as ft
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import jax

from functx._core.errors import describe, refuse
from functx._core.jax_compat import recorded, recording_alone

from .symbolic_sizes import known_sizes


_LARGEST = 2**63 - 1  # bytes: XLA counts them in an int64


def check_sizes(outputs: Sequence[Any]) -> None:
    """Refuses what the operator being traced computes, or gives, if it is too large."""
    for x in outputs:
        _check_countable(x, "the result would be")
    for x in recorded():
        _check_countable(x, "to compute it would take")
    total = sum(map(_bytes, outputs))
    if total > 2**30 and recording_alone() and total > _capacity():
        what = (
            " and ".join(map(describe, outputs)) if len(outputs) < 4 else f"{len(outputs)} arrays"
        )
        refuse(
            f"the result would be {what} of {_readable(total)}, and {_readable(_capacity())} is "
            "all the memory there is",
            hint="under `jit`, what is only an intermediate of a program need not exist",
            error=MemoryError,
        )


def _check_countable(x: Any, what: str) -> None:
    if _bytes(x) > _LARGEST or min(known_sizes(x.shape), default=0) < 0:  # a size of 2**63 wraps
        refuse(f"{what} {describe(x)}, more bytes than 64 bits count", error=MemoryError)


def _bytes(x: Any) -> int:
    """The bytes of `x` without its empty dimensions: XLA multiplies sizes one after another."""
    if jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended):
        return 0
    return math.prod(n for n in known_sizes(x.shape) if n) * x.dtype.itemsize


@ft.cache
def _capacity() -> int:
    """Bytes that the host or all devices hold: which of them a result is for, is not known here."""
    stats = [device.memory_stats() or {} for device in jax.devices()]
    there = sum(each.get("bytes_limit", 0) for each in stats)
    return max(there, min([_physical(), *container_limits()]))


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # this system does not say
        return 2**48


def container_limits(root: Path = Path("/")) -> Iterator[int]:
    """Bytes that Linux lets this process's control groups take, of both versions of these.

    https://docs.kernel.org/admin-guide/cgroup-v2.html#memory
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # another system
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            top, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        # Within a container the group may be named as the host sees it: its files are at the top.
        for inner in (PurePosixPath(group), *PurePosixPath(group).parents):
            with contextlib.suppress(OSError, ValueError):  # not there, or "max"
                yield int((top / inner.relative_to("/") / name).read_text())


def _readable(size: int) -> str:
    return f"{size / 2**30:,.0f} GiB"
