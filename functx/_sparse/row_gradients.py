"""Gradients of tables by the rows that were looked up, which never make the whole gradient."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.context.user_contexts import lookups_are_sought
from functx._transforms.arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    leaves_with_paths,
    pick,
    require_bools,
    require_callable,
)
from functx._transforms.conjugation import conjugate
from functx._transforms.outputs import checking, require_scalar
from functx._transforms.programs.interpreting import bind, interpret
from functx._transforms.programs.recording import record
from functx._transforms.programs.walking import opened, type_of
from functx._transforms.sparse_arrays import holds_sparse

from .lookups import joined, Lookup, lookups, with_open_lookups


__all__ = ["row_grad", "value_and_row_grad"]


@explain_unknown_keywords("sparse.row_grad")
def row_grad(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    dense_argnums: Argnums | None = None,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """The gradient of `func` with respect to tables, as the rows that it looks up.

    A gradient is a `BCOO`: its `indices` are the numbers of the rows, as they were looked up, and
    its `data` are the gradients of those. A row that is looked up twice is there twice, and
    `coalesce` adds the two; nothing of the size of the table is made. Rows are looked up by
    `nn.functional.embedding`, `embedding_bag`, `index_select`, `table[numbers]` and
    `jnp.take(table, numbers, axis=0)`; single elements by `table[i, j]` too. `padding_idx`,
    `max_norm` and `scale_grad_by_freq` do what they do in a dense gradient.

    - `func`: a function of trees of arrays that returns one floating number, or `(loss, aux)`.
    - `argnums`: the arguments that are tables, or trees of tables: a position (negative counts from
      the end), the name of an argument, or a tuple of those.
    - `dense_argnums`: other arguments to differentiate, whose gradients are dense. If it is given,
      a pair `(rows, dense)` comes back.
    - `has_aux`: whether `func` returns `(loss, aux)`, so that `(gradients, aux)` comes back.

    Shapes and dtypes: of a table `[n, *width]`, a `BCOO` of that shape and dtype with `[count,
    *width]` rows, one for each lookup. A lookup of a row that does not exist has an index behind
    the end of the table, which counts for nothing. Complex tables get PyTorch's gradient.
    Errors: RuntimeError where `func` reads a table in another way, in a product for example, or in
    a loop: that has a gradient for every row; TypeError for integer tables and for outputs of
    integers, ValueError for outputs that are no scalars.
    Source: `torch.nn.Embedding(sparse=True)`, whose gradient is a sparse tensor.

    >>> table = jnp.asarray([[1.0], [2.0], [3.0]], "float32")
    >>> numbers = jnp.asarray([2, 0, 2])
    >>> loss = lambda table: (functx.nn.functional.embedding(numbers, table) ** 2).sum()
    >>> rows = functx.sparse.row_grad(loss)(table)
    >>> rows.indices.tolist(), rows.data.tolist()
    ([[2], [0], [2]], [[6.0], [2.0], [6.0]])
    """
    compute = _row_gradients("sparse.row_grad", func, argnums, dense_argnums, has_aux)

    @ft.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found = compute(args, kwargs)
        return (found.gradients, found.aux) if has_aux else found.gradients

    return gradient


@explain_unknown_keywords("sparse.value_and_row_grad")
def value_and_row_grad(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    dense_argnums: Argnums | None = None,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """The value of `func` and its gradient with respect to tables, as the rows that it looks up.

    The returned function gives `(value, gradients)`, and `((value, aux), gradients)` with
    `has_aux`. A gradient is a `BCOO` of row numbers and the gradients of those rows, in the order
    in which they were looked up; nothing of the size of the table is made.

    - `func`: a function of trees of arrays that returns one floating number, or `(value, aux)`.
    - `argnums`: the arguments that are tables, or trees of tables: a position (negative counts from
      the end), the name of an argument, or a tuple of those.
    - `dense_argnums`: other arguments to differentiate, whose gradients are dense. If it is given,
      the gradients are a pair `(rows, dense)`.
    - `has_aux`: whether `func` returns `(value, aux)`.

    Shapes and dtypes: of a table `[n, *width]`, a `BCOO` of that shape and dtype with `[count,
    *width]` rows, one for each lookup.
    Errors: RuntimeError where `func` reads a table otherwise than by looking rows up, TypeError for
    integer tables and for outputs of integers, ValueError for outputs that are no scalars.
    Source: `torch.nn.Embedding(sparse=True)`, whose gradient is a sparse tensor.

    >>> table, weight = jnp.ones((3, 1), "float32"), jnp.float32(2)
    >>> loss = lambda table, weight: weight * table[jnp.asarray([1])].sum()
    >>> with_value = functx.sparse.value_and_row_grad(loss, dense_argnums=1)
    >>> value, (rows, of_weight) = with_value(table, weight)
    >>> value.item(), rows.data.tolist(), of_weight.item()
    (2.0, [[2.0]], 1.0)
    """
    compute = _row_gradients("sparse.value_and_row_grad", func, argnums, dense_argnums, has_aux)

    @ft.wraps(func)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        found = compute(args, kwargs)
        return (found.value, found.aux) if has_aux else found.value, found.gradients

    return value_and_gradient


class _Found(NamedTuple):
    gradients: Any
    value: Any
    aux: Any


def _row_gradients(
    who: str, func: Callable[..., Any], argnums: Argnums, dense_argnums: Any, has_aux: bool
) -> Callable[[tuple[Any, ...], dict[str, Any]], _Found]:
    require_callable(who, func)
    require_bools(who, has_aux=has_aux)
    of_tables = checked_argnums(who, argnums)
    of_dense = () if dense_argnums is None else checked_argnums(who, dense_argnums)

    def compute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Found:
        function, values, paths = pick(who, func, (*of_tables, *of_dense), args, kwargs)
        _refuse_sparse(who, values)
        values, any_complex = differentiable(who, values, paths)
        call = _Call(who, checking(who, function, has_aux, require_scalar), has_aux)
        count = len(of_tables)
        value, aux, rows, dense = call.differentiated(values[:count], values[count:], paths)
        if any_complex:
            rows, dense = conjugate((rows, dense))
        rows = rows if isinstance(argnums, tuple) else rows[0]
        if dense_argnums is None:
            return _Found(rows, value, aux)
        return _Found((rows, dense if isinstance(dense_argnums, tuple) else dense[0]), value, aux)

    return outside_grad_mode(compute)


class _Call(NamedTuple):
    """A function of tables and of other arguments, to be differentiated once."""

    who: str
    func: Callable[..., Any]
    has_aux: bool

    def differentiated(self, tables: Any, others: Any, paths: tuple[str, ...]) -> tuple[Any, ...]:
        """The value, aux, the rows of the tables and the gradients of the others."""
        with lookups_are_sought(True):
            recorded = record(self._pair, *tables, *others)
        named = leaves_with_paths(tables, paths[: len(tables)])
        leaves = [x for _, x in named]
        program = with_open_lookups(recorded.closed, leaves)
        found = lookups(self.who, program, [path for path, _ in named])
        by_equation = {id(opened(program)[0].eqns[i]): lookup for i, lookup in found.items()}
        order = {key: k for k, key in enumerate(by_equation)}
        start = [_zeros(lookup) for lookup in found.values()]

        def of_rows(moved: list[Any], others: Any) -> tuple[Any, Any]:
            indices: list[Any] = [None] * len(moved)

            def visit(eqn: Any, operands: list[Any]) -> Any:
                results = bind(eqn, operands)
                k = order.get(id(eqn))
                if k is None:
                    return results
                indices[k] = operands[1]
                return [results[0] + moved[k]]

            given = [*leaves, *jax.tree.leaves(others)]
            value, aux = recorded.output(interpret(program, given, visit))
            return value, (aux, indices)

        value, pull, (aux, indices) = jax.vjp(of_rows, start, others, has_aux=True)
        of_lookups, of_others = pull(np.ones((), value.dtype))
        parts: list[list[Any]] = [[] for _ in leaves]
        for lookup, cotangent, at in zip(found.values(), of_lookups, indices, strict=True):
            parts[lookup.table].append(lookup.rows(cotangent, at))
        rows = [joined(x, each) for x, each in zip(leaves, parts, strict=True)]
        return value, aux, jax.tree.structure(tables).unflatten(rows), of_others

    def _pair(self, *values: Any) -> tuple[Any, Any]:
        output = self.func(*values)
        return output if self.has_aux else (output, None)


def _zeros(lookup: Lookup) -> Any:
    result = type_of(lookup.eqn.outvars[0])
    return jnp.zeros(result.shape, result.dtype)


def _refuse_sparse(who: str, values: Any) -> None:
    if holds_sparse(values):
        fail(
            who,
            "tables must be dense arrays, got a sparse one",
            hint="functx.grad differentiates the stored values of sparse arrays",
            error=TypeError,
        )
