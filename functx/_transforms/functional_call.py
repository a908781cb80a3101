"""Calling a model with other parameters than its own."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any

import jax

from functx._core import describe, fail

from .arguments import require_callable
from .generics import Y


__all__ = ["functional_call"]


def functional_call(
    model: Callable[..., Y],
    parameters: Any,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    *,
    strict: bool = False,
) -> Y:
    """Calls `model` with `parameters` in place of its own, so that they can be transformed.

    - `model`: a callable pytree (a dataclass registered with JAX, an Equinox module): the
      leaves that `parameters` names are replaced; or a plain function
      `f(parameters, *args, **kwargs)`.
    - `parameters`: a dict from names of leaves to arrays, a tuple or list of such dicts with
      distinct names (parameters and buffers, say), or a tree of the model's structure.
      Names are dotted paths such as `layers.0.weight`.
    - `args`: the positional arguments; what is no tuple is the only one.
    - `strict`: every leaf of `model` must be named.

    Unknown names are refused with the nearest ones, repeated ones as ambiguous
    (`ValueError`).

    >>> def linear(parameters, x):
    ...     return parameters["w"] * x
    >>> functx.functional_call(linear, {"w": jnp.float32(2)}, jnp.float32(3))
    Array(6., dtype=float32)
    """
    require_callable("functional_call", model)
    args = args if isinstance(args, tuple) else () if args is None else (args,)
    kwargs = kwargs or {}
    structure = jax.tree.structure(model)
    if jax.tree_util.treedef_is_leaf(structure):
        return model(_merged(parameters), *args, **kwargs)
    if jax.tree.structure(parameters) == structure:
        return parameters(*args, **kwargs)
    return _replaced(model, _merged(parameters), strict)(*args, **kwargs)


def _merged(parameters: Any) -> Any:
    """Several dicts made one."""
    if not isinstance(parameters, (tuple, list)) or not parameters:
        return parameters
    if not all(isinstance(part, dict) for part in parameters):
        return parameters
    merged: dict[str, Any] = {}
    for part in parameters:
        repeated = sorted(merged.keys() & part.keys(), key=str)
        if repeated:
            fail(
                "functional_call",
                f"{', '.join(map(repr, repeated))} is in several dicts of `parameters`: which "
                "one counts is ambiguous",
                error=ValueError,
            )
        merged |= part
    return merged


def _replaced(model: Any, parameters: Any, strict: bool) -> Any:
    if not isinstance(parameters, dict):
        fail(
            "functional_call",
            "`parameters` must be a dict from names to arrays, a tuple of dicts, or a tree like "
            f"`model`, got {describe(parameters)}",
            error=TypeError,
        )
    pairs, structure = jax.tree_util.tree_flatten_with_path(model)
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in pairs]
    _require_known(list(parameters), names)
    if strict and (missing := [name for name in names if name not in parameters]):
        fail(
            "functional_call",
            f"strict=True, but `parameters` lacks {', '.join(map(repr, missing))}",
            error=ValueError,
        )
    leaves = [parameters.get(name, x) for name, (_, x) in zip(names, pairs, strict=True)]
    return structure.unflatten(leaves)


def _require_known(given: Sequence[Any], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
            fail(
                "functional_call",
                f"`model` has no leaf named {name!r}",
                hint=hint or f"its leaves are {', '.join(names)}",
                error=ValueError,
            )
