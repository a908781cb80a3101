"""Linear approximations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, Literal, overload

import jax

from functx._core import explain_unknown_keywords
from functx._core.context.grad_modes import outside_grad_mode

from .arguments import differentiable, numbered, require_bools, require_callable
from .generics import Aux, Y
from .outputs import checking, require_arrays
from .programs.recording import HoldsProgram
from .residuals.packing import packed
from .sparse_arrays import holds_sparse, of_values, SparseLayout
from .sparse_products import SparsePushforward
from .tangents import leaf_types, LeafType, matched, without_float0


__all__ = ["linearize"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Pushforward(HoldsProgram, Generic[Y]):
    """What `linearize` returns: tangents of the primals in, the output's tangent out.

    A pytree, so that it may leave `jax.jit`.
    """

    made_by = "linearize"
    remedy = "pickle the function and the primals, and call linearize where they arrive"

    push: Any
    types: tuple[LeafType, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})
    outputs: tuple[LeafType, ...] = dataclasses.field(metadata={"static": True})

    def __call__(self, *tangents: Any) -> Y:
        """The derivative along `tangents`, one per primal."""
        leaves = matched("linearize", "tangents", tangents, self.types, self.structure, "`primals`")
        return without_float0(
            outside_grad_mode(self.push)(*self.structure.unflatten(leaves)), self.outputs
        )


@overload
def linearize(
    func: Callable[..., Y], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Y, Pushforward[Y]]: ...
@overload
def linearize(
    func: Callable[..., tuple[Y, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Y, Pushforward[Y], Aux]: ...
@overload
def linearize(func: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
@explain_unknown_keywords()
def linearize(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `func` at `primals`, and its linear approximation there.

    Returns `(output, jvp_fn)`, and `(output, jvp_fn, aux)` with `has_aux`. `jvp_fn(*tangents)`
    takes one tangent per primal and does not evaluate `func` again, for which it keeps intermediate
    values; for one direction `jvp` is cheaper.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `primals`: the positional arguments.
    - `has_aux`: whether `func` returns `(output, aux)`.

    Shapes and dtypes: tangents have those of the primals, the result of `jvp_fn` those of the
    output.
    Errors: TypeError for integer primals and for tangents of other dtypes, ValueError for tangents
    of another structure or shape.

    >>> output, jvp_fn = functx.linearize(jnp.square, jnp.float32(3))
    >>> jvp_fn(jnp.float32(1)), jvp_fn(jnp.float32(2))
    (Array(6., dtype=float32), Array(12., dtype=float32))
    """
    require_callable("linearize", func)
    require_bools("linearize", has_aux=has_aux)
    layout = SparseLayout.of(primals) if holds_sparse(primals) else None
    if layout is not None:
        func, primals = of_values(func, layout), layout.values(primals)
    primals = differentiable("linearize", primals, numbered("primals", len(primals))).values
    function = checking("linearize", func, has_aux, require_arrays)
    output, push, *aux = outside_grad_mode(jax.linearize)(function, *primals, has_aux=has_aux)
    types, structure = leaf_types(primals)
    push = Pushforward(packed(push), types, structure, leaf_types(output)[0])
    if layout is not None or holds_sparse(output):
        layout = layout or SparseLayout.of(primals)
        push = SparsePushforward(push, layout, SparseLayout.of(output))
    return (output, push, *aux)
