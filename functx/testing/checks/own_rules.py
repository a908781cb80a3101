"""Which entries have derivative rules of their own, by what a trace of them calls."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator
from typing import Any

import jax
from jax.extend.core import jaxprs_in_params

from functx._core import category
from functx.testing.opinfo import OpInfo

from .cases import sized, whole_function


_RULES = {"function_call"}
# JAX's functions have rules too, which JAX tests; in a function of yours they are yours.
_JAX_RULES = {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}


@ft.lru_cache(maxsize=1024)
def has_own_rules(info: OpInfo) -> bool:
    """Whether a sample's trace calls a function whose derivative is given, not derived."""
    if not info.differentiable:
        return False
    rules = _RULES if info.spec is not None else _RULES | _JAX_RULES
    dtype = next((d for d in ("float64", "float32", "complex128") if d in info.accepted), None)
    if dtype is None:
        return False
    for sample in info.draw(dtype, lanes=1):
        f, arrays = whole_function(info, sized(info, sample))
        if any(category(x.dtype) >= 2 for x in arrays):
            if any(name in rules for name in _primitives(jax.make_jaxpr(f)(*arrays).jaxpr)):
                return True
    return False


def _primitives(jaxpr: Any) -> Iterator[str]:
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for inner in jaxprs_in_params(eqn.params):
            yield from _primitives(inner)
