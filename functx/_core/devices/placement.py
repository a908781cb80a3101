"""Where arrays live: what `device=` takes."""

from __future__ import annotations

import re
from typing import Any

import jax
from jax.experimental.layout import Format
from jax.sharding import Sharding

from functx._core.errors import describe, foreign_hint, refuse


_WANTED = "'cpu', 'gpu', 'cuda:0', a jax.Device or a Sharding"
_PLATFORMS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "tpu": "tpu"}
_NAME = re.compile(f"({'|'.join(_PLATFORMS)})(?::([0-9]{{1,9}}))?")


def as_device(device: Any) -> Any:
    """What `device=` names: `"cpu"`, `"gpu"`, `"cuda:0"`, a device, a sharding."""
    if isinstance(device, str):
        return find_device(device)
    if not isinstance(device, (jax.Device, Sharding, Format)):
        refuse(
            f"`device` must be {_WANTED}, got {describe(device)}",
            hint=foreign_hint(device),
            error=TypeError,
        )
    return device


def place(tree: Any, device: Any) -> Any:
    """The arrays of `tree` on a device, or laid out as a sharding says."""
    return jax.device_put(tree, device)


def find_device(name: str) -> Any:
    """The device that PyTorch would call `name`.

    Raises `RuntimeError` if this process has none, naming those it has.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        refuse(f"`device` must be {_WANTED}, got {name!r}", error=ValueError)
    platform, index = found.groups()
    try:
        devices = jax.devices(_PLATFORMS[platform])
    except RuntimeError:
        devices = []
    at = int(index or 0)
    if at >= len(devices):
        here = ", ".join(sorted({str(device) for device in (*jax.devices(), *devices)}))
        refuse(f"`device` {name!r} is not there; JAX has {here}")
    return devices[at]
