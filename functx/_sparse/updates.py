"""Updates of tables by some of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.experimental.sparse import BCOO

from functx._core import describe, explain_unknown_keywords, fail

from .conversion import coalesce
from .layouts import like, positions, require_array, require_fit, require_unbatched


__all__ = ["apply_rows", "lazy_update"]


@explain_unknown_keywords("sparse.apply_rows")
def apply_rows(table: Any, updates: Any) -> Array:
    """The table with rows added to some of its rows.

    - `table`: a dense array.
    - `updates`: a `BCOO` of its shape, such as `row_grad` returns and `lazy_update`; rows with the
      same number are added, those behind the end of the table are left out.

    Under `jit` with the table donated (`donate_argnums`), the rows are added in place.

    Shapes and dtypes: those of `table`.
    Errors: TypeError for what is no array or no `BCOO`, and for another dtype; RuntimeError for
    another shape, ValueError for batch dimensions.
    Source: `torch.optim.SGD` with sparse gradients; `optax.apply_updates` with dense ones.

    >>> from jax.experimental.sparse import BCOO
    >>> rows = BCOO((jnp.ones((2, 1), "float32"), jnp.asarray([[2], [2]])), shape=(3, 1))
    >>> functx.sparse.apply_rows(jnp.zeros((3, 1), "float32"), rows).tolist()
    [[0.0], [0.0], [2.0]]
    """
    who = "sparse.apply_rows"
    table, updates = _checked(who, table, updates, "updates")
    return table.at[positions(updates)].add(updates.data, mode="drop")


@explain_unknown_keywords("sparse.lazy_update")
def lazy_update(update: Callable[..., Any], rows: Any, state: Any, table: Any) -> tuple[BCOO, Any]:
    """One step of an optimiser for the rows of a table that have a gradient.

    Rows with the same number are added first, so that optimisers which are not linear see each row
    once. The optimiser is handed these rows alone: of the gradient, of the table and of its state.
    So moments of other rows do not decay, as in `torch.optim.SparseAdam`, and a step costs as much
    as it has rows.

    - `update`: the `update` of an Optax optimiser, or any function of gradients, state and
      parameters that returns updates and the new state.
    - `rows`: the gradient of the table, a `BCOO`, as `row_grad` returns it.
    - `state`: the optimiser's state for this table alone, `optimizer.init(table)`. Its arrays have
      the shape of the table, or no dimensions: a counter goes on by one for all rows.
    - `table`: the table.

    Returns the updates, a `BCOO` for `apply_rows`, whose row numbers are unique, and the new state.

    Shapes and dtypes: those of `rows` and `state`. What is left over where rows were added has
    numbers behind the end of the table and gradients of zero.
    Errors: TypeError for what is no `BCOO` and for another dtype, ValueError for a state that is
    not as said, RuntimeError for another shape.
    Source: `torch.optim.SparseAdam`.

    >>> momentum = lambda gradient, state, _: (-(gradient + state), gradient + state)
    >>> table, state = jnp.zeros((3, 1), "float32"), jnp.ones((3, 1), "float32")
    >>> rows = functx.sparse.row_grad(lambda table: table[jnp.asarray([2, 2])].sum())(table)
    >>> updates, state = functx.sparse.lazy_update(momentum, rows, state, table)
    >>> functx.sparse.apply_rows(table, updates).tolist(), state.tolist()
    ([[0.0], [0.0], [-3.0]], [[1.0], [1.0], [3.0]])
    """
    who = "sparse.lazy_update"
    if not callable(update):
        fail(
            who,
            f"`update` must be callable, got {describe(update)}",
            hint="pass the optimiser's method, optimizer.update",
            error=TypeError,
        )
    table, rows = _checked(who, table, rows, "rows")
    rows = coalesce(rows)
    at = positions(rows)
    read = lambda x: x.at[at].get(mode="fill", fill_value=0)
    leaves, structure = jax.tree.flatten(state)
    whole = [_is_of_rows(who, x, table) for x in leaves]
    seen = [read(x) if is_whole else x for x, is_whole in zip(leaves, whole, strict=True)]
    updates, after = update(rows.data, structure.unflatten(seen), read(table))
    new, new_structure = jax.tree.flatten(after)
    if new_structure != structure:
        fail(
            who,
            f"`update` must return a state like `state`, {structure}, got {new_structure}",
            error=ValueError,
        )
    written = [
        old.at[at].set(x, mode="drop") if is_whole else x
        for old, x, is_whole in zip(leaves, new, whole, strict=True)
    ]
    return like(rows, updates.astype(table.dtype)), structure.unflatten(written)


def _is_of_rows(who: str, x: Any, table: Array) -> bool:
    shape = jnp.shape(x)
    if shape != table.shape and shape != ():
        fail(
            who,
            f"the arrays of `state` must have the shape of the table, {list(table.shape)}, or no "
            f"dimensions, got {describe(x)}",
            hint="pass the state of this table alone, optimizer.init(table); an optimiser that "
            "keeps one number for each row or column has no lazy step",
            error=ValueError,
        )
    return shape == table.shape


def _checked(who: str, table: Any, rows: Any, name: str) -> tuple[Array, BCOO]:
    table, rows = require_array(who, "table", table), require_unbatched(who, name, rows)
    require_fit(who, name, rows.shape, table.shape)
    if rows.dtype != table.dtype:
        fail(
            who,
            f"`{name}` must have the dtype of the table, {table.dtype}, got {rows.dtype}",
            hint=f"{name}.astype(table.dtype)",
            error=TypeError,
        )
    return table, rows
