"""Calling a model with other parameters than its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import describe, explain_unknown_keywords, fail, nearest
from functx._core.numbers.weak_types import strong_tree

from .arguments import registration_of, require_bools, require_callable
from .generics import Y


__all__ = ["functional_call"]


@explain_unknown_keywords()
def functional_call(
    module: Callable[..., Y],
    parameter_and_buffer_dicts: Any,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Y:
    """Calls `module` with other parameters than its own, so that they can be transformed.

    - `module`: a callable pytree (a dataclass registered with JAX, an Equinox module), whose named
      leaves are replaced; or a plain function `f(parameters, *args, **kwargs)`.
    - `parameter_and_buffer_dicts`: a dict from names of leaves to arrays, a tuple or list of such
      dicts with distinct names (parameters and buffers, say), or a tree of the module's structure.
      Names are dotted paths such as `layers.0.weight`. Arrays may have any shape and dtype.
    - `args`: the positional arguments, a tuple; anything else is the only argument.
    - `kwargs`: the keyword arguments, a dict or None.
    - `tie_weights`: whether a leaf that is the same array as a named one is replaced with it.
    - `strict`: whether every leaf of `module` must be named, or tied to one that is.

    Returns what `module` returns.

    Errors: ValueError for unknown names, which it tells with the nearest ones, for repeated names,
    and for different values for tied leaves; TypeError for a module that is no pytree.

    >>> def linear(parameters, x):
    ...     return parameters["w"] * x
    >>> functx.functional_call(linear, {"w": jnp.float32(2)}, jnp.float32(3))
    Array(6., dtype=float32)
    """
    require_callable("functional_call", module)
    require_bools("functional_call", tie_weights=tie_weights, strict=strict)
    given = parameter_and_buffer_dicts
    args = args if isinstance(args, tuple) else () if args is None else (args,)
    kwargs = kwargs or {}
    structure = jax.tree.structure(module)
    if jax.tree_util.treedef_is_leaf(structure):
        parameters = _merged(given)
        _require_function(module, parameters, args, kwargs)
        return strong_tree(module(parameters, *args, **kwargs))
    if jax.tree.structure(given) == structure:
        return strong_tree(given(*args, **kwargs))
    return strong_tree(_replaced(module, _merged(given), tie_weights, strict)(*args, **kwargs))


def _require_function(
    module: Any, parameters: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Refuses an object that holds parameters of its own which JAX cannot see.

    It is one if the call names them, or if it has arrays and its call has no place for parameters.
    """
    kind, own = type(module), _named_arrays(module)
    given = [str(name) for name in parameters] if isinstance(parameters, dict) else []
    torch = any(base.__module__.startswith("torch.") for base in kind.__mro__)
    named = any(name.partition(".")[0] in getattr(module, "__dict__", {}) for name in given)
    if not torch and not named and (not own or _takes(module, parameters, *args, **kwargs)):
        return
    unknown = next((name for name in given if name not in own), None) if own else None
    hints = []
    if unknown is not None:
        hints.append(nearest(unknown, own, cutoff=0.4) or f"its arrays are {', '.join(own)}")
    if torch:
        hints.append("write the module as a function f(parameters, x), or as a dataclass of arrays")
    else:
        hints.append(registration_of(module))
    fail(
        "functional_call",
        f"`module` must be a pytree or a function of the parameters, got an object of type "
        f"{kind.__name__}, which JAX does not look into"
        + (f", and which has no array named {unknown!r}" if unknown is not None else ""),
        hint=" ".join(hints),
        error=TypeError,
    )


def _named_arrays(module: Any) -> list[str]:
    """The dotted names of the arrays among the attributes of an object."""
    pairs = jax.tree_util.tree_leaves_with_path(getattr(module, "__dict__", {}))
    return [
        jax.tree_util.keystr(path, simple=True, separator=".")
        for path, x in pairs
        if isinstance(x, (jax.Array, np.ndarray))
    ]


def _takes(func: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether `func` has parameters for these arguments, as far as its signature tells."""
    try:
        inspect.signature(func).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # builtins need not say
        return True
    return True


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
                f"{', '.join(map(repr, repeated))} is in several dicts of "
                "`parameter_and_buffer_dicts`: which one counts is ambiguous",
                error=ValueError,
            )
        merged |= part
    return merged


def _replaced(module: Any, parameters: Any, tie_weights: bool, strict: bool) -> Any:
    if not isinstance(parameters, dict):
        fail(
            "functional_call",
            "`parameter_and_buffer_dicts` must be a dict from names to arrays, a tuple of dicts, "
            f"or a tree like `module`, got {describe(parameters)}",
            error=TypeError,
        )
    pairs, structure = jax.tree_util.tree_flatten_with_path(module)
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in pairs]
    _require_known(list(parameters), names)
    if tie_weights:
        parameters = _with_tied(parameters, dict(zip(names, (x for _, x in pairs), strict=True)))
    if strict and (missing := [name for name in names if name not in parameters]):
        fail(
            "functional_call",
            f"strict=True, but `parameter_and_buffer_dicts` lacks {', '.join(map(repr, missing))}",
            error=ValueError,
        )
    leaves = [parameters.get(name, x) for name, (_, x) in zip(names, pairs, strict=True)]
    return structure.unflatten(leaves)


def _with_tied(parameters: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """`parameters`, also for the leaves that are the same arrays as those it names."""
    twins: dict[int, list[str]] = {}
    for name, x in own.items():
        if isinstance(x, (jax.Array, np.ndarray)):
            twins.setdefault(id(x), []).append(name)
    full = dict(parameters)
    for names in twins.values():
        given = [name for name in names if name in parameters]
        if any(parameters[name] is not parameters[given[0]] for name in given[1:]):
            fail(
                "functional_call",
                f"{' and '.join(map(repr, given))} are tied, and get different values",
                hint="name one of them, or pass tie_weights=False",
                error=ValueError,
            )
        if given:
            full |= dict.fromkeys(names, parameters[given[0]])
    return full


def _require_known(given: Sequence[Any], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            hint = nearest(str(name), names, cutoff=0.4)
            fail(
                "functional_call",
                f"`module` has no leaf named {name!r}",
                hint=hint or f"its leaves are {', '.join(names)}",
                error=ValueError,
            )
