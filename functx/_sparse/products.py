"""Products with sparse matrices.

They gather rows of the dense factor and add what the stored values make of them, in `jax.numpy`, so
that each has derivatives of any order in both modes, with respect to the stored values too. Halves
are added in float32. A stored value whose indices lie behind the ends of the matrix is padding.
"""

from __future__ import annotations

from typing import Any, Literal

import jax.numpy as jnp
from jax import Array, lax
from jax.experimental.sparse import BCOO

from functx._core import accumulator, category, describe, explain_unknown_keywords, fail

from .conversion import coalesce
from .layouts import (
    first_of_each,
    inside,
    like,
    positions,
    require_array,
    require_fit,
    require_matrix,
    require_one_dtype,
    without_padding,
)


__all__ = ["addmm", "mm", "mv", "sampled_addmm"]

Reduce = Literal["sum", "mean", "amax", "amin"]


@explain_unknown_keywords("sparse.mm")
def mm(mat1: Any, mat2: Any, reduce: Reduce = "sum") -> Any:
    r"""Product of two matrices, of which one or both are sparse: $y_{ij} = \sum_k a_{ik} b_{kj}$.

    - `mat1`, `mat2`: matrices, at least one of them a `BCOO` with two sparse dimensions. Indices
      may come in any order and more than once: values with the same ones are added.
    - `reduce`: what is made of the products $a_{ik} b_{kj}$ of the stored values in row $i$ of
      `mat1`: their `"sum"`, their `"mean"`, the greatest, `"amax"`, or the least, `"amin"`; 0 in a
      row that stores none. All but `"sum"` are for a dense `mat2`.

    Shapes: `[m, k], [k, n] -> [m, n]`, an array; a `BCOO` if both are sparse, with sorted indices,
    in room for `min(nse1 * nse2, m * n)` values, which is what computing them costs.
    Dtypes: the same for both. float16 and bfloat16 are added in float32.
    Gradients: with respect to a `BCOO`, one with the same indices, by its stored values. Of equal
    extrema the value that is stored first gets the gradient. PyTorch has none of two sparse
    matrices.
    Errors: TypeError for other arrays, bools and two dtypes, ValueError for batch and dense
    dimensions and other `reduce`, RuntimeError for shapes that do not fit.
    Source: `torch.sparse.mm`.

    >>> a = functx.sparse.to_sparse(jnp.asarray([[0.0, 2.0], [1.0, 0.0]], "float32"))
    >>> b = jnp.asarray([[1.0], [3.0]], "float32")
    >>> functx.sparse.mm(a, b)
    Array([[6.],
           [1.]], dtype=float32)
    >>> functx.grad(lambda a: functx.sparse.mm(a, b).sum())(a).data
    Array([3., 1.], dtype=float32)
    """
    who = "sparse.mm"
    if reduce not in ("sum", "mean", "amax", "amin"):
        fail(
            who,
            f"`reduce` must be 'sum', 'mean', 'amax' or 'amin', got {describe(reduce)}",
            error=ValueError,
        )
    if not isinstance(mat1, BCOO) and isinstance(mat2, BCOO):
        first, second = require_array(who, "mat1", mat1, 2), require_matrix(who, "mat2", mat2)
        _require_product(who, first, second, reduce)
        return _by_rows(second.transpose(), first.T, "sum").T
    first = require_matrix(who, "mat1", mat1)
    if isinstance(mat2, BCOO):
        second = require_matrix(who, "mat2", mat2)
        _require_product(who, first, second, reduce)
        return _both_sparse(first, second)
    second = require_array(who, "mat2", mat2, 2)
    _require_product(who, first, second)
    return _by_rows(first, second, reduce)


@explain_unknown_keywords("sparse.mv")
def mv(input: Any, vec: Any) -> Array:
    r"""Product of a sparse matrix and a vector: $y_i = \sum_k a_{ik} v_k$.

    - `input`: a `BCOO` with two sparse dimensions, as `mm` takes it.
    - `vec`: a dense vector.

    Shapes: `[m, k], [k] -> [m]`.
    Dtypes: the same for both. float16 and bfloat16 are added in float32.
    Errors: TypeError for other arrays, bools and two dtypes, ValueError for batch and dense
    dimensions, RuntimeError for shapes that do not fit.
    Source: `torch.mv` of a sparse matrix.

    >>> a = functx.sparse.to_sparse(jnp.asarray([[0.0, 2.0], [1.0, 0.0]], "float32"))
    >>> functx.sparse.mv(a, jnp.asarray([1.0, 3.0], "float32"))
    Array([6., 1.], dtype=float32)
    """
    who = "sparse.mv"
    matrix, vector = require_matrix(who, "input", input), require_array(who, "vec", vec, 1)
    require_one_dtype(who, input=matrix, vec=vector)
    require_fit(who, "vec", vector.shape, matrix.shape[1:])
    return _by_rows(matrix, vector[:, None], "sum")[:, 0]


