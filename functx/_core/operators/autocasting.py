"""What an autocast region does to the arguments of an operator, by its declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core.context.autocast_regions import AutocastRegion
from functx._core.context.user_contexts import autocast_region
from functx._core.errors import refuse
from functx._core.numbers.promotion import joined

from .catalog import Autocast, OpSpec
from .roles import RoleKind


# What autocast casts, and casts to. float64 stays: who asked for it wants its digits.
AUTOCAST_DTYPES = tuple(map(jnp.dtype, ("float16", "bfloat16", "float32")))


def autocast_policy(spec: OpSpec, region: AutocastRegion) -> Autocast:
    """What the region's device does to the arguments of the operator."""
    return spec.autocast if region.device == "gpu" else spec.autocast_cpu


def autocast(spec: OpSpec, given: dict[str, Any]) -> dict[str, Any]:
    """Bound arguments as the region in force has them, where it casts the operator's.

    What has a dtype of its own, as weights of losses, is cast to a dtype that is named, and takes
    no part in the widest.
    """
    region = autocast_region.value
    if region is None:
        return given
    policy = autocast_policy(spec, region)
    promoting = jax.tree.leaves([given.get(name) for name in spec.promoting])
    dtype = _target(spec, policy, region.lower, given, list(filter(is_autocast, promoting)))
    if dtype is None:
        return given
    kinds = (
        (RoleKind.ARRAY,) if policy is Autocast.WIDEST else (RoleKind.ARRAY, RoleKind.UNPROMOTED)
    )
    cast = lambda x: _cast(x, dtype) if is_autocast(x) else x
    return {
        name: jax.tree.map(cast, value) if spec.roles[name].kind in kinds else value
        for name, value in given.items()
    }


def is_autocast(x: Any) -> bool:
    """Whether autocast casts `x`: an array in single or half precision, no Python number."""
    dtype = getattr(x, "dtype", None)
    return dtype in AUTOCAST_DTYPES and not getattr(x, "weak_type", False)


def _cast(x: Any, dtype: np.dtype) -> Any:
    if isinstance(x, jax.ShapeDtypeStruct):
        return jax.ShapeDtypeStruct(x.shape, dtype)
    return lax.convert_element_type(x, dtype)


def _target(
    spec: OpSpec,
    policy: Autocast,
    lower: np.dtype,
    given: Mapping[str, Any],
    arrays: Sequence[Any],
) -> np.dtype | None:
    """The dtype that arguments are cast to, None if they stay."""
    if policy is Autocast.KEEP or not arrays:
        return None
    if policy is Autocast.BANNED:
        refuse(
            "it is unsafe in an autocast region: in a half, the sigmoid before it rounds to 0 or "
            "1, whose logarithm is infinite",
            hint=f"{spec.name}_with_logits takes what the sigmoid takes, and is safe; or call this "
            "in functx.amp.autocast(enabled=False), on float32",
        )
    if policy is Autocast.FLOAT32:
        return np.dtype("float32") if given.get("dtype") is None else None
    return joined([np.dtype(x.dtype) for x in arrays]) if policy is Autocast.WIDEST else lower
