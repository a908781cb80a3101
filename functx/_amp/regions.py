"""Which autocast region is in force, and the one that a call of `autocast` asks for."""

from __future__ import annotations

import contextvars
import dataclasses
from typing import Any

import jax
import numpy as np

from functx._core import as_dtype, describe, fail, Refused
from functx._core.context.autocast_regions import AutocastDevice, AutocastRegion
from functx._core.context.user_contexts import autocast_region


_PLATFORMS: dict[str, AutocastDevice] = {
    "cpu": "cpu",
    "gpu": "gpu",
    "cuda": "gpu",
    "rocm": "gpu",
    "tpu": "gpu",  # PyTorch's lists for its XLA devices are those for GPUs
}
LOWER_DTYPES = ("float16", "bfloat16")


@dataclasses.dataclass(frozen=True)
class RegionRequest:
    """What a call of `autocast` asks for; what it leaves out is settled where it is entered."""

    dtype: np.dtype | None
    enabled: bool
    device: Any

    def region(self) -> AutocastRegion | None:
        """The region, inside the one that is in force here."""
        if not self.enabled:
            return None
        around = autocast_region.value
        device = device_kind("autocast", self.device)
        if self.dtype is not None:
            return AutocastRegion(self.dtype, device)
        inherits = around is not None and around.device == device
        return around if inherits else AutocastRegion(default_lower(self.device), device)


# The contexts that were entered and not left, the innermost last: those of this thread and task.
_entered: contextvars.ContextVar[tuple[Any, ...]] = contextvars.ContextVar("entered", default=())


class AutocastContext:
    """A region of autocast: the body of a `with`, which may be entered again.

    Threads and asyncio tasks may enter one at the same time.
    """

    def __init__(self, request: RegionRequest) -> None:
        self.request = request

    def __enter__(self) -> None:
        context = autocast_region(self.request.region())
        context.__enter__()
        _entered.set((*_entered.get(), context))

    def __exit__(self, *exception: Any) -> None:
        *around, context = _entered.get()
        _entered.set(tuple(around))
        context.__exit__(*exception)


def device_kind(who: str, device: Any) -> AutocastDevice:
    """Whose lists `device` names; by default those of the region around, else of the backend."""
    if device is None:
        around = autocast_region.value
        return _PLATFORMS.get(jax.default_backend(), "gpu") if around is None else around.device
    return _PLATFORMS[platform_of(who, device)]


def platform_of(who: str, device: Any) -> str:
    """The platform that `device` names, as a string or as one of JAX's devices."""
    name = device.platform if isinstance(device, jax.Device) else device
    platform = name.partition(":")[0] if isinstance(name, str) else None
    if platform not in _PLATFORMS:
        fail(
            who,
            f"`device` must be {', '.join(map(repr, _PLATFORMS))} or a jax.Device, "
            f"got {describe(device)}",
            error=ValueError if isinstance(device, str) else TypeError,
        )
    return platform


def default_lower(device: Any) -> np.dtype:
    """The lower dtype of regions that name none: float16 on GPUs, bfloat16 elsewhere."""
    platform = jax.default_backend() if device is None else platform_of("autocast", device)
    on_gpu = _PLATFORMS.get(platform, "gpu") == "gpu" and platform != "tpu"
    return as_dtype("float16" if on_gpu else "bfloat16")


def lower_dtype(dtype: Any) -> np.dtype | None:
    """The lower dtype that a caller names, refused unless products can be computed in it."""
    if dtype is None:
        return None
    try:
        found = as_dtype(dtype)
    except Refused as refused:
        raise refused.by("autocast") from None
    if found.name not in LOWER_DTYPES:
        fail(
            "autocast",
            f"`dtype` must be float16 or bfloat16, got {found.name}",
            hint="autocast(enabled=False) is a region in which nothing is cast",
            error=ValueError,
        )
    return found


def is_autocast_enabled(device: Any = None) -> bool:
    """Whether an autocast region is in force here, in this thread.

    - `device`: asks for a region with the lists of this device: `"cuda"`, `"cpu"`, a `jax.Device`.
      `None` asks for any.

    >>> functx.amp.is_autocast_enabled()
    False
    >>> with functx.amp.autocast(jnp.bfloat16, device="cpu"):
    ...     functx.amp.is_autocast_enabled(), functx.amp.is_autocast_enabled("cuda")
    (True, False)
    """
    region = autocast_region.value
    if device is None or region is None:
        return region is not None
    return region.device == device_kind("is_autocast_enabled", device)


def get_autocast_dtype(device: Any = None) -> np.dtype:
    """The dtype in which products are computed in the region in force here.

    - `device`: whose lists the region has: `"cuda"`, `"cpu"`, a `jax.Device`. `None`, the
      default, asks for the region in force, whatever its device.

    Outside of a region it is the dtype that a region would have by default on that device: float16
    on GPUs, bfloat16 on CPUs and TPUs.

    >>> with functx.amp.autocast(jnp.float16):
    ...     functx.amp.get_autocast_dtype()
    dtype('float16')
    >>> functx.amp.get_autocast_dtype("cpu")
    dtype(bfloat16)
    """
    region = autocast_region.value
    kind = device_kind("get_autocast_dtype", device)
    if region is not None and region.device == kind:
        return region.lower
    return default_lower(device)
