"""Sparse arrays through `vmap`: a lane takes one matrix of a batch, and may return one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from functx._core import fail

from .dims import broadcast_dims
from .sparse_arrays import is_sparse, show, sparse_module, SparseLayout


class SparseLanes:
    """A mapped call of arrays in the place of one of sparse arrays.

    `func`, `args` and `kwargs` are its own; `whole` makes its output that of the call.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        in_dims: Any,
        kw_in_dims: dict[str, Any],
        out_dims: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ):
        self._func, self._out_dims, self._outputs = func, out_dims, None
        self.args, self.kwargs = args, kwargs
        layout = SparseLayout.of((args, kwargs))
        leaves = layout.structure.flatten_up_to((args, kwargs))
        self._inputs = layout if any(map(is_sparse, leaves)) else None
        if self._inputs is None:  # arguments of other kinds are for `vmap` alone to look at
            return
        kw_dims = {name: kw_in_dims.get(name) for name in kwargs}
        one_each, one_of_kwargs = layout.structure.unflatten([0] * len(leaves))
        dims = broadcast_dims("in_dims", in_dims, one_each, "the arguments")
        dims += broadcast_dims("kw_in_dims", kw_dims, one_of_kwargs, "keyword arguments")
        self._lanes = [
            _Lane.of(x, dim) if is_sparse(x) and dim is not None else None
            for x, dim in zip(leaves, dims, strict=True)
        ]
        parts = [
            x if lane is None else lane.parts(x)
            for x, lane in zip(leaves, self._lanes, strict=True)
        ]
        self.args, self.kwargs = layout.structure.unflatten(parts)

    def func(self, *args: Any, **kwargs: Any) -> Any:
        """One lane: the function of the call, with pairs of arrays for sparse arrays."""
        if self._inputs is not None:
            parts = self._inputs.structure.flatten_up_to((args, kwargs))
            leaves = [
                x if lane is None else lane.array(x)
                for x, lane in zip(parts, self._lanes, strict=True)
            ]
            args, kwargs = self._inputs.structure.unflatten(leaves)
        output = self._func(*args, **kwargs)
        leaves, structure = jax.tree.flatten(output, is_leaf=is_sparse)
        if not any(map(is_sparse, leaves)):
            self._outputs = None
            return output
        one_each = structure.unflatten([0] * len(leaves))
        dims = broadcast_dims("out_dims", self._out_dims, one_each, "the output")
        lanes = [
            _Lane.of_output(x, dim) if is_sparse(x) and dim is not None else None
            for x, dim in zip(leaves, dims, strict=True)
        ]
        self._outputs = structure, lanes
        return structure.unflatten(
            [
                x if lane is None else (x.data, x.indices)
                for x, lane in zip(leaves, lanes, strict=True)
            ]
        )

    def whole(self, output: Any) -> Any:
        """The output with sparse arrays, whose lanes are their batch."""
        if self._outputs is None:
            return output
        structure, lanes = self._outputs
        parts = structure.flatten_up_to(output)
        return structure.unflatten(
            [x if lane is None else lane.batch(x) for x, lane in zip(parts, lanes, strict=True)]
        )


@dataclasses.dataclass(frozen=True)
class _Lane:
    """A sparse array of one lane, without its arrays, and the dimension of its batch."""

    kind: Any
    shape: tuple[int, ...]
    flags: dict[str, bool]
    dim: int

    @classmethod
    def of(cls, x: Any, dim: int) -> _Lane:
        """A lane of the batch `x`."""
        _require_bcoo(x)
        if not 0 <= dim < x.n_batch:
            fail(
                "vmap",
                "a sparse array must be mapped along a batch dimension, counted from the front, of "
                f"which this one has {x.n_batch}, got in_dims {dim} for {show(x)}",
                hint="in_dims=None leaves it unmapped; x.update_layout(n_batch=1) makes the first "
                "dimension one of a batch",
                error=ValueError,
            )
        return cls(type(x), x.shape[:dim] + x.shape[dim + 1 :], _flags(x), dim)

    @classmethod
    def of_output(cls, x: Any, dim: int) -> _Lane:
        """The lane `x`, whose batch gets the dimension `dim`."""
        _require_bcoo(x)
        if not 0 <= dim <= x.n_batch:
            fail(
                "vmap",
                f"lanes of a sparse array are stacked along a batch dimension, one of 0 to "
                f"{x.n_batch}, got out_dims {dim} for {show(x)}",
                error=ValueError,
            )
        return cls(type(x), x.shape, _flags(x), dim)

    def parts(self, x: Any) -> tuple[Any, Any]:
        """The arrays of the batch `x`, with all its batch dimensions in both."""
        batch = x.shape[: x.n_batch]
        rest = lambda array: array.shape[x.n_batch :]
        whole = lambda array: jnp.broadcast_to(array, (*batch, *rest(array)))
        return whole(x.data), whole(x.indices)

    def array(self, parts: tuple[Any, Any]) -> Any:
        """The sparse array of the lane."""
        return self.kind(parts, shape=self.shape, **self.flags)

    def batch(self, parts: tuple[Any, Any]) -> Any:
        """The sparse array of all lanes."""
        size = parts[0].shape[self.dim]
        shape = (*self.shape[: self.dim], size, *self.shape[self.dim :])
        return self.kind(parts, shape=shape, **self.flags)


def _flags(x: Any) -> dict[str, bool]:
    return {"indices_sorted": x.indices_sorted, "unique_indices": x.unique_indices}


def _require_bcoo(x: Any) -> None:
    if not isinstance(x, sparse_module().BCOO):
        fail("vmap", f"sparse arrays must be BCOO, got {show(x)}", error=TypeError)
