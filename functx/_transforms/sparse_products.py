"""Pullbacks and pushforwards of functions of sparse arrays: sparse arrays in, and out."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from .programs.recording import HoldsProgram
from .sparse_arrays import SparseLayout


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SparsePullback(HoldsProgram):
    """What `vjp` returns where a primal or an output is sparse."""

    made_by, remedy = "vjp", "pickle the function and the primals, and call vjp where they arrive"

    pull: Any
    primals: SparseLayout
    outputs: SparseLayout

    def __call__(self, cotangents: Any) -> tuple[Any, ...]:
        """One cotangent per primal, with the indices of the primal where that is sparse."""
        values = self.outputs.matched("vjp", "cotangents", cotangents, "the output of `func`")
        return self.primals.joined(self.pull(self.outputs.joined(values)))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SparsePushforward(HoldsProgram):
    """What `linearize` returns where a primal or an output is sparse."""

    made_by = "linearize"
    remedy = "pickle the function and the primals, and call linearize where they arrive"

    push: Any
    primals: SparseLayout
    outputs: SparseLayout

    def __call__(self, *tangents: Any) -> Any:
        """The derivative along `tangents`, with the indices of the output where that is sparse."""
        values = self.primals.matched("linearize", "tangents", tangents, "`primals`")
        return self.outputs.joined(self.outputs.values(self.push(*values)))
