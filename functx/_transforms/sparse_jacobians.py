"""Jacobians of functions of sparse arrays, as sparse arrays."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, TypeVar

import jax.numpy as jnp

from functx._core import fail

from .arguments import Argnums, checked_argnums, pick
from .outputs import split_aux
from .sparse_arrays import holds_sparse, show, sparse_module, SparseLayout, StoredValues


F = TypeVar("F", bound=Callable[..., Any])


def for_sparse_arrays(make: F) -> F:
    """`make(who, func, argnums, has_aux, ...)`, which makes a Jacobian of a function of dense
    arrays, for arguments and outputs that may be sparse.
    """

    @ft.wraps(make)
    def made(
        who: str,
        func: Callable[..., Any],
        argnums: Argnums,
        has_aux: bool,
        *options: Any,
        as_real: bool,
        **named: Any,
    ) -> Callable[..., Any]:
        def dense(func: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Callable[..., Any]:
            return make(who, func, argnums, has_aux, *options, as_real=as_real, **named)

        for_func = dense(func, argnums, has_aux)

        @ft.wraps(func)
        def jacobian(*args: Any, **kwargs: Any) -> Any:
            if not holds_sparse((args, kwargs)):
                return for_func(*args, **kwargs)
            picked = pick(who, func, checked_argnums(who, argnums), args, kwargs)
            if not holds_sparse(picked.values):
                return for_func(*args, **kwargs)
            if as_real:
                fail(
                    who,
                    "`as_real` is for dense arguments",
                    hint="differentiate a function of the stored values, array.data",
                    error=ValueError,
                )
            layout = SparseLayout.of(picked.values)

            def function(*values: Any) -> Any:
                output = picked.function(*layout.joined(values))
                output, aux = split_aux(who, output) if has_aux else (output, None)
                found = SparseLayout.of(output)
                return found.values(output), (found, aux)

            which = tuple(range(len(picked.values)))
            values = layout.values(picked.values)
            jac, (found, aux) = dense(function, which, True)(*values)
            jac = _joined(who, jac, found, layout, isinstance(argnums, tuple))
            return (jac, aux) if has_aux else jac

        return jacobian

    return made  # pyright: ignore[reportReturnType]


def _joined(who: str, jac: Any, outputs: SparseLayout, inputs: SparseLayout, several: bool) -> Any:
    """Blocks of stored values as arrays, the sparse ones with their indices."""
    rows = []
    for row, output in zip(outputs.structure.flatten_up_to(jac), outputs.templates, strict=True):
        blocks = zip(inputs.structure.flatten_up_to(row), inputs.templates, strict=True)
        row = inputs.structure.unflatten([_block(who, b, output, x) for b, x in blocks])
        rows.append(row if several else row[0])
    return outputs.structure.unflatten(rows)


def _block(who: str, block: Any, output: Any, input: Any) -> Any:
    """A block `[*output values, *input values]` as the array of both shapes.

    `output` and `input` are sparse arrays without values, or None for dense ones.
    """
    for x in (output, input):
        _require_bcoo(who, x)
    if output is None:
        return block if input is None else _of_dense(block, input)
    if input is None:
        return type(output)(
            (block, output.indices),
            shape=(*output.shape, *block.shape[output.n_batch + 1 + _dense(output) :]),
            indices_sorted=output.indices_sorted,
            unique_indices=output.unique_indices,
        )
    if _dense(output) or input.n_batch:
        fail(
            who,
            "no BCOO holds the derivative of a sparse array with dense dimensions, or that with "
            f"respect to one with batch dimensions, got {show(output)} and {show(input)}",
            hint="differentiate a function of the stored values, array.data",
        )
    return _of_sparse(block, output, input)


def _of_dense(block: Any, input: Any) -> Any:
    """A batch of sparse arrays like `input`, one for each element of the output."""
    lead = block.ndim - (input.n_batch + 1 + _dense(input))
    ones = (1,) * lead  # BCOO broadcasts indices along batch dimensions
    return type(input)(
        (block, input.indices.reshape(*ones, *input.indices.shape)),
        shape=(*block.shape[:lead], *input.shape),
        indices_sorted=input.indices_sorted,
        unique_indices=input.unique_indices,
    )


def _of_sparse(block: Any, output: Any, input: Any) -> Any:
    """A sparse array in which each stored value of the output has one for each of the input."""
    lead, many, few = output.n_batch, output.nse, input.nse
    rows = jnp.repeat(output.indices, few, axis=-2)
    batch = rows.shape[:lead]
    columns = jnp.broadcast_to(input.indices, (*batch, many, *input.indices.shape))
    columns = columns.reshape(*batch, many * few, input.n_sparse).astype(rows.dtype)
    values = block.reshape(*block.shape[:lead], many * few, *block.shape[lead + 2 :])
    unique = output.unique_indices and input.unique_indices
    return type(output)(
        (values, jnp.concatenate([rows, columns], -1)),
        shape=(*output.shape, *input.shape),
        indices_sorted=output.indices_sorted and input.indices_sorted and unique,
        unique_indices=unique,
    )


def _dense(x: Any) -> int:
    """How many dense dimensions `x` has, whose values are not there to tell."""
    return len(x.shape) - x.n_batch - x.n_sparse


def _require_bcoo(who: str, x: Any) -> None:
    if isinstance(x, StoredValues):
        fail(
            who,
            f"there is no Jacobian of a {type(x).__name__}, nor with respect to one",
            hint="make it inside of the mapped function, for one array of the batch; functx.grad, "
            "functx.vjp and functx.jvp take such batches",
            error=TypeError,
        )
    if x is not None and not isinstance(x, sparse_module().BCOO):
        fail(
            who,
            f"sparse arrays must be BCOO, got {show(x)}",
            hint="x.to_bcoo() of a BCSR; jax.experimental.sparse.BCOO.fromdense(x.todense())",
            error=TypeError,
        )