@explain_unknown_keywords("sparse.addmm")
def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Array:
    r"""Scaled product with a sparse matrix, added to a dense one: $y = \beta M + \alpha (A B)$.

    - `mat`: $M$, a dense array that broadcasts to the product.
    - `mat1`: $A$, a `BCOO` with two sparse dimensions.
    - `mat2`: $B$, a dense matrix.
    - `beta`, `alpha`: numbers or 0-d arrays.

    Shapes: `[m, n], [m, k], [k, n] -> [m, n]`.
    Dtypes: the same for all three. float16 and bfloat16 are added in float32.
    Errors: TypeError for other arrays, bools and different dtypes, ValueError for batch and dense
    dimensions, RuntimeError for shapes that do not fit.
    Source: `torch.sparse.addmm`.

    >>> a = functx.sparse.to_sparse(jnp.asarray([[0.0, 2.0], [1.0, 0.0]], "float32"))
    >>> functx.sparse.addmm(jnp.ones((2, 1), "float32"), a, jnp.ones((2, 1), "float32"), beta=3)
    Array([[5.],
           [4.]], dtype=float32)
    """
    who = "sparse.addmm"
    dense = require_array(who, "mat", mat)
    sparse, second = require_matrix(who, "mat1", mat1), require_array(who, "mat2", mat2, 2)
    _require_product(who, sparse, second)
    require_one_dtype(who, mat=dense, mat1=sparse, mat2=second)
    shape = (sparse.shape[0], second.shape[1])
    lead = (1,) * (2 - dense.ndim) + dense.shape
    if len(lead) > 2 or any(n not in (1, size) for n, size in zip(lead, shape, strict=True)):
        fail(who, f"`mat` must broadcast to {list(shape)}, got {describe(dense)}")
    product = _by_rows(sparse, second, "sum")
    return _scaled(dense, beta) + _scaled(product, alpha)


@explain_unknown_keywords("sparse.sampled_addmm")
def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> BCOO:
    r"""A product of dense matrices, at the indices of a sparse one alone, which is added.

    $y = \alpha\,(A B) \circ P + \beta X$, with $P$ 1 where `input` stores a value and 0 elsewhere.
    The product is computed nowhere else.

    - `input`: $X$, a `BCOO` with two sparse dimensions. A zero that it stores counts as stored.
      Where indices occur twice, the first gets the element of the product, the others none of it.
    - `mat1`, `mat2`: $A$ and $B$, dense matrices.
    - `beta`, `alpha`: numbers or 0-d arrays.

    Shapes: `[m, n], [m, k], [k, n]` give a `BCOO` `[m, n]` with the indices of `input`.
    Dtypes: the same for all three, floating or complex. float16 and bfloat16 are added in float32.
    Errors: TypeError for other arrays, integers and different dtypes, ValueError for batch and
    dense dimensions, RuntimeError for shapes that do not fit.
    Source: `torch.sparse.sampled_addmm`, which takes CSR.

    >>> x = functx.sparse.to_sparse(jnp.asarray([[0.0, 1.0], [1.0, 0.0]], "float32"))
    >>> a = jnp.asarray([[1.0], [2.0]], "float32")
    >>> functx.sparse.sampled_addmm(x, a, a.T, beta=0.5).data
    Array([2.5, 2.5], dtype=float32)
    """
    who = "sparse.sampled_addmm"
    sparse = require_matrix(who, "input", input)
    first, second = require_array(who, "mat1", mat1, 2), require_array(who, "mat2", mat2, 2)
    require_one_dtype(who, input=sparse, mat1=first, mat2=second)
    if category(sparse.dtype) < 2:
        fail(who, f"`input` must be floating or complex, got {sparse.dtype}", error=TypeError)
    require_fit(who, "mat2", second.shape, (first.shape[1], second.shape[1]))
    require_fit(who, "input", sparse.shape, (first.shape[0], second.shape[1]))
    rows, columns = positions(sparse)
    wide = accumulator(sparse.dtype)
    left = first.at[rows].get(mode="fill", fill_value=0).astype(wide)
    right = second.T.at[columns].get(mode="fill", fill_value=0).astype(wide)
    sampled = jnp.sum(left * right, axis=1).astype(sparse.dtype)
    once = first_of_each(sparse) & inside(sparse)
    sampled = jnp.where(once, sampled, jnp.zeros((), sampled.dtype))
    return like(sparse, _scaled(sampled, alpha) + _scaled(sparse.data, beta))


