"""Where arrays live: what `device=` takes."""

from __future__ import annotations

from typing import Any

import jax
from jax.experimental.layout import Format
from jax.sharding import Sharding

from .errors import foreign_hint, refuse


_WANTED = "'cpu', 'gpu', 'cuda:0', a jax.Device or a Sharding"
_PLATFORMS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "tpu": "tpu"}


def place(tree: Any, device: Any) -> Any:
    """The arrays of `tree` on `device`: `"cpu"`, `"gpu"`, `"cuda:0"`, a device, a sharding."""
    if isinstance(device, str):
        device = find_device(device)
    elif not isinstance(device, (jax.Device, Sharding, Format)):
        refuse(
            f"`device` must be {_WANTED}, got {device!r}",
            hint=foreign_hint(device),
            error=TypeError,
        )
    return jax.device_put(tree, device)


def find_device(name: str) -> Any:
    """The device that PyTorch would call `name`.

    Raises `RuntimeError` if this process has none, naming those it has.
    """
    platform, _, index = name.partition(":")
    if platform not in _PLATFORMS or not (index or "0").isdigit():
        refuse(
            f"`device` must be {_WANTED}, got {name!r}",
            error=ValueError,
        )
    try:
        devices = jax.devices(_PLATFORMS[platform])
    except RuntimeError:
        devices = []
    at = int(index or 0)
    if at >= len(devices):
        here = ", ".join(sorted({str(device) for device in jax.devices()}))
        refuse(f"`device` {name!r} is not there; JAX has {here}")
    return devices[at]
