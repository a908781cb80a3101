"""The parameters and buffers of a call, held against those of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from functx._core import describe, fail, foreign_hint, nearest


class ArrayFacts(NamedTuple):
    """The shape of an array and its dtype, as JAX has it in its present setting of 64 bit."""

    shape: tuple[int, ...]
    dtype: Any


def check_state(
    what: str,
    given: Any,
    required: Mapping[str, ArrayFacts],
    optional: Mapping[str, ArrayFacts],
) -> None:
    """Refuses a dict that lacks a name, has another, or an array of another shape."""
    if not isinstance(given, Mapping):
        hint = foreign_hint(given) or f"model.{what} is such a dict"
        message = f"`{what}` must be a dict from names to arrays, got {describe(given)}"
        fail("from_torch", message, hint=hint, error=TypeError)
    if given.keys() != required.keys():
        _check_names(what, given, required, optional)
    for name, x in given.items():
        facts = required.get(name) or optional[name]
        if not isinstance(x, (jax.Array, np.ndarray, np.generic)):
            message = f"`{what}[{name!r}]` must be an array, got {describe(x)}"
            fail("from_torch", message, hint=foreign_hint(x), error=TypeError)
        if x.shape != facts.shape:
            shape = ",".join(map(str, facts.shape))
            message = f"`{what}[{name!r}]` must have the shape [{shape}], got {describe(x)}"
            batched = x.ndim > len(facts.shape) and x.shape[1:] == facts.shape
            hint = "a batch of parameters is for functx.vmap" if batched else ""
            fail("from_torch", message, hint=hint, error=ValueError)


def _check_names(
    what: str,
    given: Mapping[str, Any],
    required: Mapping[str, ArrayFacts],
    optional: Mapping[str, ArrayFacts],
) -> None:
    missing = [name for name in required if name not in given]
    if missing:
        near = nearest(missing[0], [name for name in given if name not in required])
        meant = near.replace("did you mean", "it has") if near else ""
        many = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        message = f"`{what}` lacks {missing[0]!r}{many}"
        fail("from_torch", message, hint=meant.rstrip("?"), error=ValueError)
    for name in given:
        if name not in required and name not in optional:
            hint = nearest(name, [*required, *optional])
            fail("from_torch", f"`{what}` has no {name!r}", hint=hint, error=ValueError)
