"""One column of a Jacobian: what `jacfwd` maps over the standard basis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from functx._core.randomness.ambient_generator import LaneStream

from .eager import eager_jvp, eager_vmap
from .outputs import signed
from .tangents import leaf_types, LeafType


class Column:
    """One column of a Jacobian: a tangent in, the leaves of the output's tangent out.

    The arrays in aux follow them; what else aux holds is put by.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        values: tuple[Any, ...],
        structure: Any,
        stream: LaneStream,
        per_lane: bool,
        has_aux: bool,
        require_pairs: Callable[[Any], None],
    ):
        self.function, self.values, self.structure = function, values, structure
        self.has_aux, self.require_pairs = has_aux, require_pairs
        self.stream, self.per_lane = stream, per_lane
        self.outputs: tuple[LeafType, ...] = ()
        self.output_structure: Any = None
        self.aux_leaves: list[Any] = []
        self.aux_structure: Any = None

    def __call__(self, *tangents: Any) -> tuple[list[Any], list[Any]]:
        *vectors, lane = tangents if self.per_lane else (*tangents, None)
        with self.stream.enter(lane):
            output, tangent, *aux = eager_jvp(
                self.function,
                self.values,
                self.structure.unflatten(vectors),
                has_aux=self.has_aux,
            )
        self.require_pairs(output)
        self.outputs, self.output_structure = leaf_types(output)
        leaves, self.aux_structure = jax.tree.flatten(aux)
        self.aux_leaves = [None if _is_array(x) else x for x in leaves]
        return jax.tree.leaves(tangent), [x for x in leaves if _is_array(x)]

    def side_by_side(self, xs: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        """The columns of `xs`, last in each leaf."""
        aux_dim = 0 if self.per_lane else None
        lane = signed(lambda *tangents: self(*tangents))
        by_jax = lambda: jax.vmap(lane, out_axes=(-1, aux_dim))(*xs)
        columns, aux = eager_vmap(lane, xs, [0] * len(xs), (-1, aux_dim), by_jax)
        dims: list[int | None] = [y.ndim - 1 for y in columns]
        dims += [aux_dim] * len(aux)
        return [*columns, *aux], dims

    def aux(self, arrays: Sequence[Any]) -> Any:
        """The aux of `func`, that of the first lane where lanes differ."""
        rest = iter([x[0] for x in arrays] if self.per_lane else arrays)
        leaves = [next(rest) if x is None else x for x in self.aux_leaves]
        return self.aux_structure.unflatten(leaves)[0]


def _is_array(x: Any) -> bool:
    return isinstance(x, jax.Array)
