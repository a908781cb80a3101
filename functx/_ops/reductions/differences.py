"""Functions of the differences of each vector and each other vector, never all in memory at once.

Sums over the elements of differences go through these elements, and add to an array of all pairs:
loops over pairs are long, and have no order to keep. What needs a difference as a whole, as a
derivative does, goes through the vectors of the first set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import equally_varying, known
from functx._core.rules.custom_derivatives import derivative_rules


_SMALL = 2**12  # elements of a block of differences
_FEW = 2**8  # pairs: to go through the vectors is as fast for fewer
# In a step. XLA's loop over pairs slices the vectors for each pair, which takes five times as long
# on a CPU, unless a step has more than about 16.
_ELEMENTS = 20

PairFunction = Callable[[Array, Array], Array]
RowArrays = tuple[Array, ...]


def over_elements(
    x1: Array,
    x2: Array,
    term: Callable[[Array], Array],
    join: Callable[[Array, Array], Array] = jnp.add,
) -> Array:
    """`join` of 0 and `term` of all elements of each difference.

    Shapes: `[b, m, k], [b, n, k] -> [b, m, n]`; `term` is of such an array of differences.
    """
    size = x1.shape[-1]
    step = _ELEMENTS if known(size) else 1
    first, second = (jnp.moveaxis(x, -1, 0) for x in (x1, x2))

    def joined(total: Array, first: Array, second: Array) -> Array:
        for a, b in zip(first, second, strict=True):
            total = join(total, term(a[:, :, None] - b[:, None, :]))
        return total

    def next_step(at: Any, total: Array) -> Array:
        parts = (lax.dynamic_slice_in_dim(x, at * step, step) for x in (first, second))
        return joined(total, *parts)

    total = jnp.zeros((*x1.shape[:2], x2.shape[1]), x1.dtype)
    first, second, total = equally_varying([first, second, total])
    if known(size) and size < step:
        return joined(total, first, second)
    total = lax.fori_loop(0, size // step, next_step, total)
    rest = size % step if known(size) else 0
    return joined(total, first[size - rest :], second[size - rest :])


def of_differences(
    values: PairFunction,
    few: Callable[[Array], Array],
    slope: Callable[[Array, Any], Array],
    *,
    name: str,
    of: Literal["both", "primals"] = "primals",
) -> PairFunction:
    """The function of two sets of vectors that `values` is, with derivatives.

    - `values`: of all pairs.
    - `few`: the same of rows of differences, where there are few pairs.
    - `slope(difference, output)`: the derivative of each row by its elements. With `of="primals"`
      its output is None, and is not kept.
    - `name`: the operator's, for errors and programs.
    - `of`: whether derivatives read the output too.

    Shapes: `[b, m, k], [b, n, k] -> [b, m, n]`.
    """

    def forward(x1: Array, x2: Array) -> Array:
        m, n = x1.shape[1], x2.shape[1]
        if known(m, n) and m * n < _FEW:
            return through_vectors(lambda rows, x2: few(rows[0] - x2[0]), (x1,), (x2,))
        return values(x1, x2)

    def slopes(rows: RowArrays, others: RowArrays, output: RowArrays) -> Array:
        return slope(rows[0] - others[0], output[0][:, None] if output else None)

    def jvp(primals: Any, output: Any, tangents: Any) -> Array:
        def moved(rows: RowArrays, others: RowArrays) -> Array:
            (_, t, *out), (_, s) = rows, others
            return jnp.sum(slopes(rows, others, tuple(out)) * (t - s), axis=1)

        outputs = () if output is None else (output,)
        sets = ((x, t) for x, t in zip(primals, tangents, strict=True))
        return through_vectors(moved, (*next(sets), *outputs), next(sets))

    def vjp(primals: Any, output: Any, cotangent: Array) -> tuple[Array, Array]:
        # Each set in rows of its own: a sum over rows of many vectors takes ten times as long.
        def pulled(rows: RowArrays, others: RowArrays) -> Array:
            _, c, *out = rows
            return jnp.sum(slopes(rows, others, tuple(out)) * c[:, None], axis=0)

        x1, x2 = primals
        of_pairs = (cotangent, *(() if output is None else (output,)))
        turned = (jnp.swapaxes(x, 1, 2) for x in of_pairs)
        first = through_vectors(pulled, (x1, *of_pairs), (x2,))
        return first, through_vectors(pulled, (x2, *turned), (x1,))

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=name, of=of)


def through_vectors(
    function: Callable[[RowArrays, RowArrays], Array], x1: RowArrays, x2: RowArrays
) -> Array:
    """`function(rows, x2)`, where each array of `rows` has the row of one vector of the first set.

    Shapes: `[b, m, ...], [b, n, ...] -> [b, m, r]`, where `function` is `[...], [n, ...] -> [r]`.
    """
    b, m, k = x1[0].shape
    n = x2[0].shape[1]
    most = max(_SMALL // b, (m + n) * k + m * n) if known(b, m, n, k) else None
    one = lambda x1, x2: _in_blocks(function, x1, x2, most)
    if b == 1:  # XLA's loops with a dimension of size 1 take up to five times as long
        return one(tuple(x[0] for x in x1), tuple(x[0] for x in x2))[None]
    return jax.vmap(one)(x1, x2)


def _in_blocks(
    function: Callable[[RowArrays, RowArrays], Array],
    x1: RowArrays,
    x2: RowArrays,
    most: int | None,
) -> Array:
    """`function` for each row, with blocks of `most` differences at a time.

    Where `most` is None, because sizes are symbolic, the rows are taken one by one.
    """

    @jax.checkpoint  # the differences are not kept for derivatives
    def of_row(rows: RowArrays) -> Array:
        return function(rows, x2)

    if most is None:
        return lax.map(of_row, x1)
    block = max(most // max(x2[0].size, 1), 1)
    if block >= len(x1[0]):
        return jax.vmap(of_row)(x1)
    return lax.map(of_row, x1, batch_size=block)