def _require_product(who: str, mat1: Any, mat2: Any, reduce: str = "sum") -> None:
    require_one_dtype(who, mat1=mat1, mat2=mat2)
    require_fit(who, "mat2", mat2.shape, (mat1.shape[1], mat2.shape[1]))
    if reduce != "sum":
        fail(
            who,
            f"`reduce` must be 'sum' unless `mat1` is sparse and `mat2` dense, got {reduce!r}",
            error=ValueError,
        )


def _by_rows(matrix: BCOO, dense: Array, reduce: str) -> Array:
    """The product of a sparse matrix with a dense one."""
    rows, columns = positions(matrix)
    wide = accumulator(dense.dtype)
    values = without_padding(matrix).astype(wide)
    read = dense.at[columns].get(mode="fill", fill_value=0).astype(wide)
    terms = values[:, None] * read
    shape = (matrix.shape[0], dense.shape[1])
    if reduce in ("amax", "amin"):
        return _extrema(terms, inside(matrix), rows, shape, reduce).astype(dense.dtype)
    total = jnp.zeros(shape, wide).at[rows].add(terms, mode="drop")
    if reduce == "mean":
        stored = inside(matrix).astype(wide)
        counts = jnp.zeros(shape[0], wide).at[rows].add(stored, mode="drop")
        counts = jnp.maximum(counts.real, 1).astype(wide)
        total = total // counts[:, None] if category(wide) == 1 else total / counts[:, None]
    return total.astype(dense.dtype)


def _extrema(
    terms: Array, stored: Array, rows: Array, shape: tuple[int, int], reduce: str
) -> Array:
    """Of each row and column the greatest or the least term, of equal ones the one stored first."""
    if category(terms.dtype) == 3:
        fail("sparse.mm", "`reduce`='amax' and 'amin' are for real numbers", error=TypeError)
    if terms.shape[0] == 0 or shape[0] == 0:
        return jnp.zeros(shape, terms.dtype)
    seen = lax.stop_gradient(terms)
    worst = -jnp.inf if reduce == "amax" else jnp.inf
    if category(seen.dtype) == 1:
        worst = jnp.iinfo(seen.dtype).min if reduce == "amax" else jnp.iinfo(seen.dtype).max
    start = jnp.full(shape, worst, seen.dtype)
    place = jnp.where(stored, rows, shape[0])
    write = start.at[place].max if reduce == "amax" else start.at[place].min
    best = write(seen, mode="drop").at[place].get(mode="fill", fill_value=0)
    chosen = stored[:, None] & ((seen == best) | (jnp.isnan(seen) & jnp.isnan(best)))
    nowhere = terms.shape[0]
    number = jnp.where(chosen, jnp.arange(nowhere)[:, None], nowhere)
    first = jnp.full(shape, nowhere, number.dtype).at[place].min(number, mode="drop")
    columns = jnp.broadcast_to(jnp.arange(shape[1]), shape)
    return terms.at[first, columns].get(mode="fill", fill_value=0)


def _both_sparse(a: BCOO, b: BCOO) -> BCOO:
    """The product of two sparse matrices: each pair of values that meet, then added up."""
    dtype = max(a.indices.dtype, b.indices.dtype, key=lambda dtype: dtype.itemsize)
    rows, inner, outer, columns = (x.astype(dtype) for x in (*positions(a), *positions(b)))
    meet = (inner[:, None] == outer[None, :]) & inside(a)[:, None] & inside(b)[None, :]
    wide = accumulator(a.dtype)
    none = jnp.zeros((), wide)  # on both sides, so that no infinity meets a zero
    left = jnp.where(meet, a.data.astype(wide)[:, None], none)
    terms = left * jnp.where(meet, b.data.astype(wide)[None, :], none)
    shape = (a.shape[0], b.shape[1])
    pairs = [jnp.where(meet, rows[:, None], shape[0]), jnp.where(meet, columns, shape[1])]
    indices = jnp.stack([x.ravel() for x in pairs], -1)
    found = coalesce(BCOO((terms.ravel(), indices), shape=shape))
    room = min(found.nse, shape[0] * shape[1])  # sorted, so that padding comes last
    return BCOO(
        (found.data[:room].astype(a.dtype), found.indices[:room]),
        shape=shape,
        indices_sorted=True,
        unique_indices=True,
    )


def _scaled(x: Array, factor: Any) -> Array:
    """`x` times a number of any dtype, in the dtype of `x`."""
    if isinstance(factor, (int, float)) and factor == 1:
        return x
    wide = accumulator(x.dtype)
    return (x.astype(wide) * jnp.asarray(factor).astype(wide)).astype(x.dtype)
