"""A value with its Jacobian and its Laplacian."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Curved:
    """A value, its derivatives along directions, and the sum of its second ones.

    - `value`: an array `[*shape]`.
    - `rows`: `[directions, *shape]`, the derivatives.
    - `bend`: `[*shape]`, the sum of the second derivatives along the directions.
    """

    value: Any
    rows: Any
    bend: Any
