"""What a compiled program says of its results while it is traced."""

from __future__ import annotations

import dataclasses
from typing import Generic, TypeVar

import jax


T = TypeVar("T")


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Static(Generic[T]):
    """A value that is no array, among the results of a compiled function."""

    value: T
