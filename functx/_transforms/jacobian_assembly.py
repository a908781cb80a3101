"""Jacobians, assembled from products with the standard basis."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

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
from .eager import eager_vjp, eager_vmap
from .holomorphy import (
    as_real_function,
    holomorphic_columns,
    holomorphic_rows,
    require_forward_pairs,
)
from .jacobian_columns import Column
from .outputs import checking, require_differentiable_output, signed
from .residuals.packing import packed
from .sparse_jacobians import for_sparse_arrays
from .tangents import leaf_types, LeafType


@for_sparse_arrays
def reverse_jacobian(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    chunk_size: int | str | None,
    max_bytes: int | None,
    require_pairs: Callable[..., None],
    *,
    as_real: bool,
) -> Callable[..., Any]:
    """`jacrev` for `who`; `require_pairs` says which dtypes of inputs and outputs it takes."""
    require_callable(who, func)
    require_bools(who, has_aux=has_aux, as_real=as_real)
    require_chunk_size(who, chunk_size, max_bytes)
    prepared = _preparing(who, func, checked_argnums(who, argnums), has_aux, as_real)

    @ft.wraps(func)
    @outside_grad_mode
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        function, values, paths, any_complex = prepared(args, kwargs)
        output, pull, *aux = eager_vjp(function, *values, has_aux=has_aux)
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
            by_jax = lambda: jax.vmap(row)(*basis)
            return eager_vmap(row, basis, [0] * len(basis), 0, by_jax), [0] * len(inputs)

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


@for_sparse_arrays
def forward_jacobian(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    randomness: Randomness | None,
    chunk_size: int | str | None,
    max_bytes: int | None,
    *,
    as_real: bool,
    judged: bool = False,
) -> Callable[..., Any]:
    """`jacfwd` for `who`; `judged` says that holomorphy has been looked at."""
    require_callable(who, func)
    require_bools(who, has_aux=has_aux, as_real=as_real)
    require_chunk_size(who, chunk_size, max_bytes)
    if randomness is not None:
        require_randomness(who, randomness)
    prepared = _preparing(who, func, checked_argnums(who, argnums), has_aux, as_real)

    @ft.wraps(func)
    @outside_grad_mode
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        function, values, paths, any_complex = prepared(args, kwargs)
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


def _preparing(
    who: str, func: Callable[..., Any], which: Any, has_aux: bool, as_real: bool
) -> Callable[..., tuple[Callable[..., Any], Any, Any, bool]]:
    """A call's function of the chosen arguments, their values and paths; whether any is complex.

    With `as_real`, complex arguments and outputs are pairs of real numbers, and none is complex.
    """

    def prepared(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], Any, Any, bool]:
        function, values, paths = pick(who, func, which, args, kwargs)
        values, any_complex = differentiable(who, values, paths)
        function = checking(who, function, has_aux, require_differentiable_output)
        if as_real:
            function, values = as_real_function(function, values, has_aux)
        return function, values, paths, any_complex and not as_real

    return prepared


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
