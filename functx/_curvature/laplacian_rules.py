r"""How values, their Jacobians and their Laplacians go through an equation: in one pass.

For $y = f(x)$, with the rows $J_i = \partial x / \partial t_i$ and the Laplacian $L$ of $x$,

$$ J'_i = Df[J_i], \qquad L' = Df[L] + \sum_i D^2 f[J_i, J_i]. $$

The last sum is zero where $f$ is linear, and $2 \sum_i B(J_i, K_i)$ for a product $B(x, y)$.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from functx._transforms.programs.walking import type_of

from .curved_values import Curved, RowIndex
from .dependence_indices import arranged
from .equations import ActiveEquation, BILINEAR, is_active_result
from .pointwise import is_real_function_of_elements
from .propagation import Propagation


class LaplacianVisitor(Propagation[Curved]):
    """The forward Laplacian of a program, along `count` directions."""

    moving = Curved

    def __init__(self, count: Any) -> None:
        self.count = count

    def lifted(self, x: Any) -> Curved:
        return Curved(x, jnp.zeros((self.count, *x.shape), x.dtype), jnp.zeros_like(x))

    def closed(self, x: Curved) -> Curved:
        return x.dense(self.count)

    def bend(self, x: Any, atom: Any) -> Any:
        """The Laplacian of a result, as which the program has `atom`."""
        return x.bend if self.moves(x) else jnp.zeros(type_of(atom).shape, type_of(atom).dtype)

    def stepwise(self, x: Curved) -> Curved:
        return Curved(x.value, jnp.swapaxes(x.rows, 0, 1), x.bend)

    unstepped = stepwise

    def derive(self, active: ActiveEquation, operands: list[Any]) -> Sequence[Any]:
        curved, indices = arranged(active, [operands[i] for i in active.slots], self.count)
        indices = [None] * len(active.eqn.outvars) if indices is None else indices
        rows, bends = tuple(x.rows for x in curved), tuple(x.bend for x in curved)
        values, tangents, still = jax.jvp(active.run, active.xs, bends, has_aux=True)

        def push(vs: tuple[Any, ...]) -> list[Any]:
            return jax.jvp(active.run, active.xs, vs, has_aux=True)[1]

        def push_twice(vs: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
            along = lambda *xs: jax.jvp(active.run, xs, vs, has_aux=True)[1]
            return jax.jvp(along, active.xs, vs)

        if _is_plain_dot(active) and len(rows) == 1:
            moved = [_multiplied(active, *rows)]
        elif active.is_linear:
            moved = jax.vmap(push)(rows)
        elif len(indices) == 1 and is_real_function_of_elements(active):
            return [_bent(active, curved[0], indices[0])]
        elif active.eqn.primitive.name in BILINEAR:
            moved = jax.vmap(push)(rows)
            tangents = [lax.add(tangents[0], 2 * _contracted(active, *rows))]
        else:
            moved, seconds = jax.vmap(push_twice)(rows)
            sums = [jnp.sum(y, 0, dtype=y.dtype) for y in seconds]
            tangents = [lax.add(t, y) for t, y in zip(tangents, sums, strict=True)]
        index = (
            of_one
            for of_one, y in zip(indices, active.eqn.outvars, strict=True)
            if is_active_result(y)
        )
        return active.merged([*map(Curved, values, moved, tangents, index)], still)


def _bent(active: ActiveEquation, x: Curved, index: RowIndex | None) -> Curved:
    """A function of each element, by its first and second derivatives: they have no rows."""
    function = lambda x: active.run(x)[0][0]
    slope_at = lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))
    (value, slope), (_, second) = jax.jvp(slope_at, active.xs, (jnp.ones_like(x.value),))
    squares = jnp.sum(lax.square(x.rows), 0, dtype=x.rows.dtype)
    return Curved(value, slope[None] * x.rows, slope * x.bend + second * squares, index)


def _contracted(active: ActiveEquation, left: Any, right: Any) -> Any:
    """The sum, over the rows, of the products of two operands' rows."""
    params = active.eqn.params
    if not _is_plain_dot(active):
        products = jax.vmap(lambda *xs: active.run(*xs)[0][0])(left, right)
        return jnp.sum(products, 0, dtype=products.dtype)
    contracted, batch = params["dimension_numbers"]
    behind = [tuple(d + 1 for d in dims) for dims in (*contracted, *batch)]
    return lax.dot_general(
        left,
        right,
        (((0, *behind[0]), (0, *behind[1])), (behind[2], behind[3])),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )


def _is_plain_dot(active: ActiveEquation) -> bool:
    """Whether the equation multiplies arrays, and does not say how the product is sharded."""
    eqn = active.eqn
    return eqn.primitive.name == "dot_general" and eqn.params.get("out_sharding") is None


def _multiplied(active: ActiveEquation, rows: Any) -> Any:
    """The products of one operand's rows and the other operand, which does not move.

    The rows come first: to sum what is along a last dimension, CPUs take several times longer.
    """
    params, [slot] = active.eqn.params, active.slots
    contracted, batch = params["dimension_numbers"]
    other = active.values[1 - slot]
    behind = lambda dims: tuple(d + 1 for d in dims)
    product = lax.dot_general(
        rows,
        other,
        (
            (behind(contracted[slot]), contracted[1 - slot]),
            (behind(batch[slot]), batch[1 - slot]),
        ),
        precision=params["precision"] if slot == 0 else _swapped(params["precision"]),
        preferred_element_type=params["preferred_element_type"],
    )
    shared = len(batch[0])  # the dimensions of the product: these, the rows, free ones of each
    free = rows.ndim - 1 - shared - len(contracted[slot])
    product = jnp.moveaxis(product, shared, 0)
    if slot == 0:
        return product
    first, second = range(1 + shared, 1 + shared + free), range(1 + shared + free, product.ndim)
    return lax.transpose(product, (*range(1 + shared), *second, *first))


def _swapped(precision: Any) -> Any:
    """The precision of a product whose operands change places."""
    return precision[::-1] if isinstance(precision, tuple) else precision
