"""Which operators write in place, and what may be written: PyTorch's rules, in one place."""

from __future__ import annotations

import functools as ft
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import (
    broadcasts_to,
    category,
    converted,
    describe,
    OPERATORS,
    OpSpec,
    Promote,
    refuse,
    REGISTRY,
)
from functx._core.operators.roles import RoleKind

from .storage import hidden_if_no_grad
from .view_methods import METADATA_METHODS, view_method
from .views import View


_NAMESPACES = ("", "nn.functional.", "special.")  # where methods are found, in this order
_ARRAYS = (RoleKind.ARRAY, RoleKind.UNPROMOTED)
_WRITES_ITS_DTYPE = ("float_power",)  # PyTorch casts no result of these
_NUMBERS = (bool, int, float, complex)


def has_in_place_form(spec: OpSpec) -> bool:
    """Whether an operator has a form with a suffix, `add_` of `add`: the one rule for all.

    It has, if it gives one array and takes the array first, so that the result may be written back.
    What reduces dimensions, counts a size, or makes an array somewhere has none. That the result
    has the array's shape, and a dtype that can be cast to the array's, is checked at each call.
    """
    parameters = spec.parameters
    first = parameters.roles[parameters.positional[0]] if parameters.positional else None
    if first is None or first.kind not in _ARRAYS or first.several:
        return False
    counts = bool(spec.sizes_from_values) or "keepdim" in parameters.roles
    makes = any(role.kind is RoleKind.DEVICE for role in parameters.roles.values())
    return not counts and not makes and spec.rule.__annotations__.get("return") == "Array"


def operator_of(method: str) -> str | None:
    """The operator that a method without a suffix calls, or None."""
    return _methods().get(method)


def in_place_operator(method: str) -> str | None:
    """The operator that a method with a suffix writes back, or None."""
    name = operator_of(method[:-1]) if method.endswith("_") else None
    if name is None or not has_in_place_form(REGISTRY[name]):
        return None
    of_view = method[:-1].removesuffix("_copy")  # what copies a view, as `view_copy`
    return None if view_method(of_view) else name


def in_place_methods() -> list[str]:
    """The names of all methods that write in place by an operator."""
    return [f"{name}_" for name in _methods() if in_place_operator(f"{name}_")]


@ft.cache
def _methods() -> dict[str, str]:
    """Operators by the names of the methods that call them."""
    found: dict[str, str] = {}
    for space in _NAMESPACES:
        for name, spec in REGISTRY.items():
            for path in (name, *spec.aliases):
                head, _, last = path.rpartition(".")
                if head == space.rstrip("."):
                    found.setdefault(last, name)
    return found


def write_result(view: View, result: Any, operator: str = "") -> None:
    """Writes what an operator gave into a view, cast to its dtype, where PyTorch would."""
    hint = f"x = functx.{operator}(x, ...) gives a new array" if operator else ""
    if not isinstance(result, (jax.Array, np.ndarray)):
        refuse(f"the result must be one array, got {describe(result)}", hint=hint, error=TypeError)
    if tuple(result.shape) != tuple(view.shape):
        refuse(
            f"output with shape {list(view.shape)} doesn't match the shape {list(result.shape)} of "
            "the result",
            hint=hint,
        )
    result = jnp.asarray(result)
    _refuse_by_operator(view, result, operator)
    if category(result.dtype) > category(view.dtype):
        refuse(
            f"result type {result.dtype} can't be cast to the desired output type {view.dtype}",
            hint=hint,
        )
    _replace(view, result)


def _refuse_by_operator(view: View, result: jax.Array, operator: str) -> None:
    """Refuses results that could be cast, and that PyTorch does not write back all the same."""
    spec = REGISTRY.get(operator)
    if spec is None or result.dtype == view.dtype:
        return
    if spec.promote is Promote.COMPLEX_TO_FLOAT:
        refuse(f"the real result of {operator} is not written back to {view.dtype}")
    if operator in _WRITES_ITS_DTYPE:
        refuse(f"the array must have the dtype of the result, {result.dtype}, got {view.dtype}")


def copy(view: View, source: Any) -> None:
    """Writes an array or a number into a view, broadcast and cast, as PyTorch's `copy_`."""
    if type(source) in _NUMBERS:
        value = OPERATORS["fill"](view.read(), source)
    elif isinstance(source, (jax.Array, np.ndarray, np.generic)):
        if not broadcasts_to(source.shape, view.shape):
            refuse(f"the source must broadcast to {list(view.shape)}, got {describe(source)}")
        value = jnp.broadcast_to(jnp.asarray(source), view.shape)
    else:
        refuse(f"the source must be an array or a number, got {describe(source)}", error=TypeError)
    _replace(view, value)


def _replace(view: View, value: jax.Array) -> None:
    view.check_writable()
    value = converted(value, view.dtype)
    view.write(hidden_if_no_grad(view.read(), value))


def suffix_names() -> list[str]:
    """All names with a suffix: writes by operators, and changes of the array's own view."""
    return sorted({*in_place_methods(), *METADATA_METHODS})
