"""What the functions of sparse arrays take, and where the stored values lie."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.experimental.sparse import BCOO, JAXSparse

from functx._core import category, describe, fail
from functx._transforms.sparse_arrays import show


def require_matrix(who: str, name: str, x: Any) -> BCOO:
    """Refuses what is no BCOO of two sparse dimensions."""
    x = require_bcoo(who, name, x)
    if len(x.shape) != 2 or x.n_batch or x.n_dense:
        batched = bool(x.n_batch)
        fail(
            who,
            f"`{name}` must be a matrix with two sparse dimensions, got {show(x)} with "
            f"n_batch={x.n_batch} and n_dense={x.n_dense}",
            hint=f"functx.vmap(functx.{who}) takes a batch of matrices"
            if batched
            else f"{name}.update_layout(n_dense=0) makes dense dimensions sparse",
            error=ValueError,
        )
    return x


def require_unbatched(who: str, name: str, x: Any) -> BCOO:
    """Refuses what is no BCOO without batch dimensions."""
    x = require_bcoo(who, name, x)
    if x.n_batch:
        fail(
            who,
            f"`{name}` must have no batch dimensions, got {show(x)} with n_batch={x.n_batch}",
            hint=f"functx.vmap(functx.{who}) maps over them, and {name}.update_layout(n_batch=0) "
            "makes them sparse",
            error=ValueError,
        )
    return x


def require_bcoo(who: str, name: str, x: Any) -> BCOO:
    """Refuses what is no BCOO."""
    if isinstance(x, BCOO):
        return x
    hint = "functx.sparse.to_sparse(x) makes one of a dense array"
    if isinstance(x, JAXSparse):
        hint = "to_bcoo() makes one of a BCSR; BCOO.fromdense(x.todense()) of any"
    fail(who, f"`{name}` must be a BCOO, got {_shown(x)}", hint=hint, error=TypeError)


def require_array(who: str, name: str, x: Any, ndim: int | None = None) -> Array:
    """A dense array, of `ndim` dimensions if that is given."""
    if isinstance(x, JAXSparse) or not hasattr(x, "dtype"):
        hint = "functx.sparse.to_dense(x) makes one" if isinstance(x, JAXSparse) else ""
        fail(who, f"`{name}` must be an array, got {_shown(x)}", hint=hint, error=TypeError)
    if ndim is not None and len(x.shape) != ndim:
        fail(who, f"`{name}` must have {ndim} dimensions, got {describe(x)}", error=ValueError)
    return jnp.asarray(x)


def require_one_dtype(who: str, **arrays: Any) -> None:
    """Refuses arrays of bools and arrays of two dtypes, as products of dense matrices do."""
    dtypes = {x.dtype for x in arrays.values()}
    if len(dtypes) > 1 or any(category(dtype) == 0 for dtype in dtypes):
        names = " and ".join(f"`{name}`" for name in arrays)
        got = ", ".join(str(x.dtype) for x in arrays.values())
        fail(
            who,
            f"{names} must have one dtype, of numbers, got {got}",
            hint="convert one with x.astype(dtype), a sparse one too",
            error=TypeError,
        )


def require_fit(who: str, name: str, got: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Refuses the shape of `name` if it is not `expected`."""
    if tuple(got) != tuple(expected):
        fail(who, f"`{name}` must have the shape {list(expected)}, got {list(got)}")


def _shown(x: Any) -> str:
    return show(x) if isinstance(x, BCOO) else describe(x)


def positions(x: BCOO) -> tuple[Array, ...]:
    """The indices of the stored values, a vector for each sparse dimension."""
    return tuple(x.indices[:, d] for d in range(x.n_sparse))


def inside(x: BCOO) -> Array:
    """Which stored values lie in the array: those behind its ends are padding."""
    return jnp.all(x.indices < jnp.asarray(x.shape[: x.n_sparse], x.indices.dtype), axis=1)


def without_padding(x: BCOO) -> Array:
    """The stored values, with zeros for those that are padding."""
    kept = inside(x).reshape(-1, *(1,) * x.n_dense)
    return jnp.where(kept, x.data, jnp.zeros((), x.data.dtype))


def first_of_each(x: BCOO) -> Array:
    """Which stored values are the first with their indices."""
    if x.unique_indices or x.nse < 2 or x.n_sparse == 0:
        return jnp.arange(x.nse) < (x.nse if x.n_sparse else 1)
    indices = jax.lax.stop_gradient(x.indices)
    order = jnp.lexsort(tuple(indices[:, d] for d in reversed(range(x.n_sparse))))  # stable
    ordered = indices[order]
    new = jnp.any(ordered[1:] != ordered[:-1], axis=1)
    return jnp.zeros(x.nse, bool).at[order].set(jnp.concatenate([jnp.ones(1, bool), new]))


def like(x: BCOO, data: Array) -> BCOO:
    """The sparse array with other stored values at the indices of `x`."""
    return BCOO(
        (data, x.indices),
        shape=x.shape,
        indices_sorted=x.indices_sorted,
        unique_indices=x.unique_indices,
    )
