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


# JAX's functions have rules too, which JAX tests; in a function of yours they are yours.
_RULES = {"function_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}


@ft.lru_cache(maxsize=1024)
def has_own_rules(info: OpInfo) -> bool:
    """Whether a sample's trace calls a function whose derivative is given, not derived.

    In an operator, a reverse rule must be: of a forward rule alone all other transforms are
    derived, by code that all operators share.
    """
    if not info.differentiable:
        return False
    own = _given_in_reverse if info.spec is not None else _given
    dtype = next((d for d in ("float64", "float32", "complex128") if d in info.accepted), None)
    if dtype is None:
        return False
    for sample in info.draw(dtype, lanes=1):
        f, arrays = whole_function(info, sized(info, sample))
        if any(category(x.dtype) >= 2 for x in arrays):
            if any(map(own, _equations(jax.make_jaxpr(f)(*arrays).jaxpr))):
                return True
    return False


def _given(eqn: Any) -> bool:
    return eqn.primitive.name in _RULES


def _given_in_reverse(eqn: Any) -> bool:
    return eqn.primitive.name == "function_call" and eqn.params["call"].has_reverse


def _equations(jaxpr: Any) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in jaxprs_in_params(eqn.params):
            yield from _equations(inner)
