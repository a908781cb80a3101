"""Jacobian-vector products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import jax

from functx._core import describe, explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.numbers.weak_types import is_weak

from .arguments import (
    differentiable,
    kind_of_dtype,
    numbered,
    require_bools,
    require_callable,
)
from .eager import eager_jvp
from .generics import Aux, Y
from .outputs import checking, path_of_output, require_arrays
from .programs.dependence import depending_outputs
from .sparse_arrays import holds_sparse, like_outputs, of_values, SparseLayout
from .tangents import matched, without_float0


__all__ = ["jvp"]


@overload
def jvp(
    func: Callable[..., Y],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: Literal[False] = False,
) -> tuple[Y, Y]: ...
@overload
def jvp(
    func: Callable[..., tuple[Y, Aux]],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: Literal[True],
) -> tuple[Y, Y, Aux]: ...
@overload
def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool,
) -> tuple[Any, ...]: ...
@explain_unknown_keywords()
def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """The value of `func` at `primals`, and its derivative along `tangents`.

    Returns `(output, tangent)`, and `(output, tangent, aux)` with `has_aux`.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `primals`: a tuple of positional arguments.
    - `tangents`: a tuple like `primals` in structure, shapes and dtypes.
    - `strict`: whether an output that does not depend on the primals is an error, not a zero.
    - `has_aux`: whether `func` returns `(output, aux)`.

    Shapes and dtypes: the tangent has those of the output; that of integers is zero.
    Errors: TypeError for integer primals and for tangents of other dtypes, ValueError for tangents
    of another structure or shape, RuntimeError with `strict`.

    >>> functx.jvp(jnp.square, (jnp.float32(3),), (jnp.float32(1),))
    (Array(9., dtype=float32), Array(6., dtype=float32))
    """
    require_callable("jvp", func)
    require_bools("jvp", strict=strict, has_aux=has_aux)
    if isinstance(primals, tuple) and holds_sparse(primals):
        layout = SparseLayout.of(primals)
        tangents = layout.matched("jvp", "tangents", tangents, "`primals`")
        func, primals = of_values(func, layout), layout.values(primals)
    primals, tangents = checked_tangents("jvp", primals, tangents)
    function = checking("jvp", func, has_aux, require_arrays)
    if not strict:
        output, tangent, *aux = outside_grad_mode(eager_jvp)(
            function, primals, tangents, has_aux=has_aux
        )
        return (output, _like(output, tangent), *aux)
    output, push, *aux = outside_grad_mode(jax.linearize)(function, *primals, has_aux=has_aux)
    _require_dependence(output, push, tangents)
    return (output, _like(output, outside_grad_mode(push)(*tangents)), *aux)


def _like(output: Any, tangent: Any) -> Any:
    return like_outputs(output, without_float0(tangent, jax.tree.leaves(output)))


def checked_tangents(
    who: str, primals: Any, tangents: Any
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """`primals` and `tangents` as arrays; a number for a tangent is in its primal's dtype."""
    if not isinstance(primals, tuple) or not primals:
        fail(
            who,
            f"`primals` must be a tuple of the arguments of `func`, got {describe(primals)}",
            hint="primals=(x,) for one argument",
            error=TypeError,
        )
    leaves, structure = jax.tree.flatten(primals)
    try:
        directions = structure.flatten_up_to(tangents)
        plain = all(map(_is_tangent, leaves, directions))
    except ValueError:
        plain = False
    if not plain:  # numbers to convert, or something to refuse
        primals = differentiable(who, primals, numbered("primals", len(primals))).values
        leaves = jax.tree.leaves(primals)
        directions = matched(who, "tangents", tangents, leaves, structure, "`primals`")
        tangents = structure.unflatten(directions)
    return primals, tangents


def _is_tangent(primal: Any, tangent: Any) -> bool:
    return (
        isinstance(primal, jax.Array)
        and isinstance(tangent, jax.Array)
        and tangent.dtype == primal.dtype
        and tangent.shape == primal.shape
        and kind_of_dtype(primal.dtype) in ("real", "complex")
        and not is_weak(primal)
        and not is_weak(tangent)
    )


def _require_dependence(output: Any, push: Callable[..., Any], tangents: tuple[Any, ...]) -> None:
    depends = depending_outputs(jax.make_jaxpr(push)(*tangents).jaxpr)
    paths = jax.tree_util.tree_leaves_with_path(output)
    for (path, _), does in zip(paths, depends, strict=True):
        if not does:
            fail(
                "jvp",
                f"`{path_of_output(path)}` does not depend on `primals`, which strict=True demands",
                hint="strict=False gives it a tangent of zeros",
            )
