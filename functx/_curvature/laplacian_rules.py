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

from .curved_values import Curved
from .equations import Active, BILINEAR
from .propagation import Propagation


class LaplacianVisitor(Propagation[Curved]):
    """The forward Laplacian of a program, along `count` directions."""

    moving = Curved

    def __init__(self, count: Any) -> None:
        self.count = count

    def lifted(self, x: Any) -> Curved:
        return Curved(x, jnp.zeros((self.count, *x.shape), x.dtype), jnp.zeros_like(x))

    def stepwise(self, x: Curved) -> Curved:
        return Curved(x.value, jnp.swapaxes(x.rows, 0, 1), x.bend)

    unstepped = stepwise

    def derive(self, active: Active, operands: list[Any]) -> Sequence[Any]:
        curved = [operands[i] for i in active.slots]
        rows, bends = tuple(x.rows for x in curved), tuple(x.bend for x in curved)
        values, tangents, still = jax.jvp(active.run, active.xs, bends, has_aux=True)

        def push(vs: tuple[Any, ...]) -> list[Any]:
            return jax.jvp(active.run, active.xs, vs, has_aux=True)[1]

        def push_twice(vs: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
            along = lambda *xs: jax.jvp(active.run, xs, vs, has_aux=True)[1]
            return jax.jvp(along, active.xs, vs)

        if active.is_linear:
            moved = jax.vmap(push)(rows)
        elif active.eqn.primitive.name in BILINEAR:
            moved = jax.vmap(push)(rows)
            tangents = [lax.add(tangents[0], 2 * _contracted(active, *rows))]
        else:
            moved, seconds = jax.vmap(push_twice)(rows)
            sums = [jnp.sum(y, 0, dtype=y.dtype) for y in seconds]
            tangents = [lax.add(t, y) for t, y in zip(tangents, sums, strict=True)]
        return active.merged(map(Curved, values, moved, tangents), still)


def _contracted(active: Active, left: Any, right: Any) -> Any:
    """The sum, over the rows, of the products of two operands' rows."""
    params = active.eqn.params
    if active.eqn.primitive.name != "dot_general" or params.get("out_sharding") is not None:
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
