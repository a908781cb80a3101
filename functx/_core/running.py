"""What happens around an operator's rule while it is traced, once per signature."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .catalog import Autocast, OpSpec
from .dtypes import Accepts, as_dtype, category, real_of
from .errors import describe, refuse, Refused
from .promotion import compute_and_result, Promote, result_dtype
from .random import as_key, Draw
from .signature import (
    canonical_dim,
    canonical_dims,
    canonical_shape,
    DIMENSIONS,
    DTYPES,
    SCALARS,
    SEVERAL,
    SHAPES,
)
from .state import autocast_dtype, checking_values
from .values import check_inside


_FORBIDDEN = {
    "out": "operators return their result; arrays are immutable",
    "requires_grad": "name what to differentiate: functx.grad(f, argnums=...)",
    "layout": "arrays are dense; XLA chooses their layout",
    "memory_format": "XLA chooses the layout of arrays",
    "pin_memory": "move arrays with jax.device_put",
    "generator": "pass `key=`, or enter `with functx.random.scope(generator):`",
}


def run(spec: OpSpec, *args: Any, rule: Callable[..., Any] | None = None, **kwargs: Any) -> Any:
    """The rule as users meet it: arguments checked, cast and canonical; results cast back."""
    given = bound(spec, args, kwargs)
    arrays, result = _promoted(spec, given)
    for name, default in spec.canonical_defaults.items():
        given.setdefault(name, default)
    canonicalize(spec, given)
    if checking_values.value and spec.requires is not None:
        check_inside(spec.name, spec.requires(jnp, **with_defaults(spec, given)))
    try:
        out = (rule or spec.rule)(**given)
    except (TypeError, ValueError) as error:
        if isinstance(error, jax.errors.JAXTypeError):
            raise
        raise _reworded(spec, arrays, error) from error
    compute = arrays[0].dtype if arrays else None
    return jax.tree.map(ft.partial(_finish, compute=compute, result=result), out)


def bound(spec: OpSpec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, or a refusal that says which one does not belong."""
    try:
        return dict(spec.signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        for name in kwargs:
            if name in _FORBIDDEN and name not in spec.notes:
                refuse(f"`{name}` does not exist here", hint=_FORBIDDEN[name], error=TypeError)
        refuse(
            str(error),
            hint=f"the signature is {spec.name}{_plain(spec)}",
            error=TypeError,
        )


def _plain(spec: OpSpec) -> str:
    parameters = [p.replace(annotation=p.empty) for p in spec.signature.parameters.values()]
    return str(
        spec.signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    )


def with_defaults(spec: OpSpec, given: dict[str, Any]) -> dict[str, Any]:
    """`given`, and the defaults of what was left out."""
    parameters = spec.signature.parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty} | given


def canonicalize(spec: OpSpec, given: dict[str, Any]) -> None:
    """Dimensions become non-negative ints, shapes tuples, dtypes NumPy's, keys typed."""
    for name, value in given.items():
        note = spec.notes[name]
        if value is None:
            continue
        if note in DIMENSIONS:
            ndim = _ndim(spec, given)
            one = note.startswith("Dim ") or note == "Dim"
            given[name] = (canonical_dim if one else canonical_dims)(value, ndim, name)
        elif note in SHAPES:
            given[name] = canonical_shape(value, name)
        elif note in DTYPES:
            given[name] = as_dtype(value, name)
        elif note == "Key":
            given[name] = value.derive() if isinstance(value, Draw) else as_key(value)


def _ndim(spec: OpSpec, given: dict[str, Any]) -> int:
    """The rank that `dim` counts in: that of the first array."""
    first = jax.tree.leaves(given[next(name for name in spec.traced if name in given)])
    return jnp.ndim(first[0]) if first else 0


def _promoted(spec: OpSpec, given: dict[str, Any]) -> tuple[list[jax.Array], np.dtype | None]:
    """Casts the promoting arguments in place; gives them, and the dtype of the result."""
    _check_kinds(spec, given)
    names = [name for name in spec.promoting if given.get(name) is not None]
    arrays, tree = jax.tree.flatten([given[name] for name in names])
    _check_dtypes(spec, arrays)
    arrays = _autocast(spec, [jnp.asarray(x) for x in arrays])
    if spec.promote is Promote.SAME:
        _check_alike(arrays)
    result = None
    if spec.promote is not Promote.NONE and arrays:
        asked = given.get("dtype")
        common = result_dtype(arrays) if asked is None else as_dtype(asked)
        compute, result = compute_and_result(spec.promote, common, asked=asked is not None)
        arrays = [_cast(x, compute) for x in arrays]
    given.update(zip(names, jax.tree.unflatten(tree, arrays), strict=True))
    if arrays and spec.promote is not Promote.NONE:
        for name in given:
            if spec.notes[name] in SCALARS and given[name] is not None:
                given[name] = _scalar(given[name], arrays[0].dtype, name)
    return arrays, result


