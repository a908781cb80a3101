"""Gradients of trees that hold integers, booleans and keys, which have none: zeros of no bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .arguments import has_no_tangent, leaves_with_paths, Picked


class DifferentiablePart(NamedTuple):
    """A call as a function of the leaves with derivatives, and the way back to all arguments."""

    picked: Picked
    whole: Callable[[Sequence[Any]], tuple[Any, ...]]


def apart_from_integers(picked: Picked) -> DifferentiablePart:
    """`picked` as a function of its leaves that are no integers, booleans or keys.

    `whole` gives the gradients of those leaves their places again; the others get zeros of JAX's
    dtype `float0`.
    """
    function, values, paths = picked
    leaves, structure = jax.tree.flatten(values)
    still = [has_no_tangent(x) for x in leaves]
    if not any(still):
        return DifferentiablePart(picked, tuple)

    def filled(active: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
        given = iter(active)
        return structure.unflatten(
            [x if fixed else next(given) for x, fixed in zip(others, still, strict=True)]
        )

    def of_active(*active: Any) -> Any:
        return function(*filled(active, leaves))

    def whole(gradients: Sequence[Any]) -> tuple[Any, ...]:
        none = [
            np.zeros(np.shape(x), jax.dtypes.float0) if fixed else None
            for x, fixed in zip(leaves, still, strict=True)
        ]
        return filled(gradients, none)

    named = zip(leaves_with_paths(values, paths), still, strict=True)
    active = [leaf for leaf, fixed in named if not fixed]
    return DifferentiablePart(
        Picked(of_active, tuple(x for _, x in active), tuple(at for at, _ in active)), whole
    )
