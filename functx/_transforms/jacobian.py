"""Jacobians, assembled from products with the standard basis, and Hessians."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, overload

import jax
import numpy as np
from jax import Array

from functx._core import explain_unknown_keywords
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.devices.manual_axes import varying_axes, varying_over
from functx._core.randomness.ambient_generator import Randomness, split_lanes

from .arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    kind_of_dtype,
    pick,
    require_bools,
    require_callable,
    require_randomness,
)
from .basis import over_basis, split
from .chunking import require_chunk_size, resolved_chunk_size
from .conjugation import conjugate_leaf
from .generics import Aux, P
from .holomorphy import (
    as_real_function,
    holomorphic_columns,
    holomorphic_rows,
    require_forward_pairs,
    require_holomorphic_pairs,
    require_reverse_pairs,
)
from .jacobian_columns import Column
from .outputs import checking, require_differentiable_output, signed
from .residuals.packing import packed
from .tangents import leaf_types, LeafType


__all__ = ["hessian", "jacfwd", "jacrev"]


@overload
def jacrev(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def jacrev(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def jacrev(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `func`, one vector-Jacobian product per output element.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(jacobian, aux)` comes back.
    - `chunk_size`: how many rows are computed at once; fewer need less memory and more time. None
      is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `as_real`: whether complex leaves count as two reals, in last dimensions of size 2:
      `c64[*n] -> c64[*m]` gives `f32[*m, 2, *n, 2]`.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n]`. A tree of outputs is the outer tree of the
    result, a tuple of `argnums` the next, and the trees of the arguments the inner one.
    Dtypes: those of the inputs. A complex output of complex inputs has its complex derivative, the
    same as in `jacfwd`; a real output of complex inputs has its gradients, as `grad` has them, for
    rows; a complex output of real inputs is refused. `as_real=True` takes them all.
    Errors: TypeError for integer inputs; ValueError where a function of complex inputs is not
    holomorphic, which one more product finds out (while being recorded, the result is NaN, and
    `functx.debug.checked` raises), for a `chunk_size` below 1, and for `max_bytes` without
    `"auto"`.

    Prefer `jacfwd` when outputs outnumber inputs.

    >>> functx.jacrev(jnp.sin)(jnp.zeros(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _jacrev(
        "jacrev", func, argnums, has_aux, chunk_size, max_bytes, as_real, require_reverse_pairs
    )


@overload
def jacfwd(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def jacfwd(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `func`, one Jacobian-vector product per input element.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(jacobian, aux)` comes back.
    - `randomness`: what draws from the ambient generator give in the columns: `"error"` refuses
      them, `"same"` gives all columns the same numbers, which is the derivative of one random
      function, `"different"` gives each column its own.
    - `chunk_size`: how many columns are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `as_real`: whether complex leaves count as two reals, in last dimensions of size 2:
      `c64[*n] -> c64[*m]` gives `f32[*m, 2, *n, 2]`.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n]`. A tree of outputs is the outer tree of the
    result, a tuple of `argnums` the next, and the trees of the arguments the inner one.
    Dtypes: those of the outputs. A complex output of complex inputs has its complex derivative; a
    complex output of real inputs is fine, and a real output of complex inputs is refused: use
    `jacrev`, or `as_real=True`. With `randomness="different"`, holomorphy is not checked.
    Errors: TypeError for integer inputs; ValueError where a function of complex inputs is not
    holomorphic, for a `chunk_size` below 1, and for `max_bytes` without `"auto"`; RuntimeError for
    draws with `randomness="error"`.

    Prefer `jacrev` when inputs outnumber outputs.

    >>> functx.jacfwd(lambda x: x**2)(jnp.asarray([1, 2], "float32"))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    return _jacfwd("jacfwd", func, argnums, has_aux, randomness, chunk_size, max_bytes, as_real)


@overload
def hessian(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def hessian(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def hessian(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def hessian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[..., Any]:
    """The second derivative of `func`: `jacfwd` of `jacrev`, forward over reverse mode.

    - `func`: a function of trees of floating or complex arrays that returns a tree of them.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(hessian, aux)` comes back.
    - `chunk_size`: how many Hessian-vector products are computed at once; fewer need less memory
      and more time. None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `as_real`: whether complex leaves count as two reals, in last dimensions of size 2.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n, *n]`. A tree of outputs is the outer tree of the
    result; a tuple of `argnums` and the trees of the arguments come next, twice.
    Dtypes: those of the outputs and inputs promoted. Without `as_real`, complex outputs of complex
    inputs (holomorphic) and real outputs of real inputs have a Hessian; `hvp` takes real functions
    of complex inputs.
    Errors: TypeError for integers, ValueError for functions that are not holomorphic, a
    `chunk_size` below 1, and `max_bytes` without `"auto"`.

    >>> functx.hessian(lambda x: (x**3).sum())(jnp.asarray([1, 2], "float32"))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    rows = _jacrev(
        "hessian", func, argnums, has_aux, None, None, as_real, require_holomorphic_pairs
    )
    return _jacfwd(
        "hessian", rows, argnums, has_aux, None, chunk_size, max_bytes, as_real, judged=True
    )