def _cast(x: jax.Array, dtype: np.dtype) -> jax.Array:
    if category(x.dtype) == 3 and category(dtype) < 3:
        x = lax.real(x)
    return lax.convert_element_type(x, dtype)


def _scalar(value: Any, dtype: np.dtype, name: str) -> Any:
    """A coefficient in the dtype of computation, which it may not widen to another kind."""
    kind = category(jnp.result_type(value))
    if kind > max(category(dtype), 1):
        refuse(
            f"`{name}` must not be {('bool', 'an integer', 'floating', 'complex')[kind]} for "
            f"{dtype.name} arrays, got {describe(value)}",
            error=TypeError,
        )
    return lax.convert_element_type(jnp.asarray(value), dtype)


def _check_kinds(spec: OpSpec, given: dict[str, Any]) -> None:
    for name in spec.traced:
        if name not in given:
            continue
        value, note = given[name], spec.notes[name]
        several = note in SEVERAL
        if value is None:
            if not note.endswith("| None") and note != "Key":
                refuse(f"`{name}` must be an array, got None", error=TypeError)
        elif several != isinstance(value, (tuple, list)) and note != "Key":
            wanted = "a sequence of arrays" if several else "an array"
            hint = "" if several else "jnp.asarray makes an array of nested lists"
            refuse(f"`{name}` must be {wanted}, got {describe(value)}", hint=hint, error=TypeError)
        elif several and any(isinstance(item, (tuple, list)) for item in value):
            refuse(f"`{name}` must be a sequence of arrays, got nested sequences", error=TypeError)


def _check_dtypes(spec: OpSpec, arrays: list[Any]) -> None:
    for x in arrays:
        if getattr(jax.typeof(x), "weak_type", False):
            continue
        if jnp.issubdtype(x.dtype, jax.dtypes.extended):
            refuse(f"expected an array of numbers, got {describe(x)}", error=TypeError)
        if x.dtype.name not in spec.accepts.value and x.dtype.name in Accepts.ANY.value:
            refuse(f"expected {spec.accepts.words} arrays, got {describe(x)}", error=TypeError)


def _check_alike(arrays: list[jax.Array]) -> None:
    strong = [x for x in arrays if not getattr(jax.typeof(x), "weak_type", False)]
    if any(x.dtype != strong[0].dtype for x in strong):
        refuse(
            f"arrays must have the same dtype, got {', '.join(map(describe, strong))}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )


def _autocast(spec: OpSpec, arrays: list[jax.Array]) -> list[jax.Array]:
    lower = autocast_dtype.value
    if lower is None or spec.autocast is Autocast.KEEP:
        return arrays
    floating = [x for x in arrays if category(x.dtype) == 2]
    if not floating:
        return arrays
    if spec.autocast is Autocast.WIDEST:
        dtype = result_dtype(floating)
    else:
        dtype = np.dtype(lower if spec.autocast is Autocast.LOWER else "float32")
    return [x.astype(dtype) if category(x.dtype) == 2 else x for x in arrays]


def _reworded(spec: OpSpec, arrays: list[jax.Array], error: Exception) -> Refused:
    """JAX's objection to what the rule did, in the operator's name and arguments."""
    got = ", ".join(map(describe, arrays))
    try:
        np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        return Refused(f"shapes do not fit: {got}", f"JAX says: {error}", RuntimeError)
    return Refused(f"cannot take {got}: {error}", "", type(error))


def _finish(out: Any, compute: np.dtype | None, result: np.dtype | None) -> jax.Array:
    """Casts what has the dtype of computation to the promised one and drops weak typing.

    An output of another kind (positions beside values, real parts of complex results)
    keeps it, at the result's width.
    """
    out = jnp.asarray(out)
    dtype = np.dtype(out.dtype) if not jnp.issubdtype(out.dtype, jax.dtypes.extended) else None
    if result is not None and dtype is not None:
        if out.dtype == compute or result == np.bool_:
            dtype = result
        elif category(dtype) == 2 and category(result) >= 2:
            dtype = real_of(result)
    return lax.convert_element_type(out, dtype or out.dtype)
