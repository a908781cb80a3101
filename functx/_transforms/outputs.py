"""Checks of what a transformed function returns, before JAX sees it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail, foreign_hint
from functx._core.numbers.weak_types import strong_tree

from .arguments import kind_of
from .concretization import tracing
from .numbers import as_arrays


OutputCheck = Callable[[str, Any], None]
F = TypeVar("F", bound=Callable[..., Any])

_ANY_ARGUMENTS = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])


def signed(function: F) -> F:
    """`function`, which takes `*args`, made to know its signature.

    JAX asks `inspect` for it at every eager transform, to name arguments in its own errors:
    without the answer at hand that takes a tenth of an eager `vmap`.
    """
    function.__dict__["__signature__"] = _ANY_ARGUMENTS
    return function


def checking(
    who: str, func: Callable[..., Any], has_aux: bool, check: OutputCheck
) -> Callable[..., Any]:
    """`func`, with what it returns checked; with `has_aux`, the first of the pair.

    That comes back as arrays, Python numbers of the default dtype. No array is weakly typed.
    """
    if has_aux:

        @signed
        def with_aux(*args: Any) -> tuple[Any, Any]:
            output, aux = split_aux(who, tracing(who, func, *args))
            check(who, output)
            return as_arrays(output), strong_tree(aux)

        return with_aux

    @signed
    def without_aux(*args: Any) -> Any:
        output = tracing(who, func, *args)
        check(who, output)
        return as_arrays(output)

    return without_aux


def split_aux(who: str, result: Any) -> tuple[Any, Any]:
    """The pair that `func` must return with `has_aux=True`."""
    if not isinstance(result, tuple) or len(result) != 2:
        fail(
            who,
            f"with has_aux=True `func` must return a pair (output, aux), got {_summary(result)}",
            error=TypeError,
        )
    return result


def require_scalar(who: str, output: Any) -> None:
    """Refuses an output that is not one real number, as a loss must be."""
    kind = kind_of(output)
    if kind == "real" and np.ndim(output) == 0:
        return
    if kind == "other":
        fail(
            who,
            f"`func` must return one scalar array, got {_summary(output)}",
            hint="has_aux=True lets it return (loss, anything)"
            if isinstance(output, tuple) and len(output) == 2
            else "vjp and jacrev take functions of any output",
            error=TypeError,
        )
    if np.ndim(output) != 0:
        fail(
            who,
            f"`func` must return a scalar, got {describe(output)}",
            hint="reduce it, or use vjp or jacrev",
            error=ValueError,
        )
    if kind == "complex":
        fail(
            who,
            f"`func` must return a real scalar, got {describe(output)}",
            hint="take its .real or abs(); for a holomorphic derivative use jacrev or jacfwd",
            error=TypeError,
        )
    fail(
        who,
        f"`func` must return a floating scalar, got {describe(output)}",
        hint="integers and booleans have no derivative",
        error=TypeError,
    )


def require_arrays(who: str, output: Any) -> None:
    """Refuses an output without leaves, or with one that is no array and no number."""
    if kind_of(output) != "other":
        return
    leaves = jax.tree.leaves(output)
    if not leaves:
        fail(who, f"`func` must return at least one array, got {output!r}", error=TypeError)
    for leaf in leaves:
        if kind_of(leaf) == "other" and not is_key(leaf) and not is_float0(leaf):
            _refuse_leaf(who, output)


def require_differentiable_output(who: str, output: Any) -> None:
    """Refuses outputs that are not real or complex: integers have no Jacobian."""
    require_arrays(who, output)
    for path, leaf in jax.tree_util.tree_leaves_with_path(output):
        if kind_of(leaf) not in ("real", "complex"):
            fail(
                who,
                f"`{path_of_output(path)}` must be real or complex, got {describe(leaf)}",
                hint="return it as aux (has_aux=True), or convert it to a floating dtype",
                error=TypeError,
            )


def is_key(x: Any) -> bool:
    """Whether `x` is an array of PRNG keys."""
    return isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def is_float0(x: Any) -> bool:
    """Whether `x` is what JAX has for the tangents and gradients of integers."""
    return getattr(x, "dtype", None) == jax.dtypes.float0


def path_of_output(path: Any) -> str:
    """The path of a leaf for error messages: `output['a'][0]`."""
    return "output" + jax.tree_util.keystr(path)


def _refuse_leaf(who: str, output: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(output):
        if kind_of(leaf) == "other" and not is_key(leaf) and not is_float0(leaf):
            fail(
                who,
                f"`{path_of_output(path)}` must be an array, got {describe(leaf)}",
                hint=foreign_hint(leaf) or _OTHERS[who == "vmap"],
                error=TypeError,
            )


_OTHERS = (
    "has_aux=True lets `func` return anything as aux",
    "out_dims=None hands back what is no array as it is",
)


def _summary(x: Any) -> str:
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of {len(x)}"
    return describe(x)