def _jacrev(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    chunk_size: int | str | None,
    max_bytes: int | None,
    as_real: bool,
    require_pairs: Callable[..., None],
) -> Callable[..., Any]:
    require_callable(who, func)
    require_bools(who, has_aux=has_aux, as_real=as_real)
    require_chunk_size(who, chunk_size, max_bytes)
    which = checked_argnums(who, argnums)

    @ft.wraps(func)
    @outside_grad_mode
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        function, values, paths = pick(who, func, which, args, kwargs)
        values, any_complex = differentiable(who, values, paths)
        any_complex = any_complex and not as_real
        function = checking(who, function, has_aux, require_differentiable_output)
        if as_real:
            function, values = as_real_function(function, values, has_aux)
        output, pull, *aux = jax.vjp(function, *values, has_aux=has_aux)
        require_pairs(who, values, paths, output)
        pull = packed(pull)
        outputs, output_structure = leaf_types(output)
        inputs, input_structure = leaf_types(values)

        axes = [varying_axes(y) for y in jax.tree.leaves(output)]

        @signed
        def row(*cotangents: Any) -> list[Any]:
            cotangents = tuple(map(varying_over, cotangents, axes))
            return jax.tree.leaves(pull(output_structure.unflatten(cotangents)))

        def rows(basis: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
            return jax.vmap(row)(*basis), [0] * len(inputs)

        lanes = resolved_chunk_size(chunk_size, max_bytes, row, _lane(outputs))
        stacked = over_basis(rows, outputs, lanes)
        blocks = [
            [
                _oriented(block.reshape(out.shape + x.shape), out, any_complex)
                for x, block in zip(inputs, of_output, strict=True)
            ]
            for out, of_output in zip(outputs, split(stacked, outputs, axis=0), strict=True)
        ]
        if any_complex:
            blocks = holomorphic_rows(who, row, outputs, inputs, blocks)
        jac = _nested(blocks, output_structure, input_structure, argnums)
        return (jac, aux[0]) if has_aux else jac

    return jacobian


def _jacfwd(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    randomness: Randomness | None,
    chunk_size: int | str | None,
    max_bytes: int | None,
    as_real: bool,
    *,
    judged: bool = False,
) -> Callable[..., Any]:
    require_callable(who, func)
    require_bools(who, has_aux=has_aux, as_real=as_real)
    require_chunk_size(who, chunk_size, max_bytes)
    if randomness is not None:
        require_randomness(who, randomness)
    which = checked_argnums(who, argnums)

    @ft.wraps(func)
    @outside_grad_mode
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        function, values, paths = pick(who, func, which, args, kwargs)
        values, any_complex = differentiable(who, values, paths)
        any_complex = any_complex and not as_real
        function = checking(who, function, has_aux, require_differentiable_output)
        if as_real:
            function, values = as_real_function(function, values, has_aux)
        inputs, input_structure = leaf_types(values)
        column = Column(
            function,
            values,
            input_structure,
            split_lanes(who, randomness),
            randomness == "different",
            has_aux,
            ft.partial(require_forward_pairs, who, values, paths),
        )
        lanes = resolved_chunk_size(chunk_size, max_bytes, column, _lane(inputs, column.per_lane))
        stacked = over_basis(column.side_by_side, inputs, lanes, with_index=column.per_lane)
        outputs = column.outputs
        by_input = split(stacked[: len(outputs)], inputs, axis=-1)
        blocks = [
            [
                of_input[o].reshape(out.shape + x.shape)
                for x, of_input in zip(inputs, by_input, strict=True)
            ]
            for o, out in enumerate(outputs)
        ]
        if any_complex and not judged and not column.per_lane:  # lanes may be different functions
            push = lambda *tangents: column(*tangents)[0]
            blocks = holomorphic_columns(who, push, outputs, inputs, blocks)
        jac = _nested(blocks, column.output_structure, input_structure, argnums)
        return (jac, column.aux(stacked[len(outputs) :])) if has_aux else jac

    return jacobian


def _lane(types: Sequence[LeafType], with_index: bool = False) -> list[jax.ShapeDtypeStruct]:
    lane = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in types]
    return [*lane, jax.ShapeDtypeStruct((), np.int32)] if with_index else lane


def _oriented(block: jax.Array, output: LeafType, any_complex: bool) -> jax.Array:
    """JAX's row, conjugated for a real output; a holomorphic output's row is the derivative."""
    if any_complex and kind_of_dtype(output.dtype) == "real":
        return conjugate_leaf(block)
    return block


def _nested(blocks: Sequence[Sequence[Any]], outputs: Any, inputs: Any, argnums: Argnums) -> Any:
    """The blocks as a tree: outputs, then the tuple of `argnums` if it is one, then arguments."""
    trees = [inputs.unflatten(of_output) for of_output in blocks]
    return outputs.unflatten(trees if isinstance(argnums, tuple) else [x for (x,) in trees])
